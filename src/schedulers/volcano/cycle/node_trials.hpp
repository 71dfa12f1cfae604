#pragma once
/// @file
/// Which tasks on a node would have to go for another one, and on which node they matter least.
///
/// Source: volcano-sh/volcano, pkg/scheduler/actions/preempt/preempt.go, as kube-scheduler does it: all that may go are
/// taken until there is room, then as many as possible are let off again.

#include <optional>
#include <span>
#include <vector>

#include "schedulers/volcano/cycle/node_search.hpp"

namespace kaisched::volcano {

struct node_trial {
  row node = no_row;
  std::vector<row> victims;  ///< the most important one first
};

/// The task has a place on the node: its queue allows it, there will be room, and nothing refuses it.
[[nodiscard]] bool has_place(const session& of, row task, row node);
/// nullopt: it would not fit, or no task has to go. The session is the same afterwards. `by_start`: tasks matter by the
/// priority of their pods, then by how early they started, and not as jobs and tasks are ordered.
/// @pre could_make_room of all `allowed` victims
[[nodiscard]] std::optional<node_trial> try_node(session& of, row task, row node, const std::vector<row>& allowed,
                                                 bool by_start);
/// The node whose most important victim matters least, then by the sum of what they matter, then by their number, with
/// `by_start` then the one whose most important victims started last, then the first. @pre not empty
[[nodiscard]] const node_trial& gentlest(const cluster_state& cluster, std::span<const node_trial* const> trials,
                                         bool by_start);

}  // namespace kaisched::volcano
