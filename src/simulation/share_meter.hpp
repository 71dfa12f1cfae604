#pragma once
/// @file
/// How far the GPUs that queues hold are from an equal division among those that want some.

#include <cstdint>
#include <string_view>
#include <vector>

#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// Max-min fairness by water-filling: what is held in all is divided again, nobody gets more than it holds and waits
/// for, and by weight all others get the same. Weights are the quotas of GPUs where every queue with jobs has one.
class share_meter {
 public:
  share_meter(const std::vector<queue_share>& shares, const std::vector<std::string_view>& queues);

  /// These queues with their quotas.
  [[nodiscard]] static std::vector<queue_share> queues_with(const std::vector<queue_share>& shares,
                                                            const std::vector<std::string_view>& queues);

  void hold(std::uint32_t queue, std::int64_t gpus) { change(held_[queue], gpus); }
  void want(std::uint32_t queue, std::int64_t gpus) { change(wanted_[queue], gpus); }
  /// Milli-GPU that would be with other queues.
  [[nodiscard]] std::int64_t misplaced();
  /// Adds a sample for every queue of which something has changed since this was asked last.
  void note(std::int64_t now, std::vector<queue_sample>& to);

 private:
  void change(std::int64_t& of, std::int64_t by) {
    of += by;
    changed_ = changed_ || by != 0;
  }
  std::vector<std::int64_t> held_;    ///< by queue, milli-GPU
  std::vector<std::int64_t> wanted_;  ///< of pods that wait
  std::vector<std::int64_t> fair_;    ///< as of `misplaced`
  std::vector<std::int64_t> weight_;
  std::vector<std::uint32_t> order_;
  std::vector<queue_sample> noted_;  ///< by queue
  std::int64_t known_ = 0;
  bool changed_ = true;
};

}  // namespace kaisched::simulation
