#pragma once
/// @file
/// Which nodes of a view pods go to, and which GPUs of a node.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/cells/layout.hpp"

namespace kaisched::policy::cells {

/// A node, or a cell that is less than one, as pods of some priority see it.
struct node_view {
  std::uint32_t free = 0;     ///< GPUs that the pods may have
  std::uint32_t used = 0;     ///< more is better
  std::uint32_t foreign = 0;  ///< of equally used ones the less the better
};

/// For each pod, in the order of `pods`, a node: pods by rising number of GPUs are put on nodes from the most used one
/// on, and a node that is too full for one is not looked at again. Nothing if some pod finds none.
[[nodiscard]] std::optional<std::vector<number>> pick_nodes(std::span<const node_view> nodes,
                                                            std::span<const std::uint32_t> pods);

/// Takes so many GPUs out of a list, those of the smallest cell that has as many; of several such cells the one whose
/// first GPU comes first. There must be as many.
[[nodiscard]] std::vector<number> choose_gpus(const chain& of, std::vector<number>& available, std::uint32_t count);

}  // namespace kaisched::policy::cells
