// Random clusters with reservations of nodes, against the rule as it is said: whoever starts, claims or moves to a node
// is there for nobody's time but his own.
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

namespace of_test_reservations {

using namespace kaisched;
using test::draw;
using test::got;
using kind = table_kind;
using test::add;
using test::numbers;

namespace {

/// Queues q0 with q1 below and q2; groups that run and wait, some of which say how long they run; GPUs for some of
/// them.
cluster some_groups() {
  cluster c;
  got(c.apply(add(kind::queue, {"name", "parent"}).add({"q", ""}).add({"q1", "q"}).add({"q2", "q"}).add({"q3", ""})));
  const int nodes = draw(2, 5);
  std::vector<int> left(static_cast<std::size_t>(nodes), 4);
  for (int n = 0; n < nodes; ++n) {
    got(c.apply(add(kind::node, {"name", "capacity", "labels"})
                    .add({"n" + std::to_string(n), numbers{64'000, 0, 4000, 30},
                          test::texts{"rack", n % 2 == 0 ? "even" : "odd"}})));
  }
  for (int g = 0; g < draw(2, 9); ++g) {
    const std::string name = "g" + std::to_string(g);
    const int pods = draw(1, 3);
    got(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "priority", "created", "preemptible",
                                      "runtime_estimate", "last_start", "disruption_budget", "semi_preemptible"})
                    .add({name, "q" + std::to_string(draw(1, 3)), draw(0, pods), draw(0, 2), draw(0, 3), draw(0, 1),
                          draw(0, 2) == 0 ? unset : std::int64_t{draw(0, 30)}, draw(0, 50),
                          draw(0, 2) == 0 ? std::int64_t{1} : unset, draw(0, 5) == 0 ? 1 : 0})));
    const int gpus = draw(1, 4);
    const bool may_run = draw(0, 1) == 0;
    for (int p = 0; p < pods; ++p) {
      const auto node = static_cast<std::size_t>(draw(0, nodes - 1));
      const bool runs = may_run && left[node] >= gpus;
      if (runs) left[node] -= gpus;
      got(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                      .add({name + "-" + std::to_string(p), name, numbers{100, 0, std::int64_t{1000} * gpus, 1},
                            runs ? pod_status::running : pod_status::pending,
                            runs ? "n" + std::to_string(node) : std::string()})));
    }
  }
  return c;
}

struct drawn {
  std::set<std::string> nodes;
  std::string rack;
  std::int64_t start;
  std::int64_t end;
  std::int64_t every;
  std::string queue;
  std::string group;
  std::int64_t evict_before = unset;
};

drawn draw_reservation() {
  drawn made;
  for (int n = 0; n < draw(0, 2); ++n) made.nodes.insert("n" + std::to_string(draw(0, 5)));
  if (draw(0, 3) == 0) made.rack = draw(0, 1) == 0 ? "even" : "odd";
  made.start = draw(-20, 140);
  made.end = draw(0, 3) == 0 ? unset : made.start + draw(1, 30);
  made.every = made.end == unset || draw(0, 2) > 0 ? unset : made.end - made.start + draw(0, 20);
  if (draw(0, 2) == 0) made.queue = draw(0, 2) == 0 ? "q" : "q" + std::to_string(draw(1, 4));
  if (draw(0, 3) == 0) made.group = "g" + std::to_string(draw(0, 9));
  return made;
}

void put(cluster& c, const std::string& name, const drawn& one) {
  test::texts nodes;
  for (const std::string& n : one.nodes) nodes.push_back(n);
  got(c.apply(add(kind::reservation,
                  {"name", "nodes", "node_selector", "start", "end", "every", "queue", "group", "evict_before"})
                  .add({name, nodes, one.rack.empty() ? "" : "rack=" + one.rack, one.start, one.end, one.every,
                        one.queue, one.group, one.evict_before})));
}

bool is_on(const drawn& by, std::int64_t time) {
  if (time < by.start) return false;
  if (by.end == unset || time < by.end) return true;
  return by.every != unset && (time - by.start) % by.every < by.end - by.start;
}

/// It has the node, and not for the group.
bool keeps_from(const drawn& by, const model::cluster_state& s, group_row g, node_row node) {
  const model::node_info& at = *(*s.nodes)[node];
  const bool all = by.nodes.empty() && by.rack.empty();
  const std::string* const rack = model::find_label(at.labels, "rack");
  if (!all && !by.nodes.contains(at.name) && (by.rack.empty() || rack == nullptr || *rack != by.rack)) return false;
  if (s.group_names[g] == by.group) return false;
  for (queue_row q = s.groups[g].queue; q != no_row; q = (*s.queues)[q].parent) {
    if ((*s.queues)[q].name == by.queue) return false;
  }
  return true;
}

/// The first moment within the notice at which it is on comes before the group has ended, or is now.
bool makes_leave(const drawn& by, const model::cluster_state& s, group_row g, node_row node, std::int64_t now) {
  if (by.evict_before == unset || !keeps_from(by, s, g, node)) return false;
  const std::int64_t estimate = s.group_extras[g].runtime_estimate;
  const std::int64_t end = estimate == unset ? unset : std::max(now, s.group_extras[g].last_start + estimate);
  for (std::int64_t time = now; time <= now + by.evict_before; ++time) {
    if (is_on(by, time)) return time == now || end == unset || end > time;
  }
  return false;
}

/// Moment by moment, from now until the group has ended; whoever does not say when is there for longer than anything.
bool is_violated(const drawn& by, const model::cluster_state& s, group_row g, node_row node, std::int64_t now) {
  if (!keeps_from(by, s, g, node)) return false;
  const std::int64_t estimate = s.group_extras[g].runtime_estimate;
  const std::int64_t last = estimate == unset ? now + 300 : now + estimate;
  for (std::int64_t time = now; time == now || time < last; ++time) {
    if (is_on(by, time)) return true;
  }
  return false;
}

bool takes_place(const decision& d) {
  return d.kind == decision_kind::bind || d.kind == decision_kind::pipeline || d.kind == decision_kind::move ||
         d.kind == decision_kind::migrate;
}

}  // namespace

TEST_CASE("nobody starts where a node is reserved for others while he would be there") {
  std::size_t refused = 0;
  std::size_t placed = 0;
  const bool good = rc::check("reservations", [&] {
    cluster c = some_groups();
    const std::int64_t now = draw(50, 120);
    // One that is over changes nothing.
    const std::string before = got(engine().run(c.take_snapshot(), now)).digest();
    got(c.apply(add(kind::reservation, {"name", "start", "end"}).add({"over", 0, now})));
    RC_ASSERT(got(engine().run(c.take_snapshot(), now)).digest() == before);
    std::vector<drawn> all;
    for (int i = draw(1, 3); i > 0; --i) {
      all.push_back(draw_reservation());
      put(c, "r" + std::to_string(i), all.back());
    }
    const snapshot s = c.take_snapshot();
    const std::vector<std::string> choices{"allocate,consolidation,reclaim,preempt,stalegangeviction",
                                           "allocate,backfill,reclaim", "allocate"};
    const std::vector<std::string> presets{"volcano-ai", "kube-default", "yunikorn-default", "kueue-classical",
                                           "hived"};
    engine e;
    const int preset = draw(0, 9);
    if (preset < 5) {
      got(e.set("preset", presets[static_cast<std::size_t>(preset)]));
    } else {
      got(e.set("actions", choices[static_cast<std::size_t>(draw(0, 2))]));
      got(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat"));
    }
    const session ran = got(e.run(s, now));
    got(ran.check());
    for (const decision& d : ran.decisions()) {
      if (!takes_place(d)) continue;
      ++placed;
      for (const drawn& one : all) RC_ASSERT(!is_violated(one, model::state_of(s), d.group, d.node, now));
    }
    for (const reason& why : ran.reasons()) {
      if (why.what != constraint::node_reserved) continue;
      ++refused;
      const bool is_reserved = std::any_of(all.begin(), all.end(), [&](const drawn& one) {
        return is_violated(one, model::state_of(s), why.group, why.nearest, now);
      });
      RC_ASSERT(is_reserved);
      RC_ASSERT(ran.text(why).find("'r") != std::string::npos);
    }
    if (preset < 5) return;
    got(e.set("reference_path", "true"));
    RC_ASSERT(got(e.run(s, now)).digest() == ran.digest());
  });
  CHECK(good);
  CHECK(refused > 0);
  CHECK(placed > 0);
}

/// What `vacate` did with a group of which these pods stand where they may not be.
void check_group(const model::cluster_state& s, group_row g, const std::vector<pod_row>& active,
                 const std::set<pod_row>& asked, const std::map<pod_row, decision_kind>& done) {
  const model::group_core& group = s.groups[g];
  const auto count = static_cast<std::int64_t>(active.size());
  const std::int64_t min = s.subs[group.first_sub].min;
  std::int64_t left = count;
  std::int64_t evicted = 0;
  std::int64_t of_others = 0;
  for (const pod_row p : active) {
    if (!done.contains(p)) continue;
    --left;
    evicted += done.at(p) == decision_kind::evict ? 1 : 0;
    of_others += asked.contains(p) ? 0 : 1;
  }
  if (group.semi_preemptible) {
    RC_ASSERT(of_others == 0);
    RC_ASSERT(left == std::max(std::min(count, min), count - static_cast<std::int64_t>(asked.size())));
    return;
  }
  if (!group.preemptible) return RC_ASSERT(left == count);
  for (const pod_row p : asked) RC_ASSERT(done.contains(p));
  const bool breaks = count >= min && count - static_cast<std::int64_t>(asked.size()) < min;
  if (of_others > 0) RC_ASSERT(breaks);
  if (count >= min) RC_ASSERT(count - evicted == 0 || count - evicted >= min);
}

TEST_CASE("who may stay stays, who must leave leaves, and gangs are whole or gone") {
  std::size_t moved = 0;
  std::size_t evicted = 0;
  const bool good = rc::check("vacate", [&] {
    cluster c = some_groups();
    const std::int64_t now = draw(50, 120);
    std::vector<drawn> all;
    for (int i = draw(1, 3); i > 0; --i) {
      all.push_back(draw_reservation());
      if (draw(0, 3) > 0) all.back().evict_before = draw(0, 2) == 0 ? 0 : draw(0, 60);
      put(c, "r" + std::to_string(i), all.back());
    }
    const snapshot base = c.take_snapshot();
    const model::cluster_state& s = model::state_of(base);
    engine e;
    got(e.set("actions", draw(0, 1) == 0 ? "vacate" : "vacate,allocate"));
    got(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat"));
    const session ran = got(e.run(base, now));
    got(ran.check());
    std::map<pod_row, decision_kind> done;
    for (const decision& d : ran.decisions()) {
      if (d.action != action_kind::vacate) continue;
      RC_ASSERT(d.kind == decision_kind::evict || d.kind == decision_kind::move);
      RC_ASSERT(done.emplace(d.pod, d.kind).second);
      (d.kind == decision_kind::move ? moved : evicted) += 1;
      RC_ASSERT((d.node == (*s.node_row_of_slot)[s.live.pod_node[d.pod]]) == (d.kind == decision_kind::evict));
      for (const drawn& one : all)
        RC_ASSERT(d.kind == decision_kind::evict || !is_violated(one, s, d.group, d.node, now));
      const victim_account why = got(ran.victim(d.pod));
      RC_ASSERT(why.rules.size() == 1U);
      RC_ASSERT(ran.text(why, why.rules.front()).find("'r") != std::string::npos);
    }
    for (group_row g = 0; g < s.group_slots; ++g) {
      std::vector<pod_row> active;
      std::set<pod_row> asked;
      for (pod_row p = s.subs[s.groups[g].first_sub].first_pod; p != no_row; p = s.pods[p].next) {
        if (static_cast<pod_status>(s.live.pod_state[p]) != pod_status::running) continue;
        active.push_back(p);
        const node_row node = (*s.node_row_of_slot)[s.live.pod_node[p]];
        const bool leaves =
            std::any_of(all.begin(), all.end(), [&](const drawn& one) { return makes_leave(one, s, g, node, now); });
        if (leaves) asked.insert(p);
      }
      check_group(s, g, active, asked, done);
    }
    got(e.set("reference_path", "true"));
    RC_ASSERT(got(e.run(base, now)).digest() == ran.digest());
  });
  CHECK(good);
  CHECK(moved > 0);
  CHECK(evicted > 0);
}

}  // namespace of_test_reservations
