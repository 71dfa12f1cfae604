#pragma once
/// @file
/// The search for victims: which pods have to leave so that the next chunk of a group can be placed.
///
/// Algorithm: that of KAI Scheduler 0.17 (`pkg/scheduler/actions/common/solvers`, plugins `nodelocalgreedy` and
/// `multinodegang`). The number of pending pods that can be placed is found by doubling and bisection; victims of a
/// smaller number are kept for the next one. Victims are collected in victim order, whole gangs or one surplus pod at a
/// time. Sets of them that are cheap to rule out are never simulated; the others are evicted in a statement, the group
/// and its victims are placed again in queue order, and whoever found no place is a victim.

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "session/core.hpp"

namespace kaisched::actions {

/// Victims that were offered together: a whole gang, or one surplus pod.
struct victim_unit {
  group_row group = no_row;
  std::vector<pod_row> pods;
};

/// A set of victims that is tried.
struct scenario {
  group_row group = no_row;            ///< that waits
  std::vector<victim_unit> recorded;   ///< found for fewer pending pods
  std::vector<victim_unit> potential;  ///< new ones

  /// All victims, recorded ones first. `compat`: the same pod may be there twice.
  [[nodiscard]] std::vector<pod_row> pods() const;
};

/// Victims of a scenario by group, in the order of their first units.
[[nodiscard]] std::vector<victim_unit> victims_by_group(const scenario& of);

/// What differs between the actions.
struct victim_rules {
  std::vector<group_row> candidates;             ///< groups that may lose pods, in canonical order
  std::function<bool(const scenario&)> accepts;  ///< the outcome of a simulation, the statement being open
};

/// What became of a search.
enum class search_outcome : std::uint8_t {
  failed,     ///< no victims were found, or no set of them helps
  solved,     ///< the statement holds evictions and claims and is ready to be committed
  abandoned,  ///< as in KAI: victims were found for a part of the tree of sub-groups that does not count as the whole
};

/// Looks for victims for the next chunk of a group.
[[nodiscard]] result<search_outcome> find_victims(work::core& c, group_row group, const victim_rules& rules);

/// What the group could lose next: one surplus pod or sub-group, else all its active pods. `pods`: the pods that are
/// left of the group.
[[nodiscard]] std::vector<pod_row> next_unit(const work::core& c, group_row group, std::span<const pod_row> pods);

/// All pods that belong to the tree of a group, in task order within pod sets.
[[nodiscard]] std::vector<pod_row> pods_of(const work::core& c, group_row group);

/// GPUs of a node that are free or coming free, in milli-GPU.
[[nodiscard]] std::int64_t free_gpus(const work::core& c, node_row row);

}  // namespace kaisched::actions
