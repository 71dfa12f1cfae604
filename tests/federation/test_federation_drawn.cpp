/// Drawn federations, held against single clusters: what summaries rule out does not start, what starts is in one
/// cluster, one member decides as without a federation.
#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/federation.hpp>

#include "federation/member_book.hpp"
#include "federation/rows.hpp"
#include "federations.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_federation_drawn {

using namespace kaisched;
using test::builder;
using test::must;
using test::second;

namespace {

constexpr std::int64_t now = test::federation_time;

class drawing {
 public:
  explicit drawing(std::uint32_t seed) : bits_(seed) {}
  int up_to(int least, int most) { return least + static_cast<int>(bits_() % static_cast<unsigned>(most - least + 1)); }
  bool one_in(int n) { return up_to(1, n) == 1; }

 private:
  std::mt19937 bits_;
};

/// Tables of a cluster with racks and running pods, whole and in parts.
std::vector<table> draw_cluster(drawing& d, const std::string& prefix) {
  test::rows topology = test::add(table_kind::topology, {"name", "levels", "primary"});
  topology.add({"t", test::texts{"block", "rack"}, 1});
  test::rows nodes = test::add(table_kind::node, {"name", "capacity", "labels", "taints", "ready", "unschedulable"});
  const int count = d.up_to(1, 6);
  std::vector<int> free;
  std::deque<std::string> names;  // rows hold views
  std::deque<std::string> values;
  for (int n = 0; n < count; ++n) {
    names.push_back(prefix + "n" + std::to_string(n));
    free.push_back(d.up_to(0, 4));
    const std::string& rack = values.emplace_back(d.one_in(6) ? "" : "r" + std::to_string(n / 2));
    const std::string& block = values.emplace_back("b" + std::to_string(n / 4));
    const std::string_view model = d.one_in(2) ? "a" : "b";
    test::texts labels{"block", block, "model", model, "host", names.back()};
    if (!rack.empty()) labels.insert(labels.end(), {"rack", rack});
    nodes.add({names.back(), test::numbers{1000 * d.up_to(2, 8), 1 << 30, 1000 * free.back(), d.up_to(2, 20)}, labels,
               d.one_in(5) ? test::texts{"special:NoSchedule"} : test::texts{}, d.one_in(8) ? 0 : 1,
               d.one_in(8) ? 1 : 0});
  }
  test::rows queues = test::add(table_kind::queue, {"name", "quota", "limit"});
  for (const char* name : {"p", "q"})
    queues.add({name, test::numbers{-1, -1, d.one_in(2) ? -1 : 1000 * d.up_to(0, 6)},
                test::numbers{-1, -1, d.one_in(3) ? 1000 * d.up_to(2, 12) : -1}});
  test::rows groups = test::add(table_kind::pod_group, {"name", "queue", "preemptible"});
  test::rows pods = test::add(table_kind::pod, {"name", "group", "request", "status", "node", "device_count"});
  bool any = false;
  for (int n = 0; n < count; ++n) {
    if (free[static_cast<std::size_t>(n)] == 0 || d.one_in(2)) continue;
    any = true;
    const std::string name = prefix + "run" + std::to_string(n);
    groups.add({name, d.one_in(2) ? "p" : "q", d.one_in(3) ? 0 : 1});
    const bool part = d.one_in(2);
    const int whole = d.up_to(1, free[static_cast<std::size_t>(n)]);
    pods.add({name + "-0", name, test::numbers{1000, 1000, part ? 500 : 1000 * whole, 1},
              d.one_in(5) ? pod_status::releasing : pod_status::running, names[static_cast<std::size_t>(n)], 0});
  }
  std::vector<table> made;
  made.push_back(topology);
  made.push_back(queues);
  made.push_back(nodes);
  if (any) made.push_back(groups);
  if (any) made.push_back(pods);
  return made;
}

/// Tables of groups that wait: gangs, sub-groups, parts of GPUs, selectors, domains.
std::vector<table> draw_groups(drawing& d, int count) {
  test::rows groups = test::add(table_kind::pod_group, {"name", "queue", "priority", "created", "min_member",
                                                        "topology", "required_level", "preemptible", "min_sub_group"});
  test::rows subs = test::add(table_kind::sub_group, {"group", "name", "min_member", "topology", "required_level"});
  test::rows pods = test::add(
      table_kind::pod, {"name", "group", "sub_group", "request", "node_selector", "node_affinity", "tolerations"});
  bool any_subs = false;
  for (int g = 0; g < count; ++g) {
    const std::string name = "g" + std::to_string(g);
    const bool has_subs = d.one_in(4);
    const int sets = has_subs ? d.up_to(1, 3) : 1;
    int all = 0;
    std::vector<int> sizes;
    for (int s = 0; s < sets; ++s) sizes.push_back(d.up_to(1, 3));
    for (const int one : sizes) all += one;
    const bool together = d.one_in(3);
    groups.add({name, d.one_in(2) ? "p" : "q", 50 + d.up_to(0, 1), std::int64_t{g} * second,
                has_subs ? 0 : d.up_to(1, all), together ? "t" : "", together ? (d.one_in(2) ? "rack" : "block") : "",
                d.one_in(4) ? 0 : 1, has_subs && d.one_in(2) ? std::int64_t{1} : unset});
    const int whole = d.up_to(0, 3);
    for (int s = 0; s < sets; ++s) {
      const bool apart = d.one_in(4);
      if (has_subs) {
        subs.add({name, "s" + std::to_string(s), d.up_to(1, sizes[static_cast<std::size_t>(s)]), apart ? "t" : "",
                  apart ? "rack" : ""});
        any_subs = true;
      }
      for (int p = 0; p < sizes[static_cast<std::size_t>(s)]; ++p) {
        const int gpu = whole == 0 ? (d.one_in(2) ? 500 : 0) : 1000 * (d.one_in(3) ? d.up_to(1, 3) : whole);
        pods.add({name + "-" + std::to_string(s) + "-" + std::to_string(p), name,
                  has_subs ? "s" + std::to_string(s) : "", test::numbers{1000 * d.up_to(1, 2), 1000, gpu, 1},
                  d.one_in(5) ? test::texts{"model", "a"} : test::texts{},
                  d.one_in(6) ? test::texts{"model in (b),rack", "host=xn0"} : test::texts{},
                  d.one_in(3) ? test::texts{"special:NoSchedule"} : test::texts{}});
      }
    }
  }
  std::vector<table> made;
  made.push_back(groups);
  if (any_subs) made.push_back(subs);
  made.push_back(pods);
  return made;
}

std::shared_ptr<cluster> cluster_of(const std::vector<table>& tables) {
  auto made = std::make_shared<cluster>();
  for (const table& one : tables) must(made->apply(one));
  return made;
}

std::vector<table> queue_tables(bool with_limits, drawing& d) {
  test::rows topology = test::add(table_kind::topology, {"name", "levels", "primary"});
  topology.add({"t", test::texts{"block", "rack"}, 1});
  test::rows queues = test::add(table_kind::queue, {"name", "quota", "limit"});
  for (const char* name : {"p", "q"})
    queues.add({name, test::numbers{-1, -1, 1000 * d.up_to(0, 12)},
                test::numbers{-1, -1, with_limits ? 1000 * d.up_to(4, 24) : -1}});
  std::vector<table> made;
  made.push_back(topology);
  made.push_back(queues);
  return made;
}

std::int64_t held(const cluster& in, const std::string& queue) {
  cluster& c = const_cast<cluster&>(in);  // NOLINT: a snapshot changes nothing
  const snapshot s = c.take_snapshot();
  for (queue_row q = 0; q < model::state_of(s).queues->size(); ++q) {
    if ((*model::state_of(s).queues)[q].name == queue) return (*model::state_of(s).live.queue_allocated)[q][dim_gpu];
  }
  return 0;
}

class two_threads : public executor {
 public:
  void run(std::size_t count, const std::function<void(std::size_t)>& work) override {
    std::thread other([&] {
      for (std::size_t i = 1; i < count; i += 2) work(i);
    });
    for (std::size_t i = 0; i < count; i += 2) work(i);
    other.join();
  }
  [[nodiscard]] std::size_t width() const override { return 2; }
};

struct drawn_federation {
  federation f;
  std::map<std::string, std::shared_ptr<cluster>> members;
};

/// Three members and groups, all from the seed.
drawn_federation draw_federation(std::uint32_t seed, bool turned, bool threads, std::uint32_t window = 0) {
  federation_options options;
  options.window = window;
  drawn_federation made{federation(options), {}};
  drawing d(seed);
  const std::string_view actions = d.one_in(2) ? "allocate" : "allocate,consolidation,reclaim,preempt";
  std::vector<std::pair<member_info, std::shared_ptr<cluster>>> all;
  for (const char* name : {"x", "y", "z"}) {
    member_info about{name};
    about.price = d.up_to(1, 2);
    all.emplace_back(about, cluster_of(draw_cluster(d, name)));
  }
  if (turned) std::reverse(all.begin(), all.end());
  const auto with = test::shared_engine({"actions", actions});
  for (const auto& [about, state] : all) {
    must(made.f.add_member(about, state, with));
    made.members[about.name] = state;
  }
  must(made.f.submit(queue_tables(true, d)));
  must(made.f.submit(draw_groups(d, 8)));
  if (threads) made.f.set_executor(std::make_shared<two_threads>());
  return made;
}

}  // namespace

TEST_CASE("a summary does not rule out what its engine starts") {
  int started = 0;
  int ruled_out = 0;
  int ruled_out_rightly = 0;
  const std::vector<std::shared_ptr<const engine>> engines{
      test::shared_engine({"actions", "allocate"}),
      test::shared_engine({"mode", "compat", "actions", "allocate"}),
      test::shared_engine({"actions", "allocate,consolidation,reclaim,preempt"}),
      test::shared_engine({"preset", "volcano-default"}),
      test::shared_engine({"preset", "kube-default"}),
      test::shared_engine({"preset", "kueue-fair"}),
      test::shared_engine({"preset", "slurm-backfill"})};
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    drawing d(seed);
    const std::shared_ptr<cluster> state = cluster_of(draw_cluster(d, "x"));
    const snapshot before = state->take_snapshot();
    for (const table& one : draw_groups(d, 5)) must(state->apply(one));
    const snapshot with_groups = state->take_snapshot();
    federation_detail::class_pool pool;
    std::vector<std::string> dimensions;
    for (const std::string_view one : with_groups.dimension_names()) dimensions.emplace_back(one);
    for (std::size_t e = 0; e < engines.size(); ++e) {
      CAPTURE(e);
      federation_detail::member_book book(must(summarise(*engines[e], before, now)), dimensions);
      for (const group_row g : *model::state_of(with_groups).pending_groups) {
        const std::string name(with_groups.group_name(g));
        if (!name.starts_with('g')) continue;
        CAPTURE(name);
        // The group alone, so that nothing else stands in its way.
        cluster alone(with_groups);
        std::vector<std::string> others;
        for (const group_row o : *model::state_of(with_groups).pending_groups) {
          if (o != g && with_groups.group_name(o).starts_with('g')) others.emplace_back(with_groups.group_name(o));
        }
        const std::vector<std::string_view> views(others.begin(), others.end());
        must(federation_detail::remove_groups(alone, views));
        const session s = must(engines[e]->run(alone.take_snapshot(), now));
        const bool starts = std::any_of(s.decisions().begin(), s.decisions().end(), [&](const decision& one) {
          return s.base().group_name(one.group) == name &&
                 (one.kind == decision_kind::bind || one.kind == decision_kind::pipeline);
        });
        const auto demand = federation_detail::demand_of(model::state_of(with_groups), g, pool);
        const bool free = book.could_start(demand, pool, federation_detail::room::free);
        const bool empty = book.could_start(demand, pool, federation_detail::room::empty);
        started += starts ? 1 : 0;
        ruled_out += free ? 0 : 1;
        ruled_out_rightly += starts ? 0 : 1;
        if (starts) CHECK(empty);
        if (starts && !book.summary().rules.makes_room) CHECK(free);
        if (free) CHECK(empty);
      }
    }
  }
  CHECK(started > 500);
  CHECK(ruled_out > 500);
  CHECK(ruled_out_rightly > ruled_out);
}

TEST_CASE("a federation of one decides as its engine does") {
  int decided = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    drawing d(seed);
    const std::vector<table> tables = draw_cluster(d, "x");
    const std::vector<table> groups = draw_groups(d, 6);
    const auto with = test::shared_engine({"actions", "allocate,consolidation,reclaim,preempt"});
    const std::shared_ptr<cluster> plain = cluster_of(tables);
    must(plain->apply(groups));
    const session alone = must(with->run(plain->take_snapshot(), now));
    federation one;
    must(one.add_member({"only"}, cluster_of(tables), with));
    must(one.submit(queue_tables(false, d)));
    must(one.submit(groups));
    const federation_report report = must(one.decide(now));
    REQUIRE(report.sessions.size() == 1);
    CHECK(report.sessions.front().decided.digest() == alone.digest());
    decided += static_cast<int>(alone.decisions().size());
  }
  CHECK(decided > 150);
}

TEST_CASE("neither the order of members nor threads change anything") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const federation_report first = must(draw_federation(seed, false, false).f.decide(now));
    CHECK(must(draw_federation(seed, true, false).f.decide(now)).digest() == first.digest());
    const federation_report threaded = must(draw_federation(seed, false, true).f.decide(now));
    CHECK(threaded.digest() == first.digest());
    CHECK(threaded.placed == first.placed);
    CHECK(threaded.waits == first.waits);
  }
}

TEST_CASE("every group is in one place or none, and no queue passes its limit over all members") {
  std::map<group_stage, int> seen;
  int blocked = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    drawn_federation all = draw_federation(seed, false, false, seed % 3 == 0 ? 1 : 0);
    std::map<std::string, std::int64_t> before;
    for (const federated_queue& one : all.f.queues(now)) before[one.name] = one.allocated[dim_gpu];
    for (int time = 0; time < 3; ++time) {
      const federation_report report = must(all.f.decide(now + time * second));
      CHECK(report.failures.empty());
      std::set<std::string> named;
      for (const federated_wait& one : report.waits) {
        CHECK(named.insert(one.group).second);
        blocked += one.limit.empty() ? 0 : 1;
      }
      for (const federated_place& one : report.placed) CHECK(named.insert(one.group).second);
      for (int g = 0; g < 8; ++g) {
        const std::string name = "g" + std::to_string(g);
        const auto [stage, where] = must(all.f.stage(name));
        ++seen[stage];
        for (const auto& [member, state] : all.members)
          CHECK(state->find(entity_kind::pod_group, name).ok() == (member == where));
        CHECK((stage == group_stage::waits) == where.empty());
      }
      for (const federated_queue& one : all.f.queues(now)) {
        std::int64_t sum = 0;
        for (const auto& [member, state] : all.members) sum += held(*state, one.name);
        CHECK(one.allocated[dim_gpu] >= sum);  // claims count as well
        if (one.limit[dim_gpu] != unlimited) CHECK(sum <= std::max(one.limit[dim_gpu], before[one.name]));
      }
      for (const auto& [member, state] : all.members) {
        const session s = must(test::shared_engine()->open(state->take_snapshot(), now));
        must(s.check());
      }
    }
  }
  CHECK(seen[group_stage::starts] > 50);
  CHECK(seen[group_stage::runs] > 50);
  CHECK(seen[group_stage::claims] > 0);
  CHECK(seen[group_stage::waits] > 50);
  CHECK(blocked > 10);
}

}  // namespace of_test_federation_drawn
