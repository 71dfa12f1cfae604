// Random clusters with reservations of nodes, against the rule as it is said: whoever starts, claims or moves to a node
// is there for nobody's time but his own.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
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
                                      "runtime_estimate", "last_start", "disruption_budget"})
                    .add({name, "q" + std::to_string(draw(1, 3)), draw(0, pods), draw(0, 2), draw(0, 3), draw(0, 1),
                          draw(0, 2) == 0 ? unset : std::int64_t{draw(0, 30)}, draw(0, 50),
                          draw(0, 2) == 0 ? std::int64_t{1} : unset})));
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
  got(c.apply(add(kind::reservation, {"name", "nodes", "node_selector", "start", "end", "every", "queue", "group"})
                  .add({name, nodes, one.rack.empty() ? "" : "rack=" + one.rack, one.start, one.end, one.every,
                        one.queue, one.group})));
}

/// Moment by moment, from now until the group has ended; whoever does not say when is there for longer than anything.
bool is_violated(const drawn& by, const model::cluster_state& s, group_row g, node_row node, std::int64_t now) {
  const model::node_info& at = *(*s.nodes)[node];
  const bool all = by.nodes.empty() && by.rack.empty();
  const std::string* const rack = model::find_label(at.labels, "rack");
  if (!all && !by.nodes.contains(at.name) && (by.rack.empty() || rack == nullptr || *rack != by.rack)) return false;
  if (s.group_names[g] == by.group) return false;
  for (queue_row q = s.groups[g].queue; q != no_row; q = (*s.queues)[q].parent) {
    if ((*s.queues)[q].name == by.queue) return false;
  }
  const std::int64_t estimate = s.group_extras[g].runtime_estimate;
  const std::int64_t last = estimate == unset ? now + 300 : now + estimate;
  for (std::int64_t time = now; time == now || time < last; ++time) {
    if (time < by.start) continue;
    if (by.end == unset || time < by.end) return true;
    if (by.every != unset && (time - by.start) % by.every < by.end - by.start) return true;
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
      for (const drawn& one : all) RC_ASSERT(!is_violated(one, s.state(), d.group, d.node, now));
    }
    for (const reason& why : ran.reasons()) {
      if (why.what != constraint::node_reserved) continue;
      ++refused;
      const bool is_reserved = std::any_of(all.begin(), all.end(), [&](const drawn& one) {
        return is_violated(one, s.state(), why.group, why.nearest, now);
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

}  // namespace of_test_reservations
