#pragma once
/// @file
/// What the annotations of a pod say about the devices of one vendor, read once.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/devices/vendor/device.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::devices {

/// A list to use and a list to avoid; a list that is not there, or blank, says nothing.
struct word_lists {
  std::optional<std::vector<std::string>> use;
  std::optional<std::vector<std::string>> avoid;
};

struct wishes {
  word_lists types;             ///< parts of models, in any case
  std::vector<word_lists> ids;  ///< one per pair of keys; all must agree
  std::optional<std::string> modes;
  bool bind_numa = false;
  bool exclusive = false;   ///< only idle devices
  bool best_links = false;  ///< the set of devices with the best links
  bool soft = false;        ///< devices divided in software
  std::string tenant_class{};
  bool has_tenant_class = false;
  std::string service_class{};

  [[nodiscard]] bool allows_type(std::string_view type) const;
  [[nodiscard]] bool allows_id(std::string_view id) const;
  /// Devices without a mode are for everybody.
  [[nodiscard]] bool allows_mode(std::string_view mode) const;
};

/// `device_policy` is the pod's own or that of the level above.
[[nodiscard]] wishes wishes_of(const vendor_template& vendor, const pod& asking, std::string_view device_policy);

}  // namespace kaisched::devices
