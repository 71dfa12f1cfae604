// The rule of the model of reclaim in a tree, reclaim_tree_rule.h, is that of the engine: both are asked about every
// set of victims, in every order, in every small tree.
#include <array>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "policy/reclaim/reclaim_rules.hpp"

namespace of_test_reclaim_tree {

using namespace kaisched;
using namespace kaisched::policy;

/// A tree of two levels, and what is in it, as in reclaim_tree.pml: in whole GPUs.
struct tree {
  static constexpr std::size_t units = 4;
  std::vector<std::size_t> leaf_of_unit;
  std::vector<std::size_t> top_of_leaf;
  std::size_t tops = 0;
  int most_share = 0;

  std::array<int, units> size{};
  std::array<bool, units> runs{};
  std::array<int, 4> quota{};
  std::array<int, 4> share{};
  std::array<int, 4> held{};
  std::array<int, 3> top_quota{};
  std::array<int, 3> top_share{};
  std::array<int, 3> top_held{};
  std::array<bool, 3> top_loses{};
  std::array<int, 4> counted{};
  std::array<int, 3> top_counted{};
  std::array<int, 4> quota_counted{};
  std::array<int, 3> top_quota_counted{};
  int quota_lost_beside = 0;
  int quota_lost_above = 0;
  int lost = 0;
  int gone_beside = 0;

#define choose(condition, a, b) ((condition) ? (a) : (b))
#define leaf_of(u) leaf_of_unit[u]
#define top_of(q) top_of_leaf[q]
#include "model/reclaim_tree_rule.h"

  [[nodiscard]] bool passes_gate(std::size_t u) const { return gate(u); }
  [[nodiscard]] bool model_may_go(std::size_t u, std::size_t v) const { return may_go(u, v); }
  [[nodiscard]] bool model_accepts(std::size_t u) const {
    if (!made_up(u) || !keeps_quotas(u)) return false;
    for (std::size_t x = 0; x < tops; ++x) {
      if (!(stays_below(u, x))) return false;
    }
    return true;
  }
  void book(std::size_t u, int sign) {
    held[leaf_of(u)] += sign * size[u];
    top_held[top(u)] += sign * size[u];
  }
  void lose(std::size_t u, std::size_t v) {
    int& quota_lost = is_beside(u, v) ? quota_lost_beside : quota_lost_above;
    lost -= loss(u, v);
    quota_lost -= quota_loss(u, v);
    if (counts_in_quota(u, v)) (is_beside(u, v) ? quota_counted[leaf_of(v)] : top_quota_counted[top(v)]) += size[v];
    if (counts(u, v)) (is_beside(u, v) ? counted[leaf_of(v)] : top_counted[top(v)]) += size[v];
    gone_beside += is_beside(u, v) ? size[v] : 0;
    top_loses[top(v)] = true;
    book(v, -1);
    lost += loss(u, v);
    quota_lost += quota_loss(u, v);
  }

  /// The same for the engine: top queues first, then leaf queues.
  [[nodiscard]] std::vector<exact_queue> queues() const {
    std::vector<exact_queue> made(tops + top_of_leaf.size());
    const auto tell = [](exact_queue& q, int deserved, int fair_share, int allocated) {
      exact_share& gpu = q.shares[dim_gpu];
      gpu.deserved = deserved * std::int64_t{whole_device};
      gpu.fair_share = fair_share * std::int64_t{whole_device};
      gpu.allocated = allocated * std::int64_t{whole_device};
    };
    for (std::size_t t = 0; t < tops; ++t) tell(made[t], top_quota[t], top_share[t], top_held[t]);
    for (std::size_t q = 0; q < top_of_leaf.size(); ++q) {
      exact_queue& one = made[tops + q];
      one.parent = static_cast<std::uint32_t>(top_of_leaf[q]);
      tell(one, quota[q], share[q], held[q]);
    }
    return made;
  }
  [[nodiscard]] queue_row row_of(std::size_t u) const { return static_cast<queue_row>(tops + leaf_of_unit[u]); }
  [[nodiscard]] exact_amounts amounts_of(std::size_t u) const {
    exact_amounts made{};
    made[dim_gpu] = size[u] * std::int64_t{whole_device};
    return made;
  }
};

struct tally {
  int accepted = 0;
  int refused = 0;
  int differences = 0;
};

/// All orders of all sets of victims, each longer one after the shorter one that it begins with.
void compare_sets(const tree& before, std::size_t u, std::span<const exact_queue> queues, const tree& now, bool may_all,
                  std::vector<reclaim_victims<exact_amounts>>& victims, tally& to) {
  const reclaim::exact_claim claim{before.row_of(u), before.amounts_of(u), {}, true};
  for (std::size_t v = 0; v < tree::units; ++v) {
    if (!now.runs[v] || before.leaf_of_unit[v] == before.leaf_of_unit[u]) continue;
    tree next = now;
    const bool may = may_all && now.model_may_go(u, v);
    next.lose(u, v);
    next.runs[v] = false;
    victims.push_back({before.row_of(v), {before.amounts_of(v)}});
    const bool model = may && next.model_accepts(u);
    const bool engine = reclaim::may_take<exact_queue, exact_amounts>(queues, claim, victims, std::int64_t{1000}, true);
    ++(engine ? to.accepted : to.refused);
    to.differences += model != engine ? 1 : 0;
    compare_sets(before, u, queues, next, may, victims, to);
    victims.pop_back();
  }
}

void compare_states(tree in, std::size_t unit, tally& to) {
  if (unit < tree::units) {
    compare_states(in, unit + 1, to);
    in.runs[unit] = true;
    in.book(unit, +1);
    compare_states(in, unit + 1, to);
    return;
  }
  const std::vector<exact_queue> queues = in.queues();
  for (std::size_t u = 0; u < tree::units; ++u) {
    if (in.runs[u]) continue;
    const bool engine =
        reclaim::may_reclaim<exact_queue>(queues, reclaim::exact_claim{in.row_of(u), in.amounts_of(u), {}, true}, true);
    to.differences += engine != in.passes_gate(u) ? 1 : 0;
    std::vector<reclaim_victims<exact_amounts>> victims;
    if (engine) compare_sets(in, u, queues, in, true, victims, to);
  }
}

/// Every value from 0 of every entry of a list.
template <class Then>
void for_all(std::span<int> entries, int least, int most, const Then& then) {
  if (entries.empty()) return then();
  for (entries[0] = least; entries[0] <= most; ++entries[0]) for_all(entries.subspan(1), least, most, then);
  entries[0] = least;
}

tally compare_trees(tree in) {
  tally found;
  const std::span<int> tops(in.top_quota.data(), in.tops);
  const std::span<int> top_shares(in.top_share.data(), in.tops);
  const std::span<int> leaves(in.quota.data(), 2);
  const std::span<int> shares(in.share.data(), in.top_of_leaf.size());
  for_all(in.size, 1, 2, [&] {
    for_all(tops, 0, 1, [&] {
      for_all(top_shares, 0, in.most_share, [&] {
        for_all(leaves, 0, 1, [&] { for_all(shares, 0, in.most_share, [&] { compare_states(in, 0, found); }); });
      });
    });
  });
  return found;
}

TEST_CASE("the model of reclaim in a tree has the rule of the engine") {
  tree in;
  SUBCASE("two leaf queues and one") {
    in.leaf_of_unit = {0, 1, 2, 2};
    in.top_of_leaf = {0, 0, 1};
    in.tops = 2;
    in.most_share = 2;
  }
  SUBCASE("two and two") {
    in.leaf_of_unit = {0, 1, 2, 3};
    in.top_of_leaf = {0, 0, 1, 1};
    in.tops = 2;
    in.most_share = 1;
  }
  SUBCASE("three top queues") {
    in.leaf_of_unit = {0, 1, 2, 3};
    in.top_of_leaf = {0, 0, 1, 2};
    in.tops = 3;
    in.most_share = 1;
  }
  const tally found = compare_trees(in);
  CHECK(found.differences == 0);
  CHECK(found.accepted > 1000);
  CHECK(found.refused > 1000);
  MESSAGE(found.accepted << " sets accepted, " << found.refused << " refused");
}

}  // namespace of_test_reclaim_tree
