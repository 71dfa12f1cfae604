#pragma once
/// @file
/// What queues have had lately: GPU time that counts half after some time, as a part of what the cluster had.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/int128.hpp"
#include "model/state.hpp"

namespace kaisched::simulation {

/// Usage that halves with each half-life, as KAI's `halfLifePeriod` does. At every 64th part of a half-life the sum is
/// multiplied by 2^(-1/64); what is held within a step counts in full until then. Parents have what their children
/// have.
///
/// The sums are integers, so a play has the same digest on every machine. Two other programs decay usage by other
/// formulas, in floating point, because they follow other references: kaisched-kubernetes integrates 2^(-age/half-life)
/// over a window (examples/kubernetes/scheduler/usage/usage_ledger.hpp), and the rules of Kueue average
/// (tests/conformance/rules/local_usage.hpp).
class usage_meter {
 public:
  /// @param queues that jobs are in, as they are numbered
  usage_meter(const model::cluster_state& s, const std::vector<std::string_view>& queues, std::int64_t half_life,
              std::int64_t gpus_there);

  /// A queue of a job has more GPUs from now on, or less; so has the cluster.
  void hold(std::uint32_t queue, std::int64_t gpus, std::int64_t now);
  void capacity(std::int64_t gpus, std::int64_t now);

  struct entry {
    std::string name;
    std::int64_t held = 0;
    base::int128 had = 0;    ///< milli-GPU nanoseconds, decayed
    base::int128 since = 0;  ///< of these, since the last step
  };
  /// Queues of jobs and what is above them, by name, as of now.
  [[nodiscard]] const std::vector<entry>& until(std::int64_t now);
  /// 0 to 1.
  [[nodiscard]] double part_of(const entry& queue) const;

 private:
  void advance(std::int64_t now);

  std::vector<entry> entries_;                     ///< the last one is the cluster
  std::vector<std::vector<std::uint32_t>> paths_;  ///< by queue of jobs: entries that count it
  std::int64_t step_ = 1;
  std::int64_t now_ = 0;
};

}  // namespace kaisched::simulation
