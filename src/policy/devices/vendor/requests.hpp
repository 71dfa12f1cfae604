#pragma once
/// @file
/// What a container's resources ask of a vendor: names of resources and quantities in, a request out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/devices/vendor/device.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::devices {

/// A quantity as Kubernetes knows it. Texts are read elsewhere.
struct quantity {
  std::int64_t value = 0;  ///< rounded up to an integer
  bool integer = true;     ///< the exact value is an integer that 64 bits hold
  bool negative = false;
  bool suffix = false;  ///< written with a letter: Ki, M, ...

  friend bool operator==(const quantity&, const quantity&) = default;
};
using quantities = std::vector<std::pair<std::string, quantity>>;

/// The resources of one container.
struct container_resources {
  quantities limits{};
  quantities requests{};
};

/// The quantity with a name in one or both columns, the limit first; null: it is not there, or the name is empty.
[[nodiscard]] const quantity* find_quantity(const container_resources& of, std::string_view name, columns from);

/// What a container asks of a vendor, or nothing. The count of what is asked may be 0 where a vendor does not check it.
[[nodiscard]] std::optional<request> make_request(const vendor_template& vendor, const container_resources& of);

/// Cores that are asked without devices: whole devices, or a part of one. Nothing if they neither fit nor fill devices.
struct core_split {
  std::int64_t devices = 0;
  std::int64_t cores = 0;  ///< of each
};
[[nodiscard]] std::optional<core_split> split_cores(std::int64_t cores, std::int64_t most_per_device);

/// The smallest step that is not less; the last one for larger amounts.
[[nodiscard]] std::int64_t round_up_to_step(const std::vector<std::int64_t>& steps, std::int64_t amount);

}  // namespace kaisched::devices
