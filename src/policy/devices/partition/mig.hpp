#pragma once
/// @file
/// Devices that are divided in hardware: which instances may lie where, and which profile serves a request.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/devices/vendor/device.hpp"

namespace kaisched::devices {

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

/// Profile (its position) and placement of every instance, by start.
using slice_layout = std::vector<std::pair<std::size_t, slice_range>>;

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

}  // namespace kaisched::devices
