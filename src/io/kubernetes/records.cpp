#include "io/kubernetes/records.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <kaisched/schema.hpp>

#include "io/column_form.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// A table that is filled column by column from rows.
template <class Row>
class table_writer {
 public:
  table_writer(table_kind kind, const std::vector<Row>& rows, table_op op = table_op::add)
      : rows_(rows), table_(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(op)) {}

  /// Whether a row says something else than rows that say nothing.
  template <class Field>
  [[nodiscard]] bool any(Field Row::* field) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Row& one) { return one.*field != Row{}.*field; });
  }

  void text(std::uint32_t id, std::string Row::* field) {
    write(id, column_type::string, 0, [&](auto& to, const Row& row) { to.push(std::string_view(row.*field)); });
  }
  void level(std::uint32_t id, std::string constraint_levels::* field) {
    write(id, column_type::string, 0, [&](auto& to, const Row& row) { to.push(std::string_view(row.levels.*field)); });
  }
  void reach(std::uint32_t node, std::uint32_t selector, std::uint32_t all_nodes) {
    write(node, column_type::string, 0, [](auto& to, const Row& row) { to.push(std::string_view(row.reach.node)); });
    write(selector, column_type::string, 0,
          [](auto& to, const Row& row) { to.push(std::string_view(row.reach.selector)); });
    write(all_nodes, column_type::u8, 1,
          [](auto& to, const Row& row) { to.push(static_cast<std::uint8_t>(row.reach.all_nodes ? 1 : 0)); });
  }
  void texts(std::uint32_t id, std::vector<std::string> Row::* field) {
    write(id, column_type::string_list, 0, [&](auto& to, const Row& row) {
      const std::vector<std::string_view> views((row.*field).begin(), (row.*field).end());
      to.push_list(std::span<const std::string_view>(views));
    });
  }
  void integers(std::uint32_t id, std::vector<std::int64_t> Row::* field) {
    write(id, column_type::i64_list, 0,
          [&](auto& to, const Row& row) { to.push_list(std::span<const std::int64_t>(row.*field)); });
  }
  void integer(std::uint32_t id, std::int64_t Row::* field) {
    write(id, column_type::i64, 1, [&](auto& to, const Row& row) { to.push(row.*field); });
  }
  void count(std::uint32_t id, std::uint32_t Row::* field) {
    write(id, column_type::u32, 1, [&](auto& to, const Row& row) { to.push(row.*field); });
  }
  void flag(std::uint32_t id, bool Row::* field) {
    write(id, column_type::u8, 1,
          [&](auto& to, const Row& row) { to.push(static_cast<std::uint8_t>(row.*field ? 1 : 0)); });
  }
  void status(std::uint32_t id, pod_status Row::* field) {
    write(id, column_type::u8, 1, [&](auto& to, const Row& row) { to.push(static_cast<std::uint8_t>(row.*field)); });
  }
  template <class T>
  void quotas(std::uint32_t id, std::array<T, quota_dimensions> Row::* field) {
    const column_type type = std::is_same_v<T, double> ? column_type::f64 : column_type::i64;
    write(id, type, quota_dimensions, [&](auto& to, const Row& row) {
      for (const T amount : row.*field) to.push(amount);
    });
  }
  void amount_of_each(std::uint32_t id, amounts Row::* field, std::span<const std::string> dimensions) {
    write(id, column_type::i64, static_cast<std::uint32_t>(dimensions.size()), [&](auto& to, const Row& row) {
      for (const std::string& name : dimensions) {
        const auto found = (row.*field).find(name);
        to.push(found == (row.*field).end() ? std::int64_t{0} : found->second);
      }
    });
  }

  [[nodiscard]] table take() { return std::move(table_); }
  void finish(cluster_input& to, std::string_view source) {
    table_origin origin{std::string(source), {}};
    for (const Row& row : rows_) origin.lines.push_back(row.line);
    to.add(std::move(table_), std::move(origin));
  }

 private:
  template <class F>
  void write(std::uint32_t id, column_type type, std::uint32_t width, F&& push) {
    table::column& to = table_.add(id, type, width);
    for (const Row& row : rows_) push(to, row);
  }

  const std::vector<Row>& rows_;
  table table_;
};

std::set<std::string> resources_of(const cluster_records& rows) {
  std::set<std::string> all;
  const auto note = [&](const amounts& of) {
    for (const auto& [name, amount] : of) all.insert(name);
  };
  for (const node_record& one : rows.nodes) note(one.capacity);
  for (const pod_record& one : rows.pods) note(one.request);
  return all;
}

void add_resources(cluster_input& to, std::span<const std::string> dimensions) {
  table resources(table_kind::resource, table_op::add);
  table::column& names = resources.add(col::resource_name, column_type::string, 0);
  for (const std::string& name : dimensions.subspan(built_in_dimensions)) names.push(std::string_view(name));
  to.add(std::move(resources), {});
}

void add_topologies(cluster_input& to, const std::vector<topology_record>& rows, std::string_view source) {
  table_writer<topology_record> writer(table_kind::topology, rows);
  writer.text(col::topology_name, &topology_record::name);
  writer.texts(col::topology_levels, &topology_record::levels);
  if (writer.any(&topology_record::shapes)) writer.texts(col::topology_shapes, &topology_record::shapes);
  writer.finish(to, source);
}

void add_queues(cluster_input& to, const std::vector<queue_record>& rows, std::string_view source) {
  table_writer<queue_record> writer(table_kind::queue, rows);
  writer.text(col::queue_name, &queue_record::name);
  writer.text(col::queue_parent, &queue_record::parent);
  writer.integer(col::queue_priority, &queue_record::priority);
  writer.integer(col::queue_created, &queue_record::created);
  writer.quotas(col::queue_quota, &queue_record::quota);
  writer.quotas(col::queue_limit, &queue_record::limit);
  writer.quotas(col::queue_over_quota_weight, &queue_record::weight);
  if (writer.any(&queue_record::usage)) writer.quotas(col::queue_usage, &queue_record::usage);
  writer.integer(col::queue_reclaim_min_runtime, &queue_record::reclaim_min_runtime);
  writer.integer(col::queue_preempt_min_runtime, &queue_record::preempt_min_runtime);
  // Columns that only queues of Volcano have.
  if (writer.any(&queue_record::guarantee)) writer.quotas(col::queue_guarantee, &queue_record::guarantee);
  if (writer.any(&queue_record::reclaimable)) writer.flag(col::queue_reclaimable, &queue_record::reclaimable);
  if (writer.any(&queue_record::hierarchy)) writer.texts(col::queue_hierarchy, &queue_record::hierarchy);
  if (writer.any(&queue_record::node_groups)) writer.texts(col::queue_node_groups, &queue_record::node_groups);
  writer.finish(to, source);
}

void add_nodes(cluster_input& to, const std::vector<node_record>& rows, std::span<const std::string> dimensions,
               std::string_view source) {
  table_writer<node_record> writer(table_kind::node, rows);
  writer.text(col::node_name, &node_record::name);
  writer.amount_of_each(col::node_capacity, &node_record::capacity, dimensions);
  writer.flag(col::node_ready, &node_record::ready);
  writer.flag(col::node_unschedulable, &node_record::unschedulable);
  writer.texts(col::node_labels, &node_record::labels);
  writer.texts(col::node_taints, &node_record::taints);
  writer.integer(col::node_gpu_memory, &node_record::gpu_memory);
  writer.text(col::node_numa_policy, &node_record::numa_policy);
  writer.text(col::node_numa_scope, &node_record::numa_scope);
  if (writer.any(&node_record::position)) writer.texts(col::node_position, &node_record::position);
  writer.texts(col::node_vendor_devices, &node_record::vendor_devices);
  writer.texts(col::node_device_settings, &node_record::device_settings);
  writer.finish(to, source);
}

/// A GPU of which its node says how it is used, or that lies beside one.
struct device_row {
  std::uint32_t line = 0;
  std::string node;
  std::uint32_t index = 0;
  std::int64_t mean = -1;
  std::int64_t deviation = 0;
};

/// All GPUs of a node or none: those that are not listed would not be there.
std::vector<device_row> device_rows(const std::vector<node_record>& nodes) {
  constexpr std::int64_t most_devices = 64;
  std::vector<device_row> made;
  for (const node_record& node : nodes) {
    const auto gpu = node.capacity.find("gpu");
    const std::int64_t amount = gpu == node.capacity.end() ? 0 : gpu->second;
    const std::int64_t count = amount / whole_device;
    if (node.loads.empty() || !node.vendor_devices.empty() || amount % whole_device != 0 || count > most_devices)
      continue;
    for (std::uint32_t index = 0; index < count; ++index) {
      const auto load = node.loads.find(index);
      made.push_back({node.line, node.name, index});
      if (load == node.loads.end()) continue;
      made.back().mean = load->second.mean;
      made.back().deviation = load->second.deviation;
    }
  }
  return made;
}

table_writer<device_row> device_writer(const std::vector<device_row>& rows, table_op op) {
  table_writer<device_row> writer(table_kind::device, rows, op);
  writer.text(col::device_node, &device_row::node);
  writer.count(col::device_index, &device_row::index);
  writer.integer(col::device_utilization, &device_row::mean);
  writer.integer(col::device_deviation, &device_row::deviation);
  return writer;
}

void add_devices(cluster_input& to, const std::vector<node_record>& nodes, std::string_view source) {
  const std::vector<device_row> rows = device_rows(nodes);
  if (!rows.empty()) device_writer(rows, table_op::add).finish(to, source);
}

void add_device_quotas(cluster_input& to, const std::vector<device_quota_record>& rows, std::string_view source) {
  table_writer<device_quota_record> writer(table_kind::device_quota, rows);
  writer.text(col::device_quota_namespace, &device_quota_record::name_space);
  writer.text(col::device_quota_vendor, &device_quota_record::vendor);
  writer.integer(col::device_quota_memory, &device_quota_record::memory);
  writer.integer(col::device_quota_cores, &device_quota_record::cores);
  writer.finish(to, source);
}

void add_budgets(cluster_input& to, const std::vector<disruption_budget_record>& rows, std::string_view source) {
  table_writer<disruption_budget_record> writer(table_kind::disruption_budget, rows);
  writer.text(col::disruption_budget_name, &disruption_budget_record::name);
  writer.integer(col::disruption_budget_allowed, &disruption_budget_record::allowed);
  writer.finish(to, source);
}

void add_zones(cluster_input& to, const std::vector<numa_zone_record>& rows, std::span<const std::string> dimensions,
               std::string_view source) {
  table_writer<numa_zone_record> writer(table_kind::numa_zone, rows);
  writer.text(col::numa_zone_node, &numa_zone_record::node);
  writer.text(col::numa_zone_name, &numa_zone_record::name);
  writer.amount_of_each(col::numa_zone_capacity, &numa_zone_record::capacity, dimensions);
  writer.amount_of_each(col::numa_zone_available, &numa_zone_record::available, dimensions);
  writer.finish(to, source);
}

void add_claims(cluster_input& to, const std::vector<claim_record>& rows, bool has_requests, std::string_view source) {
  table_writer<claim_record> writer(table_kind::resource_claim, rows);
  writer.text(col::resource_claim_name, &claim_record::name);
  writer.text(col::resource_claim_device_class, &claim_record::device_class);
  writer.integer(col::resource_claim_count, &claim_record::count);
  writer.texts(col::resource_claim_labels, &claim_record::labels);
  writer.texts(col::resource_claim_devices, &claim_record::devices);
  writer.texts(col::resource_claim_reserved_for, &claim_record::reserved_for);
  writer.flag(col::resource_claim_from_template, &claim_record::from_template);
  if (has_requests) {
    writer.texts(col::resource_claim_constraints, &claim_record::constraints);
    writer.texts(col::resource_claim_results, &claim_record::results);
  }
  writer.finish(to, source);
}

void add_device_pools(cluster_input& to, const cluster_records& rows, std::string_view source) {
  table_writer<device_class_record> classes(table_kind::device_class, rows.device_classes);
  classes.text(col::device_class_name, &device_class_record::name);
  classes.texts(col::device_class_selectors, &device_class_record::selectors);
  classes.finish(to, source);

  table_writer<resource_slice_record> slices(table_kind::resource_slice, rows.resource_slices);
  slices.text(col::resource_slice_name, &resource_slice_record::name);
  slices.text(col::resource_slice_driver, &resource_slice_record::driver);
  slices.text(col::resource_slice_pool, &resource_slice_record::pool);
  slices.integer(col::resource_slice_generation, &resource_slice_record::generation);
  slices.integer(col::resource_slice_slices, &resource_slice_record::slices);
  slices.reach(col::resource_slice_node, col::resource_slice_node_selector, col::resource_slice_all_nodes);
  slices.texts(col::resource_slice_counters, &resource_slice_record::counters);
  slices.finish(to, source);

  table_writer<slice_device_record> devices(table_kind::slice_device, rows.slice_devices);
  devices.text(col::slice_device_name, &slice_device_record::name);
  devices.text(col::slice_device_slice, &slice_device_record::slice);
  devices.text(col::slice_device_device, &slice_device_record::device);
  devices.integer(col::slice_device_position, &slice_device_record::position);
  devices.texts(col::slice_device_attributes, &slice_device_record::attributes);
  devices.texts(col::slice_device_capacities, &slice_device_record::capacities);
  devices.texts(col::slice_device_consumes, &slice_device_record::consumes);
  devices.texts(col::slice_device_taints, &slice_device_record::taints);
  devices.flag(col::slice_device_shared, &slice_device_record::shared);
  devices.reach(col::slice_device_node, col::slice_device_node_selector, col::slice_device_all_nodes);
  devices.finish(to, source);

  table_writer<claim_request_record> requests(table_kind::claim_request, rows.claim_requests);
  requests.text(col::claim_request_name, &claim_request_record::name);
  requests.text(col::claim_request_claim, &claim_request_record::claim);
  requests.text(col::claim_request_request, &claim_request_record::request);
  requests.text(col::claim_request_alternative, &claim_request_record::alternative);
  requests.integer(col::claim_request_position, &claim_request_record::position);
  requests.text(col::claim_request_device_class, &claim_request_record::device_class);
  requests.texts(col::claim_request_selectors, &claim_request_record::selectors);
  requests.integer(col::claim_request_count, &claim_request_record::count);
  requests.flag(col::claim_request_all, &claim_request_record::all);
  requests.flag(col::claim_request_admin, &claim_request_record::admin);
  requests.texts(col::claim_request_tolerations, &claim_request_record::tolerations);
  requests.texts(col::claim_request_capacities, &claim_request_record::capacities);
  requests.finish(to, source);
}

void add_groups(cluster_input& to, const std::vector<pod_group_record>& rows, std::string_view source) {
  table_writer<pod_group_record> writer(table_kind::pod_group, rows);
  writer.text(col::pod_group_name, &pod_group_record::name);
  writer.text(col::pod_group_queue, &pod_group_record::queue);
  writer.integer(col::pod_group_priority, &pod_group_record::priority);
  writer.flag(col::pod_group_preemptible, &pod_group_record::preemptible);
  writer.flag(col::pod_group_semi_preemptible, &pod_group_record::semi_preemptible);
  writer.integer(col::pod_group_created, &pod_group_record::created);
  writer.integer(col::pod_group_min_member, &pod_group_record::min_member);
  writer.integer(col::pod_group_min_sub_group, &pod_group_record::min_sub_group);
  writer.text(col::pod_group_namespace, &pod_group_record::name_space);
  writer.integer(col::pod_group_last_start, &pod_group_record::last_start);
  writer.integer(col::pod_group_last_eviction, &pod_group_record::last_eviction);
  writer.integer(col::pod_group_stale_since, &pod_group_record::stale_since);
  writer.integer(col::pod_group_preemption_delay, &pod_group_record::preemption_delay);
  writer.integer(col::pod_group_staleness_grace, &pod_group_record::staleness_grace);
  writer.level(col::pod_group_topology, &constraint_levels::topology);
  writer.level(col::pod_group_required_level, &constraint_levels::required);
  writer.level(col::pod_group_preferred_level, &constraint_levels::preferred);
  writer.text(col::pod_group_user, &pod_group_record::user);
  writer.texts(col::pod_group_checks, &pod_group_record::checks);
  writer.integer(col::pod_group_evictions, &pod_group_record::evictions);
  writer.texts(col::pod_group_after, &pod_group_record::after);
  if (writer.any(&pod_group_record::deadline)) writer.integer(col::pod_group_deadline, &pod_group_record::deadline);
  if (writer.any(&pod_group_record::min_resources))
    writer.texts(col::pod_group_min_resources, &pod_group_record::min_resources);
  writer.finish(to, source);
}

void add_sub_groups(cluster_input& to, const std::vector<sub_group_record>& rows, std::string_view source) {
  table_writer<sub_group_record> writer(table_kind::sub_group, rows);
  writer.text(col::sub_group_group, &sub_group_record::group);
  writer.text(col::sub_group_name, &sub_group_record::name);
  writer.text(col::sub_group_parent, &sub_group_record::parent);
  writer.integer(col::sub_group_min_member, &sub_group_record::min_member);
  writer.integer(col::sub_group_min_sub_group, &sub_group_record::min_sub_group);
  writer.level(col::sub_group_topology, &constraint_levels::topology);
  writer.level(col::sub_group_required_level, &constraint_levels::required);
  writer.level(col::sub_group_preferred_level, &constraint_levels::preferred);
  writer.finish(to, source);
}

void add_pods(cluster_input& to, const std::vector<pod_record>& rows, std::span<const std::string> dimensions,
              std::string_view source) {
  table_writer<pod_record> writer(table_kind::pod, rows);
  writer.text(col::pod_name, &pod_record::name);
  writer.text(col::pod_group_ref, &pod_record::group);
  writer.text(col::pod_sub_group, &pod_record::sub_group);
  writer.amount_of_each(col::pod_request, &pod_record::request, dimensions);
  writer.count(col::pod_device_count, &pod_record::device_count);
  writer.integer(col::pod_gpu_memory, &pod_record::gpu_memory);
  writer.status(col::pod_status_column, &pod_record::status);
  writer.text(col::pod_node, &pod_record::node);
  writer.integers(col::pod_devices, &pod_record::devices);
  writer.integer(col::pod_created, &pod_record::created);
  writer.integer(col::pod_priority, &pod_record::priority);
  writer.flag(col::pod_leader, &pod_record::leader);
  writer.texts(col::pod_node_selector, &pod_record::node_selector);
  writer.texts(col::pod_node_affinity, &pod_record::node_affinity);
  writer.texts(col::pod_node_preferences, &pod_record::node_preferences);
  writer.texts(col::pod_tolerations, &pod_record::tolerations);
  writer.texts(col::pod_affinity, &pod_record::affinity);
  writer.texts(col::pod_anti_affinity, &pod_record::anti_affinity);
  writer.texts(col::pod_host_ports, &pod_record::host_ports);
  writer.texts(col::pod_labels, &pod_record::labels);
  writer.text(col::pod_obstacle, &pod_record::obstacle);
  writer.text(col::pod_nominated_node, &pod_record::nominated_node);
  writer.texts(col::pod_claims, &pod_record::claims);
  writer.count(col::pod_claimed_gpus, &pod_record::claimed_gpus);
  writer.integers(col::pod_numa_zones, &pod_record::numa_zones);
  writer.text(col::pod_qos, &pod_record::qos);
  writer.texts(col::pod_device_requests, &pod_record::device_requests);
  writer.texts(col::pod_annotations, &pod_record::annotations);
  writer.texts(col::pod_device_grants, &pod_record::device_grants);
  // Columns that few clusters have.
  if (writer.any(&pod_record::spread)) writer.texts(col::pod_spread, &pod_record::spread);
  if (writer.any(&pod_record::preferences)) writer.texts(col::pod_preferences, &pod_record::preferences);
  if (writer.any(&pod_record::disruption_budget))
    writer.text(col::pod_disruption_budget, &pod_record::disruption_budget);
  writer.finish(to, source);
}

}  // namespace

bool operator==(const registered_device& a, const registered_device& b) {
  const auto all = [](const registered_device& of) {
    const model::vendor_device& what = of.what;
    return std::tie(of.vendor, of.properties, of.profile_ids, what.id, what.type, what.mode, what.index, what.numa,
                    what.slots, what.memory, what.cores, what.healthy, what.cordoned, what.links, what.attributes);
  };
  const auto same = [](const model::vendor_profile& x, const model::vendor_profile& y) {
    return x.name == y.name && x.slices == y.slices && x.memory == y.memory;
  };
  return all(a) == all(b) && std::equal(a.what.profiles.begin(), a.what.profiles.end(), b.what.profiles.begin(),
                                        b.what.profiles.end(), same);
}

std::vector<std::string> dimensions_of(std::set<std::string> mentioned) {
  const auto built_in = built_in_dimension_names();
  std::vector<std::string> names(built_in.begin(), built_in.end());
  for (const std::string& name : names) mentioned.erase(name);
  names.insert(names.end(), mentioned.begin(), mentioned.end());
  return names;
}

cluster_input node_tables(const std::vector<node_record>& rows, std::span<const std::string> dimensions) {
  cluster_input made;
  add_nodes(made, rows, dimensions, {});
  add_devices(made, rows, {});
  return made;
}

table load_table(const std::vector<node_record>& rows) {
  return device_writer(device_rows(rows), table_op::change).take();
}

cluster_input budget_tables(const std::vector<disruption_budget_record>& rows) {
  cluster_input made;
  add_budgets(made, rows, {});
  return made;
}

cluster_input group_tables(const std::vector<pod_group_record>& groups,
                           const std::vector<sub_group_record>& sub_groups) {
  cluster_input made;
  add_groups(made, groups, {});
  add_sub_groups(made, sub_groups, {});
  return made;
}

cluster_input pod_tables(const std::vector<pod_record>& rows, std::span<const std::string> dimensions) {
  cluster_input made;
  add_pods(made, rows, dimensions, {});
  return made;
}

cluster_input tables_of(cluster_records rows, std::string_view source) {
  const std::vector<std::string> dimensions = dimensions_of(resources_of(rows));
  put_parents_first(rows.queues);
  cluster_input made;
  made.source = source;
  add_resources(made, dimensions);
  add_topologies(made, rows.topologies, source);
  add_queues(made, rows.queues, source);
  add_nodes(made, rows.nodes, dimensions, source);
  add_devices(made, rows.nodes, source);
  add_zones(made, rows.zones, dimensions, source);
  add_device_quotas(made, rows.device_quotas, source);
  if (!rows.disruption_budgets.empty()) add_budgets(made, rows.disruption_budgets, source);
  add_claims(made, rows.claims, !rows.claim_requests.empty(), source);
  if (!rows.device_classes.empty() || !rows.resource_slices.empty()) add_device_pools(made, rows, source);
  add_groups(made, rows.groups, source);
  add_sub_groups(made, rows.sub_groups, source);
  add_pods(made, rows.pods, dimensions, source);
  return made;
}

}  // namespace kaisched::io::kubernetes
