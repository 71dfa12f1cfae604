#pragma once
/// @file
/// Devices that may be divided anew and pods that ask for instances: what plans of divisions are made for.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/devices/partition/mig.hpp"

namespace kaisched::devices {

/// What a plan costs, the most important first: sums over its devices.
struct division_cost {
  std::int64_t drained = 0;  ///< of pods that have to leave
  std::int64_t whole = 0;    ///< whole devices that are divided
  std::int64_t devices = 0;  ///< devices that change
  std::int64_t gone = 0;     ///< instances that go

  friend auto operator<=>(const division_cost&, const division_cost&) = default;
  division_cost& operator+=(const division_cost& other) {
    drained += other.drained;
    whole += other.whole;
    devices += other.devices;
    gone += other.gone;
    return *this;
  }
  division_cost& operator-=(const division_cost& other) {
    drained -= other.drained;
    whole -= other.whole;
    devices -= other.devices;
    gone -= other.gone;
    return *this;
  }
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

inline constexpr std::size_t unknown_kind = static_cast<std::size_t>(-1);

struct plannable_node {
  std::vector<plannable_device> devices;
  std::vector<std::int64_t> free;     ///< by dimension: free or coming free, claims taken off
  std::vector<std::uint8_t> accepts;  ///< by class of pods: 0 if it may not go there
  std::size_t kind = unknown_kind;    ///< `division_memory::kind_of` with the memory of the plan, if that is known
};

/// A table, and the dimension that instances of each profile are; those of dimension `no_dimension` are never made.
struct plannable_model {
  const divided_model* table = nullptr;
  std::vector<std::uint32_t> dimensions;

  friend bool operator==(const plannable_model&, const plannable_model&) = default;
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

}  // namespace kaisched::devices
