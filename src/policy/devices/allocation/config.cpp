#include "policy/devices/allocation/config.hpp"

#include <algorithm>

#include "policy/devices/vendor/words.hpp"

namespace kaisched::devices {

namespace {

template <class T>
const std::optional<T>& first_of(const std::optional<T>& own, const std::optional<T>& above) {
  return own ? own : above;
}

std::int64_t most_instances(const device& of) {
  std::size_t most = 0;
  for (const slice_profile& one : of.profiles) most = std::max(most, one.placements.size());
  return static_cast<std::int64_t>(most);
}

/// Per mille of an amount of bytes, in whole mebibytes.
std::int64_t scaled_memory(std::int64_t memory, std::int64_t permille) {
  return memory / mebibyte * permille / 1000 * mebibyte;
}

}  // namespace

device_settings over(const device_settings& own, const device_settings& above) {
  return {first_of(own.node_policy, above.node_policy),
          first_of(own.device_policy, above.device_policy),
          first_of(own.weights, above.weights),
          first_of(own.mode, above.mode),
          first_of(own.slots, above.slots),
          first_of(own.memory_permille, above.memory_permille),
          first_of(own.core_permille, above.core_permille),
          first_of(own.soft_division, above.soft_division)};
}

device_settings policy_levels::of_node(std::string_view name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const auto& one) { return one.first == name; });
  return found == nodes.end() ? global : over(found->second, global);
}

result<place_policies> policies_for(const pod& asking, const policy_levels& levels, const device_settings& at_node,
                                    const vendor_catalog& vendors) {
  place_policies otherwise;
  // Nodes are compared with each other, so that their policy is the same for all of them.
  if (levels.global.node_policy) otherwise.nodes = *levels.global.node_policy;
  if (at_node.device_policy) otherwise.devices = *at_node.device_policy;
  if (at_node.weights) otherwise.weights = *at_node.weights;
  return policies_of(asking, levels.keys, vendors, otherwise);
}

void register_devices(const device_settings& settings, node& where) {
  if (settings.soft_division) where.soft_division = settings.soft_division;
  for (device& of : where.devices) {
    if (settings.mode) of.mode = *settings.mode;
    if (of.mode == "mig") {
      of.slots = most_instances(of);
      continue;
    }
    if (settings.slots) of.slots = *settings.slots;
    if (settings.memory_permille) of.memory = scaled_memory(of.memory, *settings.memory_permille);
    if (settings.core_permille) of.cores = of.cores * *settings.core_permille / 1000;
  }
}

}  // namespace kaisched::devices
