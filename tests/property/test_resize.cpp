/// Elastic groups that exchange places: every move makes them faster together, and at last nobody moves.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "model/figures.hpp"
#include "property/draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_resize {

namespace {

using namespace kaisched;
using namespace kaisched::test;
using kind = table_kind;

struct drawn_group {
  std::string queue;
  int gang = 1;
  int pods = 1;
  std::int64_t priority = 50;
  bool preemptible = true;
  std::vector<std::string> curve;    ///< empty: none
  std::vector<std::string> node_of;  ///< by pod; empty: it waits
};

/// Ever less for each further pod.
std::vector<std::string> draw_curve(int pods) {
  std::vector<std::string> points;
  int speed = 0;
  int gain = draw(100, 2000);
  for (int k = 1; k <= pods; ++k) {
    speed += gain;
    gain = draw(gain / 4, gain);
    const std::string rest = std::to_string(speed % 1000);
    points.push_back(std::to_string(k) + ":" + std::to_string(speed / 1000) + "." + std::string(3 - rest.size(), '0') +
                     rest);
  }
  return points;
}

std::vector<drawn_group> draw_groups() {
  std::vector<drawn_group> made(static_cast<std::size_t>(draw(2, 6)));
  for (drawn_group& one : made) {
    one.queue = draw(0, 3) == 0 ? "other" : "q";
    one.pods = draw(1, 5);
    one.gang = draw(1, one.pods);
    one.priority = draw(0, 3) == 0 ? 60 : 50;
    one.preemptible = draw(0, 5) > 0;
    if (draw(0, 5) > 0) one.curve = draw_curve(one.pods);
    one.node_of.resize(static_cast<std::size_t>(one.pods));
  }
  return made;
}

cluster built(const std::vector<drawn_group>& groups, int nodes) {
  cluster c;
  got(c.apply(add(kind::queue, {"name"}).add({"q"}).add({"other"})));
  auto of_nodes = add(kind::node, {"name", "capacity"});
  for (int n = 0; n < nodes; ++n) of_nodes.add({"n" + std::to_string(n), numbers{64'000, 1 << 30, 3000, 20}});
  got(c.apply(of_nodes));
  auto of_groups = add(kind::pod_group, {"name", "queue", "min_member", "priority", "preemptible", "speedup"});
  auto waiting = add(kind::pod, {"name", "group", "request"});
  auto running = add(kind::pod, {"name", "group", "request", "status", "node"});
  bool some_run = false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const drawn_group& one = groups[g];
    const std::string name = "g" + std::to_string(g);
    of_groups.add(
        {name, one.queue, one.gang, one.priority, one.preemptible ? 1 : 0, texts(one.curve.begin(), one.curve.end())});
    for (int p = 0; p < one.pods; ++p) {
      const std::string pod = name + "-" + std::to_string(p);
      const std::string& node = one.node_of[static_cast<std::size_t>(p)];
      some_run = some_run || !node.empty();
      if (node.empty())
        waiting.add({pod, name, numbers{1000, 0, 1000, 1}});
      else
        running.add({pod, name, numbers{1000, 0, 1000, 1}, pod_status::running, node});
    }
  }
  got(c.apply(of_groups));
  got(c.apply(waiting));
  if (some_run) got(c.apply(running));
  return c;
}

std::int64_t speed_of(const drawn_group& one) {
  const auto pods = one.pods - std::count(one.node_of.begin(), one.node_of.end(), std::string());
  if (pods < one.gang) return 0;
  if (one.curve.empty()) return 1000 * pods;
  return model::throughput_of(model::parse_speedup(join_list(one.curve)).value(), pods);
}
std::int64_t speed_of(const std::vector<drawn_group>& groups) {
  std::int64_t sum = 0;
  for (const drawn_group& one : groups) sum += speed_of(one);
  return sum;
}

/// What the session decided has happened: true if somebody left.
bool carry_out(const session& ran, std::vector<drawn_group>& groups) {
  const session_view view = ran.view();
  bool any_left = false;
  for (const decision& d : ran.decisions()) {
    if (d.pod == no_row) continue;
    const std::string pod(view.pod_name(d.pod));
    drawn_group& one = groups[static_cast<std::size_t>(std::stoi(pod.substr(1)))];
    std::string& node = one.node_of[static_cast<std::size_t>(std::stoi(pod.substr(pod.find('-') + 1)))];
    if (d.kind == decision_kind::evict) {
      RC_ASSERT(one.preemptible);
      RC_ASSERT(!one.curve.empty());
      any_left = true;
      node.clear();
    } else if (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline) {
      node = view.node_name(d.node);
    }
  }
  for (const drawn_group& one : groups) {
    const auto pods = one.pods - std::count(one.node_of.begin(), one.node_of.end(), std::string());
    RC_ASSERT(pods == 0 || pods >= one.gang);
  }
  return any_left;
}

void play() {
  std::vector<drawn_group> groups = draw_groups();
  const int nodes = draw(1, 3);
  engine e;
  got(e.set("actions", "allocate,resize"));
  got(e.set("parts", "predicates,proportion,priority,goodput,nodeavailability,nodeplacement"));
  got(e.set("resize.gain", std::to_string(draw(0, 1) * 10)));
  got(e.set("mode", draw(0, 3) == 0 ? "compat" : "strict"));
  got(e.set("invariants", "full"));
  int rounds = 0;
  for (bool moved = true; moved; ++rounds) {
    RC_ASSERT(rounds < 100);
    cluster c = built(groups, nodes);
    const std::int64_t before = speed_of(groups);
    const session ran = got(e.run(c.take_snapshot(), rounds));
    moved = carry_out(ran, groups);
    const std::int64_t after = speed_of(groups);
    RC_ASSERT(after > before || (!moved && after == before));
  }
}

}  // namespace

TEST_CASE("resizing makes groups faster together and comes to rest") {
  const bool good = rc::check("resize", [] { play(); });
  CHECK(good);
}

}  // namespace of_test_resize
