#pragma once
/// @file
/// The part `interleave`: which jobs run, and which of them share GPUs. And what it looks up of jobs.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <kaisched/engine.hpp>

#include "benchmarks/muri/sharing_groups.hpp"

namespace kaisched::bench::muri {

/// Pods of a job: whole nodes, and one with the rest. By number of GPUs.
[[nodiscard]] std::vector<std::int64_t> pods_of(std::int64_t gpus, std::int64_t gpus_per_node);

/// Names of groups and pods that sort like numbers.
[[nodiscard]] std::string group_name(std::uint32_t job);
[[nodiscard]] std::string pod_name(std::uint32_t job, std::size_t pod);
/// Of the name of a group or of one of its pods.
[[nodiscard]] std::uint32_t job_of(std::string_view name);
[[nodiscard]] std::size_t pod_of(std::string_view name);

/// The jobs that have come and not ended.
class job_book {
 public:
  job_book(std::int64_t gpus_per_node, shared_times times) : gpus_per_node_(gpus_per_node), times_(std::move(times)) {}

  void come(const sharing_candidate& job);
  void tell(std::uint32_t job, double remaining);
  void leave(std::uint32_t job);

  [[nodiscard]] const std::vector<sharing_candidate>& jobs() const { return jobs_; }
  [[nodiscard]] std::int64_t gpus_per_node() const { return gpus_per_node_; }
  [[nodiscard]] const shared_times& times() const { return times_; }

 private:
  std::int64_t gpus_per_node_;
  shared_times times_;
  std::vector<sharing_candidate> jobs_;  ///< rising numbers
};

/// Adds the part. Groups of jobs are those of `choose_groups`, on devices that are whole and idle; the largest get
/// their places first, each the first nodes that have room. The book must outlive the engine.
result<void> register_interleave(engine& with, const job_book& book);

}  // namespace kaisched::bench::muri
