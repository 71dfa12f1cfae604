#pragma once
/// @file
/// The search for victims: which pods have to leave so that the next chunk of a group can be placed.
///
/// Algorithm: that of KAI Scheduler 0.17 (`pkg/scheduler/actions/common/solvers`, plugins `nodelocalgreedy` and
/// `multinodegang`). The number of pending pods that can be placed is found by doubling and bisection; victims of a
/// smaller number are kept for the next one. Victims are collected in victim order, whole gangs or one surplus pod at a
/// time. Sets of them that are cheap to rule out are never simulated; the others are evicted in a statement, the group
/// and its victims are placed again in queue order, and whoever found no place is a victim.

#include <memory>

#include <kaisched/result.hpp>

#include "actions/victim_units.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

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
  explicit victim_search(framework::session_state& c);
  ~victim_search();
  victim_search(const victim_search&) = delete;
  victim_search& operator=(const victim_search&) = delete;

  /// GPUs of all nodes that are ready and not cordoned, free or coming free, in milli-GPU.
  [[nodiscard]] std::int64_t free_gpus();
  /// `compat`: not even all pods that can be lost would make room, so a search would fail and leave no trace.
  [[nodiscard]] result<bool> is_hopeless(group_row group, const victim_rules& rules);
  /// Looks for victims for the next chunk of a group.
  [[nodiscard]] result<search_outcome> find(group_row group, const victim_rules& rules);
  /// Ends a search that has not failed: commits the statement, or abandons it.
  result<void> finish(search_outcome outcome);

 private:
  std::unique_ptr<victim_search_state> state_;
};

}  // namespace kaisched::actions
