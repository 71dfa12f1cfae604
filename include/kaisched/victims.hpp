#pragma once
/// @file
/// Why a pod had to leave or move: by which rules, for whom, who was left alone, and what if it had been protected.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>

namespace kaisched {

/// A fact about a victim that speaks for taking it, checked in the state before its commit. Values are part of the ABI.
enum class victim_rule : std::uint8_t {
  stale_gang = 1,        ///< its gang ran with fewer pods than it needs for longer than its grace
  runtime_limit = 2,     ///< its group had run for as long as it may
  migration = 3,         ///< a copy starts elsewhere first, to free its node
  drained_device = 4,    ///< the device is divided anew, and the pod holds an instance that goes
  has_to_move = 5,       ///< it stands where the room is made, and has got a place elsewhere
  beyond_gang = 6,       ///< its group does without it: pods beyond gangs go before gangs
  queue_over_share = 7,  ///< its queue, or one above it, held more than its fair share of what the pod holds
  lowest_priority = 8,   ///< of the groups of its queue that might have lost pods, none that was left alone is lower
  youngest = 9,          ///< and of those of the same priority none is younger
  in_solution = 10,      ///< nothing of this alone: the search found a set of victims that is enough with it
  over_limit = 11,       ///< its queue, or one above it, held more than its limit
  brings_less = 12,      ///< its group loses less speed by it than the group that gets its place gains
  reserved_node = 13,    ///< its node is reserved for others, which evicts who is there
  gang_leaves = 14,      ///< its gang would be incomplete without pods that leave such nodes
};
inline constexpr std::uint8_t victim_rule_count = 15;
[[nodiscard]] std::string_view victim_rule_name(victim_rule r) noexcept;

/// Why a group with pods on nodes was left alone by a commit. Values are part of the ABI.
enum class spared_reason : std::uint8_t {
  not_preemptible = 1,     ///< its pods are given to nobody; of a semi-preemptible group: it has none beyond its gangs
  own_queue = 2,           ///< `reclaim` takes from other queues
  other_queue = 3,         ///< `preempt` takes from the queue of the group that waits
  priority = 4,            ///< `preempt` takes from lower priorities
  queue_within_share = 5,  ///< `reclaim` takes what queues hold beyond their share; its queue holds no such amount
  minimum_runtime = 6,     ///< it has not run for as long as it is promised
  part = 7,                ///< a part of the policy spares it
  not_needed = 8,          ///< it might have lost pods: what others gave was enough, or its pods would not have helped
  disruption_budget = 9,   ///< a budget allows no more of the pods that it would lose first to leave or move
  evicted_enough = 10,     ///< it was evicted as often as the option `victims.most_evictions` allows
};
inline constexpr std::uint8_t spared_reason_count = 11;
[[nodiscard]] std::string_view spared_reason_name(spared_reason r) noexcept;

/// A group and how many of its pods something happened to.
struct group_pods {
  group_row group = no_row;
  std::uint32_t pods = 0;

  friend bool operator==(const group_pods&, const group_pods&) = default;
};

/// A group that was left alone.
struct spared_group {
  group_row group = no_row;
  spared_reason why = spared_reason::not_needed;

  friend bool operator==(const spared_group&, const spared_group&) = default;
};

/// What would have happened if the group of a victim had been protected: the decisions before its commit, and then the
/// action once more for the group that room was made for, as a session of its own found out.
struct protected_outcome {
  bool tried = false;               ///< false: nobody was placed in the commit, or the action cannot be asked again
  std::uint32_t pods = 0;           ///< that the group would still have got places for
  std::vector<group_pods> victims;  ///< who would have lost pods or had them moved
  eviction_attempt attempt{};       ///< how the search ended; of no action if nothing was searched
};

/// Why a pod had to leave or move, see `session::victim`.
struct victim_account {
  pod_row pod = no_row;
  group_row group = no_row;
  decision_kind kind = decision_kind::evict;  ///< evict, move or migrate
  action_kind action = action_kind::none;
  std::uint32_t commit = 0;
  std::vector<victim_rule> rules;    ///< all that hold, in the order of their values
  std::vector<group_pods> placed;    ///< who got places in the commit; the first one is who asked
  std::vector<group_pods> victims;   ///< who lost pods or had them moved in it, in the order of the decisions
  std::vector<spared_group> spared;  ///< groups that had pods on nodes and kept all, by row; none if nobody was placed
  protected_outcome if_protected;
  std::string reservation;  ///< for which `vacate` makes it leave; empty: none
};

/// A commit that made others leave or move and left a group alone, or some of its pods.
struct passed_over {
  action_kind action = action_kind::none;
  std::uint32_t commit = 0;
  std::vector<group_pods> placed;  ///< who got places
  bool gave_pods = false;          ///< the group lost others of its pods
  spared_reason why = spared_reason::not_needed;
};

}  // namespace kaisched
