#pragma once
/// @file
/// What an object is to the translation.

#include <cstddef>
#include <cstdint>

#include "io/kubernetes/object.hpp"

namespace kaisched::io::kubernetes {

enum class object_kind : std::uint8_t {
  other,
  node,
  pod,
  queue,
  pod_group,
  topology,
  priority_class,
  bind_request,
  node_topology,
  claim,
  resource_quota,
  device_class,
  resource_slice,
  claim_template,
  volume_claim,
  volume,
  storage_class,
  csi_node,
  config_map,
  name_space,
  disruption_budget,
  hyper_node,
  volcano_queue,
  volcano_group,
};
inline constexpr std::size_t object_kinds = 24;

/// What an object is, by group and kind: other projects have queues and pod groups as well. Elements of lists may lack
/// the group.
[[nodiscard]] object_kind kind_of(const object& of);

}  // namespace kaisched::io::kubernetes
