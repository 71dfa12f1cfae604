// Plans of divisions against the enumeration of all legal layouts of all devices and all ways to spread the pods.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "devices/cards.hpp"
#include "devices/layouts.hpp"
#include "draws.hpp"
#include "policy/devices/partition/division_memory.hpp"
#include "policy/devices/partition/division_plan.hpp"
#include "policy/devices/partition/mig.hpp"

namespace of_test_divisions {

using namespace kaisched::devices;
using kaisched::devices::test::for_each_layout;
using kaisched::test::draw;

namespace {

constexpr std::uint32_t cpu = 0;
constexpr std::uint32_t gpu = 1;
constexpr std::uint32_t first_profile = 2;

const divided_model& table_of(std::string_view name, std::int64_t gib) {
  return *find_divided_model(test::shipped().divided, name, gib * 1024 * mebibyte);
}

/// Layouts that are legal, by table: enumerated once.
const std::vector<slice_layout>& layouts_of(const divided_model& table) {
  static std::map<const divided_model*, std::vector<slice_layout>> known;
  auto [at, fresh] = known.try_emplace(&table);
  if (fresh) for_each_layout(table.profiles, [&](const slice_layout& one) { at->second.push_back(one); });
  return at->second;
}

bool has(const slice_layout& layout, std::size_t profile, const slice_range& place) {
  return std::find(layout.begin(), layout.end(), std::pair(profile, place)) != layout.end();
}

/// What becomes of a device with a layout: nothing if an instance that stays is gone, or one whose pods are drained is
/// made again where it was.
struct outcome {
  std::map<std::uint32_t, std::int64_t> net;
  division_cost cost;
};
std::optional<outcome> become(const division_problem& problem, const plannable_device& device,
                              const slice_layout& layout) {
  const plannable_model& model = problem.models[device.model];
  outcome made;
  bool changed = false;
  for (const present_instance& old : device.instances) {
    if (has(layout, old.profile, old.placement)) continue;
    if (old.cost < 0) return std::nullopt;
    changed = true;
    ++made.cost.gone;
    made.cost.drained += old.cost;
    if (old.is_free && model.dimensions[old.profile] != no_dimension) --made.net[model.dimensions[old.profile]];
  }
  for (const auto& [profile, place] : layout) {
    const bool there = std::any_of(
        device.instances.begin(), device.instances.end(),
        [&, p = profile, r = place](const present_instance& old) { return old.profile == p && old.placement == r; });
    if (there) continue;
    if (model.dimensions[profile] == no_dimension) return std::nullopt;
    changed = true;
    ++made.net[model.dimensions[profile]];
  }
  if (!changed) return made;
  made.cost.devices = 1;
  if (device.whole) {
    made.cost.whole = 1;
    made.net[problem.gpu] -= problem.whole_device;
  }
  return made;
}

/// The least cost of what pods on a node ask for.
std::optional<division_cost> cost_of_node(const division_problem& problem, const plannable_node& node,
                                          const std::vector<std::int64_t>& asked) {
  std::optional<division_cost> best;
  std::vector<std::int64_t> free = node.free;
  const std::function<void(std::size_t, division_cost)> go_on = [&](std::size_t d, division_cost so_far) {
    if (d == node.devices.size()) {
      for (std::size_t r = 0; r < free.size(); ++r) {
        if (free[r] < std::min(node.free[r], asked[r])) return;  // what is overdrawn may stay so
        if (asked[r] > 0 && free[r] < asked[r]) return;
        if (asked[r] == 0 && free[r] < std::min<std::int64_t>(0, node.free[r])) return;
      }
      if (!best || so_far < *best) best = so_far;
      return;
    }
    for (const slice_layout& layout : layouts_of(*problem.models[node.devices[d].model].table)) {
      const std::optional<outcome> made = become(problem, node.devices[d], layout);
      if (!made) continue;
      for (const auto& [r, amount] : made->net) free[r] += amount;
      division_cost cost = so_far;
      cost += made->cost;
      go_on(d + 1, cost);
      for (const auto& [r, amount] : made->net) free[r] -= amount;
    }
  };
  go_on(0, {});
  return best;
}

std::optional<division_cost> cheapest(const division_problem& problem) {
  std::optional<division_cost> best;
  std::map<std::pair<std::size_t, std::vector<std::int64_t>>, std::optional<division_cost>> known;
  std::vector<std::size_t> at(problem.pods.size());
  const std::function<void(std::size_t)> place = [&](std::size_t i) {
    if (i == at.size()) {
      division_cost sum;
      for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
        std::vector<std::int64_t> asked(problem.nodes[n].free.size(), 0);
        bool any = false;
        for (std::size_t p = 0; p < at.size(); ++p) {
          if (at[p] != n) continue;
          any = true;
          for (std::size_t r = 0; r < asked.size(); ++r) asked[r] += problem.classes[problem.pods[p]][r];
        }
        if (!any) continue;
        auto [cost, fresh] = known.try_emplace({n, asked});
        if (fresh) cost->second = cost_of_node(problem, problem.nodes[n], asked);
        if (!cost->second) return;
        sum += *cost->second;
      }
      if (!best || sum < *best) best = sum;
      return;
    }
    for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
      if (problem.nodes[n].accepts[problem.pods[i]] == 0) continue;
      at[i] = n;
      place(i + 1);
    }
  };
  place(0);
  return best;
}

/// A device with some layout, some instances of which are in use.
plannable_device draw_device(const division_problem& problem, plannable_node& node, bool drains) {
  plannable_device device;
  device.model = static_cast<std::size_t>(draw(0, static_cast<int>(problem.models.size()) - 1));
  const plannable_model& model = problem.models[device.model];
  if (draw(0, 3) == 0) {
    device.whole = true;
    node.free[gpu] += 1000;
    return device;
  }
  const std::vector<slice_layout>& all = layouts_of(*model.table);
  for (const auto& [profile, place] : all[static_cast<std::size_t>(draw(0, static_cast<int>(all.size()) - 1))]) {
    present_instance one{profile, place, 0, true};
    const int use = draw(0, 4);
    if (use == 0) one = {profile, place, -1, false};
    if (use == 1 && drains) one = {profile, place, draw(1, 3) * 100, false};
    if (one.is_free && model.dimensions[profile] != no_dimension) ++node.free[model.dimensions[profile]];
    device.instances.push_back(one);
  }
  return device;
}

/// `large`: more than can be enumerated.
division_problem draw_problem(bool drains, bool large = false) {
  division_problem problem;
  problem.gpu = gpu;
  const bool small = draw(0, 2) > 0;
  const divided_model& table = small ? table_of("A30", 24) : table_of("H100", 80);
  plannable_model model{&table, {}};
  for (std::uint32_t p = 0; p < table.profiles.size(); ++p) {
    model.dimensions.push_back(draw(0, 9) == 0 ? no_dimension : first_profile + p);
  }
  problem.models.push_back(model);
  const std::size_t dims = first_profile + table.profiles.size();
  const int classes = draw(1, 2);
  for (int c = 0; c < classes; ++c) {
    std::vector<std::int64_t> asked(dims, 0);
    asked[cpu] = draw(0, 2);
    asked[static_cast<std::size_t>(draw(first_profile, static_cast<int>(dims) - 1))] = draw(1, 2);
    if (draw(0, 4) == 0) asked[static_cast<std::size_t>(draw(first_profile, static_cast<int>(dims) - 1))] += 1;
    if (draw(0, 9) == 0) asked[gpu] = 1000;
    problem.classes.push_back(asked);
  }
  const int nodes = large ? draw(2, 6) : draw(1, small ? 3 : 2);
  for (int n = 0; n < nodes; ++n) {
    plannable_node node;
    node.free.assign(dims, 0);
    node.free[cpu] = draw(1, 6);
    const int devices = large ? draw(0, 3) : small ? draw(0, 2) : draw(0, 1);
    for (int d = 0; d < devices; ++d) node.devices.push_back(draw_device(problem, node, drains));
    // Claims on what is free.
    for (std::size_t r = gpu; r < dims; ++r) {
      if (draw(0, 5) == 0) node.free[r] -= r == gpu ? 1000 : 1;
    }
    for (int c = 0; c < classes; ++c) node.accepts.push_back(draw(0, 5) == 0 ? 0 : 1);
    problem.nodes.push_back(std::move(node));
  }
  const int pods = draw(1, large ? 6 : 4);
  for (int p = 0; p < pods; ++p) problem.pods.push_back(static_cast<std::size_t>(draw(0, classes - 1)));
  return problem;
}

/// The plan does what it says: pods have what they ask for, nothing lies on anything else, and the sum is right.
void check_plan(const division_problem& problem, const division_plan& plan) {
  std::vector<std::vector<std::int64_t>> free;
  for (const plannable_node& node : problem.nodes) free.push_back(node.free);
  division_cost sum;
  for (const device_change& one : plan.changes) {
    const plannable_device& device = problem.nodes[one.node].devices[one.device];
    slice_layout layout = one.made;
    for (std::size_t i = 0; i < device.instances.size(); ++i) {
      const bool goes = std::binary_search(one.gone.begin(), one.gone.end(), i);
      if (!goes) layout.emplace_back(device.instances[i].profile, device.instances[i].placement);
    }
    for (std::size_t i = 0; i < layout.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) RC_ASSERT(!layout[i].second.overlaps(layout[j].second));
    }
    const std::optional<outcome> made = become(problem, device, layout);
    RC_ASSERT(made.has_value());
    RC_ASSERT(made->cost == one.cost);
    for (const auto& [r, amount] : made->net) free[one.node][r] += amount;
    sum += one.cost;
  }
  RC_ASSERT(sum == plan.cost);
  RC_ASSERT(plan.node_of_pod.size() == problem.pods.size());
  std::vector<std::vector<bool>> asks(problem.nodes.size(), std::vector<bool>(problem.nodes.front().free.size()));
  for (std::size_t p = 0; p < problem.pods.size(); ++p) {
    const std::size_t n = plan.node_of_pod[p];
    RC_ASSERT(problem.nodes[n].accepts[problem.pods[p]] != 0);
    for (std::size_t r = 0; r < free[n].size(); ++r) {
      free[n][r] -= problem.classes[problem.pods[p]][r];
      asks[n][r] = asks[n][r] || problem.classes[problem.pods[p]][r] > 0;
    }
  }
  for (std::size_t n = 0; n < free.size(); ++n) {
    for (std::size_t r = 0; r < free[n].size(); ++r) {
      RC_ASSERT(free[n][r] >= (asks[n][r] ? 0 : std::min<std::int64_t>(0, problem.nodes[n].free[r])));
    }
  }
}

}  // namespace

TEST_CASE("plans of divisions cost least") {
  for (const bool drains : {false, true}) {
    const bool good = rc::check("cheapest", [=] {
      const division_problem problem = draw_problem(drains);
      const division_plan plan = plan_divisions(problem, -1);
      const std::optional<division_cost> best = cheapest(problem);
      RC_ASSERT(plan.exact);
      RC_ASSERT(plan.found == best.has_value());
      if (!plan.found) return;
      RC_ASSERT(plan.cost == *best);
      check_plan(problem, plan);
    });
    CHECK(good);
  }
}

TEST_CASE("plans that are cut short are sound") {
  const bool good = rc::check("bounded", [] {
    const division_problem problem = draw_problem(draw(0, 1) == 1);
    const division_plan best = plan_divisions(problem, -1);
    const division_plan plan = plan_divisions(problem, draw(0, 400));
    if (!best.found) RC_ASSERT(!plan.found);
    if (!plan.found) return;
    RC_ASSERT(!(plan.cost < best.cost));
    if (plan.exact) RC_ASSERT(plan.cost == best.cost);
    check_plan(problem, plan);
  });
  CHECK(good);
}

namespace {

bool is_same(const division_plan& a, const division_plan& b) {
  return a.found == b.found && a.cost == b.cost && a.node_of_pod == b.node_of_pod && a.changes == b.changes;
}

/// A node with two GPUs of its own layouts, most instances in use.
plannable_node crowded_node(const division_problem& problem, std::size_t number) {
  plannable_node node;
  node.free.assign(first_profile + problem.models.front().dimensions.size(), 0);
  node.free[cpu] = 100;
  node.accepts = {1};
  const std::vector<slice_layout>& all = layouts_of(*problem.models.front().table);
  for (std::size_t d = 0; d < 2; ++d) {
    plannable_device device;
    for (const auto& [profile, place] : all[(number * 2 + d) * 31 % all.size()]) {
      const bool used = (number + d + static_cast<std::size_t>(place.start)) % 3 > 0;
      device.instances.push_back({profile, place, used ? -1 : 0, !used});
      if (!used) ++node.free[problem.models.front().dimensions[profile]];
    }
    node.devices.push_back(std::move(device));
  }
  // Somebody has a claim on an idle instance: it may not go.
  for (std::size_t r = first_profile; number % 3 == 0 && r < node.free.size(); ++r) {
    if (node.free[r] > 0) node.free[r] = 0;
  }
  return node;
}

}  // namespace

TEST_CASE("bounds leave out nothing that is better") {
  int compared = 0;
  const bool good = rc::check("bounded and exhaustive", [&] {
    const division_problem problem = draw_problem(draw(0, 1) == 1, true);
    const division_plan all = plan_divisions(problem, 100'000, division_search::exhaustive);
    const division_plan plan = plan_divisions(problem, -1);
    RC_ASSERT(plan.exact);
    if (plan.found) check_plan(problem, plan);
    if (!all.exact) {
      RC_ASSERT(plan.found || !all.found);
      RC_ASSERT(!all.found || !(all.cost < plan.cost));
      return;
    }
    ++compared;
    RC_ASSERT(is_same(all, plan));
  });
  CHECK(good);
  CHECK(compared > 50);
}

TEST_CASE("plans do not depend on what the memory has seen") {
  const bool good = rc::check("memory", [] {
    division_problem problem = draw_problem(draw(0, 1) == 1);
    division_memory memory;
    for (int round = 0; round < 4; ++round) {
      const int most = draw(0, 1) == 0 ? -1 : draw(0, 400);
      const division_plan fresh = plan_divisions(problem, most);
      const division_plan plan = plan_divisions(problem, most, memory);
      RC_ASSERT(is_same(fresh, plan));
      RC_ASSERT(fresh.exact == plan.exact);
      RC_ASSERT(fresh.steps == plan.steps);
      // Another group asks, and a node has changed.
      problem.pods.assign(static_cast<std::size_t>(draw(1, 4)), 0);
      plannable_node& node =
          problem.nodes[static_cast<std::size_t>(draw(0, static_cast<int>(problem.nodes.size()) - 1))];
      if (draw(0, 1) == 0 && !node.devices.empty()) node.devices.pop_back();
      if (draw(0, 1) == 0) node.free[cpu] = draw(0, 6);
    }
  });
  CHECK(good);
}

TEST_CASE("plans are proven in large clusters") {
  division_problem problem;
  problem.gpu = gpu;
  const divided_model& table = table_of("H100", 80);
  plannable_model model{&table, {}};
  for (std::uint32_t p = 0; p < table.profiles.size(); ++p) model.dimensions.push_back(first_profile + p);
  problem.models.push_back(model);
  for (std::size_t n = 0; n < 300; ++n) problem.nodes.push_back(crowded_node(problem, n));
  division_memory memory;
  int found = 0;
  for (std::uint32_t p = 0; p < table.profiles.size(); ++p) {
    CAPTURE(table.profiles[p].name);
    std::vector<std::int64_t> asked(first_profile + table.profiles.size(), 0);
    asked[cpu] = 1;
    asked[first_profile + p] = 1;
    problem.classes = {asked};
    for (const std::size_t pods : {std::size_t{8}, std::size_t{2000}}) {
      problem.pods.assign(pods, 0);
      CAPTURE(pods);
      const division_plan plan = plan_divisions(problem, 200'000, memory);
      CHECK(plan.exact);
      CHECK(plan.steps < 60'000);
      CHECK(plan.found == (pods == 8));
      found += plan.found ? 1 : 0;
      if (plan.found) check_plan(problem, plan);
    }
  }
  CHECK(found == 6);
}

}  // namespace of_test_divisions
