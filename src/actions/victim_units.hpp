#pragma once
/// @file
/// What victims are: units that leave together, sets of them, and who may be taken from.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Pods of a unit; most have one, or a few.
using unit_pods = boost::container::small_vector<pod_row, 8>;

/// Victims that were offered together: a whole gang, or one surplus pod.
struct victim_unit {
  group_row group = no_row;
  unit_pods pods;
};

/// Units of sets that are mostly small.
using unit_list = boost::container::small_vector<victim_unit, 4>;

/// Joins units of one group, in the order of first appearance.
void join(std::vector<victim_unit>& units);
void join(unit_list& units);

/// All pods of units, in their order.
[[nodiscard]] std::vector<pod_row> pods_in(std::span<const victim_unit> units);
/// The same at the end of a list.
template <class Pods>
void append_pods(std::span<const victim_unit> units, Pods& to) {
  for (const victim_unit& one : units) to.insert(to.end(), one.pods.begin(), one.pods.end());
}

/// A set of victims that is tried.
struct scenario {
  group_row group = no_row;            ///< that waits
  std::vector<victim_unit> recorded;   ///< found for fewer pending pods
  std::vector<victim_unit> potential;  ///< new ones

  /// Calls `visit` for the pods of all victims, recorded ones first. `compat`: the same pod may come twice.
  template <class Visit>
  void each_pod(Visit visit) const {
    for (const auto* units : {&recorded, &potential}) {
      for (const victim_unit& one : *units) std::for_each(one.pods.begin(), one.pods.end(), visit);
    }
  }
};

/// Victims of a scenario by group, in the order of their first units.
[[nodiscard]] unit_list victims_by_group(const scenario& of);

/// What differs between the actions.
struct victim_rules {
  /// Groups that may lose pods: those that `can_lose`, are in a leaf queue that is accepted and are accepted
  /// themselves.
  std::function<bool(queue_row)> queue_may_lose;
  std::function<bool(group_row)> may_lose;
  /// All that can lose pods may: the two above accept everybody.
  bool all_may_lose = false;
  /// `may_lose` accepts every group, and tells nothing.
  bool every_group_may_lose = false;
  /// Pods of this leaf queue may be lost, not only moved. False only where `accepts` refuses every such loss. Empty:
  /// all may be.
  std::function<bool(queue_row)> queue_may_end_with_less;
  /// `strict`: queues whose groups may at least move. Null: those that may lose.
  std::function<bool(queue_row)> queue_may_move;
  /// Of these at most so many, the first by priority, age and name. 0: all.
  std::size_t most = 0;
  /// The outcome of a simulation, the statement being open.
  std::function<bool(const scenario&)> accepts;
  /// `strict`: what pods of the set move is little enough, the statement being open. Null: any number may move.
  std::function<bool(const scenario&)> moves_little;
  /// Set where some set was refused for that; may be null.
  bool* moved_too_much = nullptr;
  /// Counts those that are not accepted; may be null.
  std::uint64_t* refused = nullptr;
  /// The first disruption budget that was in the way; may be null.
  policy::budget_refusal* over_budget = nullptr;
  /// `strict`: losing this unit could be accepted. What is refused for a unit alone is refused for more.
  std::function<bool(const victim_unit&)> may_be_lost;
  /// `strict`: a set that is refused could be accepted with more victims.
  bool more_may_help = false;
};

/// Tells the first disruption budget that was in the way.
inline void tell_budget(const victim_rules& rules, const policy::budget_refusal& why) {
  if (rules.over_budget != nullptr && rules.over_budget->budget == no_row) *rules.over_budget = why;
}

/// Budgets do not let these pods go beside those that have gone, which is told.
[[nodiscard]] bool budgets_refuse(const framework::session_state& c, const victim_rules& rules,
                                  std::span<const pod_row> pods);

/// Asks whether the outcome of a simulation is accepted, and counts.
[[nodiscard]] inline bool accepted(const framework::session_state& c, const victim_rules& rules, const scenario& what) {
  const bool in_budget = c.access.budgets->holds();
  if (!in_budget) tell_budget(rules, c.access.budgets->overdraft());
  const bool good = in_budget && rules.accepts(what);
  if (!good && rules.refused != nullptr) ++*rules.refused;
  return good;
}

/// Preemptible, with pods on nodes; semi-preemptible, with pods beyond its core.
[[nodiscard]] bool has_pods_to_lose(const framework::session_state& c, group_row group);

/// Some active pod of the group is on one of the nodes.
[[nodiscard]] bool has_pods_among(const framework::session_state& c, group_row group, const framework::node_set& nodes);

/// All that the group has are places that were kept for it from earlier sessions: others have left for them, and before
/// this session none of its pods had started.
[[nodiscard]] bool has_kept_places_only(const framework::session_state& c, group_row group);

/// May be taken from to make room for others: in a queue that can be served, not evicted often enough, with pods to
/// lose that are more than `has_kept_places_only`.
[[nodiscard]] bool can_lose(const framework::session_state& c, group_row group);

/// What the group could lose next: one surplus pod or sub-group, else all its active pods, or nothing if it is
/// semi-preemptible. `pods`: the pods that are left of the group.
[[nodiscard]] unit_pods next_unit(const framework::session_state& c, group_row group, std::span<const pod_row> pods);

/// The units of groups, in the order in which each group would lose them. Known as long as no pod of them changes.
class victim_chains {
 public:
  explicit victim_chains(const framework::session_state& c) : c_(c) {}

  [[nodiscard]] const std::vector<victim_unit>& of(group_row group);
  /// The units of these pods and all that their groups lose before, in the order of the pods.
  [[nodiscard]] std::vector<victim_unit> closed(std::span<const victim_unit> units);

 private:
  const framework::session_state& c_;
  std::map<group_row, std::vector<victim_unit>> chains_;
};

/// Some pod of the unit has been evicted and not been placed again.
[[nodiscard]] bool is_lost(const framework::session_state& c, const victim_unit& unit);

/// All pods that belong to the tree of a group, in task order within pod sets.
[[nodiscard]] std::vector<pod_row> pods_of(const framework::session_state& c, group_row group);

/// GPUs of a node that are free or coming free, in milli-GPU.
[[nodiscard]] inline std::int64_t free_gpus(const framework::session_state& c, node_row row) {
  return c.gpus.free(row);
}

/// The node that a pod is on.
[[nodiscard]] inline node_row node_of(const framework::session_state& c, pod_row p) {
  return (*c.state().node_row_of_slot)[c.live.pod_node[p]];
}

/// GPUs that a pod holds, in milli-GPU.
[[nodiscard]] inline std::int64_t gpus_of(const framework::session_state& c, pod_row p) { return c.gpus.held(p); }
/// GPUs that a pod asks for, in milli-GPU.
[[nodiscard]] inline std::int64_t gpus_wanted(const framework::session_state& c, pod_row p) { return c.gpus.wanted(p); }

}  // namespace kaisched::actions
