#pragma once
/// @file
/// Devices that nobody registers: they follow from resources, labels and annotations of their node, as the template of
/// their vendor says.

#include <optional>
#include <vector>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::io::kubernetes {

/// The devices of a vendor on a node, and the member of the node that they follow from.
struct found_on_node {
  json_value origin;
  std::vector<registered_device> devices;
};

/// Nothing where the node says nothing about such devices, and after a fault.
[[nodiscard]] std::optional<found_on_node> find_devices(object& node, const devices::vendor_template& vendor);

/// The text that a pattern stands for; `value` knows what its names stand for.
template <class Value>
[[nodiscard]] std::string text_of(const devices::text_pattern& pattern, const Value& value) {
  std::string made;
  for (const devices::pattern_piece& piece : pattern) made += piece.named ? value(piece.text) : piece.text;
  return made;
}

}  // namespace kaisched::io::kubernetes
