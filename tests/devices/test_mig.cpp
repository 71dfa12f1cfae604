// Divided devices against the enumeration of all layouts that are legal.

#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "benchmarks/fleet.hpp"
#include "devices/cards.hpp"
#include "devices/layouts.hpp"
#include "policy/devices/partition/division_plan.hpp"
#include "policy/devices/partition/mig.hpp"

namespace of_test_mig {

using namespace kaisched::devices;
using namespace kaisched::devices::test;

namespace {

const divided_model& model(std::string_view name, std::int64_t gib) {
  const divided_model* found = find_divided_model(shipped().divided, name, gib * 1024 * mebibyte);
  REQUIRE(found != nullptr);
  return *found;
}

/// The position of the profile with a name.
std::size_t position_of(const std::vector<slice_profile>& among, std::string_view name) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const slice_profile& p) { return p.name == name; });
  REQUIRE(found != among.end());
  return static_cast<std::size_t>(found - among.begin());
}

std::vector<slice_range> ranges(const slice_layout& layout) {
  std::vector<slice_range> made;
  for (const auto& [profile, place] : layout) made.push_back(place);
  return made;
}

}  // namespace

TEST_CASE("models are known by name and memory, or by what the name says of the memory") {
  const auto largest = [](std::string_view name, std::int64_t gib) {
    const divided_model* found = told_divided_model(shipped().divided, name, gib * 1024 * mebibyte);
    return found == nullptr ? std::string() : found->profiles.back().name;
  };
  CHECK(largest("NVIDIA A100-SXM4-40GB", 0) == "7g.40gb");
  CHECK(largest("NVIDIA-A100-SXM4-80GB", 0) == "7g.80gb");
  CHECK(largest("NVIDIA-A100-SXM4-80GB", 40) == "7g.40gb");
  CHECK(largest("NVIDIA A30", 0) == "4g.24gb");
  CHECK(largest("a100", 80) == "7g.80gb");
  CHECK(largest("A100", 0).empty());  // there are two of them
  CHECK(largest("NVIDIA T4", 16).empty());
  CHECK(largest("", 80).empty());
}

TEST_CASE("tables of all models hold together") {
  REQUIRE(shipped().divided.size() >= 9);
  for (const divided_model& one : shipped().divided) {
    for (const slice_profile& profile : one.profiles) {
      CAPTURE(profile.name);
      CHECK(profile.memory <= one.memory);
      CHECK(profile.cores <= 100);
      for (const slice_range& place : profile.placements) {
        CHECK(place.start + place.size <= one.slices);
        CHECK(profile.memory == one.memory / mebibyte * place.size / one.slices * mebibyte);
      }
    }
    // Full devices: memory and cores are never promised twice.
    for_each_layout(one.profiles, [&](const slice_layout& layout) {
      std::int64_t memory = 0;
      std::int64_t cores = 0;
      for (const auto& [profile, place] : layout) {
        memory += one.profiles[profile].memory;
        cores += one.profiles[profile].cores;
      }
      CHECK(memory <= one.memory);
      CHECK(cores <= 100);
    });
  }
}

TEST_CASE("models are found by name and memory") {
  CHECK(model("NVIDIA A100-SXM4-40GB", 40).profiles[0].name == "1g.5gb");
  CHECK(model("NVIDIA A100-SXM4-80GB", 80).profiles[0].name == "1g.10gb");
  CHECK(model("NVIDIA-A100", 79).profiles[0].name == "1g.10gb");
  CHECK(model("NVIDIA GB200", 186).profiles.back().name == "7g.186gb");
  CHECK(model("NVIDIA B200", 180).profiles.back().name == "7g.180gb");
  CHECK(model("NVIDIA H200", 141).profiles.back().name == "7g.141gb");
  CHECK(find_divided_model(shipped().divided, "NVIDIA T4", 16 * 1024 * mebibyte) == nullptr);
}

TEST_CASE("an A100 has as many layouts as combinations of its halves") {
  std::size_t count = 0;
  std::size_t maximal = 0;
  const divided_model& a100 = model("A100", 40);
  for_each_layout(a100.profiles, [&](const slice_layout& layout) {
    ++count;
    const std::vector<slice_range> taken = ranges(layout);
    bool more = false;
    for (const slice_profile& one : a100.profiles) more = more || find_placement(one, taken).has_value();
    if (!more) ++maximal;
  });
  // Of two neighbours each empty or 1g, or both one of 1g.10gb and 2g: 6 ways; 5 where 2g may not start, less where the
  // last slice takes no 1g. Halves: 3g or 4g in front, 3g behind; or all of it.
  const std::size_t front = 6 * 6 + 2;
  const std::size_t behind = 6 * 3 + 1;
  CHECK(count == front * behind + 1);
  CHECK(maximal > 0);
}

TEST_CASE("H14: beside any layout a profile fits if and only if a layout has both") {
  const divided_model& one = model("A100", 40);
  std::set<std::set<std::pair<std::int64_t, std::int64_t>>> layouts;
  const auto key = [](const std::vector<slice_range>& taken) {
    std::set<std::pair<std::int64_t, std::int64_t>> made;
    for (const slice_range& place : taken) made.emplace(place.start, place.size);
    return made;
  };
  for_each_layout(one.profiles, [&](const slice_layout& layout) { layouts.insert(key(ranges(layout))); });
  for_each_layout(one.profiles, [&](const slice_layout& layout) {
    for (const slice_profile& profile : one.profiles) {
      const std::vector<slice_range> taken = ranges(layout);
      bool expected = false;
      for (const slice_range& place : profile.placements) {
        std::vector<slice_range> both = taken;
        const bool beside =
            std::none_of(taken.begin(), taken.end(), [&](const slice_range& r) { return r.overlaps(place); });
        both.push_back(place);
        expected = expected || (beside && layouts.count(key(both)) > 0);
      }
      const std::optional<slice_range> found = find_placement(profile, taken);
      REQUIRE(found.has_value() == expected);
      if (found) {
        CHECK(std::none_of(taken.begin(), taken.end(), [&](const slice_range& r) { return r.overlaps(*found); }));
      }
    }
  });
}

TEST_CASE("H15: small instances go behind, others in front") {
  const std::vector<slice_profile>& profiles = model("A100", 40).profiles;
  std::vector<slice_range> taken;
  for (const auto& [name, start] : std::vector<std::pair<std::string, std::int64_t>>{
           {"3g.20gb", 4}, {"2g.10gb", 0}, {"1g.5gb", 3}, {"1g.5gb", 2}}) {
    const std::optional<slice_range> place = find_placement(profiles[position_of(profiles, name)], taken);
    REQUIRE(place.has_value());
    CHECK(place->start == start);
    taken.push_back(*place);
  }
}

TEST_CASE("H16: the smallest profile with the memory and a free place serves") {
  const std::vector<slice_profile>& profiles = model("A100", 40).profiles;
  CHECK(smallest_profile(profiles, {}, 10000 * mebibyte)->profile->name == "1g.10gb");
  const std::vector<slice_range> taken{{0, 2}, {2, 2}, {4, 2}, {6, 2}};
  CHECK_FALSE(smallest_profile(profiles, taken, 1));
  CHECK(smallest_profile(profiles, std::vector<slice_range>{{0, 4}}, 15000 * mebibyte)->profile->name == "3g.20gb");
  CHECK_FALSE(smallest_profile(profiles, {}, 50000 * mebibyte));
}

/// An A100 with instances at 0, 2 and 5, and a pod that asks for half of it; costs of their pods, negative: they stay.
division_plan plan_of_half(std::int64_t at_0, std::int64_t at_2, std::int64_t at_5) {
  const divided_model& table = model("A100", 40);
  const auto position = [&](std::string_view name) { return position_of(table.profiles, name); };
  plannable_model planned{&table, {}};
  for (std::size_t p = 0; p < table.profiles.size(); ++p) {
    planned.dimensions.push_back(static_cast<std::uint32_t>(p + 1));
  }
  division_problem problem;
  problem.models = {planned};
  const std::vector<std::int64_t> nothing(table.profiles.size() + 1, 0);
  const std::size_t seventh = position("1g.5gb");
  const plannable_device divided{
      0,
      false,
      {{seventh, {0, 1}, at_0, false}, {position("2g.10gb"), {2, 2}, at_2, false}, {seventh, {5, 1}, at_5, false}}};
  problem.nodes = {{{divided}, nothing, {1}}};
  problem.classes = {nothing};
  problem.classes[0][position("3g.20gb") + 1] = 1;
  problem.pods = {0};
  return plan_divisions(problem, -1);
}

TEST_CASE("H17: a device is divided anew where least has to go") {
  const division_plan behind = plan_of_half(10, 10, 10);
  REQUIRE(behind.found);
  CHECK(behind.cost.drained == 10);
  CHECK(behind.changes.at(0).gone == std::vector<std::size_t>{2});
  CHECK(behind.changes.at(0).made.at(0).second == slice_range{4, 4});
  const division_plan in_front = plan_of_half(10, 10, 30);
  REQUIRE(in_front.found);
  CHECK(in_front.cost.drained == 20);
  CHECK(in_front.changes.at(0).gone == std::vector<std::size_t>{0, 1});
  CHECK(in_front.changes.at(0).made.at(0).second == slice_range{0, 4});
  const division_plan past_what_stays = plan_of_half(-1, 1, 1000);
  REQUIRE(past_what_stays.found);
  CHECK(past_what_stays.changes.at(0).gone == std::vector<std::size_t>{2});
  CHECK_FALSE(plan_of_half(10, -1, -1).found);
}

TEST_CASE("H18: one container may have several instances of one device") {
  node where;
  where.devices = {card(0, 40960)};
  where.devices[0].mode = "mig";
  where.devices[0].slots = 7;
  where.devices[0].profiles = model("A100", 40).profiles;
  place_policies policies;
  const node_placement placed = place_in_order(vendors(), where, one(ask(3, 10000, 0)), policies, {});
  REQUIRE(placed.fits);
  const container_grants& grants = find_grants(placed.grants, "NVIDIA")->at(0);
  REQUIRE(grants.size() == 3);
  CHECK(grants[0].instance->profile == "1g.10gb");
  CHECK(grants[0].memory == 10240 * mebibyte);
  apply(vendors(), where, one(ask(3, 10000, 0)), placed);
  CHECK(where.devices[0].instances.size() == 3);
  CHECK(where.devices[0].used_slots == 3);
  CHECK(place_in_order(vendors(), where, one(ask(2, 10000, 0)), policies, {}).reason ==
        "1/1 AllocatedCardsInsufficientRequest, 1/1 CardMigTopologyInfeasible");
}

}  // namespace of_test_mig
