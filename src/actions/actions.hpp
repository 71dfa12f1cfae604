#pragma once
/// @file
/// The actions of a session.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "session/core.hpp"

namespace kaisched::actions {

struct action_entry {
  std::string_view name;
  action_kind kind;
  result<void> (*run)(work::core& c);
  bool asks_groups = false;   ///< for groups that wait: it can be run for one of them
  bool keeps_bounds = false;  ///< starts nobody beyond limits and quotas of queues, if the policy has `proportion`
  bool searches = false;      ///< for victims, with steps of `core::search_effort`
};

/// All actions, in the order in which a scheduler usually runs them.
[[nodiscard]] std::span<const action_entry> action_list() noexcept;

/// Starts pending pods on free resources, most deserving group first; gangs completely or not at all.
result<void> allocate(work::core& c);
/// Moves pods together so that a pending group fits; nobody may lose anything.
result<void> consolidation(work::core& c);
/// Groups in the order in which `allocate` would try them if none of them started.
[[nodiscard]] result<std::vector<group_row>> allocation_order(work::core& c);
/// Takes from other queues what a queue is entitled to.
result<void> reclaim(work::core& c);
/// Takes from groups of lower priority in the same queue.
result<void> preempt(work::core& c);
/// Evicts groups that have run for as long as they and their queues allow.
result<void> limit_runtime(work::core& c);
/// Evicts what runs of gangs that have been incomplete for longer than their grace period.
result<void> evict_stale_gangs(work::core& c);
/// Evicts what queues hold beyond their limits.
result<void> keep_limits(work::core& c);
/// Takes surplus pods of groups where they bring less speed than the pods of groups that get their places.
result<void> resize(work::core& c);
/// Evicts or moves those that nodes are not reserved for, where a reservation says so.
result<void> vacate(work::core& c);
/// The reservation for which the pod would have to leave its node; nothing if it may stay there.
[[nodiscard]] std::optional<policy::reservation_refusal> vacated_by(const work::core& c, pod_row pod);
/// Starts groups in queue order up to the first that waits for others to end, and behind it those that do not delay it.
result<void> backfill(work::core& c);

/// Tiers of plug-ins vote on what starts and who leaves: options `tiers` and `tiers.*`.
result<void> decide_in_tiers(work::core& c);
/// What each of these plug-ins says of nodes for a pod that waits.
struct plugin_points {
  std::vector<std::string> plugins;         ///< that score nodes, in their order
  std::vector<std::vector<double>> points;  ///< by plug-in, then by place in `nodes`
};
/// `nodes`: those that are compared with each other. `without`: a plug-in that is not asked.
[[nodiscard]] result<plugin_points> points_in_tiers(const work::core& c, pod_row pod, std::span<const node_row> nodes,
                                                    std::string_view without);

/// Groups in the cells that their queues own, others on what is idle: options `cells.*`.
result<void> decide_in_cells(work::core& c);
/// The heads of all queues take quota, or tell others to leave, in cycles: option `admission.settings`.
result<void> admit_by_quota(work::core& c);
/// Queues take turns, one pod each time: option `turns.settings`.
result<void> take_turns(work::core& c);

/// Plans which devices are divided anew for groups that ask for instances which no node has free.
result<void> repartition(work::core& c);

/// The group may lose nothing to the one that waits, for as long as it has run for less than it is promised.
[[nodiscard]] bool keeps_promise(const work::core& c, action_kind action, group_row waiting, group_row victim);

/// When the group would have a place if those that hold something ended as they are expected to and nobody else were
/// served before it; `unset` if nobody knows, or if it has no place then either.
[[nodiscard]] result<std::int64_t> earliest_start(work::core& c, group_row group);

/// A group that has just found no place waits for others to end, and what is behind it may only start if it starts no
/// later for that.
[[nodiscard]] result<bool> is_head(work::core& c, const work::failure& of);

}  // namespace kaisched::actions
