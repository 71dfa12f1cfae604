#pragma once
/// @file
/// How far decisions are from the best that any scheduler could have done: what they achieved, beside a bound that can
/// be checked without the engine.
///
/// The bounds look at amounts, whole devices, readiness, taints and node selectors; whatever else restricts a scheduler
/// (gangs of the victims, fairness, where moved pods go, affinity) is left out, so the best possible is between bound
/// and achievement. Those of victims are Lagrangian duals of a covering knapsack (M. Fisher, The Lagrangian Relaxation
/// Method for Solving Integer Programming Problems, Management Science 27, 1981).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>

namespace kaisched {

/// What is compared.
enum class gap_kind : std::uint8_t {
  none = 0,
  victims = 1,        ///< pods that were made to leave or move, and the fewest that make room for what started
  domains = 2,        ///< domains of the level that the pods prefer to share, and the fewest that have room for them
  fragmentation = 3,  ///< further pods of a kind that fit now, and the most if all that is free lay together
};
inline constexpr std::uint8_t gap_kind_count = 4;
[[nodiscard]] std::string_view gap_kind_name(gap_kind k) noexcept;

/// Why no fewer victims do, in one domain or in all nodes together. For every node and every number v of pods that
/// leave it, it takes at most t(v) pods. With the price p / q of a pod, the sum over nodes of the most of p t(v) - q v
/// is at most p times the pods less q times the bound.
struct victim_bound {
  std::string domain{};         ///< values of labels from the widest level down, joined by `/`; empty: all nodes
  bool is_too_small = false;    ///< even without any of its pods it has no room
  std::int64_t price = 0;       ///< p
  std::int64_t per_victim = 1;  ///< q
  std::int64_t bound = 0;       ///< unless it is too small

  friend bool operator==(const victim_bound&, const victim_bound&) = default;
};

/// One comparison.
struct optimality_gap {
  gap_kind kind = gap_kind::none;
  std::uint32_t commit = 0;  ///< of the decisions; fragmentation: 0, all of them
  action_kind action = action_kind::none;
  group_row group = no_row;  ///< that started; fragmentation: that waits
  pod_row pod = no_row;      ///< one of those in question: pods that ask for the same
  std::int64_t pods = 0;     ///< how many of them started, or wait
  std::int64_t achieved = 0;
  std::int64_t bound = 0;
  std::string level{};                  ///< label key; victims: that the group requires, or empty
  dimension dim = no_row;               ///< fragmentation: the dimension that bounds; no_row: the sizes of nodes
  std::vector<victim_bound> domains{};  ///< victims: the bound is the least of theirs
  std::vector<std::int64_t>
      largest{};  ///< domains: the most pods that each of the largest takes, one fewer than the bound

  /// How much better something could be at most. Never negative.
  [[nodiscard]] std::int64_t distance() const noexcept {
    return kind == gap_kind::fragmentation ? bound - achieved : achieved - bound;
  }

  friend bool operator==(const optimality_gap&, const optimality_gap&) = default;
};

}  // namespace kaisched
