#pragma once
/// @file
/// Groups of nodes that queues want, or avoid: which nodes a pod may go to, and what they are worth.
///
/// Source: Volcano's plugin nodegroup (pkg/scheduler/plugins/nodegroup/nodegroup.go).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaisched::policy {

/// What a queue says of groups of nodes, by their names.
struct node_group_affinity {
  std::vector<std::string> required;
  std::vector<std::string> preferred;  ///< the most wanted first, where the order counts
  std::vector<std::string> avoided;
  std::vector<std::string> rather_avoided;  ///< allowed, and worth less than any other

  [[nodiscard]] bool says_nothing() const {
    return required.empty() && preferred.empty() && avoided.empty() && rather_avoided.empty();
  }
};

/// A queue among others. Whose parent is not said belongs to the queue `root`, if there is one.
struct node_group_queue {
  std::string name;
  std::string parent;
  std::optional<node_group_affinity> affinity;
};

/// What counts for a queue: its own, or with `inherits` that of the nearest queue above it that has one. Null: nothing.
[[nodiscard]] const node_group_affinity* node_groups_of(std::span<const node_group_queue> queues, std::string_view name,
                                                        bool inherits);

/// Why a queue may not use a node.
enum class node_group_refusal : std::uint8_t {
  none,
  no_group,     ///< the node belongs to none
  no_affinity,  ///< the node belongs to one, and the queue says nothing
  unwanted      ///< the queue does not want this one
};
/// @param group of the node; null: it has none.
/// @param strict nodes without a group are for nobody; else for queues that say nothing.
[[nodiscard]] node_group_refusal refused_by_group(const std::string* group, const node_group_affinity* affinity,
                                                  bool strict);

/// 100 if required, 50 if preferred, both if both; -1 if rather avoided.
/// @param in_order preferred groups are worth from 50 down, the first most.
[[nodiscard]] double node_group_score(std::string_view group, const node_group_affinity& affinity, bool in_order);

}  // namespace kaisched::policy
