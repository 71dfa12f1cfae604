#pragma once
/// @file
/// The parts of the library. One file per rule; `registry.cpp` lists them.

#include <memory>
#include <span>
#include <string_view>

#include <kaisched/policy.hpp>

namespace kaisched::model {
struct cluster_state;
}

namespace kaisched::policy {

/// One entry of the registry.
struct part_entry {
  std::string_view name;
  std::unique_ptr<policy_part> (*make)(const policy_options&);
  std::string_view doc;
};

/// The parts of the library, by name.
[[nodiscard]] std::span<const part_entry> built_in_parts() noexcept;

// Ordering of groups inside a queue.
std::unique_ptr<policy_part> make_priority(const policy_options&);
std::unique_ptr<policy_part> make_elastic(const policy_options&);
std::unique_ptr<policy_part> make_goodput(const policy_options&);
std::unique_ptr<policy_part> make_age(const policy_options&);
std::unique_ptr<policy_part> make_deadline(const policy_options&);
std::unique_ptr<policy_part> make_drf(const policy_options&);
std::unique_ptr<policy_part> make_fifo(const policy_options&);
std::unique_ptr<policy_part> make_las(const policy_options&);
std::unique_ptr<policy_part> make_las_2d(const policy_options&);
std::unique_ptr<policy_part> make_lost_work(const policy_options&);
std::unique_ptr<policy_part> make_sjf(const policy_options&);
std::unique_ptr<policy_part> make_srtf(const policy_options&);
std::unique_ptr<policy_part> make_srsf(const policy_options&);
std::unique_ptr<policy_part> make_completion_rate(const policy_options&);
std::unique_ptr<policy_part> make_multifactor(const policy_options&);
std::unique_ptr<policy_part> make_user_fairness(const policy_options&);
// Nodes.
std::unique_ptr<policy_part> make_predicates(const policy_options&);
std::unique_ptr<policy_part> make_topology_spread(const policy_options&);
std::unique_ptr<policy_part> make_inter_pod_affinity(const policy_options&);
std::unique_ptr<policy_part> make_node_availability(const policy_options&);
std::unique_ptr<policy_part> make_resource_type(const policy_options&);
std::unique_ptr<policy_part> make_node_placement(const policy_options&);
std::unique_ptr<policy_part> make_nominated_node(const policy_options&);
std::unique_ptr<policy_part> make_gpu_types(const policy_options&);
std::unique_ptr<policy_part> make_topology(const policy_options&);
std::unique_ptr<policy_part> make_gpu_sharing_order(const policy_options&);
std::unique_ptr<policy_part> make_numa(const policy_options&);
std::unique_ptr<policy_part> make_dynamic_resources(const policy_options&);
std::unique_ptr<policy_part> make_vendor_devices(const policy_options&);
std::unique_ptr<policy_part> make_traffic(const policy_options&);
std::unique_ptr<policy_part> make_energy(const policy_options&);
std::unique_ptr<policy_part> make_power_cap(const policy_options&);
std::unique_ptr<policy_part> make_load(const policy_options&);
std::unique_ptr<policy_part> make_fgd(const policy_options&);
std::unique_ptr<policy_part> make_least_waste(const policy_options&);
std::unique_ptr<policy_part> make_dot_product(const policy_options&);
std::unique_ptr<policy_part> make_best_fit(const policy_options&);
std::unique_ptr<policy_part> make_gpu_packing(const policy_options&);
std::unique_ptr<policy_part> make_gpu_clustering(const policy_options&);
// Devices of a node: what they switch on is built into the choice of devices.
std::unique_ptr<policy_part> make_gpu_pack(const policy_options&);
std::unique_ptr<policy_part> make_gpu_spread(const policy_options&);
std::unique_ptr<policy_part> make_colocation(const policy_options&);
// Queues: what it switches on is built into the actions.
std::unique_ptr<policy_part> make_proportion(const policy_options&);
// Victims: what they switch on is built into the actions.
std::unique_ptr<policy_part> make_minimum_runtime(const policy_options&);
std::unique_ptr<policy_part> make_node_local_greedy(const policy_options&);
std::unique_ptr<policy_part> make_multi_node_gang(const policy_options&);

/// 0: some pod set has fewer active pods than its gang needs; 1: all have exactly that; 2: some have more.
[[nodiscard]] int fullness(const session_view& view, group_row group);

/// Score bands of the KAI Scheduler: each outweighs all smaller ones together.
inline constexpr double density_band = 9;
inline constexpr double resource_type_band = 10;
inline constexpr double numa_band = 100;
inline constexpr double vendor_band = 100;
inline constexpr double figures_band = 100;  ///< energy, load, other pods
inline constexpr double availability_band = 1000;
inline constexpr double sharing_band = 10'000;
inline constexpr double topology_band = 100'000;  ///< ten of them for the emptiest domain
inline constexpr double nominated_band = 10'000'000;

/// The pod counts as one without GPUs where strategies and bands differ.
[[nodiscard]] bool is_cpu_only_pod(const session_view& view, pod_row pod);
/// The node has no GPUs.
[[nodiscard]] bool is_cpu_only_node(const session_view& view, node_row node);
/// Number of GPUs that spreading divides by: the label nvidia.com/gpu.count if it is a number, else the capacity.
[[nodiscard]] double gpu_count(const session_view& view, node_row node);
[[nodiscard]] double gpu_count(const model::cluster_state& s, node_row node);
/// The part of a node that is idle or coming free. `compat` divides as KAI does, in devices; `strict` divides integers
/// once, so that equal parts give equal scores.
[[nodiscard]] double spread_score(const session_view& view, dimension d, node_row node);

}  // namespace kaisched::policy
