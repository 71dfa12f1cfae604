#pragma once
/// @file
/// How long queues wait for GPUs within their quotas.

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// Claims as `quota_claim` defines them. Moments count as a whole: what opens and closes at one moment was not open.
class quota_meter {
 public:
  /// @param queues that jobs are in, as they are numbered
  quota_meter(const std::vector<queue_share>& shares, const std::vector<std::string_view>& queues);

  /// Pods of the queue hold more GPUs from now on, or less.
  void hold(std::uint32_t queue, std::int64_t gpus) { queues_[queue].held += gpus; }
  /// A job of the queue waits that needs so many GPUs to go on, or does not any more (`sign` 1, -1).
  void wait(std::uint32_t queue, std::int64_t need, int sign);
  /// After all that happens at one moment.
  void note(std::int64_t now);
  /// What has come of it, by queue; closes nothing.
  [[nodiscard]] std::vector<quota_claim> until(std::int64_t end) const;

 private:
  struct entry {
    quota_claim told;
    std::int64_t held = 0;
    std::map<std::int64_t, std::uint64_t> needs;  ///< of jobs that wait: how many need so many GPUs
    std::int64_t since = never;                   ///< that its claim is open; `never`: it is not
  };
  static void close(quota_claim& of, std::int64_t lasted);

  std::vector<entry> queues_;
};

}  // namespace kaisched::simulation
