#pragma once
/// @file
/// What pods of one namespace may hold of the devices of one vendor.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/devices/vendor/device.hpp"

namespace kaisched::devices {

/// A limit that is not there limits nothing; a limit of 0 lets nothing in.
struct space_quota {
  std::string space;                     ///< namespace
  std::string vendor;                    ///< key
  std::optional<std::int64_t> memory{};  ///< bytes
  std::optional<std::int64_t> cores{};
  std::optional<std::int64_t> slots{};
  std::int64_t used_memory = 0;
  std::int64_t used_cores = 0;
  std::int64_t used_slots = 0;
};
using space_quotas = std::vector<space_quota>;

/// The quota of a namespace for a vendor, or null.
[[nodiscard]] const space_quota* find_quota(const space_quotas& among, std::string_view space, std::string_view vendor);

/// What a pod holds once it runs: on every device the largest of the containers that run one after another, or the sum
/// of the others if that is more.
struct held_amounts {
  std::int64_t memory = 0;
  std::int64_t cores = 0;
  std::int64_t slots = 0;
};
[[nodiscard]] held_amounts held_by(const vendor_grants& containers, std::size_t init_containers);

[[nodiscard]] bool within(const space_quota& quota, const held_amounts& more);

}  // namespace kaisched::devices
