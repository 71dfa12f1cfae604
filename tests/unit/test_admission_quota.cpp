// Quotas that cohorts lend and borrow, shares, flavors and victims.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "schedulers/kueue/rules/cycle.hpp"
#include "schedulers/kueue/rules/entry_order.hpp"
#include "schedulers/kueue/rules/flavor_assignment.hpp"
#include "schedulers/kueue/rules/quota_tree.hpp"
#include "schedulers/kueue/rules/quota_victims.hpp"

namespace of_test_admission_quota {

using namespace kaisched::kueue;

namespace {

constexpr cell_id only_cell = 0;

/// A cohort of two queues: a has 4 and lends what `lends` says, b has 6.
struct two_queues {
  quota_state state{quota_tree({1, 1}), {}, {}, nullptr};
  node_id root = no_node;
  node_id a = no_node;
  node_id b = no_node;

  explicit two_queues(std::optional<std::int64_t> lends = std::nullopt, double weight = 1) {
    quota_tree& tree = state.tree;
    root = tree.add_cohort(no_node);
    a = tree.add_queue(root, weight);
    b = tree.add_queue(root);
    cell_quota quota{amount(4), std::nullopt, std::nullopt};
    if (lends) quota.lending_limit = amount(*lends);
    tree.set_quota(a, only_cell, quota);
    tree.set_quota(b, only_cell, {amount(6), std::nullopt, std::nullopt});
    tree.finish();
  }

  void run(node_id queue, std::int64_t value, std::int64_t priority, std::string name) {
    running_workload one;
    one.queue = queue;
    one.priority = priority;
    one.reserved_at = 0;
    one.id = one.name = std::move(name);
    one.usage = {{only_cell, amount(value)}};
    one.cells = {only_cell};
    state.tree.add_usage(queue, one.usage);
    state.running.push_back(std::move(one));
  }

  victim_query query(node_id queue, std::int64_t value, std::int64_t priority) const {
    victim_query made;
    made.queue = queue;
    made.priority = priority;
    made.asked = {{only_cell, amount(value)}};
    made.cells = {only_cell};
    made.rules.reclaim_within_cohort = victim_policy::any;
    made.rules.within_queue = victim_policy::lower_priority;
    made.order.queue = queue;
    return made;
  }
};

}  // namespace

TEST_CASE("amounts saturate instead of wrapping round") {
  const amount most(INT64_MAX - 1);
  CHECK((most + amount(5)).is_unlimited());
  CHECK((amount::unlimited() - amount(5)).is_unlimited());
  CHECK((amount::unlimited() - amount::unlimited()) == amount());
  CHECK((amount(5) - amount::unlimited()).value() == INT64_MIN);
}

TEST_CASE("a lending limit keeps quota in the queue") {
  const two_queues limited(1);
  CHECK(limited.state.tree.potentially_available(limited.root, only_cell) == amount(7));
  CHECK(limited.state.tree.potentially_available(limited.a, only_cell) == amount(10));
  CHECK(limited.state.tree.potentially_available(limited.b, only_cell) == amount(7));
  const two_queues open;
  CHECK(open.state.tree.potentially_available(open.root, only_cell) == amount(10));
}

TEST_CASE("usage bubbles up only beyond what is kept, and down again") {
  two_queues cohort(1);
  quota_tree& tree = cohort.state.tree;
  tree.add_usage(cohort.a, only_cell, amount(2));
  CHECK(tree.usage(cohort.root, only_cell) == amount(0));
  tree.add_usage(cohort.a, only_cell, amount(4));
  CHECK(tree.usage(cohort.root, only_cell) == amount(3));
  tree.remove_usage(cohort.a, only_cell, amount(6));
  CHECK(tree.usage(cohort.root, only_cell) == amount(0));
  CHECK(tree.available(cohort.a, only_cell) == amount(10));
}

TEST_CASE("a borrowing limit bounds what a queue may hold") {
  quota_tree tree({1, 1});
  const node_id root = tree.add_cohort(no_node);
  const node_id a = tree.add_queue(root);
  const node_id b = tree.add_queue(root);
  tree.set_quota(a, only_cell, {amount(4), amount(1), std::nullopt});
  tree.set_quota(b, only_cell, {amount(6), std::nullopt, std::nullopt});
  tree.finish();
  CHECK(tree.available(a, only_cell) == amount(5));
  tree.add_usage(b, only_cell, amount(8));
  CHECK(tree.available(a, only_cell) == amount(2));
  CHECK(tree.lowest_subtree_that_fits(a, only_cell, amount(4)).height == 0);
  CHECK(tree.lowest_subtree_that_fits(a, only_cell, amount(5)).height == 1);
}

TEST_CASE("shares count what is borrowed against what could be lent") {
  two_queues open;
  open.state.tree.add_usage(open.a, only_cell, amount(6));
  CHECK(open.state.tree.share(open.a).weighted() == 200.0);
  CHECK(!open.state.tree.share(open.b).borrowing);
  two_queues heavy(std::nullopt, 2);
  heavy.state.tree.add_usage(heavy.a, only_cell, amount(6));
  CHECK(heavy.state.tree.share(heavy.a).weighted() == 100.0);
  two_queues limited(1);
  limited.state.tree.add_usage(limited.b, only_cell, amount(7));
  CHECK(std::ceil(limited.state.tree.share(limited.b).weighted()) == 143.0);
  two_queues weightless(std::nullopt, 0);
  weightless.state.tree.add_usage(weightless.a, only_cell, amount(5));
  CHECK(std::isinf(weightless.state.tree.share(weightless.a).weighted()));
  CHECK(compare(open.state.tree.share(open.a), weightless.state.tree.share(weightless.a)) < 0);
}

TEST_CASE("victims that are not needed are put back, the last one in their place") {
  two_queues cohort;
  cohort.run(cohort.b, 1, 0, "b1");
  cohort.run(cohort.b, 3, 0, "b2");
  cohort.run(cohort.b, 6, 5, "b3");
  const std::vector<quota_victim> victims = find_victims(cohort.state, cohort.query(cohort.a, 3, 0));
  REQUIRE(victims.size() == 1);
  CHECK(cohort.state.running[victims.front().workload].name == "b2");
  CHECK(victims.front().why == victim_reason::reclamation);
  CHECK(cohort.state.tree.usage(cohort.b, only_cell) == amount(10));
  CHECK(find_victims(cohort.state, cohort.query(cohort.a, 5, 0)).empty());
}

TEST_CASE("by shares a queue beyond its quota gives way to one within it") {
  two_queues cohort;
  cohort.run(cohort.b, 5, 0, "b1");
  cohort.run(cohort.b, 5, 0, "b2");
  const std::vector<quota_victim> victims = find_fair_victims(cohort.state, cohort.query(cohort.a, 4, 0), {});
  REQUIRE(victims.size() == 1);
  CHECK(victims.front().why == victim_reason::reclamation);
  fair_rules strict;
  strict.within_nominal_is_free = false;
  const std::vector<quota_victim> by_share = find_fair_victims(cohort.state, cohort.query(cohort.a, 4, 0), strict);
  REQUIRE(by_share.size() == 1);
  CHECK(by_share.front().why == victim_reason::fair_sharing);
  CHECK(cohort.state.tree.usage(cohort.b, only_cell) == amount(10));
}

TEST_CASE("flavors: the first that fits, else what is preferred") {
  quota_tree tree({2, 1});
  const node_id queue = tree.add_queue(no_node);
  tree.set_quota(queue, 0, {amount(2), std::nullopt, std::nullopt});
  tree.set_quota(queue, 1, {amount(5), std::nullopt, std::nullopt});
  tree.finish();
  const std::vector<flavor_group> groups{{{0}, {0, 1}}};
  flavor_search search;
  search.tree = &tree;
  search.queue = queue;
  search.groups = groups;
  search.oracle = [](cell_id, amount) { return victim_forecast{fit_mode::preempt, 0}; };
  std::vector<pod_set_demand> demands(1);
  demands[0].count = 1;
  demands[0].requests = {{0, 3}};
  const flavor_assignment large = assign_flavors(search, demands);
  CHECK(large.mode() == assignment_mode::fit);
  CHECK(large.pod_sets.front().flavor_of(0)->flavor == 1);
  demands[0].mismatches = {std::nullopt, 7};
  const flavor_assignment barred = assign_flavors(search, demands);
  CHECK(barred.mode() == assignment_mode::no_fit);
  // Over the flavors of a group the mildest reason counts: a larger quota would do.
  CHECK(barred.why == no_fit_class::exceeds_maximum);
  demands[0].mismatches.clear();
  tree.add_usage(queue, 0, amount(1));
  tree.add_usage(queue, 1, amount(4));
  demands[0].requests = {{0, 2}};
  const flavor_assignment full = assign_flavors(search, demands);
  CHECK(full.mode() == assignment_mode::preempt);
  CHECK(full.pod_sets.front().flavor_of(0)->flavor == 0);
  CHECK(full.pod_sets.front().obstacles.size() == 2);
}

TEST_CASE("flavors without candidates are the last resort, whatever is preferred") {
  using preference = fungibility::preference;
  for (const preference one : {preference::borrowing_over_preemption, preference::preemption_over_borrowing}) {
    CHECK(is_preferred({fit_mode::preempt, 3}, {fit_mode::no_candidates, 0}, one));
    CHECK(is_preferred({fit_mode::no_candidates, 3}, {fit_mode::no_fit, 0}, one));
  }
  CHECK(is_preferred({fit_mode::fit, 2}, {fit_mode::reclaim, 0}, preference::borrowing_over_preemption));
  CHECK(is_preferred({fit_mode::reclaim, 0}, {fit_mode::fit, 2}, preference::preemption_over_borrowing));
}

TEST_CASE("a cycle: who comes first takes the quota, the next one is crowded out") {
  two_queues cohort;
  std::vector<cycle_queue> queues(2);
  queues[0].node = cohort.a;
  queues[1].node = cohort.b;
  for (cycle_queue& queue : queues) queue.groups = {{{0}, {0}}};
  std::vector<cycle_head> heads(2);
  for (std::size_t i = 0; i < 2; ++i) {
    heads[i].queue = i;
    heads[i].name = i == 0 ? "x" : "y";
    heads[i].demands.resize(1);
    heads[i].demands[0].count = 1;
    heads[i].demands[0].requests = {{0, 8}};
    heads[i].priority = static_cast<std::int64_t>(i);
  }
  const cycle_result result = run_cycle(cohort.state, queues, heads, {});
  CHECK(result.order == std::vector<std::size_t>{1, 0});
  CHECK(result.heads[1].outcome == cycle_outcome::admitted);
  CHECK(result.heads[0].outcome == cycle_outcome::crowded_out);
  CHECK(cohort.state.tree.usage(cohort.b, only_cell) == amount(8));
}

TEST_CASE("a tournament sends up the smallest share") {
  two_queues cohort;
  cohort.state.tree.add_usage(cohort.a, only_cell, amount(4));
  std::vector<cycle_entry> entries(2);
  entries[0].queue = cohort.a;
  entries[1].queue = cohort.b;
  for (cycle_entry& entry : entries) entry.asked = {{only_cell, amount(1)}};
  entries[0].priority = 10;
  fair_tournament tournament(cohort.state.tree, entries, {});
  CHECK(tournament.next(cohort.state.tree) == std::size_t{1});
  CHECK(tournament.next(cohort.state.tree) == std::size_t{0});
  CHECK(!tournament.next(cohort.state.tree));
}

}  // namespace of_test_admission_quota
