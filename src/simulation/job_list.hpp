#pragma once
/// @file
/// What readers of workloads share: sizes of pods, the order of jobs, names that appear twice.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "model/figures.hpp"
#include "simulation/workload.hpp"

namespace kaisched::simulation {

/// A number of whole GPUs, or a part of one (milli-GPU), as pods of at most `per_pod` GPUs each: full ones and one
/// remainder. The rest of a pod is that of `each`. Without GPUs there is one pod.
[[nodiscard]] std::vector<pod_shape> split_gpus(std::int64_t gpus, std::int64_t per_pod, const pod_shape& each = {});

/// Pods of all shapes, and milli-GPU of all pods.
[[nodiscard]] std::int64_t pods_of(const job& one);
[[nodiscard]] std::int64_t gpus_of(const job& one);

/// How fast it is with so many pods; empty: it does not say.
[[nodiscard]] result<std::vector<model::speed_point>> curve_of(const job& one);

/// Jobs as a source lists them, with the lines that they stand in.
class job_list {
 public:
  explicit job_list(std::string_view source) : source_(source) {}

  void add(job one, std::uint32_t line) {
    jobs_.push_back(std::move(one));
    lines_.push_back(line);
  }
  void leave_out() { ++left_out_; }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }

  /// The jobs by their time. The error names a job that is there twice.
  [[nodiscard]] result<workload> take();

 private:
  [[nodiscard]] result<void> check_names() const;

  std::string_view source_;
  std::vector<job> jobs_;
  std::vector<std::uint32_t> lines_;
  std::int64_t left_out_ = 0;
};

/// Entries of `after` that name no job of the workload go.
void forget_missing(workload& of);

/// Moves all times so that the first job arrives at 0.
void begin_at_zero(workload& moved);

}  // namespace kaisched::simulation
