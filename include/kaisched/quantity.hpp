#pragma once
/// @file
/// Quantities: int64 in fixed units, so that sums are exact and every machine computes the same.
///
/// | dimension | unit        | meaning                                         |
/// |-----------|-------------|-------------------------------------------------|
/// | `cpu`     | milli-cores | 1000 = one core                                 |
/// | `memory`  | bytes       |                                                 |
/// | `gpu`     | milli-GPU   | 1000 = one whole device, 500 = half of one      |
/// | `pods`    | count       | pod slots of a node; every pod asks for one     |
///
/// Further dimensions (extended resources of any vendor) are registered by name with a `resource` table and take the
/// next index. Times are nanoseconds since an epoch that the host chooses; durations are nanoseconds.

#include <cstdint>
#include <limits>

namespace kaisched {

/// Index of a resource dimension.
using dimension = std::uint32_t;
inline constexpr dimension dim_cpu = 0;
inline constexpr dimension dim_memory = 1;
inline constexpr dimension dim_gpu = 2;
inline constexpr dimension dim_pods = 3;
/// Dimensions that every cluster has.
inline constexpr dimension built_in_dimensions = 4;
/// Most dimensions that a cluster may register.
inline constexpr dimension max_dimensions = 64;

/// Dimensions that queues are accounted in (quota, limit, fair share): cpu, memory, gpu, in this order.
inline constexpr std::uint32_t quota_dimensions = 3;

/// Milli-GPU of one whole device.
inline constexpr std::int64_t whole_device = 1000;
/// Most devices of one node that are tracked one by one. A node may have more GPUs than this as a mere amount.
inline constexpr std::uint32_t max_devices_per_node = 64;

/// Most levels of a tree of queues, or of the sub-groups of one pod group.
inline constexpr std::uint32_t max_tree_depth = 1000;

/// As the only device of a pod: it holds devices, but not known ones (on an overcommitted node).
inline constexpr std::int64_t unknown_devices = -1;

/// "Unlimited" for quotas and limits.
inline constexpr std::int64_t unlimited = -1;
/// "Not set" for times, durations and other int64 columns where zero is a value.
inline constexpr std::int64_t unset = std::numeric_limits<std::int64_t>::min();
/// Largest amount that one row may hold: exact as a double as well.
inline constexpr std::int64_t max_amount = std::int64_t{1} << 52;
/// Largest sum of one dimension over all nodes, or over all pods, that a cluster may hold.
inline constexpr std::int64_t max_sum = std::int64_t{1} << 62;

}  // namespace kaisched
