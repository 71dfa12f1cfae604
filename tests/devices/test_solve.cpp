// Pods as a whole against every assignment, which is built here from capacities alone.

#include <functional>
#include <optional>
#include <random>

#include <doctest/doctest.h>

#include "devices/cards.hpp"
#include "policy/devices/allocation/solve.hpp"

namespace of_test_solve {

using namespace kaisched::devices;
using namespace kaisched::devices::test;

namespace {

place_policies policies_named(std::string_view devices) {
  place_policies made;
  made.devices = devices;
  return made;
}

/// What the rules of NVIDIA's template mean, once more and without checks: sharers, memory, cores, being exclusive.
struct plain_device {
  std::int64_t slots, memory, cores, used_slots, used_memory, used_cores;
};

bool takes(plain_device& of, const request& asked) {
  if (of.used_slots >= of.slots || of.used_memory + asked.memory > of.memory) return false;
  if (of.used_cores + asked.cores > of.cores) return false;
  if (of.cores == 100 && asked.cores == 100 && of.used_slots > 0) return false;
  if (asked.cores == 0 && of.used_cores == of.cores) return false;
  ++of.used_slots;
  of.used_memory += asked.memory;
  of.used_cores += asked.cores;
  return true;
}

std::int64_t use_of(const plain_device& of) {
  return 1'000'000 * of.used_slots / of.slots + 1'000'000 * of.used_cores / of.cores +
         1'000'000 * (of.used_memory / mebibyte) / (of.memory / mebibyte);
}

/// The smallest growth of the squares of uses over all assignments; nothing if there is none.
std::optional<std::int64_t> best_growth(const node& where, const pod& asking, bool pack) {
  std::vector<plain_device> state;
  for (const device& of : where.devices) {
    state.push_back({of.slots, of.memory, of.cores, of.used_slots, of.used_memory, of.used_cores});
  }
  const auto square = [](std::int64_t use) { return use / 1000 * (use / 1000); };
  const auto total = [&] {
    std::int64_t sum = 0;
    for (const plain_device& of : state) sum += square(use_of(of));
    return sum;
  };
  const std::int64_t before = total();
  std::optional<std::int64_t> best;
  const std::function<void(std::size_t, std::size_t, std::int64_t)> go_on = [&](std::size_t container, std::size_t from,
                                                                                std::int64_t missing) {
    if (container == asking.containers.size()) {
      const std::int64_t growth = (total() - before) * (pack ? -1 : 1);
      if (!best || growth < *best) best = growth;
      return;
    }
    const request& asked = asking.containers[container][0];
    if (missing == 0) {
      const bool last = container + 1 == asking.containers.size();
      go_on(container + 1, 0, last ? 0 : asking.containers[container + 1][0].count);
      return;
    }
    for (std::size_t i = from; i < state.size(); ++i) {
      const plain_device kept = state[i];
      if (takes(state[i], asked)) go_on(container, i + 1, missing - 1);
      state[i] = kept;
    }
  };
  go_on(0, 0, asking.containers[0][0].count);
  return best;
}

node random_node(std::mt19937& random) {
  node where = cards(static_cast<std::size_t>(2 + draw(random, 3)), 1000);
  for (device& of : where.devices) {
    of.slots = 4;
    if (draw(random, 2) == 0) use(of, 1 + draw(random, 3), 100 * (draw(random, 8)), 10 * (draw(random, 11)));
  }
  return where;
}

pod random_pod(std::mt19937& random) {
  pod asking;
  const std::int64_t containers = 1 + draw(random, 3);
  for (std::int64_t c = 0; c < containers; ++c) {
    const std::int64_t cores = draw(random, 4) == 0 ? 0 : draw(random, 5) == 0 ? 100 : 10 * (1 + draw(random, 6));
    asking.containers.push_back({ask(1 + draw(random, 2), 100 * (1 + draw(random, 7)), cores)});
  }
  return asking;
}

}  // namespace

TEST_CASE("H21: a pod fits if and only if an assignment exists, and gets the best one") {
  std::mt19937 random(3);
  std::size_t fits = 0;
  std::size_t missed_in_order = 0;
  for (int round = 0; round < 600; ++round) {
    node where = random_node(random);
    const pod asking = random_pod(random);
    for (const char* policy : {"binpack", "spread"}) {
      CAPTURE(round);
      CAPTURE(policy);
      const std::optional<std::int64_t> expected = best_growth(where, asking, policy == std::string("binpack"));
      const std::vector<device> before = where.devices;
      const solved_placement found = solve(vendors(), where, asking, policies_named(policy), {});
      REQUIRE(where.devices == before);
      REQUIRE(found.exact);
      REQUIRE(found.placed.fits == expected.has_value());
      if (!expected) continue;
      ++fits;
      CHECK(found.cost.growth == *expected);
      if (!place_in_order(vendors(), where, asking, policies_named(policy), {}).fits) ++missed_in_order;
    }
  }
  CHECK(fits > 200);
  CHECK(missed_in_order > 5);
}

TEST_CASE("H21: containers that stand in each other's way are placed together") {
  node where = cards(2, 1000);
  use(where.devices[0], 1, 500, 10);
  pod asking;
  asking.containers = {{ask(1, 400, 10)}, {ask(1, 800, 10)}};
  const solved_placement found = solve(vendors(), where, asking, policies_named("spread"), {});
  REQUIRE(found.placed.fits);
  CHECK(ids(found.placed) == "0|1");
  asking.containers.push_back({ask(1, 900, 10)});
  CHECK(solve(vendors(), where, asking, policies_named("spread"), {}).placed.reason == "ContainersConflict");
  asking.containers.push_back({ask(1, 1900, 10)});
  CHECK(solve(vendors(), where, asking, policies_named("spread"), {}).placed.reason == "2/2 CardInsufficientMemory");
}

TEST_CASE("H22: a pod counts in the use that nodes are compared by") {
  node where = cards(2, 1000);
  const solved_placement found = solve(vendors(), where, one(ask(1, 500, 50)), policies_named("spread"), {});
  CHECK(found.use_after == 50'000 + 250'000 + 250'000);
}

TEST_CASE("H23: NUMA nodes come before packing where the policy names them") {
  node where = cards(4, 1000);
  for (std::size_t i = 0; i < 4; ++i) where.devices[i].numa = static_cast<std::int64_t>(i / 2);
  use(where.devices[0], 1, 500, 50);
  use(where.devices[3], 1, 500, 50);
  CHECK(ids(solve(vendors(), where, one(ask(2, 100, 10)), policies_named("binpack"), {}).placed) == "0,3");
  CHECK(ids(solve(vendors(), where, one(ask(2, 100, 10)), policies_named("numa,binpack"), {}).placed) == "0,1");
}

TEST_CASE("H23: links come before packing where the policy names them") {
  node where = cards(4, 1000);
  where.links = link_scores(4);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      if (a != b) where.links.set(a, b, a + b == 3 ? 100 : 10);
    }
  }
  CHECK(ids(solve(vendors(), where, one(ask(2, 100, 10)), policies_named("topology-aware"), {}).placed) == "0,3");
  where.devices[0].healthy = false;
  CHECK(ids(solve(vendors(), where, one(ask(2, 100, 10)), policies_named("topology-aware"), {}).placed) == "1,2");
  where.devices[0].healthy = true;
  where.links.set(0, 1, 90);
  where.links.set(1, 0, 90);
  CHECK(ids(solve(vendors(), where, one(ask(1, 100, 10)), policies_named("topology-aware"), {}).placed) == "2");
}

TEST_CASE("H24: sets that a vendor's rule forbids are not taken") {
  node where = cards(4, 65536, "Ascend910C");
  where.devices[0].healthy = false;
  pod asking = one(ask(2, 0, 0, "Ascend910C"));
  CHECK(ids(solve(vendors(), where, asking, policies_named("binpack"), {}).placed, "Ascend910C") == "2,3");
  where.devices[3].healthy = false;
  CHECK_FALSE(solve(vendors(), where, asking, policies_named("binpack"), {}).placed.fits);

  node wings = cards(8, 98304, "kunlun");
  use(wings.devices[0], 1, 0, 0);
  asking = one(ask(4, 0, 0, "kunlun"));
  const solved_placement four = solve(vendors(), wings, asking, policies_named("binpack"), {});
  CHECK(ids(four.placed, "kunlun") == "4,5,6,7");
  CHECK(find_grants(four.placed.grants, "kunlun")->at(0)[0].cores == 100);
  asking.containers[0][0].count = 8;
  CHECK_FALSE(solve(vendors(), wings, asking, policies_named("binpack"), {}).placed.fits);
  asking.containers[0][0].count = 3;
  CHECK_FALSE(solve(vendors(), wings, asking, policies_named("binpack"), {}).placed.fits);
}

TEST_CASE("parts of a Kunlunxin card are equal") {
  node where = cards(8, 98304, "XPU");
  for (std::size_t i = 0; i < 7; ++i) use(where.devices[i], 1, 49152, 50);
  CHECK(ids(solve(vendors(), where, one(ask(1, 49152, 50, "XPU")), policies_named("binpack"), {}).placed, "XPU") ==
        "0");
  CHECK(ids(solve(vendors(), where, one(ask(1, 24576, 25, "XPU")), policies_named("binpack"), {}).placed, "XPU") ==
        "7");
}

TEST_CASE("runs of Neuron devices are idle, aligned unless the node is a ring") {
  node where = cards(8, 0, "AWSNeuron");
  for (device& of : where.devices) {
    of.slots = 2;
    of.cores = 3;
    of.attributes = {{"AWSNodeType", std::string("trn1")}};
  }
  where.devices[1].used_slots = 1;
  const auto placed = [&](std::int64_t count) {
    return ids(solve(vendors(), where, one(ask(count, 0, 2, "AWSNeuron")), policies_named("spread"), {}).placed,
               "AWSNeuron");
  };
  CHECK(placed(4) == "4,5,6,7");
  CHECK(placed(2).empty());
  where.devices[0].attributes = {{"AWSNodeType", std::string("inf2")}};
  CHECK(placed(5) == "2,3,4,5,6");
}

TEST_CASE("H25: cut short the search takes what it has or what containers get in order") {
  node where = cards(12, 1000);
  for (std::size_t i = 0; i < 12; ++i) use(where.devices[i], 1, static_cast<std::int64_t>(10 * i), 1);
  const pod asking = one(ask(6, 100, 10));
  const solved_placement whole = solve(vendors(), where, asking, policies_named("spread"), {}, 1'000'000);
  CHECK(whole.exact);
  for (const std::size_t limit : {std::size_t{1}, std::size_t{20}, std::size_t{500}}) {
    const solved_placement cut = solve(vendors(), where, asking, policies_named("spread"), {}, limit);
    CHECK_FALSE(cut.exact);
    CHECK(cut.placed.fits);
    CHECK(find_grants(cut.placed.grants, "NVIDIA")->at(0).size() == 6);
  }
}

TEST_CASE("containers that run first need devices only for themselves") {
  node where = cards(2, 1000);
  pod asking;
  asking.init_containers = 1;
  asking.containers = {{ask(2, 900, 0)}, {ask(1, 600, 0)}, {ask(1, 900, 0)}};
  const solved_placement found = solve(vendors(), where, asking, policies_named("spread"), {});
  REQUIRE(found.placed.fits);
  CHECK(ids(found.placed) == "0,1|0|1");
  CHECK(found.placed.uses[0].memory == 900 * mebibyte);
  CHECK(found.placed.uses[0].slots == 1);
}

TEST_CASE("quotas hold over all containers together") {
  node where = cards(4, 1000);
  space_quota quota{"team", "NVIDIA", 1000 * mebibyte, {}, {}, 0, 0, 0};
  pod asking;
  asking.space = "team";
  asking.containers = {{ask(1, 500, 0)}, {ask(1, 500, 0)}};
  CHECK(solve(vendors(), where, asking, policies_named("spread"), {quota}).placed.fits);
  asking.containers.push_back({ask(1, 1, 0)});
  CHECK_FALSE(solve(vendors(), where, asking, policies_named("spread"), {quota}).placed.fits);
}

}  // namespace of_test_solve
