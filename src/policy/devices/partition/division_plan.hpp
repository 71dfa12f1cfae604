#pragma once
/// @file
/// Which devices of which nodes are divided anew so that pods find the instances that they ask for, at the least cost.
/// Plain data in, plain data out.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "policy/devices/partition/division_problem.hpp"

namespace kaisched::devices {

class division_memory;

/// What becomes of a device.
struct device_change {
  std::size_t node = 0;
  std::size_t device = 0;                                 ///< of the node
  std::vector<std::size_t> gone;                          ///< positions among its instances, ascending
  std::vector<std::pair<std::size_t, slice_range>> made;  ///< profiles and where they begin, by start
  division_cost cost{};

  friend bool operator==(const device_change&, const device_change&) = default;
};

struct division_plan {
  bool found = false;
  bool exact = true;  ///< the least cost, or that there is no plan, is proven
  division_cost cost{};
  std::vector<std::size_t> node_of_pod;
  std::vector<device_change> changes;  ///< by node and device
  std::int64_t steps = 0;
};

/// How plans are searched for: with bounds or without, what is proven is the same.
enum class division_search : std::uint8_t { bounded, exhaustive };

/// The cheapest plan. After so many steps (negative: no bound) the best one so far is taken; if there is none, pods go
/// where each of them costs least. What plans say does not depend on what the memory has seen before.
[[nodiscard]] division_plan plan_divisions(const division_problem& problem, std::int64_t most_steps,
                                           division_memory& memory, division_search how = division_search::bounded);
[[nodiscard]] division_plan plan_divisions(const division_problem& problem, std::int64_t most_steps,
                                           division_search how = division_search::bounded);

}  // namespace kaisched::devices
