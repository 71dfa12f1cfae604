#pragma once
/// @file
/// The domains of a topology: nodes that share the label values of a level and of all wider ones.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/ids.hpp>

#include "model/shape.hpp"

namespace kaisched::policy::topology {

/// Level 0 is the root, which holds every node of the topology; levels 1 and up are those of the topology.
inline constexpr std::uint32_t root_level = 0;
/// The root is the first domain of its tree.
inline constexpr std::uint32_t root_domain = 0;

struct domain {
  std::string id;  ///< the label values from the widest level down, joined by dots; "root" for the root
  std::uint32_t level = root_level;
  std::uint32_t parent = no_row;
  bool has_value = false;       ///< the label of its level is not empty
  std::vector<node_row> nodes;  ///< in the order in which they were added
};

/// Children of every domain, in some order.
using child_lists = std::vector<std::vector<std::uint32_t>>;

/// The shape of a level, and where nodes are in it.
struct level_grid {
  model::level_shape shape;
  std::vector<std::uint32_t> cell;  ///< by node: position in its domain, or `no_cell`; empty: the level has no shape
};

struct domain_tree {
  std::string name;
  std::vector<std::string> levels;  ///< widest first: `levels[0]` names level 1
  std::vector<domain> domains;      ///< parents before their children
  child_lists children;
  std::vector<std::vector<std::uint32_t>> by_level;  ///< domains of a level, the root's first
  std::vector<std::uint32_t> place;                  ///< by domain: position in the list of its level
  std::vector<std::uint32_t> leaf;                   ///< by node: its narrowest domain, or no_row
  std::vector<std::uint32_t> name_rank;              ///< position among all by the labels from the widest level down
  std::vector<level_grid> grids;                     ///< by level; empty: no level has a shape

  /// Number of a level, or no_row.
  [[nodiscard]] std::uint32_t level_named(std::string_view name) const;
  /// Of a level with a shape; else null.
  [[nodiscard]] const level_grid* grid_of(std::uint32_t level) const {
    return level < grids.size() && grids[level].shape.is_given() ? &grids[level] : nullptr;
  }
  /// The domain of a level that holds the node, which must be in the topology.
  [[nodiscard]] std::uint32_t domain_of(node_row node, std::uint32_t level) const;
};

/// Fills `name_rank` and `place`.
void rank_domains(domain_tree& tree);

/// How domains are told apart.
enum class domain_key : std::uint8_t {
  joined,  ///< by their ids, as KAI does: two paths whose values join to the same text are one domain
  path,    ///< by parent and value
};

/// Builds the tree of some nodes from their labels. A node without all of them is no part of the topology.
class tree_builder {
 public:
  tree_builder(std::string name, std::vector<std::string> levels, domain_key key);
  /// One null among the values: the node is left out.
  void add(node_row node, std::span<const std::string* const> values);
  [[nodiscard]] domain_tree finish(std::size_t nodes);

 private:
  std::uint32_t child(std::uint32_t parent, std::uint32_t level, const std::string& value);

  domain_tree tree_;
  domain_key key_;
  /// Domains of a level by key, sorted.
  std::vector<std::vector<std::pair<std::string, std::uint32_t>>> known_;
};

/// The narrowest domain that holds all nodes of the list that are in the topology; none narrower than a level. A domain
/// whose label is empty is none that nodes have in common.
[[nodiscard]] std::uint32_t common_domain(const domain_tree& tree, std::span<const node_row> nodes,
                                          std::uint32_t narrowest);
/// Domains below one, narrowest level first, within a level in the order of the tree.
[[nodiscard]] std::vector<std::uint32_t> bottom_up_order(const child_lists& children, std::uint32_t from);
/// Domains of one level at or below one, in the order of the tree.
[[nodiscard]] std::vector<std::uint32_t> domains_of_level(const domain_tree& tree, const child_lists& children,
                                                          std::uint32_t from, std::uint32_t level);

}  // namespace kaisched::policy::topology
