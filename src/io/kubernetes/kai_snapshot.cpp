#include "io/kubernetes/kai_snapshot.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace kaisched::io::kubernetes {

std::string_view kind_of_list(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 15> known{{
      {"bindRequests", "BindRequest"},
      {"configMaps", "ConfigMap"},
      {"deviceClasses", "DeviceClass"},
      {"nodeResourceTopologies", "NodeResourceTopology"},
      {"nodes", "Node"},
      {"persistentVolumeClaims", "PersistentVolumeClaim"},
      {"persistentVolumes", "PersistentVolume"},
      {"podGroups", "PodGroup"},
      {"pods", "Pod"},
      {"priorityClasses", "PriorityClass"},
      {"queues", "Queue"},
      {"resourceClaims", "ResourceClaim"},
      {"resourceSlices", "ResourceSlice"},
      {"storageClasses", "StorageClass"},
      {"topologies", "Topology"},
  }};
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == name; });
  return found == known.end() ? std::string_view{} : found->second;
}

void read_snapshot_parameters(json_value text, settings& to) {
  if (!find(text, snapshot_objects)) return;
  const member parameters = find(text, "schedulerParams");
  if (const std::string_view name = text_if_any(parameters, "schedulerName");
      !name.empty() && std::find(to.schedulers.begin(), to.schedulers.end(), name) == to.schedulers.end()) {
    to.schedulers.emplace_back(name);
  }
  if (const std::string_view key = text_if_any(parameters, "queueLabelKey"); !key.empty()) to.queue_key = key;
  const member part = find(parameters, "partitionParams");
  if (const std::string_view key = text_if_any(part, "NodePoolLabelKey"); !key.empty()) to.node_pool_key = key;
  if (!to.node_pool) {
    if (const std::string_view value = text_if_any(part, "NodePoolLabelValue"); !value.empty()) to.node_pool = value;
  }
}

}  // namespace kaisched::io::kubernetes
