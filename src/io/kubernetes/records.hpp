#pragma once
/// @file
/// Rows that the readers of objects fill, and their way into tables.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "io/cluster_input.hpp"
#include "io/kubernetes/resources.hpp"
#include "model/vendor_devices.hpp"

namespace kaisched::io::kubernetes {

// Rows are equal if every field is, the line of the text included.

/// Labels as the tables take them: key, value, key, value, ...
using label_texts = std::vector<std::string>;

struct topology_record {
  std::uint32_t line = 0;
  std::string name;
  std::vector<std::string> levels;
  std::vector<std::string> shapes;  ///< level, shape, level, shape, ...
  friend bool operator==(const topology_record&, const topology_record&) = default;
};

struct queue_record {
  std::uint32_t line = 0;
  std::string name;
  std::string parent;
  std::int64_t priority = 0;
  std::int64_t created = 0;
  std::array<std::int64_t, quota_dimensions> quota{};
  std::array<std::int64_t, quota_dimensions> limit{};
  std::array<double, quota_dimensions> weight{};
  std::array<double, quota_dimensions> usage{};
  std::int64_t reclaim_min_runtime = unset;
  std::int64_t preempt_min_runtime = unset;
  std::array<std::int64_t, quota_dimensions> guarantee{};
  bool reclaimable = true;
  std::vector<std::string> hierarchy;    ///< name:weight
  std::vector<std::string> node_groups;  ///< affinity:name
  friend bool operator==(const queue_record&, const queue_record&) = default;
};

/// A device that the plugin of a vendor has registered, or that follows from what its node says.
struct registered_device {
  std::string vendor;  ///< key
  model::vendor_device what;
  /// What only annotations of pods tell: attributes that no rule reads, and by what the vendor knows profiles.
  std::vector<std::pair<std::string, std::string>> properties{};
  std::vector<std::pair<std::string, std::string>> profile_ids{};
  friend bool operator==(const registered_device& a, const registered_device& b);
};

/// Of a GPU, per mille.
struct measured_load {
  std::int64_t mean = 0;
  std::int64_t deviation = 0;
  friend bool operator==(const measured_load&, const measured_load&) = default;
};

struct node_record {
  std::uint32_t line = 0;
  std::string name;
  amounts capacity;
  bool ready = true;
  bool unschedulable = false;
  label_texts labels;
  std::vector<std::string> taints;
  std::int64_t gpu_memory = 0;
  std::string numa_policy;
  std::string numa_scope;
  std::vector<std::string> position;          ///< level, position, level, position, ...
  bool registers = false;                     ///< plugins of vendors have said which devices it has
  bool other_devices = false;                 ///< and none of them is a GPU as KAI knows it
  std::vector<registered_device> registered;  ///< these
  std::vector<std::string> vendor_devices;    ///< as rows
  std::vector<std::string> device_settings;
  std::map<std::uint32_t, measured_load> loads;  ///< by index of the GPU
  friend bool operator==(const node_record&, const node_record&) = default;
};

struct device_quota_record {
  std::uint32_t line = 0;
  std::string name_space;
  std::string vendor;
  std::int64_t memory = unlimited;
  std::int64_t cores = unlimited;
  friend bool operator==(const device_quota_record&, const device_quota_record&) = default;
};

struct disruption_budget_record {
  std::uint32_t line = 0;
  std::string name;
  std::int64_t allowed = 0;
  friend bool operator==(const disruption_budget_record&, const disruption_budget_record&) = default;
};

struct numa_zone_record {
  std::uint32_t line = 0;
  std::string node;
  std::string name;
  amounts capacity;
  amounts available;
  friend bool operator==(const numa_zone_record&, const numa_zone_record&) = default;
};

/// What queues are charged for a request of a claim, or one of its alternatives.
struct claim_charge {
  std::string request;  ///< `request` or `request/alternative`, as results name it
  bool of_gpus = false;
  std::int64_t count = 0;  ///< while it has no devices
  friend bool operator==(const claim_charge&, const claim_charge&) = default;
};

/// A device that a claim has.
struct held_device {
  std::string request;
  bool of_gpus = false;  ///< its driver is one of GPUs
  friend bool operator==(const held_device&, const held_device&) = default;
};

struct claim_record {
  std::uint32_t line = 0;
  std::string name;
  std::string device_class;
  std::int64_t count = 0;
  bool from_template = false;
  label_texts labels;
  std::vector<std::string> devices;
  std::vector<std::string> reserved_for;
  std::vector<std::string> constraints;
  std::vector<std::string> results;
  std::vector<std::vector<claim_charge>> charges;  ///< no column: by request and alternative
  std::string config;                              ///< no column: what drivers are told, as JSON
  std::vector<held_device> held;                   ///< no column: `devices` but for those of admin access
  friend bool operator==(const claim_record&, const claim_record&) = default;
};

struct device_class_record {
  std::uint32_t line = 0;
  std::string name;
  std::vector<std::string> selectors;
  std::string config;  ///< no column: what drivers are told, as JSON
  friend bool operator==(const device_class_record&, const device_class_record&) = default;
};

/// From where devices can be used.
struct reach_record {
  std::string node;
  std::string selector;
  bool all_nodes = false;
  friend bool operator==(const reach_record&, const reach_record&) = default;
};

struct resource_slice_record {
  std::uint32_t line = 0;
  std::string name;
  std::string driver;
  std::string pool;
  std::int64_t generation = 0;
  std::int64_t slices = 1;
  reach_record reach;
  std::vector<std::string> counters;
  friend bool operator==(const resource_slice_record&, const resource_slice_record&) = default;
};

struct slice_device_record {
  std::uint32_t line = 0;
  std::string name;
  std::string slice;
  std::string device;
  std::int64_t position = 0;
  std::vector<std::string> attributes;
  std::vector<std::string> capacities;
  std::vector<std::string> consumes;
  std::vector<std::string> taints;
  bool shared = false;
  reach_record reach;
  friend bool operator==(const slice_device_record&, const slice_device_record&) = default;
};

struct claim_request_record {
  std::uint32_t line = 0;
  std::string name;
  std::string claim;
  std::string request;
  std::string alternative;
  std::int64_t position = 0;
  std::string device_class;
  std::vector<std::string> selectors;
  std::int64_t count = 1;
  bool all = false;
  bool admin = false;
  std::vector<std::string> tolerations;
  std::vector<std::string> capacities;
  friend bool operator==(const claim_request_record&, const claim_request_record&) = default;
};

struct constraint_levels {
  std::string topology;
  std::string required;
  std::string preferred;
  friend bool operator==(const constraint_levels&, const constraint_levels&) = default;
};

struct pod_group_record {
  std::uint32_t line = 0;
  std::string name;
  std::string queue;
  std::int64_t priority = 0;
  bool preemptible = true;
  bool semi_preemptible = false;
  std::int64_t created = 0;
  std::int64_t min_member = 1;
  std::int64_t min_sub_group = unset;
  std::string name_space;
  std::int64_t last_start = unset;
  std::int64_t last_eviction = unset;
  std::int64_t evictions = 0;
  std::int64_t stale_since = unset;
  std::int64_t preemption_delay = unset;
  std::int64_t staleness_grace = unset;
  constraint_levels levels;
  std::string user;
  std::vector<std::string> checks;
  std::vector<std::string> after;
  std::int64_t deadline = unset;
  std::vector<std::string> min_resources;  ///< resource:amount
  friend bool operator==(const pod_group_record&, const pod_group_record&) = default;
};

struct sub_group_record {
  std::uint32_t line = 0;
  std::string group;
  std::string name;
  std::string parent;
  std::int64_t min_member = 0;
  std::int64_t min_sub_group = unset;
  constraint_levels levels;
  friend bool operator==(const sub_group_record&, const sub_group_record&) = default;
};

struct pod_record {
  std::uint32_t line = 0;
  std::string name;
  std::string group;
  std::string sub_group;
  amounts request;
  std::uint32_t device_count = 0;
  std::int64_t gpu_memory = 0;
  pod_status status = pod_status::pending;
  std::string node;
  std::vector<std::int64_t> devices;
  std::int64_t created = 0;
  std::int64_t priority = unset;
  bool leader = false;
  label_texts node_selector;
  std::vector<std::string> node_affinity;
  std::vector<std::string> node_preferences;
  std::vector<std::string> tolerations;
  std::vector<std::string> affinity;
  std::vector<std::string> anti_affinity;
  std::vector<std::string> spread;
  std::vector<std::string> preferences;
  std::vector<std::string> host_ports;
  label_texts labels;
  std::string obstacle;
  std::string nominated_node;
  std::vector<std::string> claims;
  std::uint32_t claimed_gpus = 0;
  std::vector<std::int64_t> numa_zones;
  std::string qos;
  std::vector<std::string> device_requests;
  std::vector<std::string> annotations;
  std::vector<std::string> device_grants;
  std::string disruption_budget;
  friend bool operator==(const pod_record&, const pod_record&) = default;
};

/// All rows of a cluster.
struct cluster_records {
  std::vector<topology_record> topologies;
  std::vector<queue_record> queues;
  std::vector<node_record> nodes;
  std::vector<numa_zone_record> zones;
  std::vector<device_quota_record> device_quotas;
  std::vector<disruption_budget_record> disruption_budgets;
  std::vector<claim_record> claims;
  std::vector<device_class_record> device_classes;
  std::vector<resource_slice_record> resource_slices;
  std::vector<slice_device_record> slice_devices;
  std::vector<claim_request_record> claim_requests;
  bool asks_node_names = false;  ///< nodes need their names as a label
  std::vector<pod_group_record> groups;
  std::vector<sub_group_record> sub_groups;
  std::vector<pod_record> pods;
};

/// Puts rows with a name and a parent behind their parents. Those whose parent is missing, or above themselves, come
/// last.
template <class Row>
void put_parents_first(std::vector<Row>& rows) {
  std::multimap<std::string, std::size_t, std::less<>> children;
  for (std::size_t i = 0; i < rows.size(); ++i) children.emplace(rows[i].parent, i);
  std::vector<std::size_t> order;
  std::vector<bool> placed(rows.size());
  const auto place_children = [&](std::string_view parent) {
    const auto [first, last] = children.equal_range(parent);
    for (auto it = first; it != last; ++it) {
      if (!placed[it->second]) order.push_back(it->second);
      placed[it->second] = true;
    }
  };
  place_children({});
  for (std::size_t i = 0; i < order.size(); ++i) place_children(rows[order[i]].name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!placed[i]) order.push_back(i);
  }
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const std::size_t i : order) sorted.push_back(std::move(rows[i]));
  rows = std::move(sorted);
}

/// Names of the dimensions where these resources are mentioned: those that are always there come first.
[[nodiscard]] std::vector<std::string> dimensions_of(std::set<std::string> mentioned);

/// Tables of single kinds, all of them `add`.
[[nodiscard]] cluster_input node_tables(const std::vector<node_record>& rows, std::span<const std::string> dimensions);
/// What was measured of GPUs of nodes that have any: rows that change those of node_tables.
[[nodiscard]] table load_table(const std::vector<node_record>& rows);
[[nodiscard]] cluster_input budget_tables(const std::vector<disruption_budget_record>& rows);
[[nodiscard]] cluster_input group_tables(const std::vector<pod_group_record>& groups,
                                         const std::vector<sub_group_record>& sub_groups);
[[nodiscard]] cluster_input pod_tables(const std::vector<pod_record>& rows, std::span<const std::string> dimensions);

/// The rows as tables; every resource that a row mentions is a dimension. Queues are put behind their parents.
[[nodiscard]] cluster_input tables_of(cluster_records rows, std::string_view source);

}  // namespace kaisched::io::kubernetes
