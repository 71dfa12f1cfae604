#include "io/kubernetes/object_kind.hpp"

#include <array>
#include <string_view>

namespace kaisched::io::kubernetes {

object_kind kind_of(const object& of) {
  struct known_kind {
    std::string_view group, kind;
    object_kind what;
  };
  constexpr std::array<known_kind, 23> known{{
      {"", "Node", object_kind::node},
      {"", "Pod", object_kind::pod},
      {"scheduling.run.ai", "Queue", object_kind::queue},
      {"scheduling.run.ai", "PodGroup", object_kind::pod_group},
      {"kai.scheduler", "Topology", object_kind::topology},
      {"scheduling.k8s.io", "PriorityClass", object_kind::priority_class},
      {"scheduling.run.ai", "BindRequest", object_kind::bind_request},
      {"topology.node.k8s.io", "NodeResourceTopology", object_kind::node_topology},
      {"resource.k8s.io", "ResourceClaim", object_kind::claim},
      {"", "ResourceQuota", object_kind::resource_quota},
      {"resource.k8s.io", "DeviceClass", object_kind::device_class},
      {"resource.k8s.io", "ResourceSlice", object_kind::resource_slice},
      {"resource.k8s.io", "ResourceClaimTemplate", object_kind::claim_template},
      {"", "PersistentVolumeClaim", object_kind::volume_claim},
      {"", "PersistentVolume", object_kind::volume},
      {"storage.k8s.io", "StorageClass", object_kind::storage_class},
      {"storage.k8s.io", "CSINode", object_kind::csi_node},
      {"", "ConfigMap", object_kind::config_map},
      {"", "Namespace", object_kind::name_space},
      {"policy", "PodDisruptionBudget", object_kind::disruption_budget},
      {"topology.volcano.sh", "HyperNode", object_kind::hyper_node},
      {"scheduling.volcano.sh", "Queue", object_kind::volcano_queue},
      {"scheduling.volcano.sh", "PodGroup", object_kind::volcano_group},
  }};
  const bool has_version = find(of.root(), "apiVersion").has_value();
  for (const known_kind& one : known) {
    if (one.kind == of.kind() && (one.group == of.group() || !has_version)) return one.what;
  }
  return object_kind::other;
}

}  // namespace kaisched::io::kubernetes
