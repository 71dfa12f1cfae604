#pragma once
/// @file
/// Resource lists of Kubernetes -> amounts per dimension, and what a pod needs in all.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "io/kubernetes/object.hpp"

namespace kaisched::io::kubernetes {

/// Amounts in the units of the tables, by the name of the dimension: cpu, memory, gpu, pods and others.
using amounts = std::map<std::string, std::int64_t, std::less<>>;

inline constexpr std::string_view gpu = "gpu";  ///< the dimension

/// Name of the dimension that a resource is counted in: `nvidia.com/gpu` and `amd.com/gpu` are both gpu, as in KAI.
[[nodiscard]] std::string_view dimension_of(std::string_view resource);

/// A resource list, such as `status.allocatable`. Whole devices become milli-GPU.
[[nodiscard]] amounts amounts_of(object& of, member list);

/// What a container asks for. A resource that has a limit and no request is requested up to its limit, as the API
/// server fills in.
[[nodiscard]] amounts container_requests(object& of, json_value container);

/// Requests of the containers of a pod: the sum of those that run together (sidecars included) or what an init
/// container needs beside the sidecars before it, whichever is more, and the overhead. A resource that has a limit and
/// no request is requested up to its limit, as the API server fills in. Requests of the pod as a whole take the place
/// of those of its containers.
[[nodiscard]] amounts effective_requests(object& of, member spec);

/// The class of the pod by its containers: Guaranteed, Burstable or BestEffort.
[[nodiscard]] std::string_view qos_of(object& of, member spec);

}  // namespace kaisched::io::kubernetes
