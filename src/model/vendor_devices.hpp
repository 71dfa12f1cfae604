#pragma once
/// @file
/// Devices that are shared by the rules of their vendor, what pods ask of them and what they hold: rows of text
/// columns, `field=value,field=value`. What the fields mean to a vendor is said where devices are given away
/// (policy/devices).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::model {

/// A size in which a device can be divided, wherever the parts lie.
struct vendor_profile {
  std::string name;
  std::int64_t slices = 0;
  std::int64_t memory = 0;
};

/// A device as its node registers it. Memory is in bytes, cores are in the unit of the vendor.
struct vendor_device {
  std::string id;
  std::string type;  ///< model; contains the key of the vendor
  std::string mode;
  std::int64_t index = 0;
  std::int64_t numa = 0;
  std::int64_t slots = 1;
  std::int64_t memory = 0;
  std::int64_t cores = 0;
  bool healthy = true;
  bool cordoned = false;
  std::vector<std::int64_t> links;       ///< scores, by position of the other device
  std::vector<vendor_profile> profiles;  ///< of its own, beside those of its model
  std::vector<std::pair<std::string, std::string>> attributes;
};
[[nodiscard]] result<vendor_device> parse_vendor_device(std::string_view text);

/// What one container of a pod asks of one vendor.
struct vendor_request {
  std::int64_t container = 0;  ///< position; those that run before the others come first
  bool init = false;           ///< it runs before the others
  std::string vendor;          ///< key
  std::int64_t count = 1;
  std::int64_t memory = 0;            ///< of each device, bytes; 0: not stated
  std::int64_t memory_permille = -1;  ///< of each device, of its memory; -1: not stated
  std::int64_t cores = 0;             ///< of each device
  std::int64_t slices = 0;            ///< of a device that is divided in hardware
  std::int64_t amount = 0;            ///< memory as it was written, where only the devices tell its unit
};

/// What one container of a pod has of one device.
struct vendor_grant {
  std::int64_t container = 0;
  bool init = false;
  std::string device;  ///< id
  std::int64_t memory = 0;
  std::int64_t cores = 0;
  std::int64_t slots = 1;
  std::string profile;  ///< of an instance of a divided device; empty: none
  std::int64_t start = 0;
  std::int64_t size = 0;
  friend bool operator==(const vendor_grant&, const vendor_grant&) = default;
};
[[nodiscard]] result<vendor_grant> parse_vendor_grant(std::string_view text);
[[nodiscard]] std::string text_of(const vendor_grant& grant);

/// How devices are chosen and registered; what is not set is as the level above says.
struct vendor_settings {
  std::optional<std::string> node_policy;    ///< "binpack" or "spread"
  std::optional<std::string> device_policy;  ///< the same, or what rules of a vendor know
  std::optional<std::string> mode;
  std::optional<std::int64_t> slots;
  std::optional<std::int64_t> memory_permille;
  std::optional<std::int64_t> core_permille;
  std::optional<bool> soft_division;
  std::optional<std::array<std::int64_t, 3>> weights;  ///< of slots, cores and memory
};
/// A list of `setting=value`.
[[nodiscard]] result<vendor_settings> parse_vendor_settings(std::string_view list);

/// Most vendor devices of one node.
inline constexpr std::size_t max_vendor_devices = 1024;

/// Requests by container, without two of one container for one vendor.
[[nodiscard]] result<std::vector<vendor_request>> parse_vendor_requests(std::string_view list);

/// `key=value` rows; the first `=` ends the key, values may be anything.
[[nodiscard]] result<std::vector<std::pair<std::string, std::string>>> parse_annotations(std::string_view list);

}  // namespace kaisched::model
