#include "policy/ordering/fair_tree.hpp"

#include <algorithm>
#include <utility>

#include "base/int128.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

/// Not negative; a denominator of 0 is infinite.
struct level_fairness {
  int128 over = 0;
  int128 under = 1;
};

/// Numbers have up to 112 binary digits, so fractions are compared digit by digit of their continued fractions.
int compare_fairness(level_fairness a, level_fairness b) {
  for (int sign = 1;; sign = -sign) {
    if (a.under == 0 || b.under == 0) return sign * ((a.under == 0 ? 1 : 0) - (b.under == 0 ? 1 : 0));
    const int128 x = a.over / a.under;
    const int128 y = b.over / b.under;
    if (x != y) return x < y ? -sign : sign;
    // What is left of both is below 1: the one with the larger reciprocal is smaller.
    a = {a.under, a.over % a.under};
    b = {b.under, b.over % b.under};
  }
}

class tree_ranking {
 public:
  explicit tree_ranking(std::span<const fair_tree_node> nodes)
      : nodes_(nodes), children_(nodes.size()), fairness_(nodes.size()), ranks_(nodes.size(), 0) {
    std::vector<std::uint32_t> top;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      (nodes[i].parent == fair_tree_node::none ? top : children_[nodes[i].parent]).push_back(i);
    }
    set_fairness(top);
    for (const std::vector<std::uint32_t>& siblings : children_) set_fairness(siblings);
    next_ = static_cast<std::uint32_t>(
        std::count_if(children_.begin(), children_.end(), [](const auto& below) { return below.empty(); }));
    given_ = next_;
    rank(std::move(top));
  }
  [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(ranks_); }

 private:
  /// Sets of siblings, and where the next of them is.
  struct level {
    std::vector<std::uint32_t> siblings;
    std::size_t next = 0;
    bool is_tied = false;  ///< its first has the rank that was given last
  };

  void set_fairness(const std::vector<std::uint32_t>& siblings) {
    int128 shares = 0;
    int128 usage = 0;
    for (const std::uint32_t i : siblings) {
      shares += nodes_[i].shares;
      usage += nodes_[i].usage;
    }
    for (const std::uint32_t i : siblings) {
      if (nodes_[i].shares > 0) fairness_[i] = {nodes_[i].shares * usage, shares * nodes_[i].usage};
      if (nodes_[i].shares > 0 && nodes_[i].usage == 0) fairness_[i] = {1, 0};
    }
  }

  [[nodiscard]] bool is_leaf(std::uint32_t i) const { return children_[i].empty(); }
  [[nodiscard]] bool equal(std::uint32_t a, std::uint32_t b) const {
    return compare_fairness(fairness_[a], fairness_[b]) == 0;
  }

  /// Leaves come before inner nodes that are as fair.
  void sort(std::vector<std::uint32_t>& siblings) const {
    std::sort(siblings.begin(), siblings.end(), [&](std::uint32_t a, std::uint32_t b) {
      const int order = compare_fairness(fairness_[a], fairness_[b]);
      if (order != 0) return order > 0;
      return is_leaf(a) != is_leaf(b) ? is_leaf(a) : a < b;
    });
  }

  /// Depth first, without recursion: trees may be deep.
  void rank(std::vector<std::uint32_t> top) {
    sort(top);
    std::vector<level> path;
    path.push_back({std::move(top), 0, false});
    while (!path.empty()) {
      level& here = path.back();
      if (here.next == here.siblings.size()) {
        path.pop_back();
        continue;
      }
      const std::size_t i = here.next;
      const std::uint32_t node = here.siblings[i];
      const bool tied = i == 0 ? here.is_tied : equal(here.siblings[i - 1], node);
      if (is_leaf(node)) {
        ++here.next;
        if (!tied) given_ = next_;
        ranks_[node] = given_;
        --next_;
        continue;
      }
      std::vector<std::uint32_t> below;
      while (here.next < here.siblings.size() && equal(node, here.siblings[here.next])) {
        const std::vector<std::uint32_t>& more = children_[here.siblings[here.next++]];
        below.insert(below.end(), more.begin(), more.end());
      }
      sort(below);
      path.push_back({std::move(below), 0, tied});
    }
  }

  std::span<const fair_tree_node> nodes_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<level_fairness> fairness_;
  std::vector<std::uint32_t> ranks_;
  std::uint32_t next_ = 0;   ///< rank of the next leaf, if it is not tied
  std::uint32_t given_ = 0;  ///< rank of the last leaf
};

}  // namespace

std::vector<std::uint32_t> fair_tree_ranks(std::span<const fair_tree_node> nodes) { return tree_ranking(nodes).take(); }

}  // namespace kaisched::policy
