#pragma once
/// @file
/// Fair Tree: leaves of a tree are ranked by how little they and those above them have used of their shares.

#include <cstdint>
#include <span>
#include <vector>

namespace kaisched::policy {

/// One node of the tree. Those above the top level are not listed.
struct fair_tree_node {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;
  std::uint32_t parent = none;  ///< an earlier or later node, or none at the top level
  std::int64_t shares = 0;      ///< at most 2^40
  std::int64_t usage = 0;       ///< at most 2^40
};

/// Rank of every leaf, n for the first of n leaves; 0 for nodes with children. Siblings are served by level fairness,
/// the largest first: the part of the shares of all siblings that a node has, over the part of their usage. Without
/// shares it is 0, with shares and without usage infinite. Equal siblings are tied: leaves get the same rank, the
/// children of inner nodes are served as if they were siblings, and a leaf that ties with an inner node has the rank of
/// the first leaf below that. Arithmetic is exact.
[[nodiscard]] std::vector<std::uint32_t> fair_tree_ranks(std::span<const fair_tree_node> nodes);

}  // namespace kaisched::policy
