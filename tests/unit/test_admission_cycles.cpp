// What a cycle keeps for the next one, and workloads that look for places alone.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "conformance/rules/counted_domains.hpp"
#include "conformance/rules/local_usage.hpp"
#include "schedulers/kueue/rules/cycle.hpp"
#include "schedulers/kueue/rules/scan_memory.hpp"

namespace of_test_admission_cycles {

using namespace kaisched::kueue;

namespace {

constexpr cell_id cycle_cell = 0;

/// Hosts of one level; every head is one pod set that has to be on one host. Heads may hold a place that is lost.
class host_book final : public place_book {
 public:
  explicit host_book(const std::vector<std::pair<std::string, std::int64_t>>& free) : ledger_({"host"}, true, 1) {
    for (const auto& [name, pods] : free) (void)ledger_.add_node({name}, {pods});
  }

  void add_head(std::int64_t count, std::string lost, domain_assignment held) {
    pod_set_places set;
    set.request.count = count;
    set.request.requests = {-1};
    set.request.required = "host";
    if (!lost.empty()) set.existing = held;
    for (const placed_pods& one : held.places) ledger_.use(domain_id(one.values), {one.count}, true);
    heads_.push_back({{std::move(set)}, std::move(lost), std::move(held)});
  }

  answer look(std::size_t head, const flavor_assignment& /*assignment*/, bool as_if_empty) override {
    assumed_usage assumed;
    const std::vector<placed_set> placed =
        place_pod_sets(ledger_, heads_[head].sets, heads_[head].lost, false, assumed, as_if_empty, {});
    answer made;
    made.asked = {0};
    made.places.resize(1);
    if (placed[0].failure) {
      made.failed = 0;
    } else {
      made.places[0] = placed[0].places;
    }
    return made;
  }
  bool has_room(std::size_t head, const flavor_assignment& /*assignment*/, const set_places& places) override {
    const std::vector<placed_pods> more = new_places(head, places);
    return std::all_of(more.begin(), more.end(), [&](const placed_pods& one) {
      return ledger_.remaining(ledger_.leaf_of(one.values), false)[0] >= one.count;
    });
  }
  void add(std::size_t head, const flavor_assignment& /*assignment*/, const set_places& places) override {
    for (const placed_pods& one : new_places(head, places)) ledger_.use(domain_id(one.values), {one.count}, true);
  }
  void removed(std::size_t /*workload*/) override {}
  void restored(std::size_t /*workload*/) override {}

 private:
  struct held_head {
    std::vector<pod_set_places> sets;
    std::string lost;
    domain_assignment held;
  };
  std::vector<placed_pods> new_places(std::size_t head, const set_places& places) const {
    return places.empty() || !places[0] ? std::vector<placed_pods>{} : beyond(*places[0], heads_[head].held).places;
  }

  domain_ledger ledger_;
  std::vector<held_head> heads_;
};

/// One queue with a quota of 4; "x" holds 2 of it and lost its host, "y" waits with 2 pods.
struct lost_host {
  quota_state state{quota_tree({1, 1}), {}, {}, nullptr};
  std::vector<cycle_queue> queues{1};
  std::vector<cycle_head> heads{2};
  cycle_rules rules;

  explicit lost_host(host_book& book) {
    queues[0].node = state.tree.add_queue(no_node);
    queues[0].groups = {{{0}, {0}}};
    state.tree.set_quota(queues[0].node, cycle_cell, {amount(4), std::nullopt, std::nullopt});
    state.tree.finish();
    state.tree.add_usage(queues[0].node, cycle_cell, amount(2));
    for (std::size_t i = 0; i < 2; ++i) {
      heads[i].name = i == 0 ? "x" : "y";
      heads[i].demands.resize(1);
      heads[i].demands[0].count = 2;
      heads[i].demands[0].requests = {{0, 2}};
    }
    heads[0].holds_quota = heads[0].lost_places = true;
    heads[0].demands[0].held = {{0, 0}};
    heads[1].priority = 9;
    book.add_head(2, "gone", {{"host"}, {{{"gone"}, 2}}});
    book.add_head(2, {}, {});
    rules.places = &book;
    state.listener = &book;
  }

  cycle_result run() { return run_cycle(state, queues, heads, rules); }
};

}  // namespace

TEST_CASE("whoever holds quota looks for places first and takes no quota twice") {
  host_book book({{"a", 2}, {"b", 3}});
  lost_host cluster(book);
  const cycle_result result = cluster.run();
  CHECK(result.order == std::vector<std::size_t>{0, 1});
  REQUIRE(result.heads[0].outcome == cycle_outcome::admitted);
  CHECK(result.heads[0].places[0]->places.front().values.front() == "a");
  // It wanted the same host, and looked again.
  REQUIRE(result.heads[1].outcome == cycle_outcome::admitted);
  CHECK(result.heads[1].looked_again);
  CHECK(result.heads[1].places[0]->places.front().values.front() == "b");
  CHECK(cluster.state.tree.usage(cluster.queues[0].node, cycle_cell) == amount(4));
}

TEST_CASE("without another place the workload leaves, or keeps what it has and looks again") {
  host_book book({{"a", 1}});
  lost_host cluster(book);
  cluster.heads.pop_back();
  CHECK(cluster.run().heads[0].outcome == cycle_outcome::not_replaced);
  cluster.rules.leaves_without_replacement = false;
  const cycle_result result = cluster.run();
  // Nobody is looked for who would have to leave, and nothing is taken beyond what it holds.
  CHECK(result.heads[0].outcome == cycle_outcome::no_candidates);
  CHECK(result.heads[0].victims.empty());
  CHECK(cluster.state.tree.usage(cluster.queues[0].node, cycle_cell) == amount(2));
}

TEST_CASE("by shares one entry of a queue takes part") {
  quota_state state{quota_tree({1, 1}), {}, {}, nullptr};
  const node_id root = state.tree.add_cohort(no_node);
  std::vector<cycle_queue> queues(1);
  queues[0].node = state.tree.add_queue(root);
  queues[0].groups = {{{0}, {0}}};
  state.tree.set_quota(queues[0].node, cycle_cell, {amount(4), std::nullopt, std::nullopt});
  state.tree.finish();
  std::vector<cycle_head> heads(2);
  for (cycle_head& head : heads) {
    head.demands.resize(1);
    head.demands[0].count = 1;
    head.demands[0].requests = {{0, 1}};
  }
  cycle_rules rules;
  rules.by_shares = true;
  const cycle_result result = run_cycle(state, queues, heads, rules);
  CHECK(result.heads[0].outcome == cycle_outcome::not_tried);
  CHECK(result.heads[1].outcome == cycle_outcome::admitted);
}

TEST_CASE("only what is more than before counts") {
  const domain_assignment before{{"host"}, {{{"a"}, 2}, {{"b"}, 1}}};
  const domain_assignment now{{"host"}, {{{"a"}, 3}, {{"c"}, 2}}};
  CHECK(beyond(now, before).places == std::vector<placed_pods>{{{"a"}, 1}, {{"c"}, 2}});
  CHECK(beyond(before, before).places.empty());
  CHECK(beyond(before, {}) == before);
}

TEST_CASE("a search goes on where it stopped, until something becomes free") {
  const scan_memory memory{{{{0, 1}}}, 7, 3, "shape"};
  CHECK(has_flavors_left(memory.progress));
  CHECK(!has_flavors_left({{{0, -1}}, {}}));
  const scan_memory next{{}, 8, 4, "shape"};
  CHECK(is_outdated(memory, next, false));
  CHECK(!is_outdated(memory, next, true));
  CHECK(is_outdated(memory, {{}, 9, 4, "shape"}, true));
  CHECK(!is_outdated(memory, {{}, 9, 3, "shape"}, true));
  CHECK(is_outdated(memory, {{}, 8, 3, "other"}, true));
  CHECK(!is_outdated(memory, {{}, 8, 3, ""}, true));
}

TEST_CASE("past usage fades with its half-life, and what was just given counts at once") {
  CHECK(fading(10, 10) == 0.5);
  CHECK(fading(20, 10) == 0.75);
  CHECK(fading(10, 0) == 0);
  const usage_amounts after = faded({{"cpu", 8}}, {{"cpu", 2}, {"gpu", 4}}, 10, 10);
  CHECK(after.at("cpu") == 5);
  CHECK(after.at("gpu") == 2);
  CHECK(weighted_usage(after, 2, {{"gpu", 3}}) == 5.5);
  CHECK(std::isinf(weighted_usage({}, 0, {})));

  usage_history history({{"cpu", 1}});
  history.got("w", {{"cpu", 4}}, 0.5);
  history.got("w", {{"cpu", 8}}, 0.5);
  CHECK(history.total().at("cpu") == 5);
  history.gave_back("w");
  CHECK(history.total().at("cpu") == 1);
}

TEST_CASE("of several variants of a job the one of the best flavor runs") {
  struct one_run {
    std::size_t running = 0;
    std::size_t waiting = 0;
    std::optional<std::size_t> last_rank;
    cycle_outcome outcome = cycle_outcome::not_tried;
  };
  for (const one_run& one :
       {one_run{0, 1, std::nullopt, cycle_outcome::better_runs}, one_run{2, 1, std::nullopt, cycle_outcome::moves},
        one_run{2, 1, 1, cycle_outcome::moves}, one_run{2, 1, 0, cycle_outcome::too_low}}) {
    quota_state state{quota_tree({3, 1}), {}, {}, nullptr};
    std::vector<cycle_queue> queues(1);
    queues[0].node = state.tree.add_queue(no_node);
    queues[0].groups = {{{0}, {0, 1, 2}}};
    queues[0].last_rank = one.last_rank;
    for (std::uint32_t flavor = 0; flavor < 3; ++flavor)
      state.tree.set_quota(queues[0].node, state.tree.cells().at(flavor, 0), {amount(1), std::nullopt, std::nullopt});
    state.tree.finish();
    state.running.resize(1);
    state.running[0].queue = queues[0].node;
    state.running[0].as_variant = {"job", one.running};
    std::vector<cycle_head> heads(1);
    heads[0].as_variant = {"job", one.waiting};
    heads[0].demands.resize(1);
    heads[0].demands[0].count = 1;
    heads[0].demands[0].requests = {{0, 1}};
    heads[0].demands[0].allowed = {0, 0, 0};
    heads[0].demands[0].allowed[one.waiting] = 1;
    const cycle_result result = run_cycle(state, queues, heads, {});
    CHECK(result.heads[0].outcome == one.outcome);
    if (one.outcome == cycle_outcome::moves) CHECK(result.heads[0].sibling == std::size_t{0});
    if (one.outcome != cycle_outcome::better_runs)
      CHECK(result.heads[0].assignment.pod_sets[0].flavor_of(0)->flavor == one.waiting);
    if (one.outcome == cycle_outcome::better_runs) {
      heads[0].as_variant.job = "other";
      CHECK(run_cycle(state, queues, heads, {}).heads[0].outcome == cycle_outcome::admitted);
    }
  }
}

TEST_CASE("behind a closed gate nobody is told to leave") {
  quota_state state{quota_tree({1, 1}), {}, {}, nullptr};
  std::vector<cycle_queue> queues(1);
  queues[0].node = state.tree.add_queue(no_node);
  queues[0].groups = {{{0}, {0}}};
  queues[0].preemption.within_queue = victim_policy::lower_priority;
  state.tree.set_quota(queues[0].node, cycle_cell, {amount(1), std::nullopt, std::nullopt});
  state.tree.finish();
  state.running.resize(1);
  state.running[0].queue = queues[0].node;
  state.running[0].usage = {{cycle_cell, amount(1)}};
  state.running[0].cells = {cycle_cell};
  state.tree.add_usage(queues[0].node, state.running[0].usage);
  std::vector<cycle_head> heads(1);
  heads[0].priority = 1;
  heads[0].demands.resize(1);
  heads[0].demands[0].count = 1;
  heads[0].demands[0].requests = {{0, 1}};
  heads[0].may_not_preempt = true;
  CHECK(run_cycle(state, queues, heads, {}).heads[0].outcome == cycle_outcome::gated);
  heads[0].may_not_preempt = false;
  CHECK(run_cycle(state, queues, heads, {}).heads[0].outcome == cycle_outcome::preempts);
}

TEST_CASE("whose victims were told before looks again as if these were gone") {
  quota_state state{quota_tree({1, 1}), {}, {}, nullptr};
  const node_id root = state.tree.add_cohort(no_node);
  std::vector<cycle_queue> queues(2);
  for (cycle_queue& queue : queues) {
    queue.node = state.tree.add_queue(root);
    queue.groups = {{{0}, {0}}};
    queue.preemption.reclaim_within_cohort = victim_policy::any;
    state.tree.set_quota(queue.node, cycle_cell, {amount(4), std::nullopt, std::nullopt});
  }
  const node_id borrower = state.tree.add_queue(root);
  state.tree.set_quota(borrower, cycle_cell, {amount(0), std::nullopt, std::nullopt});
  state.tree.finish();
  state.running.resize(1);
  state.running[0].queue = borrower;
  state.running[0].usage = {{cycle_cell, amount(8)}};
  state.running[0].cells = {cycle_cell};
  state.tree.add_usage(borrower, state.running[0].usage);
  std::vector<cycle_head> heads(2);
  for (std::size_t i = 0; i < 2; ++i) {
    heads[i].queue = i;
    heads[i].name = i == 0 ? "x" : "y";
    heads[i].demands.resize(1);
    heads[i].demands[0].count = 1;
    heads[i].demands[0].requests = {{0, 4}};
  }
  cycle_rules rules;
  rules.looks_again_on_overlap = false;
  quota_state copy = state;
  CHECK(run_cycle(copy, queues, heads, rules).heads[1].outcome == cycle_outcome::overlap);
  const cycle_result result = run_cycle(state, queues, heads, {});
  CHECK(result.heads[0].outcome == cycle_outcome::preempts);
  CHECK(!result.heads[0].looked_as_if_gone);
  CHECK(result.heads[1].outcome == cycle_outcome::deferred);
  CHECK(result.heads[1].looked_as_if_gone);
}

}  // namespace of_test_admission_cycles
