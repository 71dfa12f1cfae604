#pragma once
/// @file
/// Who runs: one session of the engine over an empty cluster and all jobs that have come and not ended.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>

#include "benchmarks/muri/rules.hpp"

namespace kaisched::bench::muri {

/// What sessions are told of a job.
struct told_job {
  std::int64_t remaining = 0;  ///< nanoseconds, as `runtime_estimate`
  std::int64_t attained = 0;   ///< milli-GPU seconds, as `attained_service`
  std::int64_t position = 0;   ///< among those that the part does not tell apart, as `created`
};

/// Jobs are numbers from 0; each is a pod group. One with more GPUs than a node has is a gang of pods with whole nodes
/// and a pod with the rest.
class planner {
 public:
  /// `part` alone decides the order of jobs; ties go by position and number.
  [[nodiscard]] static result<planner> make(const std::string& part, const loop_rules& rules);

  void come(std::uint32_t job, std::int64_t gpus, const told_job& told);
  void tell(std::uint32_t job, const told_job& told) { changed_.emplace_back(job, told); }
  void leave(std::uint32_t job, std::int64_t gpus) { gone_.emplace_back(job, gpus); }
  /// Jobs that get places, in the order in which they got them.
  [[nodiscard]] result<std::vector<std::uint32_t>> plan();

 private:
  explicit planner(std::int64_t gpus_per_node) : gpus_per_node_(gpus_per_node) {}
  [[nodiscard]] std::vector<std::int64_t> pods_of(std::int64_t gpus) const;
  [[nodiscard]] result<void> apply();

  std::int64_t gpus_per_node_;
  cluster cluster_;
  engine engine_;
  // Since the last plan:
  std::vector<std::pair<std::uint32_t, std::int64_t>> gone_;  ///< GPUs
  std::vector<std::pair<std::uint32_t, told_job>> changed_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> come_;  ///< GPUs; what is told is in `told_`
  std::vector<told_job> told_;
};

}  // namespace kaisched::bench::muri
