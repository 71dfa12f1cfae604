#pragma once
/// @file
/// The body of a snapshot: what is known about a cluster, and the sums that sessions start from.
///
/// Everything is copy-on-write, so copying a state costs a fixed number of reference counts. The part that placing a
/// pod changes (`live_state`) is separate: a session works on its own copy of it and reads the rest from the snapshot.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "base/cow.hpp"
#include "base/string_pool.hpp"
#include "model/device_claims.hpp"
#include "model/mig_profile.hpp"
#include "model/node_index.hpp"
#include "model/pod_class.hpp"
#include "model/quarantine.hpp"
#include "model/selector.hpp"
#include "model/shape.hpp"
#include "model/sharing_mode.hpp"
#include "model/vendor_devices.hpp"

namespace kaisched::model {

using quota_vector = std::array<std::int64_t, quota_dimensions>;

// ---- sets of statuses --------------------------------------------------------------------------------------------

constexpr std::uint32_t bit(pod_status s) { return 1U << static_cast<std::uint32_t>(s); }
/// The pod has a place and is not leaving it.
inline constexpr std::uint32_t active_allocated = bit(pod_status::allocated) | bit(pod_status::pipelined) |
                                                  bit(pod_status::binding) | bit(pod_status::bound) |
                                                  bit(pod_status::running);
/// The pod is on a node.
inline constexpr std::uint32_t active_used =
    active_allocated | bit(pod_status::releasing) | bit(pod_status::stuck_in_releasing);
/// The pod runs or will run on a node: there is something to stop. The others have a claim at most, or are leaving.
inline constexpr std::uint32_t stoppable = active_allocated & ~bit(pod_status::pipelined);
/// What a queue counts as allocated at the start of a session.
inline constexpr std::uint32_t holding =
    bit(pod_status::allocated) | bit(pod_status::binding) | bit(pod_status::bound) | bit(pod_status::running);
inline constexpr std::uint32_t alive = active_allocated | bit(pod_status::pending) | bit(pod_status::gated);
constexpr bool is_in(pod_status s, std::uint32_t set) { return (bit(s) & set) != 0; }

// ---- entities ----------------------------------------------------------------------------------------------------

struct dimension_info {
  std::string name;
  std::string unit;
  mig_profile mig{};  ///< of resources that are instances of divided GPUs
};

struct topology_info {
  std::string name;
  std::vector<std::string> levels;  ///< label keys, widest first
  bool primary = false;
  std::vector<std::pair<std::string, level_shape>> shapes;  ///< by level, sorted

  /// Of a level; none if it has no shape.
  [[nodiscard]] level_shape shape_of(std::string_view level) const;
};

struct queue_info {
  std::string name;
  std::uint32_t generation = 0;
  bool live = false;
  queue_row parent = no_row;
  std::int64_t priority = 100;
  std::int64_t created = 0;
  quota_vector quota{unlimited, unlimited, unlimited};
  quota_vector limit{unlimited, unlimited, unlimited};
  std::array<double, quota_dimensions> weight{1, 1, 1};
  std::array<double, quota_dimensions> usage{};
  std::int64_t reclaim_min_runtime = unset;
  std::int64_t preempt_min_runtime = unset;
  std::int64_t max_runtime = unset;
  std::vector<std::pair<std::string, std::int64_t>> gpu_limits;  ///< milli-GPU by product, sorted
  quota_vector guarantee{};
  bool reclaimable = true;
  std::vector<weighted_step> hierarchy;      ///< from the root to the queue
  std::string hierarchy_text;                ///< as given
  std::vector<node_group_wish> node_groups;  ///< in the order in which they are told
  std::uint32_t children = 0;                ///< number of child queues
  std::uint32_t groups = 0;                  ///< number of pod groups
};

/// What has been measured of a node or device, per mille; `unknown_figure` where nothing is said.
inline constexpr std::int64_t unknown_figure = -1;
struct load_figures {
  std::int64_t mean = unknown_figure;
  std::int64_t deviation = 0;
};
/// What a node without its devices, or a device, draws when it is idle and when it is in use, in milliwatts.
struct power_figures {
  std::int64_t idle = unknown_figure;
  std::int64_t most = unknown_figure;

  [[nodiscard]] bool known() const { return idle != unknown_figure && most != unknown_figure; }
  /// What use adds.
  [[nodiscard]] std::int64_t added() const { return known() ? most - idle : 0; }
};

struct device_info {
  std::uint32_t index = 0;
  std::string uuid;
  std::string model;
  std::int64_t memory = 0;
  std::int64_t share = whole_device;
  std::int64_t numa = -1;
  bool healthy = true;
  std::vector<std::int64_t> links;
  sharing_mode sharing = sharing_mode::unknown;
  std::vector<mig_instance> instances;  ///< of a divided device, by start
  power_figures power;
  load_figures load;

  /// Pods can have it, or parts of it.
  [[nodiscard]] bool is_offered() const { return healthy && sharing != sharing_mode::mig; }
};

/// How a node aligns pods with its NUMA zones. `unknown`: not given.
enum class numa_policy : std::uint8_t { unknown, none, best_effort, restricted, single_numa_node };
/// What is aligned.
enum class numa_scope : std::uint8_t { unknown, container, pod };
[[nodiscard]] std::string_view numa_policy_name(numa_policy p) noexcept;  ///< empty for `unknown`
[[nodiscard]] std::string_view numa_scope_name(numa_scope s) noexcept;    ///< empty for `unknown`

struct numa_zone_info {
  std::string name;
  std::vector<std::int64_t> capacity;   ///< per dimension
  std::vector<std::int64_t> available;  ///< per dimension, as the node reports
};

struct node_info {
  std::string name;
  std::uint32_t slot = no_row;
  std::vector<std::int64_t> capacity;
  bool ready = true;
  bool unschedulable = false;
  label_list labels;
  std::string labels_text;  ///< as given
  std::vector<taint> taints;
  std::string taints_text;
  std::int64_t gpu_memory = 0;
  std::vector<device_info> devices;  ///< explicit devices by index; empty: one per whole GPU
  numa_policy align = numa_policy::unknown;
  numa_scope align_scope = numa_scope::unknown;
  std::vector<numa_zone_info> zones;                           ///< in the order in which they are numbered
  std::vector<std::pair<std::string, std::string>> claimable;  ///< class and name of devices
  power_figures power;
  load_figures cpu_load;
  load_figures memory_load;
  std::vector<named_amount> power_feeds;      ///< and the most that all of a feed may draw, in milliwatts
  std::string power_feeds_text;               ///< as given
  std::vector<vendor_device> vendor_devices;  ///< in the order of the node
  std::string vendor_devices_text;            ///< as given
  std::string device_settings_text;           ///< as given
  /// Its GPUs are given by the rules of their vendors; there are no other devices.
  [[nodiscard]] bool is_shared_by_vendors() const { return !vendor_devices.empty(); }
  std::vector<std::pair<std::string, node_position>> positions;  ///< by level, sorted
  /// In the domain of a level; null: not given.
  [[nodiscard]] const node_position* position_in(std::string_view level) const;
  /// Devices are tracked one by one.
  [[nodiscard]] std::uint32_t device_count() const;
  [[nodiscard]] bool has_sharing_modes() const {
    return std::any_of(devices.begin(), devices.end(),
                       [](const device_info& d) { return d.sharing != sharing_mode::unknown; });
  }
  [[nodiscard]] sharing_mode sharing_of(std::uint32_t device) const {
    return devices.empty() ? sharing_mode::unknown : devices[device].sharing;
  }
  /// What a device is as a whole and what it offers to pods: bytes of its memory, or milli-GPU if that is not known.
  [[nodiscard]] std::int64_t device_units(std::uint32_t device) const;
  [[nodiscard]] std::int64_t device_offer(std::uint32_t device) const;
  /// A pod may be placed here as far as the state of the node is concerned.
  [[nodiscard]] bool open() const { return ready && !unschedulable; }
  /// Pods that the zones cannot align are refused here.
  [[nodiscard]] bool aligns() const {
    return align == numa_policy::restricted || align == numa_policy::single_numa_node;
  }
};

/// The part of a pod group that decisions look at often.
struct group_core {
  queue_row queue = no_row;
  sub_group_row first_sub = no_row;  ///< the root set; members follow
  std::uint16_t sub_count = 0;
  bool live = false;
  bool has_one_pod_set = false;  ///< beside the root nothing else, and its pods come in no units
  bool preemptible = true;
  bool semi_preemptible = false;  ///< only what its gangs need is not preemptible; `preemptible` is false then
  std::uint32_t generation = 0;
  std::int64_t priority = 50;
  std::int64_t created = 0;
};

/// The part that decisions look at rarely.
struct group_extra {
  std::string_view name_space;
  std::int64_t last_start = unset;
  std::int64_t last_eviction = unset;
  std::int64_t stale_since = unset;
  std::int64_t preemption_delay = unset;
  std::int64_t staleness_grace = unset;
  std::int64_t runtime_estimate = unset;
  std::int64_t deadline = unset;
  std::int64_t attained_service = 0;  ///< milli-GPU seconds
  std::int64_t max_runtime = unset;
  std::int64_t requeue_delay = unset;
  std::int64_t disruption_budget = unset;
  std::int64_t max_surge = 0;
  std::int64_t evictions = 0;
  std::int64_t searched = 0;  ///< bits of actions, see `searched_bit`
  std::string_view user;
  std::string_view after;          ///< row of a string list
  std::string_view checks;         ///< row of a string list
  std::string_view speedup;        ///< row of a string list, see parse_speedup
  std::string_view min_resources;  ///< row of a string list, see parse_amounts
  std::int64_t last_checkpoint = unset;
  std::int64_t restart_cost = 0;
  std::int64_t traffic = 0;      ///< MB/s of each pod
  bool has_sub_groups = false;   ///< false: the tree is the implied root with one pod set
  pod_row first_stray = no_row;  ///< pods that name a sub-group that does not exist
};

/// Where the pods of a group or sub-group must or should be together.
struct topology_ask {
  std::string topology;
  std::string required_level;   ///< label key of a level, or empty
  std::string preferred_level;  ///< label key of a level, or empty
};

/// A member of the tree of a pod group. Row 0 of a group is the root set. Links are rows; children are in name order.
struct sub_info {
  std::string_view name;
  group_row group = no_row;
  sub_group_row parent = no_row;
  sub_group_row first_child = no_row;
  sub_group_row next_sibling = no_row;
  bool is_set = false;
  std::int64_t min = 0;        ///< pod sets: size of the gang; sets: members needed, unset = all
  std::int64_t unit = 0;       ///< pod sets: pods in one unit of the group; 0: in none
  pod_row first_pod = no_row;  ///< pods in task order
  pod_row last_pod = no_row;
  std::uint32_t members = 0;                     ///< sets: number of children
  class_row only_class = no_row;                 ///< of all its pods, if `is_uniform`
  bool is_uniform = true;                        ///< no two of its pods are known to be of different classes
  std::shared_ptr<const topology_ask> together;  ///< of the root: that of the group; null: may be anywhere
};

/// Number of pods of a pod set, by what they count for.
struct sub_counts {
  std::uint32_t total = 0;
  std::uint32_t pending = 0;
  std::uint32_t gated = 0;
  std::uint32_t alive = 0;
  std::uint32_t active_allocated = 0;
  std::uint32_t active_used = 0;
  std::uint32_t pipelined = 0;
  std::uint32_t holding = 0;
  std::uint32_t succeeded = 0;
  friend bool operator==(const sub_counts&, const sub_counts&) = default;
};

struct pod_core {
  group_row group = no_row;    ///< no_row: a bystander, which only uses its node
  sub_group_row sub = no_row;  ///< no_row: a bystander, or names a sub-group that does not exist
  class_row pod_class = no_row;
  pod_row next = no_row;  ///< next pod of the pod set in task order
  std::uint32_t generation = 0;
  bool live = false;
  bool leader = false;
  bool outdated = false;
};

struct pod_extra {
  std::string_view sub_name;
  std::string_view labels;  ///< as given
  std::int64_t created = 0;
  std::int64_t priority = unset;
  std::uint32_t nominated = no_row;  ///< node slot
  std::uint32_t told = no_row;       ///< row of `pod_told`
};

/// What the host has told of the place of a pod on its node, and of what guards it there. Few pods have such a row.
struct pod_told {
  std::uint64_t numa_zones = 0;    ///< bit i: zone i of the node; 0: unknown
  std::string_view device_grants;  ///< of vendor devices, as given
  std::string_view mig_instances;  ///< as given; empty: unknown
  std::string_view budget;         ///< name of its disruption budget; empty: none
  std::int64_t nominated_since = unset;
  std::uint32_t next_free = no_row;  ///< of a row that no pod has: the next such row

  [[nodiscard]] bool says_nothing() const {
    return numa_zones == 0 && device_grants.empty() && mig_instances.empty() && budget.empty() &&
           nominated_since == unset;
  }
};

/// A claim of devices.
struct claim_info {
  std::string name;
  std::string device_class;
  std::int64_t count = 1;
  std::string labels;        ///< row of a string list, sorted by key
  std::string devices;       ///< row of a string list
  std::string reserved_for;  ///< row of a string list
  std::string node;          ///< empty: not known
  bool from_template = false;
  std::string constraints_text;  ///< row of a string list
  std::vector<attribute_constraint> constraints;
  std::string results_text;  ///< row of a string list
  std::vector<claim_result> results;
};

/// What pods of a namespace may hold of the devices of a vendor; `unlimited` where nothing is said.
struct device_quota_info {
  std::string name_space;
  std::string vendor;
  std::int64_t memory = unlimited;
  std::int64_t cores = unlimited;
  std::int64_t slots = unlimited;
};

/// How many pods that name it may be made to leave or move now.
struct disruption_budget_info {
  std::string name;
  std::int64_t allowed = 0;
};

/// Nodes that are kept for some groups, or for nobody, from one time to another.
struct reservation_info {
  std::string name;
  std::string nodes;          ///< row of a string list
  std::string selector_text;  ///< of nodes; empty: none beside those that are named, or all where none is
  selector labels;            ///< the same, read
  std::int64_t start = 0;
  std::int64_t end = unset;           ///< `unset`: until it is removed
  std::int64_t every = unset;         ///< `unset`: once
  std::string queue;                  ///< whose groups may use the nodes; empty: those of none
  std::string group;                  ///< likewise
  std::int64_t evict_before = unset;  ///< before the start others are evicted; `unset`: never
};

/// Rows by name, shared until one is written.
template <class Info>
using named_rows = base::cow<std::map<std::string, std::shared_ptr<const Info>, std::less<>>>;

// ---- state -------------------------------------------------------------------------------------------------------

/// What placing and removing pods changes. Node arrays are by node row.
struct live_state {
  base::cow_column<std::uint8_t> pod_state;
  base::cow_column<std::uint32_t> pod_node;  ///< node slot or no_row
  base::cow_column<device_set> pod_devices;
  base::cow_column<sub_counts> counts;  ///< by sub-group row, pod sets only

  base::cow<std::vector<std::int64_t>> idle;              ///< [nodes x dimensions]
  base::cow<std::vector<std::int64_t>> releasing;         ///< [nodes x dimensions]; claims of pipelined pods taken off
  base::cow<std::vector<std::int64_t>> device_free;       ///< by device row, in `device_units`
  base::cow<std::vector<std::int64_t>> device_releasing;  ///< by device row; claims taken off
  /// Whole devices that pods claim without naming them: any that comes free will do.
  base::cow<std::vector<std::int64_t>> device_claims;

  base::cow<std::vector<quota_vector>> queue_allocated;
  base::cow<std::vector<quota_vector>> queue_nonpreemptible;
  base::cow<std::vector<quota_vector>> queue_request;

  base::cow<node_index> by_gpu;  ///< nodes with GPUs by free amount; settled in snapshots
  base::cow<node_index> by_cpu;  ///< all nodes by free amount; settled in snapshots

  /// Everything, for what is done with each.
  template <class Do>
  void each_column(const Do& act) {
    act(pod_state), act(pod_node), act(pod_devices), act(counts);
    act(idle), act(releasing), act(device_free), act(device_releasing), act(device_claims);
    act(queue_allocated), act(queue_nonpreemptible), act(queue_request);
    act(by_gpu), act(by_cpu);
  }

  static const node_index& settled(base::cow<node_index>& index) {
    if (!index->is_settled()) index.write().settle();
    return *index;
  }
  void settle_orders() {
    settled(by_gpu);
    settled(by_cpu);
  }
};

/// What a cluster has, in numbers.
struct cluster_counts {
  std::uint64_t version = 0;
  std::uint32_t nodes_with_taints = 0;
  std::uint32_t nodes_not_open = 0;
  std::uint32_t nodes_with_sharing_modes = 0;
  std::uint32_t nodes_with_vendor_devices = 0;
  std::uint32_t nodes_with_mig = 0;  ///< nodes with labels or resources of divided GPUs
  std::uint32_t nodes_without_cpu = 0;
  quota_vector open_capacity{};  ///< of all open nodes; GPUs without instances of divided ones
  std::uint32_t group_slots = 0;
  std::uint32_t live_groups = 0;
  std::uint32_t semi_preemptible_groups = 0;
  std::uint32_t dependent_groups = 0;  ///< groups that come after others
  std::uint32_t sub_slots = 0;
  std::uint32_t topology_asks = 0;  ///< members of trees, roots included, that name a topology
  std::uint32_t told_slots = 0;
  std::uint32_t free_told = no_row;  ///< the first row that no pod has
  std::uint32_t pod_slots = 0;
  std::uint32_t live_pods = 0;
  std::uint32_t class_slots = 0;
  std::uint32_t pods_with_affinity = 0;     ///< pods with required pod (anti-)affinity
  std::uint32_t pods_with_preferences = 0;  ///< of other pods
  std::uint32_t pods_with_spread = 0;
  std::uint32_t pods_with_ports = 0;
  std::uint32_t bystanders = 0;  ///< pods without a group
  std::uint32_t pods_with_gpu_memory = 0;
  std::uint32_t pods_with_shares = 0;  ///< pods that ask for parts of devices, by share or by memory
  std::uint32_t pods_with_mig = 0;     ///< pods that ask for instances of divided GPUs
  std::uint32_t pods_with_claims = 0;
  std::uint32_t nominated_pods = 0;  ///< see `is_nominated`
  std::uint32_t pods_asking_vendors = 0;
  std::uint32_t claim_slots = 0;
  std::uint32_t live_claims = 0;
};

/// A whole cluster.
struct cluster_state : cluster_counts {
  std::shared_ptr<base::string_pool> names = std::make_shared<base::string_pool>();

  base::cow<std::vector<dimension_info>> dimensions;
  base::cow<std::vector<topology_info>> topologies;
  base::cow<std::vector<queue_info>> queues;  ///< by slot
  /// By queue slot: how many groups of each priority are not altogether non-preemptible, lowest priority first.
  base::cow_column<std::vector<std::pair<std::int64_t, std::uint32_t>>> preemptible_priorities;

  base::cow<std::vector<std::shared_ptr<const node_info>>> nodes;  ///< by row
  base::cow<std::vector<std::uint32_t>> node_row_of_slot;          ///< no_row: vacant
  base::cow<std::vector<std::uint32_t>> node_generation;           ///< by slot
  base::cow<std::vector<std::uint32_t>> name_rank;                 ///< by row: position in name order
  base::cow<std::vector<node_row>> rows_by_name;                   ///< in name order
  base::cow<std::vector<std::int64_t>> capacity;                   ///< [nodes x dimensions]
  base::cow<std::vector<device_row>> first_device;                 ///< by row, plus one past the end
  /// What a whole device is, by device row: bytes of its memory, or 1000 milli-GPU where that is not known.
  base::cow<std::vector<std::int64_t>> device_units;

  base::cow_column<group_core> groups;
  base::cow_column<group_extra> group_extras;
  base::cow_column<std::string_view> group_names;
  base::cow<std::vector<group_row>> pending_groups;  ///< groups with pending pods, by `group_before`
  base::cow<std::vector<group_row>> stray_groups;    ///< groups of pending pods that belong to no pod set, likewise
  base::cow<std::vector<group_row>> partial_groups;  ///< groups with pods on nodes and less than their gangs, likewise
  base::cow<std::vector<group_row>> budget_groups;   ///< groups with a disruption budget, likewise

  base::cow_column<sub_info> subs;

  base::cow_column<pod_core> pods;
  base::cow_column<pod_extra> pod_extras;
  base::cow_column<pod_told> told;
  base::cow_column<std::string_view> pod_names;

  base::cow_column<std::shared_ptr<const pod_class>> classes;

  base::cow_column<std::shared_ptr<const claim_info>> claims;  ///< by slot; null: vacant
  named_rows<device_class_info> device_classes;
  named_rows<resource_slice_info> resource_slices;
  named_rows<slice_device_info> slice_devices;
  named_rows<claim_request_info> claim_requests;

  base::cow<std::vector<device_quota_info>> device_quotas;            ///< by namespace and vendor
  base::cow<std::vector<disruption_budget_info>> disruption_budgets;  ///< by name
  base::cow<std::vector<reservation_info>> reservations;              ///< by name

  base::cow<quarantine_list> quarantine;  ///< no part of the digest

  live_state live;

  /// Everything but counts and names, for what is done with each.
  template <class Do>
  void each_column(const Do& act) {
    act(dimensions), act(topologies), act(queues), act(preemptible_priorities);
    act(nodes), act(node_row_of_slot), act(node_generation), act(name_rank), act(rows_by_name);
    act(capacity), act(first_device), act(device_units);
    act(groups), act(group_extras), act(group_names);
    act(pending_groups), act(stray_groups), act(partial_groups), act(budget_groups);
    act(subs), act(pods), act(pod_extras), act(told), act(pod_names), act(classes);
    act(claims), act(device_classes), act(resource_slices), act(slice_devices), act(claim_requests);
    act(device_quotas), act(disruption_budgets), act(reservations), act(quarantine);
    live.each_column(act);
  }

  [[nodiscard]] std::uint32_t dims() const { return static_cast<std::uint32_t>(dimensions->size()); }
  [[nodiscard]] std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes->size()); }
  /// A dimension is named as an instance of a divided GPU.
  [[nodiscard]] bool has_mig_resources() const;
  /// The dimension of instances of a profile, or no_row.
  [[nodiscard]] dimension mig_dimension(std::string_view profile) const;
  [[nodiscard]] const pod_told& told_of(pod_row p) const {
    static constexpr pod_told nothing{};
    return pod_extras[p].told == no_row ? nothing : told[pod_extras[p].told];
  }
  /// A place on some node is kept for the pod: it is pipelined, or waits or leaves and has a nominated node.
  [[nodiscard]] bool is_nominated(pod_row p) const {
    const auto status = static_cast<pod_status>(live.pod_state[p]);
    return status == pod_status::pipelined ||
           (pod_extras[p].nominated != no_row && (status == pod_status::pending || status == pod_status::releasing));
  }
  [[nodiscard, gnu::always_inline]] const pod_class& class_of(pod_row p) const { return *classes[pods[p].pod_class]; }

  cluster_state();
};

[[nodiscard]] inline entity_id id_of_pod(const cluster_state& s, pod_row p) {
  return {entity_kind::pod, s.pods[p].generation, p};
}
/// An id of nothing if there is no such row.
[[nodiscard]] inline entity_id id_of_group(const cluster_state& s, group_row g) {
  return g == no_row ? entity_id{} : entity_id(entity_kind::pod_group, s.groups[g].generation, g);
}

}  // namespace kaisched::model
