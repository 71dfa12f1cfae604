#pragma once
/// @file
/// Which jobs should share GPUs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/muri/interleaving.hpp"

namespace kaisched::bench::muri {

/// Jobs of one kind have iterations alike.
struct job_kind {
  double alone = 0;  ///< seconds of an iteration
  stage_times stages{};

  friend bool operator==(const job_kind&, const job_kind&) = default;
};

/// How long iterations take, by the kinds of jobs that share GPUs. What has been asked for is kept.
class shared_times {
 public:
  /// Number of the kind; all are told before the first question.
  [[nodiscard]] std::uint32_t add(const job_kind& kind);
  /// Seconds, of one to four kinds in rising order.
  [[nodiscard]] double iteration(std::span<const std::uint32_t> kinds) const;
  [[nodiscard]] const job_kind& kind(std::uint32_t number) const { return kinds_[number]; }

 private:
  void number_sets() const;

  std::vector<job_kind> kinds_;
  /// How many sets of k + 1 kinds there are below a kind, counted from 1, by kind and k: these sum up to the number of
  /// a set of four.
  mutable std::vector<std::array<std::size_t, most_sharers>> below_;
  mutable std::vector<double> known_;  ///< by the number of a set; 0: not asked for yet
};

/// A job that could run.
struct sharing_candidate {
  std::uint32_t job = 0;
  std::int64_t gpus = 0;
  std::uint32_t kind = 0;
  double remaining = 0;  ///< seconds, alone
};

/// Jobs that need as many GPUs and share these.
struct sharing_group {
  std::int64_t gpus = 0;
  std::vector<std::uint32_t> jobs;
};

/// The groups with the largest sum of what they are worth that were found, on `gpus` GPUs at most.
///
/// A group is worth, a second, the GPU time by which it shortens what its jobs need, each as often as there are jobs
/// that will end sooner for it: the job itself and those that need more GPU time.
///
/// What a GPU costs is searched for: each size of jobs for itself takes the groups that are worth more than their GPUs,
/// and the lowest price is taken at which all of them fit.
[[nodiscard]] std::vector<sharing_group> choose_groups(std::vector<sharing_candidate> jobs, std::int64_t gpus,
                                                       const shared_times& times);

}  // namespace kaisched::bench::muri
