#pragma once
/// @file
/// Devices that are divided in hardware: which instances may lie where, which profile serves a request, and all layouts
/// that are legal.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/devices/vendor/device.hpp"

namespace kaisched::devices {

/// The profile with a name, or null.
[[nodiscard]] const slice_profile* find_profile(std::span<const slice_profile> among, std::string_view name);

/// Profiles of one and three slices fill the end of a device: the larger ones start at its beginning only.
[[nodiscard]] bool starts_behind(const slice_profile& profile);

/// The free placement of a profile that leaves most to others: profiles of one or three slices start as far behind as
/// they can, the others in front.
[[nodiscard]] std::optional<slice_range> find_placement(const slice_profile& profile,
                                                        std::span<const slice_range> occupied);

/// A profile and its place on a device.
struct profile_choice {
  const slice_profile* profile = nullptr;
  slice_range placement{};
};
/// The smallest profile by memory, then by slices, that has the memory and a free placement.
[[nodiscard]] std::optional<profile_choice> smallest_profile(std::span<const slice_profile> profiles,
                                                             std::span<const slice_range> occupied,
                                                             std::int64_t memory);
/// Where the instances of a device lie.
[[nodiscard]] std::vector<slice_range> occupied_slices(const device& divided);

/// True if instances of all these profiles can be placed beside what is occupied, in whatever order they come.
[[nodiscard]] bool can_place(std::span<const slice_profile> profiles, std::span<const slice_range> occupied,
                             std::span<const std::string_view> wanted);

/// Profile (its position) and placement of every instance, by start.
using slice_layout = std::vector<std::pair<std::size_t, slice_range>>;
/// Calls `visit` once for each set of instances that do not overlap, the empty one and those to which more could be
/// added included, in a fixed order.
void for_each_layout(std::span<const slice_profile> profiles, const std::function<void(const slice_layout&)>& visit);

/// The profiles that a model of a device has, and where they may lie.
struct divided_model {
  std::vector<std::string> models;  ///< parts of the names of models, in any case
  std::int64_t memory = 0;          ///< of the device, in bytes
  std::int64_t slices = 0;          ///< of memory
  std::vector<slice_profile> profiles;
};
/// The table for a device by its model and memory, or null: the first with a part of the name and the nearest memory.
[[nodiscard]] const divided_model* find_divided_model(std::span<const divided_model> among, std::string_view model,
                                                      std::int64_t memory);
/// The same where the memory may not be known (0): then by what the name says of it, such as 80GB. Null also if there
/// are several tables and nothing tells which.
[[nodiscard]] const divided_model* told_divided_model(std::span<const divided_model> among, std::string_view model,
                                                      std::int64_t memory);

/// One way to make room on a divided device for an instance: the instances that have to go.
struct division_change {
  profile_choice made;
  std::vector<std::size_t> drained;  ///< positions among the instances of the device, ascending
  std::int64_t cost = 0;             ///< sum of what draining them costs
};
/// The cheapest way to have an instance of a profile on a device, where `costs` are those of draining each of its
/// instances (negative: it has to stay). Among equals: fewer instances go, then the placement that others miss least.
[[nodiscard]] std::optional<division_change> cheapest_change(const device& divided, const slice_profile& wanted,
                                                             std::span<const std::int64_t> costs);

}  // namespace kaisched::devices
