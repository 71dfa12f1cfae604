#pragma once
/// @file
/// How the fair share of a queue came about: the division, step by step.

#include <cstdint>
#include <string>
#include <string_view>

#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>

namespace kaisched {

/// What a step of a division does. Values are part of the ABI.
enum class share_step_kind : std::uint8_t {
  total = 1,       ///< what there is to divide among the children of the parent
  quota = 2,       ///< a queue gets its quota, as far as it asks for it
  over_quota = 3,  ///< a round by weight among the queues of one priority that still ask for more
  unit = 4,        ///< a remainder is rounded up to a whole unit (`compat`; `strict` has no remainders)
  part = 5,        ///< a part changed the share, after everything was divided
  left = 6,        ///< what nobody took; negative where quotas promise more than there is (`compat` only)
};
inline constexpr std::uint8_t share_step_kind_count = 7;
[[nodiscard]] std::string_view share_step_kind_name(share_step_kind k) noexcept;

/// One step of the division of one dimension among the children of one queue.
///
/// Amounts are in fixed units, and `before + given == after` holds exactly; the `given` of all steps for a queue add up
/// to its fair share, and `total` is what the children were given, without `part`, and what was `left`. Mode `compat`
/// divides in floating point: `before` and `after` are then rounded as the fair share itself is, and `given` and `left`
/// are the differences of rounded amounts, so that the sums still match.
struct share_step {
  share_step_kind what = share_step_kind::total;
  queue_row queue = no_row;   ///< who is given to; no_row: `total` and `left`
  queue_row parent = no_row;  ///< whose share is divided; no_row: what the cluster has
  dimension dim = dim_gpu;
  std::uint32_t round = 0;    ///< from 1, of the priority, or of quotas that share what is too little for all
  std::int64_t priority = 0;  ///< of the queue
  double weight = 0;          ///< over-quota weight of the queue
  double usage = 0;           ///< its history, as a part of the capacity of the cluster
  /// `over_quota`: the part of what the round divides to which weight and history pull. `quota` in rounds: to which the
  /// quota does. `unit`: the remainder that is rounded up, in units.
  double proportion = 0;
  std::int64_t wanted = 0;  ///< what the queue asked for at that moment, beyond `before` and within its limit
  std::int64_t before = 0;  ///< fair share before the step
  std::int64_t given = 0;
  std::int64_t after = 0;
  std::string by;  ///< `part`: its name

  friend bool operator==(const share_step&, const share_step&) = default;
};

}  // namespace kaisched
