#pragma once
/// @file
/// What a pod needs of its containers' requests.
///
/// Source: Volcano (pkg/scheduler/api/pod_info.go), which follows Kubernetes: containers run together, init containers
/// one after the other before them, sidecars (init containers that are restarted) from their turn on. Unlike the
/// translation of pods for the engine, limits do not stand in for requests here: the API server has filled them in.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/resources/resource_list.hpp"

namespace kaisched::policy {

struct container_request {
  resource_list request;
  bool sidecar = false;  ///< of init containers
};

struct pod_request_parts {
  std::vector<container_request> init_containers;
  std::vector<resource_list> containers;
  std::map<std::string, double, std::less<>> of_pod;  ///< takes the place of what containers ask for
  resource_list overhead;
};

/// What the containers need that run to the end.
[[nodiscard]] resource_list running_request(const pod_request_parts& pod);
/// What the pod needs at its peak, and one of `pods`.
[[nodiscard]] resource_list peak_request(const pod_request_parts& pod);

/// A container whose request is being changed: what it has, what it was given and what is wished for.
struct resized_request {
  resource_list wished;
  resource_list actual;
  resource_list allocated;
  bool infeasible = false;  ///< the wish cannot be granted
};
/// The most of what may be in use.
[[nodiscard]] resource_list effective_request(const resized_request& of);

}  // namespace kaisched::policy
