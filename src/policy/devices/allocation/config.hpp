#pragma once
/// @file
/// How devices are chosen and shared, on three levels: for all nodes, for one node, for one pod. What a level does not
/// say is as the level above says.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/devices/allocation/place.hpp"

namespace kaisched::devices {

/// One level. Policies: of nodes and of devices. The others say how devices of a node are registered; a pod can say
/// which modes it accepts by the annotation of its vendor, and nothing about the rest.
struct device_settings {
  std::optional<std::string> node_policy{};
  std::optional<std::string> device_policy{};
  std::optional<score_weights> weights{};
  std::optional<std::string> mode{};              ///< "hami-core", "mig", "mps", ...
  std::optional<std::int64_t> slots{};            ///< sharers of a device; not of a divided one
  std::optional<std::int64_t> memory_permille{};  ///< of the memory of a device that may be given away; over 1000: more
  std::optional<std::int64_t> core_permille{};    ///< the same for cores
  std::optional<bool> soft_division{};
};

/// What a level says, and what the one above says where it does not.
[[nodiscard]] device_settings over(const device_settings& own, const device_settings& above);

/// All levels that are not of pods.
struct policy_levels {
  device_settings global{};
  std::vector<std::pair<std::string, device_settings>> nodes{};  ///< by name
  pod_policy_keys keys{};  ///< annotations with which a pod chooses policies and weights

  /// Of a node: its own over the global ones.
  [[nodiscard]] device_settings of_node(std::string_view name) const;
};

/// Policies for a pod at a node: its own annotations over the levels above.
[[nodiscard]] result<place_policies> policies_for(const pod& asking, const policy_levels& levels,
                                                  const device_settings& at_node, const vendor_catalog& vendors);

/// Devices as a node registers them: the physical ones with mode, sharers, and memory and cores that may be promised
/// more than once. Divided devices keep their memory and cores, and have as many sharers as their smallest profile has
/// places.
void register_devices(const device_settings& settings, node& where);

}  // namespace kaisched::devices
