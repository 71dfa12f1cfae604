#pragma once
/// @file
/// GPU time that groups have had, and what is left of their run times.

#include <cstdint>

#include <kaisched/policy.hpp>

#include "base/int128.hpp"

namespace kaisched {
class session_access;
}

namespace kaisched::policy {

/// GPU time in milli-GPU nanoseconds: what the input says of earlier runs, and what the pods that were on nodes when
/// the session opened have had since the last start. Pods that the session itself starts have had nothing yet.
[[nodiscard]] base::int128 service_of(const session_access& a, group_row group);

/// GPU time that is gone if all pods of the group are evicted now, in milli-GPU nanoseconds: what those that were on
/// nodes when the session opened have done since the last checkpoint or start, whichever was later, and what a new
/// start costs. 0 where neither is known.
[[nodiscard]] base::int128 lost_if_evicted(const session_access& a, group_row group);

/// What a group still needs if it runs for as long as it is expected to.
struct remaining_work {
  bool known = false;     ///< the group has an estimate
  std::int64_t gpus = 0;  ///< milli-GPU of all its pods that are on nodes or wait
  /// Nanoseconds with all these pods; 0 where the group has run for longer than it was expected to.
  std::int64_t time = 0;
  base::int128 service = 0;  ///< milli-GPU nanoseconds
};
[[nodiscard]] remaining_work remaining_of(const session_access& a, group_row group);

/// An amount that is not negative as a key: the smaller first.
[[nodiscard]] order_key key_of_amount(base::int128 amount);
/// Behind every amount.
[[nodiscard]] order_key key_of_unknown();

}  // namespace kaisched::policy
