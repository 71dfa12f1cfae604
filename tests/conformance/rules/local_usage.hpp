#pragma once
/// @file
/// Past usage of the parts of a queue, by which they take turns: what they had fades with a half-life, and what was
/// just given to them counts at once.
///
/// This is the exponential moving average of Kueue's AdmissionFairSharing: after d seconds the usage is
/// w * before + (1 - w) * held, with w = 0.5^(d / usageHalfLifeTime). It stays in the unit of what is held. The decayed
/// sums of KAI (src/simulation/usage_meter.hpp, examples/kubernetes/scheduler/usage/usage_ledger.hpp) grow with time
/// instead.

#include <map>
#include <string>
#include <utility>

namespace kaisched::kueue {

/// Amounts by resource, in whole units.
using usage_amounts = std::map<std::string, double>;

/// The part of the old that is replaced by the new after so much time: 0 after none, 1/2 after a half-life. Without a
/// half-life (0) nothing ever fades. Both in seconds.
[[nodiscard]] double fading(double elapsed, double half_life);

/// What has been had until now, given what is held now: old usage fades, and current usage takes its place.
[[nodiscard]] usage_amounts faded(const usage_amounts& before, const usage_amounts& held, double elapsed,
                                  double half_life);

/// One number for all resources, per weight. Resources without a weight weigh 1. Without a positive weight of its own,
/// usage is infinite: such a part comes last.
[[nodiscard]] double weighted_usage(const usage_amounts& amounts, double weight, const usage_amounts& resource_weights);

/// Past usage of one part of a queue.
class usage_history {
 public:
  usage_history() = default;
  explicit usage_history(usage_amounts had) : had_(std::move(had)) {}

  /// A workload got what it asked for: until that is seen as usage, this share of it counts. Again for the same
  /// workload replaces the first.
  void got(const std::string& workload, const usage_amounts& asked, double share);
  /// It did not get it after all.
  void gave_back(const std::string& workload) { entries_.erase(workload); }

  /// Past usage and entries together.
  [[nodiscard]] usage_amounts total() const;

 private:
  usage_amounts had_;
  std::map<std::string, usage_amounts> entries_;  ///< by workload
};

}  // namespace kaisched::kueue
