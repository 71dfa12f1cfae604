#include "model/export.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <kaisched/schema.hpp>

#include "base/mask.hpp"
#include "model/edit.hpp"
#include "model/object_columns.hpp"
#include "model/schema_writer.hpp"

namespace kaisched::model {

namespace {

template <class Live, class Name>
std::vector<std::uint32_t> rows_by_name(std::uint32_t slots, Live live, Name name) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < slots; ++i) {
    if (live(i)) rows.push_back(i);
  }
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) { return name(a) < name(b); });
  return rows;
}

/// Dimensions in the order in which amounts are written.
using dimension_order = std::vector<dimension>;

void put_amounts(schema_writer& w, std::uint32_t column, const std::vector<std::int64_t>& amounts,
                 const dimension_order& order) {
  for (const dimension d : order) w.put(column, d < amounts.size() ? amounts[d] : std::int64_t{0});
}

table export_resources(const cluster_state& s, const dimension_order& order) {
  schema_writer w(table_kind::resource, table_op::add, s.dims());
  for (const dimension d : order) {
    if (d < built_in_dimensions) continue;
    w.put(col::resource_name, std::string_view((*s.dimensions)[d].name));
    w.put(col::resource_unit, std::string_view((*s.dimensions)[d].unit));
  }
  return w.take();
}

table export_topologies(const cluster_state& s) {
  schema_writer w(table_kind::topology, table_op::add, s.dims());
  for (const topology_info& info : *s.topologies) {  // kept in name order
    std::string levels;
    for (const std::string& level : info.levels) levels.append(level).push_back('\0');
    w.put(col::topology_name, std::string_view(info.name));
    w.put_raw(col::topology_levels, levels);
    w.put_flag(col::topology_primary, info.primary);
    std::string shapes;
    for (const auto& [level, shape] : info.shapes) {
      shapes.append(level).append(1, '\0').append(shape_text(shape)).append(1, '\0');
    }
    w.put_raw(col::topology_shapes, shapes);
  }
  return w.take();
}

/// Milli-GPU in devices, without zeros at the end.
std::string device_text(std::int64_t amount) {
  std::string text = std::to_string(amount / whole_device);
  std::string rest = std::to_string(whole_device + amount % whole_device);
  while (rest.ends_with('0')) rest.pop_back();
  if (rest.size() > 1) text.append(".").append(rest, 1);
  return text;
}

table export_queues(const cluster_state& s) {
  schema_writer w(table_kind::queue, table_op::add, s.dims());
  row_writer to(w);
  const std::vector<queue_info>& all = *s.queues;
  const auto rows = rows_by_name(
      static_cast<std::uint32_t>(all.size()), [&](auto i) { return all[i].live; },
      [&](auto i) { return std::string_view(all[i].name); });
  for (const queue_row i : rows) {
    const queue_info& q = all[i];
    w.put(col::queue_name, std::string_view(q.name));
    queue_columns(to, q);
    w.put(col::queue_parent, q.parent == no_row ? std::string_view{} : std::string_view(all[q.parent].name));
    w.put_row(col::queue_quota, q.quota, quota_dimensions);
    w.put_row(col::queue_limit, q.limit, quota_dimensions);
    w.put_row(col::queue_over_quota_weight, q.weight, quota_dimensions);
    w.put_row(col::queue_usage, q.usage, quota_dimensions);
    std::string limits;
    for (const auto& [product, most] : q.gpu_limits) {
      limits.append(product).append(1, '\0').append(device_text(most)).append(1, '\0');
    }
    w.put_raw(col::queue_gpu_limits, limits);
    w.put_row(col::queue_guarantee, q.guarantee, quota_dimensions);
    w.put_raw(col::queue_hierarchy, q.hierarchy_text);
    std::string wishes;
    for (const node_group_wish& one : q.node_groups) {
      wishes.append(word_of(one.affinity)).append(1, ':').append(one.name).append(1, '\0');
    }
    w.put_raw(col::queue_node_groups, wishes);
  }
  return w.take();
}

std::vector<std::uint32_t> nodes_by_name(const cluster_state& s) {
  std::vector<std::uint32_t> rows(s.node_count());
  for (node_row row = 0; row < s.node_count(); ++row) rows[(*s.name_rank)[row]] = row;
  return rows;
}

void put_node(schema_writer& w, const node_info& node, const dimension_order& order) {
  w.put(col::node_name, std::string_view(node.name));
  row_writer to(w);
  node_columns(to, node);
  node_figure_columns(to, node);
  put_amounts(w, col::node_capacity, node.capacity, order);
  std::string labels;
  for (const auto& [key, value] : node.labels) labels.append(key).append(1, '\0').append(value).append(1, '\0');
  w.put_raw(col::node_labels, labels);
  w.put_raw(col::node_taints, node.taints_text);
  w.put(col::node_numa_policy, numa_policy_name(node.align));
  w.put(col::node_numa_scope, numa_scope_name(node.align_scope));
  std::string claimable;
  for (const auto& [device_class, device] : node.claimable)
    claimable.append(device_class).append(1, '=').append(device).append(1, '\0');
  w.put_raw(col::node_claimable, claimable);
  w.put_raw(col::node_vendor_devices, node.vendor_devices_text);
  w.put_raw(col::node_device_settings, node.device_settings_text);
  std::string positions;
  for (const auto& [level, position] : node.positions) {
    positions.append(level).append(1, '\0').append(position_text(position)).append(1, '\0');
  }
  w.put_raw(col::node_position, positions);
}

void put_devices(schema_writer& w, const node_info& node) {
  row_writer to(w);
  for (const device_info& d : node.devices) {
    w.put(col::device_node, std::string_view(node.name));
    w.put(col::device_index, d.index);
    device_columns(to, d);
    device_figure_columns(to, d);
    w.put_list(col::device_links, d.links);
    w.put(col::device_sharing, sharing_name(d.sharing));
    std::string instances;
    for (const mig_instance& one : d.instances) instances.append(text_of(one)).append(1, '\0');
    w.put_raw(col::device_instances, instances);
  }
}

void put_zones(schema_writer& w, const node_info& node, const dimension_order& order) {
  for (const numa_zone_info& zone : node.zones) {
    w.put(col::numa_zone_node, std::string_view(node.name));
    w.put(col::numa_zone_name, std::string_view(zone.name));
    put_amounts(w, col::numa_zone_capacity, zone.capacity, order);
    put_amounts(w, col::numa_zone_available, zone.available, order);
  }
}

table export_nodes(const cluster_state& s, const dimension_order& order) {
  schema_writer w(table_kind::node, table_op::add, s.dims());
  for (const node_row row : nodes_by_name(s)) put_node(w, *(*s.nodes)[row], order);
  return w.take();
}

table export_devices(const cluster_state& s) {
  schema_writer w(table_kind::device, table_op::add, s.dims());
  for (const node_row row : nodes_by_name(s)) put_devices(w, *(*s.nodes)[row]);
  return w.take();
}

table export_zones(const cluster_state& s, const dimension_order& order) {
  schema_writer w(table_kind::numa_zone, table_op::add, s.dims());
  for (const node_row row : nodes_by_name(s)) put_zones(w, *(*s.nodes)[row], order);
  return w.take();
}

table export_quotas(const cluster_state& s) {
  schema_writer w(table_kind::device_quota, table_op::add, s.dims());
  row_writer to(w);
  for (const device_quota_info& quota : *s.device_quotas) {
    w.put(col::device_quota_namespace, std::string_view(quota.name_space));
    w.put(col::device_quota_vendor, std::string_view(quota.vendor));
    device_quota_columns(to, quota);
  }
  return w.take();
}

table export_budgets(const cluster_state& s) {
  schema_writer w(table_kind::disruption_budget, table_op::add, s.dims());
  row_writer to(w);
  for (const disruption_budget_info& budget : *s.disruption_budgets) {
    w.put(col::disruption_budget_name, std::string_view(budget.name));
    disruption_budget_columns(to, budget);
  }
  return w.take();
}

table export_reservations(const cluster_state& s) {
  schema_writer w(table_kind::reservation, table_op::add, s.dims());
  row_writer to(w);
  for (const reservation_info& one : *s.reservations) {
    w.put(col::reservation_name, std::string_view(one.name));
    reservation_columns(to, one);
  }
  return w.take();
}

table export_claims(const cluster_state& s) {
  schema_writer w(table_kind::resource_claim, table_op::add, s.dims());
  row_writer to(w);
  const auto rows = rows_by_name(
      s.claim_slots, [&](auto i) { return s.claims[i] != nullptr; },
      [&](auto i) { return std::string_view(s.claims[i]->name); });
  for (const std::uint32_t i : rows) {
    const claim_info& claim = *s.claims[i];
    w.put(col::resource_claim_name, std::string_view(claim.name));
    claim_columns(to, claim);
    claim_list_columns(to, claim);
    w.put_raw(col::resource_claim_labels, claim.labels);
    w.put_raw(col::resource_claim_devices, claim.devices);
    w.put_raw(col::resource_claim_reserved_for, claim.reserved_for);
  }
  return w.take();
}

/// Rows with names, by name; `columns` writes what follows the name.
template <class Rows, class Columns>
table export_named(table_kind kind, const Rows& rows, Columns columns) {
  schema_writer w(kind, table_op::add);
  row_writer to(w);
  const std::uint32_t name_column = schema_of(static_cast<std::uint32_t>(kind))->columns.front().id;
  for (const auto& [name, one] : rows) {
    w.put(name_column, std::string_view(name));
    columns(to, *one);
  }
  return w.take();
}

table export_device_classes(const cluster_state& s) {
  return export_named(table_kind::device_class, *s.device_classes,
                      [](row_writer& to, const device_class_info& one) { device_class_columns(to, one); });
}

table export_resource_slices(const cluster_state& s) {
  return export_named(table_kind::resource_slice, *s.resource_slices,
                      [](row_writer& to, const resource_slice_info& one) { resource_slice_columns(to, one); });
}

table export_slice_devices(const cluster_state& s) {
  return export_named(table_kind::slice_device, *s.slice_devices,
                      [](row_writer& to, const slice_device_info& one) { slice_device_columns(to, one); });
}

table export_claim_requests(const cluster_state& s) {
  return export_named(table_kind::claim_request, *s.claim_requests,
                      [](row_writer& to, const claim_request_info& one) { claim_request_columns(to, one); });
}

void put_topology(schema_writer& w, const sub_info& member, std::uint32_t topology, std::uint32_t required,
                  std::uint32_t preferred) {
  static const topology_ask none;
  const topology_ask& ask = member.together == nullptr ? none : *member.together;
  w.put(topology, std::string_view(ask.topology));
  w.put(required, std::string_view(ask.required_level));
  w.put(preferred, std::string_view(ask.preferred_level));
}

std::vector<std::uint32_t> groups_by_name(const cluster_state& s) {
  return rows_by_name(
      s.group_slots, [&](auto i) { return s.groups[i].live; }, [&](auto i) { return s.group_names[i]; });
}

table export_groups(const cluster_state& s) {
  schema_writer w(table_kind::pod_group, table_op::add, s.dims());
  row_writer to(w);
  for (const group_row g : groups_by_name(s)) {
    const group_core& group = s.groups[g];
    const group_extra& extra = s.group_extras[g];
    w.put(col::pod_group_name, s.group_names[g]);
    group_columns(to, group, extra);
    w.put(col::pod_group_queue, std::string_view((*s.queues)[group.queue].name));
    w.put(col::pod_group_min_member, extra.has_sub_groups ? std::int64_t{1} : s.subs[group.first_sub + 1].min);
    w.put(col::pod_group_min_sub_group, s.subs[group.first_sub].min);
    w.put(col::pod_group_namespace, extra.name_space);
    put_topology(w, s.subs[group.first_sub], col::pod_group_topology, col::pod_group_required_level,
                 col::pod_group_preferred_level);
    w.put(col::pod_group_user, extra.user);
    w.put(col::pod_group_priority_class, std::string_view{});
    w.put_raw(col::pod_group_after, extra.after);
    w.put_raw(col::pod_group_checks, extra.checks);
    w.put_raw(col::pod_group_speedup, extra.speedup);
    w.put_raw(col::pod_group_min_resources, extra.min_resources);
  }
  return w.take();
}

table export_sub_groups(const cluster_state& s) {
  schema_writer w(table_kind::sub_group, table_op::add, s.dims());
  for (const group_row g : groups_by_name(s)) {
    if (!s.group_extras[g].has_sub_groups) continue;
    const group_core& group = s.groups[g];
    for (sub_group_row sub = group.first_sub + 1; sub < group.first_sub + group.sub_count; ++sub) {
      const sub_info& info = s.subs[sub];
      w.put(col::sub_group_group, s.group_names[g]);
      w.put(col::sub_group_name, info.name);
      w.put(col::sub_group_parent, info.parent == group.first_sub ? std::string_view{} : s.subs[info.parent].name);
      w.put(col::sub_group_min_member, info.is_set ? std::int64_t{0} : info.min);
      w.put(col::sub_group_min_sub_group, info.is_set ? info.min : unset);
      put_topology(w, info, col::sub_group_topology, col::sub_group_required_level, col::sub_group_preferred_level);
      w.put(col::sub_group_unit, info.unit);
    }
  }
  return w.take();
}

void export_pod(const cluster_state& s, const dimension_order& order, schema_writer& w, pod_row p) {
  const pod_core& pod = s.pods[p];
  const pod_extra& extra = s.pod_extras[p];
  const pod_told& told = s.told_of(p);
  const pod_ask& ask = s.class_of(p).ask;
  w.put(col::pod_name, s.pod_names[p]);
  w.put(col::pod_group_ref, pod.group == no_row ? std::string_view{} : s.group_names[pod.group]);
  const bool in_tree = pod.group != no_row && s.group_extras[pod.group].has_sub_groups;
  const bool named = in_tree || extra.sub_name != implied_pod_set;
  w.put(col::pod_sub_group, named ? extra.sub_name : std::string_view{});
  put_amounts(w, col::pod_request, ask.request, order);
  w.put(col::pod_device_count, ask.device_count);
  w.put(col::pod_status_column, s.live.pod_state[p]);
  const std::uint32_t slot = s.live.pod_node[p];
  const auto node_name = [&](std::uint32_t node) -> std::string_view {
    const node_row row = node == no_row ? no_row : (*s.node_row_of_slot)[node];
    return row == no_row ? std::string_view{} : std::string_view((*s.nodes)[row]->name);
  };
  w.put(col::pod_node, node_name(slot));
  std::vector<std::int64_t> devices = base::indices_of(s.live.pod_devices[p].mask);
  const node_row row = slot == no_row ? no_row : (*s.node_row_of_slot)[slot];
  const auto state = static_cast<pod_status>(s.live.pod_state[p]);
  const bool claims_any = state == pod_status::pipelined && s.class_of(p).whole_devices > 0;
  const bool holds = row != no_row && is_in(state, active_used) && !claims_any && s.class_of(p).wants_gpu() &&
                     (*s.first_device)[row] != (*s.first_device)[row + 1];
  if (devices.empty() && holds) devices.push_back(unknown_devices);
  w.put_list(col::pod_devices, devices);
  w.put(col::pod_created, extra.created);
  w.put(col::pod_priority, extra.priority);
  w.put_flag(col::pod_leader, pod.leader);
  w.put_flag(col::pod_outdated, pod.outdated);
  w.put_raw(col::pod_node_selector, ask.node_selector);
  w.put_raw(col::pod_node_affinity, ask.node_affinity);
  w.put_raw(col::pod_node_preferences, ask.node_preferences);
  w.put_raw(col::pod_tolerations, ask.tolerations);
  w.put_raw(col::pod_affinity, ask.affinity);
  w.put_raw(col::pod_anti_affinity, ask.anti_affinity);
  w.put_raw(col::pod_host_ports, ask.host_ports);
  w.put_raw(col::pod_labels, extra.labels);
  w.put(col::pod_obstacle, std::string_view(ask.obstacle));
  w.put(col::pod_nominated_node, node_name(extra.nominated));
  w.put(col::pod_gpu_memory, ask.gpu_memory);
  w.put_raw(col::pod_claims, ask.claims);
  w.put_list(col::pod_numa_zones, base::indices_of(told.numa_zones));
  w.put(col::pod_qos, qos_name(ask.qos));
  w.put_raw(col::pod_containers, ask.containers);
  w.put(col::pod_claimed_gpus, ask.claimed_gpus);
  w.put(col::pod_sharing, sharing_name(ask.sharing));
  w.put_raw(col::pod_device_requests, ask.device_requests);
  w.put_raw(col::pod_annotations, ask.annotations);
  w.put_raw(col::pod_device_grants, told.device_grants);
  w.put_raw(col::pod_mig_instances, told.mig_instances);
  w.put(col::pod_disruption_budget, told.budget);
  w.put_raw(col::pod_spread, ask.spread);
  w.put_raw(col::pod_preferences, ask.preferences);
  w.put_raw(col::pod_load, ask.load);
  w.put(col::pod_nominated_since, told.nominated_since);
}

table export_pods(const cluster_state& s, const dimension_order& order) {
  schema_writer w(table_kind::pod, table_op::add, s.dims());
  const auto rows =
      rows_by_name(s.pod_slots, [&](auto i) { return s.pods[i].live; }, [&](auto i) { return s.pod_names[i]; });
  for (const pod_row p : rows) export_pod(s, order, w, p);
  return w.take();
}

/// Built-in dimensions, then the others: as they came, or by name.
dimension_order order_of(const cluster_state& s, dimensions_by by) {
  dimension_order order(s.dims());
  std::iota(order.begin(), order.end(), dimension{0});
  if (by == dimensions_by::name) {
    std::sort(order.begin() + built_in_dimensions, order.end(),
              [&](dimension a, dimension b) { return (*s.dimensions)[a].name < (*s.dimensions)[b].name; });
  }
  return order;
}

}  // namespace

table export_table(const cluster_state& s, table_kind kind, dimensions_by by) {
  const dimension_order order = order_of(s, by);
  switch (kind) {
    case table_kind::resource:
      return export_resources(s, order);
    case table_kind::topology:
      return export_topologies(s);
    case table_kind::queue:
      return export_queues(s);
    case table_kind::node:
      return export_nodes(s, order);
    case table_kind::device:
      return export_devices(s);
    case table_kind::pod_group:
      return export_groups(s);
    case table_kind::sub_group:
      return export_sub_groups(s);
    case table_kind::numa_zone:
      return export_zones(s, order);
    case table_kind::resource_claim:
      return export_claims(s);
    case table_kind::device_quota:
      return export_quotas(s);
    case table_kind::device_class:
      return export_device_classes(s);
    case table_kind::resource_slice:
      return export_resource_slices(s);
    case table_kind::slice_device:
      return export_slice_devices(s);
    case table_kind::claim_request:
      return export_claim_requests(s);
    case table_kind::disruption_budget:
      return export_budgets(s);
    case table_kind::reservation:
      return export_reservations(s);
    default:
      return export_pods(s, order);
  }
}

std::vector<table> copies_of_node(const cluster_state& s, const node_info& like, std::span<const std::string> names) {
  const dimension_order order = order_of(s, dimensions_by::index);
  schema_writer nodes(table_kind::node, table_op::add, s.dims());
  schema_writer devices(table_kind::device, table_op::add, s.dims());
  schema_writer zones(table_kind::numa_zone, table_op::add, s.dims());
  node_info one = like;
  one.positions.clear();
  one.cpu_load = {};
  one.memory_load = {};
  for (device_info& d : one.devices) {
    d.uuid.clear();
    d.load = {};
  }
  for (numa_zone_info& zone : one.zones) zone.available = zone.capacity;
  for (const std::string& name : names) {
    one.name = name;
    one.labels = like.labels;
    for (auto& [key, value] : one.labels) {
      if (value == like.name) value = name;  // kubernetes.io/hostname and its kind
    }
    put_node(nodes, one, order);
    put_devices(devices, one);
    put_zones(zones, one, order);
  }
  std::vector<table> all;
  all.push_back(nodes.take());
  if (!one.devices.empty()) all.push_back(devices.take());
  if (!one.zones.empty()) all.push_back(zones.take());
  return all;
}

}  // namespace kaisched::model
