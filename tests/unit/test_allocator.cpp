// Devices that claims get at a node: pools, requests, alternatives, constraints, capacities, counters and taints.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "policy/claims/allocator.hpp"

namespace of_test_allocator {

using namespace kaisched;
using model::attribute_kind;
using policy::allocation_answer;
using policy::allocation_outcome;
using policy::claim_request;
using policy::device_ask;
using policy::device_slice;
using policy::offered_device;

namespace {

constexpr std::string_view driver = "gpu.example.com";

model::exact_quantity amount(std::string_view text) {
  const auto read = model::parse_exact_quantity(text);
  REQUIRE(read.has_value());
  return *read;
}

model::cel_expression cel(std::string_view text) {
  result<model::cel_expression> made = model::cel_expression::parse(text);
  if (!made) FAIL(made.failure().message);
  return *made;
}

template <class T>
T sure(result<T> made) {
  if (!made) FAIL(made.failure().message);
  return std::move(*made);
}

offered_device on(std::string_view node, std::string_view name) {
  offered_device made;
  made.name = name;
  made.reach.node = node;
  return made;
}
offered_device with(offered_device device, std::string_view name, std::string_view value) {
  device.attributes.push_back(
      {std::string(driver), std::string(name), attribute_kind::text, false, {}, {std::string(value)}});
  return device;
}

device_slice slice(std::string_view pool, std::vector<offered_device> devices) {
  device_slice made;
  made.driver = driver;
  made.pool = pool;
  made.devices = std::move(devices);
  return made;
}

device_ask asks(std::int64_t count = 1, std::string_view selector = "") {
  device_ask made;
  made.count = count;
  if (!selector.empty()) made.selectors.push_back(cel(selector));
  return made;
}
device_ask asks_all(std::string_view selector = "") {
  device_ask made = asks(1, selector);
  made.all = true;
  return made;
}
claim_request claim(std::vector<device_ask> requests) {
  claim_request made;
  for (device_ask& one : requests) {
    made.requests.push_back({"r" + std::to_string(made.requests.size()), {std::move(one)}});
  }
  return made;
}

/// Slices, what is taken of them, and one node that asks.
struct world {
  explicit world(std::vector<device_slice> made, std::string_view node = "a", model::label_list labels = {})
      : slices(std::move(made)) {
    std::vector<const device_slice*> pointers;
    for (const device_slice& one : slices) pointers.push_back(&one);
    pools = policy::device_pools(pointers);
    usage = policy::device_usage(pools);
    reachable = pools.reachable(node, labels);
  }

  allocation_answer ask(const std::vector<claim_request>& claims, std::uint64_t most = policy::most_allocation_steps) {
    std::vector<const claim_request*> pointers;
    for (const claim_request& one : claims) pointers.push_back(&one);
    policy::selector_answers answers;
    allocation_answer found = policy::allocate({pools, usage, answers, reachable, {}, most}, pointers);
    // Answers that are remembered are the same answers.
    for (const claim_request& one : claims) {
      for (const policy::device_request& request : one.requests) {
        for (const device_ask& ask : request.alternatives) {
          answers.remember(ask, std::to_string(reinterpret_cast<std::uintptr_t>(&ask)), pools);
        }
      }
    }
    for (int again = 0; again < 2; ++again) {
      const allocation_answer same = policy::allocate({pools, usage, answers, reachable, {}, most}, pointers);
      CHECK(same.outcome == found.outcome);
      CHECK(same.given == found.given);
      CHECK(same.message == found.message);
      CHECK(same.steps == found.steps);
    }
    return found;
  }
  /// Names of the devices, in order; or how the search ended.
  std::string given(const std::vector<claim_request>& claims) {
    const allocation_answer found = ask(claims);
    switch (found.outcome) {
      case allocation_outcome::found:
        break;
      case allocation_outcome::none:
        return "none";
      case allocation_outcome::selector_failed:
        return "failed: " + found.message;
      case allocation_outcome::pool_changing:
        return "changing: " + found.message;
      case allocation_outcome::too_many_devices:
        return "too many: " + found.message;
      case allocation_outcome::not_searched_further:
        return "stopped: " + found.message;
    }
    std::string text;
    for (const policy::given_device& one : found.given) {
      text += (text.empty() ? "" : " ") + pools.devices()[one.share.device].offered->name;
    }
    return text;
  }
  std::string given(claim_request one) { return given(std::vector<claim_request>{std::move(one)}); }
  /// Gives what was found.
  void take(const allocation_answer& found) {
    REQUIRE(found.outcome == allocation_outcome::found);
    for (const policy::given_device& one : found.given) usage.take(pools, one.share);
  }
  void take(std::string_view name) { usage.take(pools, {pools.find(name), false, {}}); }

  std::vector<device_slice> slices;
  policy::device_pools pools;
  policy::device_usage usage;
  std::vector<std::uint32_t> reachable;
};

}  // namespace

TEST_CASE("a count of devices, all devices, several requests") {
  world w({slice("a", {on("a", "g0"), on("a", "g1"), on("a", "g2")}), slice("b", {on("b", "other")})});
  CHECK(w.given(claim({asks()})) == "g0");
  CHECK(w.given(claim({asks(3)})) == "g0 g1 g2");
  CHECK(w.given(claim({asks(4)})) == "none");
  CHECK(w.given(claim({asks(2), asks()})) == "g0 g1 g2");
  CHECK(w.given(claim({asks(2), asks(2)})) == "none");
  CHECK(w.given(claim({asks_all()})) == "g0 g1 g2");
  CHECK(w.given(std::vector<claim_request>{claim({asks(2)}), claim({asks()})}) == "g0 g1 g2");
  CHECK(w.given(std::vector<claim_request>{claim({asks(2)}), claim({asks(2)})}) == "none");
  CHECK(w.given(claim_request{}).empty());
  w.take("gpu.example.com/a/g0");
  CHECK(w.given(claim({asks(2)})) == "g1 g2");
  CHECK(w.given(claim({asks_all()})) == "none");  // one of them is in use
  CHECK(w.given(claim({asks_all("device.driver == 'x'")})) == "none");
}

TEST_CASE("a search goes back: the first request leaves the device that only the second can use") {
  world w({slice("a", {with(on("a", "big"), "size", "l"), with(on("a", "small"), "size", "s")})});
  const std::string big = R"(device.attributes["gpu.example.com"].size == "l")";
  CHECK(w.given(claim({asks(), asks(1, big)})) == "small big");
  CHECK(w.given(std::vector<claim_request>{claim({asks()}), claim({asks(1, big)})}) == "small big");
  CHECK(w.given(claim({asks(1, big), asks(1, big)})) == "none");
}

TEST_CASE("the first alternative that is possible") {
  world w({slice("a", {with(on("a", "h0"), "model", "h100"), with(on("a", "a0"), "model", "a100"),
                       with(on("a", "a1"), "model", "a100")})});
  const std::string model = R"(device.attributes["gpu.example.com"].model == )";
  claim_request one;
  one.requests.push_back({"gpu", {asks(2, model + "'h100'"), asks(2, model + "'a100'"), asks()}});
  allocation_answer found = w.ask({one});
  CHECK(w.given(one) == "a0 a1");
  REQUIRE(found.given.size() == 2);
  CHECK(found.given.front().alternative == 1);
  w.take("gpu.example.com/a/a1");
  CHECK(w.given(one) == "h0");
  CHECK(w.ask({one}).given.front().alternative == 2);
  // An earlier request gives way to an alternative before a later one fails.
  claim_request two = claim({asks(), asks(1, model + "'h100'")});
  two.requests.front().alternatives.front().name = "x";
  CHECK(w.given(two) == "a0 h0");
}

TEST_CASE("pools: generations, slices that are missing, and what contradicts itself") {
  device_slice old = slice("a", {on("a", "old")});
  device_slice fresh = slice("a", {on("a", "new")});
  fresh.generation = 1;
  CHECK(world({old, fresh}).given(claim({asks()})) == "new");

  fresh.slices = 2;
  world partly({old, fresh, slice("b", {on("a", "other")})});
  CHECK(partly.given(claim({asks()})) == "other");
  CHECK(partly.given(claim({asks_all()})) == "changing: pool gpu.example.com/a cannot be used: it has 1 of 2 slices");
  device_slice second = slice("a", {on("a", "second")});
  second.generation = 1;
  second.slices = 2;
  CHECK(world({old, fresh, second}).given(claim({asks_all()})) == "new second");

  world twice({slice("a", {on("a", "g0"), on("a", "g0")})});
  CHECK(twice.given(claim({asks()})) == "none");
  CHECK(twice.given(claim({asks_all()})).find("device g0 is there twice") != std::string::npos);
  offered_device lost = on("a", "g0");
  lost.consumes.push_back({"set", "x", amount("1")});
  CHECK(world({slice("a", {lost})}).given(claim({asks_all()})).find("set/x, which is not there") != std::string::npos);
}

TEST_CASE("nodes that reach a device") {
  offered_device everywhere = on("", "nic");
  everywhere.reach.all_nodes = true;
  offered_device rack = on("", "switch");
  rack.reach.by_labels = true;
  rack.reach.labels = sure(model::parse_selector("rack=r1"));
  const std::vector<device_slice> slices{slice("net", {rack, everywhere}), slice("b", {on("b", "g0")})};
  const model::label_list r1{{"rack", "r1"}};
  CHECK(world(slices, "a", r1).given(claim({asks_all()})) == "switch nic");
  CHECK(world(slices, "a").given(claim({asks_all()})) == "nic");
  CHECK(world(slices, "b").given(claim({asks_all()})) == "g0 nic");
  CHECK(world({slice("none", {on("", "lost")})}).given(claim({asks()})) == "none");
}

TEST_CASE("an error of a selector is told, not guessed around") {
  world w({slice("a", {with(on("a", "g0"), "model", "x"), on("a", "g1")})});
  const std::string unguarded = R"(device.attributes["gpu.example.com"].model == "x")";
  CHECK(w.given(claim({asks(1, unguarded)})) == "failed: device gpu.example.com/a/g1: at 38: no such key: \"model\"");
  CHECK(w.ask({claim({asks(), asks(1, unguarded)})}).request == 1);
  // The class speaks first: of what it does not choose nothing is asked.
  device_ask classed = asks(1, R"(has(device.attributes["gpu.example.com"].model))");
  classed.selectors.push_back(cel(unguarded));
  CHECK(w.given(claim({classed})) == "g0");
}

TEST_CASE("constraints: one value, or all different") {
  world w({slice("a", {with(on("a", "g0"), "numa", "0"), with(on("a", "g1"), "numa", "1"),
                       with(on("a", "g2"), "numa", "1"), on("a", "g3")})});
  claim_request together = claim({asks(2)});
  together.constraints.push_back({{}, std::string(driver), "numa", false});
  CHECK(w.given(together) == "g1 g2");
  claim_request apart = claim({asks(2)});
  apart.constraints.push_back({{}, std::string(driver), "numa", true});
  CHECK(w.given(apart) == "g0 g1");
  claim_request three = apart;
  three.requests.front().alternatives.front().count = 3;
  CHECK(w.given(three) == "none");
  claim_request some = claim({asks(), asks(), asks()});
  some.constraints.push_back({{"r1", "r2"}, std::string(driver), "numa", false});
  CHECK(w.given(some) == "g0 g1 g2");
  some.constraints.push_back({{"r0"}, std::string(driver), "nothing", false});
  CHECK(w.given(some) == "none");

  // Of an alternative.
  claim_request either;
  either.requests.push_back({"r", {asks(2), asks(2)}});
  either.requests.front().alternatives[0].name = "x";
  either.requests.front().alternatives[1].name = "y";
  either.constraints.push_back({{"r/x"}, std::string(driver), "nothing", false});
  CHECK(w.given(either) == "g0 g1");
  CHECK(w.ask({either}).given.front().alternative == 1);
  either.constraints.front().requests = {"r"};
  CHECK(w.given(either) == "none");
}

TEST_CASE("constraints on lists compare sets, and types matter") {
  const auto listed = [](std::string_view name, std::vector<std::string> values) {
    offered_device made = on("a", name);
    made.attributes.push_back({std::string(driver), "roots", attribute_kind::text, true, {}, std::move(values)});
    return made;
  };
  offered_device number = on("a", "number");
  number.attributes.push_back({std::string(driver), "roots", attribute_kind::integer, false, {1}, {}});
  world w({slice("a", {listed("g0", {"1", "2"}), listed("g1", {"3", "2", "2"}), listed("g2", {"3", "1"}), number})});
  claim_request same = claim({asks(2)});
  same.constraints.push_back({{}, std::string(driver), "roots", false});
  CHECK(w.given(same) == "g0 g1");
  same.requests.front().alternatives.front().count = 3;
  CHECK(w.given(same) == "none");  // in pairs, but not all three
  same.requests.front().alternatives.front().count = 2;
  same.constraints.front().distinct = true;
  CHECK(w.given(same) == "none");
}

TEST_CASE("partitions of a device share its counters") {
  device_slice made = slice("a", {});
  made.counters = {{"gpu-0", "memory", amount("40Gi")}, {"gpu-0", "slices", amount("7")}};
  const auto partition = [&](std::string_view name, std::string_view memory, std::string_view slices) {
    offered_device one = on("a", name);
    one.consumes = {{"gpu-0", "memory", amount(memory)}, {"gpu-0", "slices", amount(slices)}};
    made.devices.push_back(one);
  };
  partition("whole", "40Gi", "7");
  partition("half-0", "20Gi", "3");
  partition("half-1", "20Gi", "4");
  partition("tiny", "5Gi", "1");
  world w({made});
  CHECK(w.given(claim({asks()})) == "whole");
  CHECK(w.given(claim({asks(2)})) == "half-0 half-1");
  CHECK(w.given(claim({asks(3)})) == "none");
  CHECK(w.given(claim({asks_all()})) == "none");
  const allocation_answer half = w.ask({claim({asks(1, "device.driver != ''"), asks()})});
  w.take(half);
  CHECK(w.given(claim({asks()})) == "none");
  for (const policy::given_device& one : half.given) w.usage.give_back(w.pools, one.share);
  w.take("gpu.example.com/a/half-0");
  CHECK(w.given(claim({asks()})) == "half-1");
  CHECK(w.given(claim({asks(2)})) == "none");
  w.take("gpu.example.com/a/tiny");
  CHECK(w.given(claim({asks()})) == "none");
}

TEST_CASE("capacity of a device that is shared") {
  offered_device shared = on("a", "nic");
  shared.allow_multiple_allocations = true;
  model::device_capacity bandwidth{std::string(driver), "bandwidth", amount("10")};
  bandwidth.policy.otherwise = amount("1");
  bandwidth.policy.least = amount("1");
  bandwidth.policy.step = amount("2");
  bandwidth.policy.most = amount("8");
  shared.capacities = {bandwidth};
  world w({slice("a", {shared})});
  const auto wants = [](std::string_view text, std::string_view domain = "") {
    device_ask made = asks();
    made.capacities.push_back({std::string(domain), "bandwidth", amount(text)});
    return made;
  };
  const auto consumed = [&](const device_ask& one) {
    const allocation_answer found = w.ask({claim({one})});
    return found.outcome == allocation_outcome::found ? model::text_of(found.given.front().share.consumed.front())
                                                      : std::string("none");
  };
  CHECK(consumed(asks()) == "1");      // the default
  CHECK(consumed(wants("0")) == "1");  // at least the smallest
  CHECK(consumed(wants("2")) == "3");  // 1 + n * 2
  CHECK(consumed(wants("7")) == "7");
  CHECK(consumed(wants("7.5")) == "none");  // 9 is more than the policy allows
  CHECK(consumed(wants("3", driver)) == "3");
  CHECK(consumed(wants("3", "other.example.com")) == "none");
  device_ask twice = wants("3");
  twice.capacities.push_back({std::string(driver), "bandwidth", amount("3")});
  CHECK(w.given(claim({twice})).find("with and without its domain") != std::string::npos);
  CHECK(w.given(claim({wants("7"), wants("3")})) == "nic nic");
  CHECK(w.given(claim({wants("7"), wants("3"), wants("0")})) == "none");
  device_ask five = wants("2");
  five.count = 3;
  CHECK(w.given(claim({five})) == "nic nic nic");
  five.count = 4;
  CHECK(w.given(claim({five})) == "none");
  w.take(w.ask({claim({wants("7")})}));
  CHECK(w.given(claim({wants("3")})) == "nic");
  CHECK(w.given(claim({wants("4")})) == "none");
}

TEST_CASE("capacities without a policy, with a list of values, and of devices that are not shared") {
  offered_device shared = on("a", "gpu");
  shared.allow_multiple_allocations = true;
  model::device_capacity memory{std::string(driver), "memory", amount("80Gi")};
  model::device_capacity power{std::string(driver), "power", amount("700")};
  power.policy.valid_values = {amount("100"), amount("300"), amount("700")};
  power.policy.otherwise = amount("300");
  shared.capacities = {memory, power};
  offered_device own = on("a", "own");
  own.capacities = {memory};
  world w({slice("a", {shared, own})});
  const auto wants = [](std::string_view name, std::string_view text) {
    device_ask made = asks();
    made.capacities.push_back({"", std::string(name), amount(text)});
    return made;
  };
  const allocation_answer all = w.ask({claim({asks()})});
  REQUIRE(all.outcome == allocation_outcome::found);
  CHECK(all.given.front().share.consumed == std::vector<model::exact_quantity>{amount("80Gi"), amount("300")});
  const allocation_answer some = w.ask({claim({wants("memory", "10Gi")})});
  CHECK(some.given.front().share.consumed == std::vector<model::exact_quantity>{amount("10Gi"), amount("300")});
  CHECK(w.ask({claim({wants("power", "101")})}).given.front().share.consumed.back() == amount("300"));
  CHECK(w.given(claim({wants("power", "701")})) == "none");
  w.take(some);
  CHECK(w.given(claim({wants("memory", "80Gi")})) == "own");
  CHECK(w.ask({claim({wants("memory", "80Gi")})}).given.front().share.consumed.empty());
  CHECK(w.given(claim({wants("memory", "81Gi")})) == "none");
  device_ask every = wants("power", "100");
  every.all = true;
  CHECK(w.given(claim({every})) == "none");  // of memory it would get all
  every.capacities.push_back({"", "memory", amount("70Gi")});
  CHECK(w.given(claim({every})) == "gpu");
}

TEST_CASE("access beside all others") {
  world w({slice("a", {on("a", "g0"), on("a", "g1")})});
  w.take("gpu.example.com/a/g0");
  device_ask monitor = asks_all();
  monitor.admin = true;
  CHECK(w.given(claim({monitor})) == "g0 g1");
  w.take(w.ask({claim({monitor})}));
  CHECK(w.given(claim({asks()})) == "g1");
  // Two claims of a pod do not disturb each other; in one claim a device stands once.
  CHECK(w.given(std::vector<claim_request>{claim({asks()}), claim({monitor})}) == "g1 g0 g1");
  CHECK(w.given(claim({asks(), monitor})) == "none");
  monitor.all = false;
  CHECK(w.given(claim({monitor, monitor})) == "g0 g1");
  monitor.count = 3;
  CHECK(w.given(claim({monitor})) == "none");
}

TEST_CASE("taints keep requests away that do not tolerate them") {
  offered_device bad = on("a", "bad");
  bad.taints.push_back(sure(model::parse_taint("health=unhealthy:NoExecute")));
  offered_device old = on("a", "old");
  old.taints.push_back(sure(model::parse_taint("age=old:NoSchedule")));
  world w({slice("a", {bad, old, on("a", "good")})});
  CHECK(w.given(claim({asks()})) == "good");
  CHECK(w.given(claim({asks(2)})) == "none");
  CHECK(w.given(claim({asks_all()})) == "none");
  device_ask tolerant = asks(2);
  tolerant.tolerations.push_back(sure(model::parse_toleration("age=old:NoSchedule")));
  CHECK(w.given(claim({tolerant})) == "old good");
  tolerant = asks_all();
  tolerant.tolerations.push_back(sure(model::parse_toleration("*")));
  CHECK(w.given(claim({tolerant})) == "bad old good");
}

TEST_CASE("devices that nothing tells apart are tried once; a search that does not end says so") {
  std::vector<offered_device> equal;
  std::vector<offered_device> different;
  for (int i = 0; i < 16; ++i) {
    equal.push_back(with(on("a", "g" + std::to_string(i)), "numa", "0"));
    different.push_back(with(on("a", "g" + std::to_string(i)), "id", std::to_string(i)));
    different.back() = with(different.back(), "numa", "0");
  }
  claim_request impossible = claim({asks(8), asks(8), asks()});
  impossible.constraints.push_back({{"r0", "r1"}, std::string(driver), "numa", false});
  world same({slice("a", equal)});
  const allocation_answer quick = same.ask({impossible});
  CHECK(quick.outcome == allocation_outcome::none);
  CHECK(quick.steps < 100);
  impossible.constraints.push_back({{"r1"}, std::string(driver), "id", true});
  world distinct({slice("a", different)});
  const allocation_answer stopped = distinct.ask({impossible}, 1000);
  CHECK(stopped.outcome == allocation_outcome::not_searched_further);
  CHECK(stopped.steps == 1000);
  CHECK(stopped.message.find("there may be some") != std::string::npos);
}

TEST_CASE("a claim has 32 devices at most") {
  std::vector<offered_device> many;
  for (int i = 0; i < 33; ++i) many.push_back(on("a", "g" + std::to_string(i)));
  world w({slice("a", many)});
  CHECK(w.ask({claim({asks(32)})}).given.size() == 32);
  const std::string too_many = "too many: its requests need 33 devices; a claim can have 32";
  CHECK(w.given(claim({asks(33)})) == too_many);
  CHECK(w.given(claim({asks(16), asks(17)})) == too_many);
  CHECK(w.ask({claim({asks(16)}), claim({asks(17)})}).given.size() == 33);
  CHECK(w.given(claim({asks_all()})) == too_many);
}

TEST_CASE("a claim that asks for more than it can have is not searched for") {
  std::vector<offered_device> many;
  for (int i = 0; i < 40; ++i) many.push_back(with(on("a", "g" + std::to_string(i)), "id", std::to_string(i)));
  world w({slice("a", many)});
  const allocation_answer found = w.ask({claim(std::vector<device_ask>(100, asks(32)))});
  CHECK(found.outcome == allocation_outcome::too_many_devices);
  CHECK(found.message == "its requests need 3200 devices; a claim can have 32");
  CHECK(found.steps == 0);
}

}  // namespace of_test_allocator
