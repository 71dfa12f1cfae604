#pragma once
/// @file
/// `Pod` -> rows.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/bind_request.hpp"
#include "io/kubernetes/claim.hpp"
#include "io/kubernetes/constraints.hpp"
#include "io/kubernetes/disruption_budgets.hpp"
#include "io/kubernetes/object.hpp"
#include "io/kubernetes/pod_group.hpp"
#include "io/kubernetes/records.hpp"
#include "io/kubernetes/settings.hpp"
#include "io/kubernetes/shared_devices.hpp"
#include "io/kubernetes/volumes.hpp"

namespace kaisched::io::kubernetes {

/// What pods look up, and what they leave behind for the end.
struct pod_context {
  const settings& chosen;
  const bind_requests& bindings;
  pod_groups& groups;
  shared_devices& shared;
  claim_book& claims;
  const volume_book& volumes;
  const budget_book& budgets;
  const namespace_labels& spaces;
  std::set<std::string, std::less<>> nodes;                            ///< names of the nodes of the pool
  std::map<std::string, std::vector<std::string>, std::less<>> zones;  ///< names of NUMA zones by node, in their order
  std::map<std::pair<std::string, std::string>, std::int64_t> device_indices;  ///< by node and hardware identifier
  std::int64_t now = 0;
  bool asks_node_names = false;       ///< out: a pod selects nodes by name
  bool asks_namespaces = false;       ///< out: a pod asks for labels of namespaces
  bool avoids_other_devices = false;  ///< out: a pod is kept off nodes with devices that are no GPUs
  /// Out: names of shared devices, by the number of the row of the pod.
  std::map<std::size_t, std::vector<std::string>> gpu_groups;
  /// Out: hardware identifiers of shared devices by node and name, from the pods that keep them.
  std::map<std::pair<std::string, std::string>, std::string> group_uuids;
};

/// Reads a pod. Pods that are nobody's business here (finished, or waiting for another scheduler) make no row.
/// @param group what `context.groups` says of it; asked for where it is missing.
void read_pod(object& of, std::optional<membership>& group, pod_context& context, cluster_records& to);

/// Gives pods on shared devices the indices of these: of the device with the identifier that the keeper of the device
/// has noted, else the highest that no name has yet, as pods with whole devices take the lowest. Returns the names by
/// node and index.
std::map<std::pair<std::string, std::int64_t>, std::string> place_on_shared_devices(const pod_context& context,
                                                                                    cluster_records& rows);

}  // namespace kaisched::io::kubernetes
