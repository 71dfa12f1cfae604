// Random clusters with groups that are safe in part: cores stay, budgets hold, and nothing else of them is touched.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_safe_groups {

using namespace kaisched;
using test::draw;
using test::got;
using kind = table_kind;
using test::add;
using test::numbers;

namespace {

/// Groups that run and groups that wait, on few nodes.
cluster contended() {
  cluster c;
  const int nodes = draw(2, 5);
  const int queues = draw(1, 3);
  for (int q = 0; q < queues; ++q) {
    got(c.apply(add(kind::queue, {"name", "quota", "limit"})
                    .add({"q" + std::to_string(q), numbers{-1, -1, std::int64_t{1000} * draw(0, 8)},
                          numbers{-1, -1, draw(0, 2) == 0 ? std::int64_t{1000} * draw(2, 10) : -1}})));
  }
  std::vector<int> left(static_cast<std::size_t>(nodes), 4);
  for (int n = 0; n < nodes; ++n) {
    got(c.apply(add(kind::node, {"name", "capacity"}).add({"n" + std::to_string(n), numbers{64'000, 0, 4000, 30}})));
  }
  const int groups = draw(2, 8);
  for (int g = 0; g < groups; ++g) {
    const std::string name = "g" + std::to_string(g);
    const int pods = draw(1, 4);
    const bool semi = draw(0, 2) == 0;
    got(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "priority", "created", "preemptible",
                                      "semi_preemptible", "disruption_budget", "max_surge"})
                    .add({name, "q" + std::to_string(draw(0, queues - 1)), draw(0, pods), draw(0, 2), draw(0, 3),
                          draw(0, 1), semi ? 1 : 0, draw(0, 2) == 0 ? std::int64_t{draw(0, 2)} : unset, draw(0, 2)})));
    const int gpus = draw(1, 3);
    const int most_running = draw(0, 2) == 0 ? 0 : pods;
    for (int p = 0; p < pods; ++p) {
      const auto node = static_cast<std::size_t>(draw(0, nodes - 1));
      const bool runs = p < most_running && left[node] >= gpus;
      if (runs) left[node] -= gpus;
      got(c.apply(add(kind::pod, {"name", "group", "request", "status", "node", "outdated"})
                      .add({name + "-" + std::to_string(p), name, numbers{100, 0, std::int64_t{1000} * gpus, 1},
                            runs ? pod_status::running : pod_status::pending,
                            runs ? "n" + std::to_string(node) : std::string(), runs ? draw(0, 1) : 0})));
    }
  }
  return c;
}

}  // namespace

TEST_CASE("cores stay where they are, and budgets of disruption hold") {
  const bool good = rc::check("safe groups", [] {
    cluster c = contended();
    const snapshot s = c.take_snapshot();
    engine e;
    got(e.set("actions", "allocate,consolidation,reclaim,preempt"));
    got(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat"));
    const session ran = got(e.run(s, 0));
    got(ran.check());
    got(e.set("reference_path", "true"));
    RC_ASSERT(got(e.run(s, 0)).digest() == ran.digest());

    const model::cluster_state& state = model::state_of(s);
    std::map<group_row, std::vector<pod_row>> lost;
    std::map<group_row, std::int64_t> migrated;
    std::set<group_row> grown;  // by pods that may be of the core now
    for (const decision& d : ran.decisions()) {
      if (d.kind == decision_kind::evict || d.kind == decision_kind::move) lost[d.group].push_back(d.pod);
      if (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline) grown.insert(d.group);
      if (d.kind == decision_kind::migrate) {
        ++migrated[d.group];
        RC_ASSERT(d.action == action_kind::consolidation);
      }
    }
    for (const auto& [g, count] : migrated) RC_ASSERT(count <= state.group_extras[g].disruption_budget);
    for (const auto& [g, pods] : lost) {
      const model::group_core& group = state.groups[g];
      RC_ASSERT(group.preemptible || group.semi_preemptible);
      if (group.preemptible || grown.contains(g)) continue;
      const model::sub_info& set = state.subs[group.first_sub + 1];
      std::int64_t core = set.min;
      for (pod_row p = set.first_pod; p != no_row && core > 0; p = state.pods[p].next) {
        if (!model::is_in(static_cast<pod_status>(state.live.pod_state[p]), model::active_allocated)) continue;
        --core;
        RC_ASSERT(std::find(pods.begin(), pods.end(), p) == pods.end());
      }
    }
  });
  CHECK(good);
}

namespace {

/// Some pods are in budgets. @param most that a budget allows
void add_budgets(cluster& c, int most) {
  const int budgets = draw(1, 3);
  for (int b = 0; b < budgets; ++b)
    got(c.apply(add(kind::disruption_budget, {"name", "allowed"}).add({"b" + std::to_string(b), draw(0, most)})));
  const snapshot s = c.take_snapshot();
  test::rows named = test::change(kind::pod, {"name", "disruption_budget"});
  for (pod_row p = 0; p < model::state_of(s).pod_slots; ++p) {
    // One that does not exist, too.
    if (draw(0, 3) > 0) named.add({std::string(s.pod_name(p)), "b" + std::to_string(draw(0, budgets))});
  }
  got(c.apply(named));
}

bool takes_away(const decision& d) {
  return d.kind == decision_kind::evict || d.kind == decision_kind::move || d.kind == decision_kind::migrate;
}

}  // namespace

TEST_CASE("no session takes more pods of a budget than it allows, and one that allows all changes nothing") {
  std::size_t held = 0;
  std::size_t taken = 0;
  const bool good = rc::check("budgets", [&] {
    cluster c = contended();
    const bool wide = draw(0, 4) == 0;
    add_budgets(c, wide ? 0 : 2);
    if (wide) {
      for (const model::disruption_budget_info& one : *model::state_of(c.take_snapshot()).disruption_budgets)
        got(c.apply(test::change(kind::disruption_budget, {"name", "allowed"}).add({one.name, 1000})));
    }
    const snapshot s = c.take_snapshot();
    engine e;
    got(e.set("actions", "allocate,consolidation,reclaim,preempt,stalegangeviction"));
    got(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat"));
    const std::string unbounded = got(e.run(s, 0)).digest();
    got(e.set("respect_disruption_budgets", "true"));
    const session ran = got(e.run(s, 0));
    got(ran.check());
    if (wide) RC_ASSERT(ran.digest() == unbounded);
    got(e.set("reference_path", "true"));
    RC_ASSERT(got(e.run(s, 0)).digest() == ran.digest());

    const model::cluster_state& state = model::state_of(s);
    std::map<std::string_view, std::set<pod_row>> gone;
    for (const decision& d : ran.decisions()) {
      const auto was = takes_away(d) ? static_cast<pod_status>(state.live.pod_state[d.pod]) : pod_status::pending;
      if (model::is_in(was, model::holding)) gone[state.told_of(d.pod).budget].insert(d.pod);
    }
    for (const model::disruption_budget_info& one : *state.disruption_budgets) {
      RC_ASSERT(static_cast<std::int64_t>(gone[one.name].size()) <= one.allowed);
      taken += gone[one.name].size();
    }
    for (const reason& why : ran.reasons()) {
      if (why.what != constraint::disruption_budget) continue;
      ++held;
      RC_ASSERT(!wide);
      RC_ASSERT(why.need > why.have);
      RC_ASSERT(ran.text(why).find("disruption budget 'b") != std::string::npos);
    }
  });
  CHECK(good);
  CHECK(held > 0);
  CHECK(taken > 0);
}
}  // namespace of_test_safe_groups
