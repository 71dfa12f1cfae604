#pragma once
/// @file
/// Which devices of which nodes are divided anew so that pods find the instances that they ask for, at the least cost.
/// Plain data in, plain data out.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/devices/mig.hpp"

namespace kaisched::devices {

/// What a plan costs, the most important first: sums over its devices.
struct division_cost {
  std::int64_t drained = 0;  ///< of pods that have to leave
  std::int64_t whole = 0;    ///< whole devices that are divided
  std::int64_t devices = 0;  ///< devices that change
  std::int64_t gone = 0;     ///< instances that go

  friend auto operator<=>(const division_cost&, const division_cost&) = default;
  division_cost& operator+=(const division_cost& other);
};

/// An instance that a device has.
struct present_instance {
  std::size_t profile = 0;  ///< position in the table of the model
  slice_range placement{};
  std::int64_t cost = 0;  ///< of making it free; 0: nobody uses it, or who does is leaving; negative: it stays
  bool is_free = true;    ///< it counts as free or coming free; false: pods are drained from it

  friend bool operator==(const present_instance&, const present_instance&) = default;
};

/// A device that may be divided anew.
struct plannable_device {
  std::size_t model = 0;  ///< position in `division_problem::models`
  bool whole = false;     ///< not divided yet, idle
  std::vector<present_instance> instances{};

  friend bool operator==(const plannable_device&, const plannable_device&) = default;
};

struct plannable_node {
  std::vector<plannable_device> devices;
  std::vector<std::int64_t> free;     ///< by dimension: free or coming free, claims taken off
  std::vector<std::uint8_t> accepts;  ///< by class of pods: 0 if it may not go there
};

/// A table, and the dimension that instances of each profile are; those of dimension `no_dimension` are never made.
struct plannable_model {
  const divided_model* table = nullptr;
  std::vector<std::uint32_t> dimensions;
};
inline constexpr std::uint32_t no_dimension = 0xFFFFFFFFU;

struct division_problem {
  std::uint32_t gpu = 0;             ///< dimension of whole devices
  std::int64_t whole_device = 1000;  ///< what one is in that dimension
  std::vector<plannable_model> models;
  std::vector<plannable_node> nodes;               ///< of equal plans the one with the first nodes is taken
  std::vector<std::vector<std::int64_t>> classes;  ///< what pods ask for, by dimension
  std::vector<std::size_t> pods;                   ///< classes
};

/// What becomes of a device.
struct device_change {
  std::size_t node = 0;
  std::size_t device = 0;                                 ///< of the node
  std::vector<std::size_t> gone;                          ///< positions among its instances, ascending
  std::vector<std::pair<std::size_t, slice_range>> made;  ///< profiles and where they begin, by start
  division_cost cost{};
};

struct division_plan {
  bool found = false;
  bool exact = true;  ///< the least cost, or that there is no plan, is proven
  division_cost cost{};
  std::vector<std::size_t> node_of_pod;
  std::vector<device_change> changes;  ///< by node and device
  std::int64_t steps = 0;
};

/// The cheapest plan. After so many steps (negative: no bound) the best one so far is taken; if there is none, pods go
/// where each of them costs least.
[[nodiscard]] division_plan plan_divisions(const division_problem& problem, std::int64_t most_steps);

}  // namespace kaisched::devices
