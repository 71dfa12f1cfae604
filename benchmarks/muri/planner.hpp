#pragma once
/// @file
/// Who runs: one session of the engine over an empty cluster and all jobs that have come and not ended.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>

#include "benchmarks/muri/interleave.hpp"
#include "benchmarks/muri/rules.hpp"
#include "benchmarks/muri/trace.hpp"

namespace kaisched::bench::muri {

/// Seconds of an iteration of a job that has its GPUs to itself.
[[nodiscard]] inline double time_alone(const trace_job& job, const loop_rules& rules) {
  constexpr double milliseconds = 1000;
  return job.iteration_time * rules.slowdown / milliseconds;
}

/// What sessions are told of a job.
struct told_job {
  std::int64_t remaining = 0;  ///< nanoseconds, as `runtime_estimate`
  std::int64_t attained = 0;   ///< milli-GPU seconds, as `attained_service`
  std::int64_t position = 0;   ///< among those that the part does not tell apart, as `created`
};

/// A job that has places.
struct placed_job {
  std::uint32_t job = 0;
  std::uint32_t first = 0;  ///< the first that got these GPUs: itself, or a job with which it shares them
};

/// Jobs are numbers from 0, as they come; each is a pod group. One with more GPUs than a node has is a gang of pods
/// with whole nodes and a pod with the rest.
class planner {
 public:
  /// `part` alone decides the order of jobs; ties go by position and number.
  /// `jobs`: all that will come; no part hears of those that have not.
  [[nodiscard]] static result<planner> make(const std::string& part, const std::vector<trace_job>& jobs,
                                            const loop_rules& rules);

  void come(std::uint32_t job, const told_job& told);
  void tell(std::uint32_t job, const told_job& told);
  void leave(std::uint32_t job);
  /// Jobs that get places, in the order in which they got them.
  [[nodiscard]] result<std::vector<placed_job>> plan();

 private:
  planner(const std::vector<trace_job>& jobs, const loop_rules& rules, std::int64_t gpus_per_node);
  [[nodiscard]] std::vector<std::int64_t> sizes_of(std::uint32_t job) const;
  [[nodiscard]] result<void> apply();

  std::vector<std::int64_t> gpus_;    ///< by job
  std::vector<std::uint32_t> kinds_;  ///< by job
  std::int64_t gpus_per_node_;
  std::int64_t sharers_;
  std::unique_ptr<job_book> book_;  ///< parts refer to it
  cluster cluster_;
  engine engine_;
  // Since the last plan:
  std::vector<std::uint32_t> gone_;
  std::vector<std::pair<std::uint32_t, told_job>> changed_;
  std::vector<std::pair<std::uint32_t, told_job>> come_;
};

}  // namespace kaisched::bench::muri
