#pragma once
/// @file
/// Who leaves so that a queue gets back what it is guaranteed.
///
/// Source: apache/yunikorn-core, pkg/scheduler/objects/preemption.go, queue.go. Repaired here: victims must cover what
/// the node lacks, each dimension of it, not the whole request in any; victims of a solution are those that are judged;
/// what a queue is guaranteed goes by the tree, not by how its name begins.

#include <functional>
#include <optional>
#include <vector>

#include "schedulers/yunikorn/rules/state.hpp"

namespace kaisched::yunikorn {

/// What an ask gets by preemption.
struct preemption_plan {
  row node = no_row;
  std::vector<row> victims;
};

/// How one ask looks for victims.
struct preemption_query {
  row ask = no_row;
  bool nodes_tried = false;               ///< no node has room: those without victims are out of the question
  std::function<bool(row node)> accepts;  ///< whoever leaves, the node would take it
};

/// Nodes by how many must leave, then by name; the first whose victims are neither originators nor among those that do
/// not allow it, else the one that hurts these least. Nothing: nobody may leave, or too few.
[[nodiscard]] std::optional<preemption_plan> find_victims(const cluster_state& cluster, const preemption_query& query);

}  // namespace kaisched::yunikorn
