// Many nodes: what is kept of earlier answers changes no decision; three levels of settings.

#include <random>

#include <doctest/doctest.h>

#include "benchmarks/fleet.hpp"
#include "devices/cards.hpp"

namespace of_test_fleet {

using namespace kaisched::devices;
using namespace kaisched::devices::test;

namespace {

policy_levels hami_levels() {
  policy_levels levels;
  levels.keys = {"hami.io/node-scheduler-policy", "hami.io/gpu-scheduler-policy", "hami.io/device-scoring-weights"};
  return levels;
}

std::vector<node> some_nodes(std::size_t count, std::size_t devices, std::int64_t mib) {
  std::vector<node> made;
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back(cards(devices, mib));
    made.back().name = "n" + std::to_string(i);
  }
  return made;
}

}  // namespace

TEST_CASE("answers that are kept decide as answers that are asked anew") {
  for (const bool in_order : {true, false}) {
    fleet kept(vendors(), some_nodes(5, 3, 1000), hami_levels(), in_order);
    std::mt19937 random(5);
    std::size_t placed = 0;
    for (int round = 0; round < 120; ++round) {
      pod asking = one(ask(1 + draw(random, 2), 100 * (1 + draw(random, 4)), 10 * (draw(random, 4))));
      if (draw(random, 2) == 0) asking.annotations = {{"hami.io/node-scheduler-policy", "spread"}};
      if (draw(random, 3) == 0) asking.annotations.emplace_back("hami.io/gpu-scheduler-policy", "binpack");
      fleet anew(vendors(), kept.nodes(), hami_levels(), in_order);
      const std::optional<fleet_choice> expected = anew.choose(asking);
      const std::optional<fleet_choice> found = kept.choose(asking);
      REQUIRE(expected.has_value() == found.has_value());
      if (!found) continue;
      ++placed;
      CHECK(found->node == expected->node);
      CHECK(found->placed.grants == expected->placed.grants);
      kept.commit(asking, *found);
    }
    CHECK(placed > 20);
    CHECK(kept.questions() < 120 * 5);
  }
}

TEST_CASE("a pod like the last one asks one node") {
  fleet nodes(vendors(), some_nodes(10, 2, 1000), hami_levels(), true);
  const pod asking = one(ask(1, 100, 10));
  nodes.commit(asking, *nodes.choose(asking));
  CHECK(nodes.questions() == 10);
  nodes.commit(asking, *nodes.choose(asking));
  CHECK(nodes.questions() == 11);
}

TEST_CASE("H26: binpack fills a node, spread takes the emptiest; the pod's word goes first") {
  for (const bool in_order : {true, false}) {
    fleet nodes(vendors(), some_nodes(3, 2, 1000), hami_levels(), in_order);
    nodes.change(1).devices[0].used_slots = 2;
    pod asking = one(ask(1, 100, 10));
    CHECK(nodes.choose(asking)->node == 1);
    asking.annotations = {{"hami.io/node-scheduler-policy", "spread"}};
    CHECK(nodes.choose(asking)->node == 0);
  }
}

TEST_CASE("H27: what a node says about its devices goes before what all nodes say") {
  policy_levels levels = hami_levels();
  levels.global.device_policy = "binpack";
  levels.nodes = {{"n1", {}}};
  levels.nodes[0].second.device_policy = "spread";
  fleet nodes(vendors(), some_nodes(2, 2, 1000), levels, true);
  for (std::size_t i = 0; i < 2; ++i) nodes.change(i).devices[0].used_slots = 1;
  pod asking = one(ask(1, 100, 10));
  nodes.change(1).devices[0].healthy = nodes.change(1).devices[1].healthy = false;
  CHECK(ids(nodes.choose(asking)->placed) == "0");
  nodes.change(1).devices[0].healthy = nodes.change(1).devices[1].healthy = true;
  nodes.change(0).devices[0].healthy = nodes.change(0).devices[1].healthy = false;
  CHECK(ids(nodes.choose(asking)->placed) == "1");
  asking.annotations = {{"hami.io/gpu-scheduler-policy", "binpack"}};
  CHECK(ids(nodes.choose(asking)->placed) == "0");
}

TEST_CASE("H28: registered devices: mode, sharers, memory and cores promised more than once") {
  device_settings global;
  global.slots = 4;
  global.memory_permille = 1500;
  device_settings own;
  own.memory_permille = 2000;
  own.core_permille = 1100;
  const device_settings both = over(own, global);
  node where = cards(2, 1001);
  where.devices[1].mode = "mig";
  where.devices[1].profiles = shipped().divided[0].profiles;
  register_devices(both, where);
  CHECK(where.devices[0].slots == 4);
  CHECK(where.devices[0].memory == 2002 * mebibyte);
  CHECK(where.devices[0].cores == 110);
  CHECK(where.devices[1].memory == 1001 * mebibyte);
  CHECK(where.devices[1].slots == 4);  // places of 1g.6gb
  CHECK(over({}, global).memory_permille == 1500);
}

TEST_CASE("quotas are charged by commits and ask again who is limited by them") {
  fleet nodes(vendors(), some_nodes(2, 2, 1000), hami_levels(), true);
  nodes.set_quotas({{"team", "NVIDIA", 250 * mebibyte, {}, {}, 0, 0, 0}});
  const pod asking = one(ask(1, 100, 0));
  nodes.commit(asking, *nodes.choose(asking));
  nodes.commit(asking, *nodes.choose(asking));
  CHECK(nodes.quotas()[0].used_memory == 200 * mebibyte);
  CHECK_FALSE(nodes.choose(asking));
  CHECK(nodes.reasons(asking) == std::vector<std::string>{"2 nodes 2/2 ResourceQuotaNotFit"});
  pod other = asking;
  other.space = "other";
  CHECK(nodes.choose(other));
}

TEST_CASE("weights that cannot be read place nothing and say so") {
  fleet nodes(vendors(), some_nodes(1, 1, 1000), hami_levels(), true);
  pod asking = one(ask(1, 100, 0));
  asking.annotations = {{"hami.io/device-scoring-weights", "slot=1"}};
  CHECK_FALSE(nodes.choose(asking));
  REQUIRE(nodes.reasons(asking).size() == 1);
  CHECK(nodes.reasons(asking)[0].find("device scoring weights") != std::string::npos);
}

}  // namespace of_test_fleet
