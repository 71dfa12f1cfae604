// Sessions decide about devices of vendors as the pure module does, and undo what they try.

#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/vendors.hpp>

#include "benchmarks/fleet.hpp"
#include "devices/cards.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_sessions {

using namespace kaisched;
using devices::test::draw;
using test::must;

namespace {

struct drawn_device {
  std::int64_t memory = 0;
  std::int64_t numa = 0;
};
struct drawn_pod {
  std::vector<std::string> requests;
  std::vector<std::string> annotations;
  devices::pod asking;
};

std::string told(std::size_t index, const drawn_device& one) {
  return "id=GPU-" + std::to_string(index) + ",type=NVIDIA-A100,index=" + std::to_string(index) +
         ",slots=4,cores=100,memory=" + std::to_string(one.memory) + ",numa=" + std::to_string(one.numa);
}

devices::device made(std::size_t index, const drawn_device& one) {
  devices::device card = devices::test::card(static_cast<std::int64_t>(index), one.memory / devices::mebibyte);
  card.slots = 4;
  card.numa = one.numa;
  return card;
}

template <class Random>
drawn_pod some_pod(Random& random) {
  drawn_pod pod;
  const std::int64_t containers = 1 + draw(random, 2);
  for (std::int64_t c = 0; c < containers; ++c) {
    const std::int64_t count = 1 + draw(random, 2);
    const std::int64_t mib = 100 * (1 + draw(random, 6));
    const std::int64_t cores = 20 * draw(random, 4);
    pod.requests.push_back("container=" + std::to_string(c) + ",vendor=NVIDIA,count=" + std::to_string(count) +
                           ",memory=" + std::to_string(mib) + "Mi,cores=" + std::to_string(cores));
    pod.asking.containers.push_back({devices::test::ask(count, mib, cores)});
  }
  if (draw(random, 3) == 0) {
    pod.annotations.emplace_back("hami.io/gpu-scheduler-policy=binpack");
    pod.asking.annotations.emplace_back("hami.io/gpu-scheduler-policy", "binpack");
  }
  return pod;
}

std::vector<std::string_view> views(const std::vector<std::string>& of) { return {of.begin(), of.end()}; }

engine with_vendors() {
  engine made;
  made.set_device_catalog(must(shipped_device_catalog()));
  return made;
}

std::string grants_of(const devices::pod_grants& grants) {
  std::string text;
  const devices::vendor_grants* of = devices::find_grants(grants, "NVIDIA");
  for (std::size_t c = 0; of != nullptr && c < of->size(); ++c) {
    for (const devices::grant& one : (*of)[c]) {
      text += "container=" + std::to_string(c) + ",device=" + one.id + ",memory=" + std::to_string(one.memory) +
              ",cores=" + std::to_string(one.cores) + ",slots=1 ";
    }
  }
  return text;
}

}  // namespace

TEST_CASE("the presets of HAMi choose node and devices as HAMi's order does, pod after pod") {
  std::size_t placed = 0;
  std::size_t refused = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const bool spreads = seed % 2 == 1;
    std::vector<devices::node> nodes;
    cluster c;
    must(c.apply(test::add(table_kind::queue, {"name"}).add({"q"})));
    for (std::int64_t n = 0; n < 1 + draw(random, 4); ++n) {
      const std::string name = "n" + std::to_string(n);
      nodes.emplace_back();
      nodes.back().name = name;
      std::vector<std::string> list;
      const std::size_t count = 1 + static_cast<std::size_t>(draw(random, 3));
      for (std::size_t d = 0; d < count; ++d) {
        const drawn_device one{1000 * devices::mebibyte, draw(random, 2)};
        list.push_back(told(d, one));
        nodes.back().devices.push_back(made(d, one));
      }
      must(c.apply(test::add(table_kind::node, {"name", "capacity", "vendor_devices"})
                       .add({name, test::numbers{64000, 0, 0, 110}, test::texts(views(list))})));
    }
    devices::policy_levels levels;
    levels.keys = {"hami.io/node-scheduler-policy", "hami.io/gpu-scheduler-policy", "hami.io/device-scoring-weights"};
    levels.global.node_policy = spreads ? "spread" : "binpack";
    devices::fleet expected(devices::test::vendors(), nodes, levels, true);
    std::vector<drawn_pod> pods;
    for (int p = 0; p < 12; ++p) {
      pods.push_back(some_pod(random));
      const std::string name = "p" + std::string(p < 10 ? "0" : "") + std::to_string(p);
      must(c.apply(test::add(table_kind::pod_group, {"name", "queue", "created"}).add({name, "q", p + 1})));
      must(c.apply(test::add(table_kind::pod, {"name", "group", "request", "device_requests", "annotations"})
                       .add({name, name, test::numbers{1000, 0, 0, 1}, test::texts(views(pods.back().requests)),
                             test::texts(views(pods.back().annotations))})));
    }
    engine e = with_vendors();
    must(e.set("preset", spreads ? "hami-spread" : "hami-binpack"));
    const session s = must(e.run(c.take_snapshot(), 0));
    for (std::size_t p = 0; p < pods.size(); ++p) {
      const std::string name = "p" + std::string(p < 10 ? "0" : "") + std::to_string(p);
      const std::optional<devices::fleet_choice> best = expected.choose(pods[p].asking);
      const decision* found = nullptr;
      for (const decision& d : s.decisions()) {
        if (d.pod != no_row && s.base().pod_name(d.pod) == name) found = &d;
      }
      CAPTURE(seed);
      CAPTURE(name);
      REQUIRE(best.has_value() == (found != nullptr));
      if (!best) {
        ++refused;
        continue;
      }
      ++placed;
      CHECK(s.base().node_name(found->node) == nodes[best->node].name);
      std::string grants;
      for (const std::string& one : found->device_grants) grants += one + " ";
      CHECK(grants == grants_of(best->placed.grants));
      expected.commit(pods[p].asking, *best);
    }
  }
  CHECK(placed > 150);
  CHECK(refused > 150);
}

TEST_CASE("victims give devices of vendors back, and what was tried is undone") {
  // Builds with checks compare the books of every session with its pods, and every undo with what was before.
  std::size_t moved = 0;
  for (unsigned seed = 0; seed < 80; ++seed) {
    std::mt19937 random(seed);
    cluster c;
    must(c.apply(test::add(table_kind::queue, {"name", "quota"})
                     .add({"a", test::numbers{-1, -1, 2000}})
                     .add({"b", test::numbers{-1, -1, 2000}})));
    for (int n = 0; n < 2; ++n) {
      const std::vector<std::string> list{told(0, {1000 * devices::mebibyte, 0}),
                                          told(1, {1000 * devices::mebibyte, 1})};
      must(c.apply(test::add(table_kind::node, {"name", "capacity", "vendor_devices"})
                       .add({"n" + std::to_string(n), test::numbers{64000, 0, 2000, 110}, test::texts(views(list))})));
    }
    const engine plain = with_vendors();
    engine all = with_vendors();
    must(all.set("actions", "allocate,consolidation,reclaim,preempt"));
    for (int round = 0; round < 2; ++round) {
      for (int p = 0; p < 6; ++p) {
        const std::string name = (round == 0 ? "a" : "b") + std::to_string(p);
        const std::int64_t milli = 250 * (1 + draw(random, 4));
        must(c.apply(test::add(table_kind::pod_group, {"name", "queue", "created", "priority"})
                         .add({name, round == 0 ? "a" : "b", p + 1, 50 + draw(random, 2)})));
        const std::vector<std::string> requests{"vendor=NVIDIA,memory_permille=" + std::to_string(milli) +
                                                ",cores=" + std::to_string(10 * draw(random, 4))};
        const bool native = draw(random, 3) == 0;
        must(c.apply(test::add(table_kind::pod, {"name", "group", "request", "device_requests"})
                         .add({name, name, test::numbers{1000, 0, milli, 1},
                               native ? test::texts{} : test::texts(views(requests))})));
      }
      const session s = must((round == 0 ? plain : all).run(c.take_snapshot(), 0));
      for (const decision& d : s.decisions()) {
        if (d.kind == decision_kind::evict || d.kind == decision_kind::move) ++moved;
        if (d.kind != decision_kind::bind) continue;
        std::vector<std::string_view> grants(d.device_grants.begin(), d.device_grants.end());
        CHECK(grants.size() == 1);
        must(c.apply(test::change(table_kind::pod, {"name", "status", "node", "device_grants"})
                         .add({std::string(s.base().pod_name(d.pod)), pod_status::running,
                               std::string(s.base().node_name(d.node)), test::texts(grants)})));
      }
    }
  }
  CHECK(moved > 30);
}

TEST_CASE("a catalog grows by the text of a vendor") {
  const auto shipped = must(shipped_device_catalog());
  const std::string acme = R"({"schema": "kaisched-vendor/1", "description": "d", "vendors": [{"key": "Acme",
      "resources": {"count": "acme.com/npu"}, "requests": {"default_permille": 1000}, "admission": [],
      "checks": ["health", "slots", "memory"], "sets": []}]})";
  const auto more = must(extended_device_catalog(*shipped, acme, "acme.json"));
  cluster c;
  must(c.apply(test::add(table_kind::queue, {"name"}).add({"q"})));
  must(c.apply(test::add(table_kind::node, {"name", "capacity", "vendor_devices"})
                   .add({"n", test::numbers{64000, 0, 0, 110}, test::texts{"id=x,type=Acme-1,memory=1Gi"}})));
  must(c.apply(test::add(table_kind::pod_group, {"name", "queue"}).add({"g", "q"})));
  must(c.apply(test::add(table_kind::pod, {"name", "group", "request", "device_requests"})
                   .add({"p", "g", test::numbers{1000, 0, 0, 1}, test::texts{"vendor=Acme,memory_permille=500"}})));
  engine e;
  e.set_device_catalog(shipped);
  CHECK(must(e.run(c.take_snapshot(), 0)).decisions().empty());
  e.set_device_catalog(more);
  const session s = must(e.run(c.take_snapshot(), 0));
  REQUIRE(s.decisions().size() == 1);
  CHECK(s.decisions()[0].device_grants ==
        std::vector<std::string>{"container=0,device=x,memory=536870912,cores=0,slots=1"});
  const auto broken =
      extended_device_catalog(*shipped, R"({"schema": "kaisched-vendor/1", "vendors": [{}]})", "b.json");
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.failure().message.find("b.json") != std::string::npos);
  const engine none;
  CHECK(must(none.run(c.take_snapshot(), 0)).decisions().empty());
}

}  // namespace of_test_sessions
