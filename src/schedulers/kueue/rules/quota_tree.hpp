#pragma once
/// @file
/// Quotas of queues in trees of cohorts that lend and borrow: what is free, what could ever be free, and how much more
/// than its own a subtree holds.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/kueue/rules/amount.hpp"

namespace kaisched::kueue {

/// A flavor (kind of node, such as spot or on-demand) and a resource, as one dense number.
using cell_id = std::uint32_t;

/// All pairs of flavors and resources. Both are numbered in the order of their names: where names break ties, numbers
/// do.
struct cell_space {
  std::uint32_t flavors = 0;
  std::uint32_t resources = 0;

  [[nodiscard]] std::size_t size() const { return std::size_t{flavors} * resources; }
  [[nodiscard]] cell_id at(std::uint32_t flavor, std::uint32_t resource) const { return flavor * resources + resource; }
  [[nodiscard]] std::uint32_t flavor_of(cell_id cell) const { return cell / resources; }
  [[nodiscard]] std::uint32_t resource_of(cell_id cell) const { return cell % resources; }
};

struct cell_amount {
  cell_id cell = 0;
  amount value;

  friend bool operator==(const cell_amount&, const cell_amount&) = default;
};

/// Amounts by cell, ascending, each cell at most once.
using cell_amounts = std::vector<cell_amount>;

/// Adds to the amount of a cell, which is made if it is missing.
void add_to(cell_amounts& sums, cell_id cell, amount value);
[[nodiscard]] amount amount_of(const cell_amounts& amounts, cell_id cell);

struct cell_quota {
  amount nominal;
  std::optional<amount> borrowing_limit;  ///< how much more than its own a node may hold; without one, no bound
  std::optional<amount> lending_limit;    ///< how much of its own others may hold; without one, all
};

using node_id = std::uint32_t;
inline constexpr node_id no_node = static_cast<node_id>(-1);

/// How much more than its quota a node holds, as a part of what its parent could lend. A node that borrows nothing has
/// none. Comparisons use IEEE doubles in a fixed order of operations, as the reference does, so that ties are the same.
struct borrowed_share {
  double weight = 1;
  double ratio = 0;  ///< per mille of what the parent could lend, of the resource where that is largest
  std::optional<std::uint32_t> dominant_resource;
  bool borrowing = false;
  std::vector<cell_id> cells;  ///< that are borrowed, ascending

  /// The ratio divided by the weight; infinite for one that borrows with weight zero.
  [[nodiscard]] double weighted() const;
  /// Whether one of the cells is asked for.
  [[nodiscard]] bool borrows_any_of(const cell_amounts& asked) const;
};

/// Less than 0 if `a` is to be served first and `b` to give way first, 0 if they are equal. Infinite shares are
/// larger than all others, and among each other ordered by the ratio.
[[nodiscard]] int compare(const borrowed_share& a, const borrowed_share& b);

/// The tree and what its queues use. A node's subtree quota is its own nominal quota plus what its children lend; usage
/// of a child counts at the parent as far as it is more than what the child keeps for itself.
///
/// Source: the quota arithmetic of Kueue (hierarchical cohorts, KEP-79; shares: KEP-1714).
class quota_tree {
 public:
  explicit quota_tree(cell_space cells) : cells_(cells) {}

  /// Nodes are made parents first. Where order matters, nodes are taken in the order in which they were made.
  node_id add_cohort(node_id parent, double weight = 1);
  node_id add_queue(node_id parent, double weight = 1);
  void set_quota(node_id node, cell_id cell, const cell_quota& quota);
  /// Sums up quotas and usage; after the last set_quota and before anything is asked.
  void finish();

  [[nodiscard]] const cell_space& cells() const { return cells_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] node_id parent(node_id node) const { return nodes_[node].parent; }
  [[nodiscard]] bool is_queue(node_id node) const { return nodes_[node].queue; }
  [[nodiscard]] bool has_parent(node_id node) const { return nodes_[node].parent != no_node; }
  [[nodiscard]] node_id root(node_id node) const;
  /// Cohorts and queues directly below a cohort, in order.
  [[nodiscard]] std::span<const node_id> child_cohorts(node_id node) const { return nodes_[node].cohorts; }
  [[nodiscard]] std::span<const node_id> child_queues(node_id node) const { return nodes_[node].queues; }
  /// Queues of a subtree: those of the cohort, then those of its cohorts, each in order.
  [[nodiscard]] std::vector<node_id> queues_below(node_id node) const;
  /// The distance to the deepest leaf; 0 for a node without children.
  [[nodiscard]] int height(node_id node) const;

  [[nodiscard]] const cell_quota& quota(node_id node, cell_id cell) const { return nodes_[node].quotas[cell]; }
  [[nodiscard]] amount usage(node_id node, cell_id cell) const { return nodes_[node].usage[cell]; }

  void add_usage(node_id queue, cell_id cell, amount value);
  void remove_usage(node_id queue, cell_id cell, amount value);
  void add_usage(node_id queue, const cell_amounts& values);
  void remove_usage(node_id queue, const cell_amounts& values);

  /// What the node may take in addition; negative if more is used than there is.
  [[nodiscard]] amount available(node_id node, cell_id cell) const;
  /// What it may hold if nobody uses anything.
  [[nodiscard]] amount potentially_available(node_id node, cell_id cell) const;
  /// What is free of the part that no other subtree can see.
  [[nodiscard]] amount locally_available(node_id node, cell_id cell) const;

  /// Whether a queue would hold more than its nominal quota, or a cohort more than that of its subtree.
  [[nodiscard]] bool borrows_with(node_id node, cell_id cell, amount value) const;
  [[nodiscard]] bool borrows(node_id node, cell_id cell) const { return borrows_with(node, cell, amount()); }
  /// Whether no cell holds more than the quota of the subtree.
  [[nodiscard]] bool within_quota(node_id node, std::span<const cell_id> cells) const;

  struct fit_in_quota {
    bool fits = true;
    cell_amounts rest;  ///< what the part that only this node sees does not cover
  };
  [[nodiscard]] fit_in_quota fits_in_quota(node_id node, const cell_amounts& asked) const;

  struct lowest_fit {
    int height = 0;
    bool below_root = false;  ///< the subtree is smaller than the whole tree: others may be asked to give back
  };
  /// The smallest subtree around the queue whose quota holds that much more; the whole tree if none does.
  [[nodiscard]] lowest_fit lowest_subtree_that_fits(node_id queue, cell_id cell, amount value) const;

  /// With `extra` counted as used. Roots have none, since there is nobody from whom they could borrow.
  [[nodiscard]] borrowed_share share(node_id node, const cell_amounts& extra = {}) const;

 private:
  struct one_node {
    node_id parent = no_node;
    bool queue = false;
    double weight = 1;
    std::vector<node_id> cohorts;
    std::vector<node_id> queues;
    std::vector<cell_quota> quotas;
    std::vector<bool> declared;  ///< cells that it or its children have a quota of, be it zero
    std::vector<amount> subtree;
    std::vector<amount> usage;
  };

  node_id add(node_id parent, bool queue, double weight);
  [[nodiscard]] amount kept(node_id node, cell_id cell) const;

  cell_space cells_;
  std::vector<one_node> nodes_;
};

}  // namespace kaisched::kueue
