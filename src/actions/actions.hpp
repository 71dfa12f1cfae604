#pragma once
/// @file
/// The actions of a session.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"
#include "policy/predicates/reservations.hpp"

namespace kaisched::actions {

/// Starts pending pods on free resources, most deserving group first; gangs completely or not at all.
result<void> allocate(framework::session_state& c);
/// Moves pods together so that a pending group fits; nobody may lose anything.
result<void> consolidation(framework::session_state& c);
/// Groups in the order in which `allocate` would try them if none of them started.
[[nodiscard]] result<std::vector<group_row>> allocation_order(framework::session_state& c);
/// Takes from other queues what a queue is entitled to.
result<void> reclaim(framework::session_state& c);
/// Takes from groups of lower priority in the same queue.
result<void> preempt(framework::session_state& c);
/// Evicts groups that have run for as long as they and their queues allow.
result<void> limit_runtime(framework::session_state& c);
/// Evicts what runs of gangs that have been incomplete for longer than their grace period.
result<void> evict_stale_gangs(framework::session_state& c);
/// Evicts what queues hold beyond their limits.
result<void> keep_limits(framework::session_state& c);
/// Takes surplus pods of groups where they bring less speed than the pods of groups that get their places.
result<void> resize(framework::session_state& c);
/// Evicts or moves those that nodes are not reserved for, where a reservation says so.
result<void> vacate(framework::session_state& c);
/// The reservation for which the pod would have to leave its node; nothing if it may stay there.
[[nodiscard]] std::optional<policy::reservation_refusal> vacated_by(const framework::session_state& c, pod_row pod);
/// Starts groups in queue order up to the first that waits for others to end, and behind it those that do not delay it.
result<void> backfill(framework::session_state& c);

/// Plans which devices are divided anew for groups that ask for instances which no node has free.
result<void> repartition(framework::session_state& c);

/// The group may lose nothing to the one that waits, for as long as it has run for less than it is promised.
[[nodiscard]] bool keeps_promise(const framework::session_state& c, action_kind action, group_row waiting,
                                 group_row victim);

/// When the group would have a place if those that hold something ended as they are expected to and nobody else were
/// served before it; `unset` if nobody knows, or if it has no place then either.
[[nodiscard]] result<std::int64_t> earliest_start(framework::session_state& c, group_row group);

/// A group that has just found no place waits for others to end, and what is behind it may only start if it starts no
/// later for that.
[[nodiscard]] result<bool> is_head(framework::session_state& c, const framework::failure& of);

}  // namespace kaisched::actions
