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
#include <memory>
#include <span>
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
  /// Groups that may lose pods: those that `can_lose`, are in a leaf queue that is accepted and are accepted
  /// themselves.
  std::function<bool(queue_row)> queue_may_lose;
  std::function<bool(group_row)> may_lose;
  /// Of these at most so many, the first by priority, age and name. 0: all.
  std::size_t most = 0;
  /// The outcome of a simulation, the statement being open.
  std::function<bool(const scenario&)> accepts;
};

/// What became of a search.
enum class search_outcome : std::uint8_t {
  failed,     ///< no victims were found, or no set of them helps
  solved,     ///< the statement holds evictions and claims and is ready to be committed
  abandoned,  ///< as in KAI: victims were found for a part of the tree of sub-groups that does not count as the whole
};

struct victim_search_state;

/// Looks for victims for one group after the other. What it knows of groups and nodes is kept from one to the next and
/// follows what is committed, so that a search costs what it looks at.
class victim_search {
 public:
  explicit victim_search(work::core& c);
  ~victim_search();
  victim_search(const victim_search&) = delete;
  victim_search& operator=(const victim_search&) = delete;

  /// Reads the session. To be called first.
  result<void> open();
  /// GPUs of all nodes that are free or coming free, in milli-GPU.
  [[nodiscard]] std::int64_t free_gpus() const;
  /// Looks for victims for the next chunk of a group.
  [[nodiscard]] result<search_outcome> find(group_row group, const victim_rules& rules);
  /// Ends a search that has not failed: commits the statement, or abandons it.
  result<void> finish(search_outcome outcome);

 private:
  std::unique_ptr<victim_search_state> state_;
};

/// May be taken from at all: in a queue that can be served, preemptible, with pods on nodes.
[[nodiscard]] bool can_lose(const work::core& c, group_row group);

/// What the group could lose next: one surplus pod or sub-group, else all its active pods. `pods`: the pods that are
/// left of the group.
[[nodiscard]] std::vector<pod_row> next_unit(const work::core& c, group_row group, std::span<const pod_row> pods);

/// All pods that belong to the tree of a group, in task order within pod sets.
[[nodiscard]] std::vector<pod_row> pods_of(const work::core& c, group_row group);

/// GPUs of a node that are free or coming free, in milli-GPU.
[[nodiscard]] std::int64_t free_gpus(const work::core& c, node_row row);

}  // namespace kaisched::actions
