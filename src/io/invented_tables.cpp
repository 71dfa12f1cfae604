// Tables of invented clusters.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "io/invented_parts.hpp"
#include "io/invented_rows.hpp"

namespace kaisched::io::invented {

namespace {

constexpr std::string_view topology_name = "datacentre";
constexpr std::string_view product_label = "nvidia.com/gpu.product";

std::int64_t quota_of(const world& from, const team_info& team) {
  return from.options.gpus * team.quota_percent / 100 * whole_device;
}

table topology_table() {
  table topologies = added(table_kind::topology);
  text(topologies, col::topology_name).push(topology_name);
  push_texts(lists(topologies, col::topology_levels), {"zone", block_level, rack_level});
  push_flag(flags(topologies, col::topology_primary), true);
  return topologies;
}

table queue_table(const world& from) {
  table queues = added(table_kind::queue);
  table::column& names = text(queues, col::queue_name);
  table::column& parents = text(queues, col::queue_parent);
  table::column& priorities = numbers(queues, col::queue_priority);
  table::column& quotas = numbers(queues, col::queue_quota, quota_dimensions);
  table::column& limits = numbers(queues, col::queue_limit, quota_dimensions);
  table::column& weights = queues.add(col::queue_over_quota_weight, column_type::f64, quota_dimensions);
  table::column& reclaim_times = numbers(queues, col::queue_reclaim_min_runtime);
  table::column& preempt_times = numbers(queues, col::queue_preempt_min_runtime);
  const auto push_time = [&](table::column& to, std::int64_t minutes) {
    to.push(from.options.mix && minutes > 0 ? minutes * minute : unset);
  };
  const auto push = [&](std::string_view name, std::string_view parent, std::int64_t priority, std::int64_t gpu_quota,
                        std::int64_t gpu_limit, std::int64_t weight, const promise& promised) {
    names.push(name);
    parents.push(parent);
    priorities.push(priority);
    for (const std::int64_t amount : {unlimited, unlimited, gpu_quota}) quotas.push(amount);
    for (const std::int64_t amount : {unlimited, unlimited, gpu_limit}) limits.push(amount);
    for (std::uint32_t i = 0; i < quota_dimensions; ++i) weights.push(static_cast<double>(weight));
    push_time(reclaim_times, promised.reclaim_minutes);
    push_time(preempt_times, promised.preempt_minutes);
  };
  push(organisation, "", 100, from.options.gpus * whole_device, unlimited, 1, {});
  for (const department_info& department : departments) {
    std::int64_t quota = 0;
    for (const team_info& team : teams) quota += team.department == department.name ? quota_of(from, team) : 0;
    push(department.name, organisation, 100, quota, unlimited, department.weight, department.promised);
  }
  for (const team_info& team : teams) {
    const std::int64_t limit =
        team.limit_percent == 0 ? unlimited : from.options.gpus * team.limit_percent / 100 * whole_device;
    push(team.name, team.department, team.priority, quota_of(from, team), limit, team.weight, team.promised);
  }
  return queues;
}

table node_table(const world& from) {
  table nodes = added(table_kind::node);
  table::column& names = text(nodes, col::node_name);
  table::column& capacities = numbers(nodes, col::node_capacity, built_in_dimensions);
  table::column& ready = flags(nodes, col::node_ready);
  table::column& cordoned = flags(nodes, col::node_unschedulable);
  table::column& labels = lists(nodes, col::node_labels);
  table::column& taints = lists(nodes, col::node_taints);
  table::column& gpu_memory = numbers(nodes, col::node_gpu_memory);
  table::column& claimable = lists(nodes, col::node_claimable);
  for (const machine& m : from.machines) {
    names.push(m.name);
    const std::int64_t healthy = m.gpus - (m.broken_device >= 0 ? 1 : 0);
    push_amounts(capacities, m.type->cpu, m.type->memory, healthy * whole_device, pods_per_node);
    push_flag(ready, m.ready);
    push_flag(cordoned, m.cordoned);
    std::vector<std::string_view> pairs{"zone", m.zone, "block", m.block, "rack", m.rack, "pool", m.pool};
    if (m.type->gpus > 0) pairs.insert(pairs.end(), {"gpu.model", m.type->model});
    const std::string memory = std::to_string(m.type->gpu_memory / (gibibyte / 1024));
    const std::string count = std::to_string(m.gpus);
    if (from.options.mix && m.type->gpus > 0) {
      pairs.insert(pairs.end(),
                   {product_label, m.type->product, "nvidia.com/gpu.memory", memory, "nvidia.com/gpu.count", count});
    }
    push_texts(labels, pairs);
    const std::string taint = fmt::format("pool={}:NoSchedule", m.pool);
    push_texts(taints, is_tainted(m.pool) ? std::vector<std::string_view>{taint} : std::vector<std::string_view>{});
    gpu_memory.push(m.type->gpu_memory);
    push_texts(claimable, from.options.mix ? claimable_devices(m) : std::vector<std::string>{});
  }
  return nodes;
}

/// Devices are listed for nodes with a broken one; the others have as many as their capacity says.
table device_table(const world& from) {
  table devices = added(table_kind::device);
  table::column& nodes = text(devices, col::device_node);
  table::column& indices = devices.add(col::device_index, column_type::u32);
  table::column& models = text(devices, col::device_model);
  table::column& healthy = flags(devices, col::device_healthy);
  for (const machine& m : from.machines) {
    if (m.broken_device < 0) continue;
    for (std::int64_t d = 0; d < m.gpus; ++d) {
      nodes.push(m.name);
      indices.push(static_cast<std::uint32_t>(d));
      models.push(m.type->model);
      push_flag(healthy, d != m.broken_device);
    }
  }
  return devices;
}

table group_table(const world& from) {
  table groups = added(table_kind::pod_group);
  table::column& names = text(groups, col::pod_group_name);
  table::column& queues = text(groups, col::pod_group_queue);
  table::column& priorities = numbers(groups, col::pod_group_priority);
  table::column& preemptible = flags(groups, col::pod_group_preemptible);
  table::column& created = numbers(groups, col::pod_group_created);
  table::column& min_members = numbers(groups, col::pod_group_min_member);
  table::column& namespaces = text(groups, col::pod_group_namespace);
  table::column& started = numbers(groups, col::pod_group_last_start);
  table::column& topologies = text(groups, col::pod_group_topology);
  table::column& required = text(groups, col::pod_group_required_level);
  table::column& preferred = text(groups, col::pod_group_preferred_level);
  for (const job& j : from.jobs) {
    names.push(j.name);
    queues.push(j.team);
    priorities.push(j.shape.priority);
    push_flag(preemptible, j.shape.preemptible);
    created.push(j.created);
    min_members.push(j.shape.launcher || !j.roles.empty() ? std::int64_t{1} : j.shape.min_pods);
    namespaces.push(j.team);
    started.push(j.started);
    const bool has_level = !j.required_level.empty() || !j.preferred_level.empty();
    topologies.push(has_level ? topology_name : std::string_view{});
    required.push(j.required_level);
    preferred.push(j.preferred_level);
  }
  return groups;
}

constexpr std::string_view launcher_set = "launcher";
constexpr std::string_view worker_set = "worker";

table sub_group_table(const world& from) {
  table sub_groups = added(table_kind::sub_group);
  table::column& groups = text(sub_groups, col::sub_group_group);
  table::column& names = text(sub_groups, col::sub_group_name);
  table::column& min_members = numbers(sub_groups, col::sub_group_min_member);
  table::column& topologies = text(sub_groups, col::sub_group_topology);
  table::column& required = text(sub_groups, col::sub_group_required_level);
  const auto push = [&](const job& j, std::string_view name, std::int64_t min_pods, std::string_view level) {
    groups.push(j.name);
    names.push(name);
    min_members.push(min_pods);
    topologies.push(level.empty() ? std::string_view{} : topology_name);
    required.push(level);
  };
  for (const job& j : from.jobs) {
    for (const job_role& role : j.roles) push(j, role.name, role.shape.min_pods, role.required_level);
    if (!j.shape.launcher) continue;
    push(j, launcher_set, 1, {});
    push(j, worker_set, j.shape.min_pods, {});
  }
  return sub_groups;
}

/// The columns of the pods that the generator fills.
struct pod_columns {
  table pods = added(table_kind::pod);
  table::column& names = text(pods, col::pod_name);
  table::column& groups = text(pods, col::pod_group_ref);
  table::column& sub_groups = text(pods, col::pod_sub_group);
  table::column& requests = numbers(pods, col::pod_request, built_in_dimensions);
  table::column& device_counts = pods.add(col::pod_device_count, column_type::u32);
  table::column& statuses = flags(pods, col::pod_status_column);
  table::column& nodes = text(pods, col::pod_node);
  table::column& devices = pods.add(col::pod_devices, column_type::i64_list);
  table::column& created = numbers(pods, col::pod_created);
  table::column& leaders = flags(pods, col::pod_leader);
  table::column& selectors = lists(pods, col::pod_node_selector);
  table::column& tolerations = lists(pods, col::pod_tolerations);
  table::column& anti_affinities = lists(pods, col::pod_anti_affinity);
  table::column& labels = lists(pods, col::pod_labels);
  table::column& obstacles = text(pods, col::pod_obstacle);
  table::column& affinities = lists(pods, col::pod_node_affinity);
  table::column& claims = lists(pods, col::pod_claims);
  table::column& claimed_gpus = pods.add(col::pod_claimed_gpus, column_type::u32);

  void push_request(const job_shape& shape, bool is_launcher) {
    const bool is_part = !is_launcher && shape.gpu > 0 && shape.gpu < whole_device;
    if (is_launcher) {
      push_amounts(requests, core, gibibyte, 0, 1);
    } else {
      push_amounts(requests, shape.cpu, shape.memory, shape.gpu, 1);
    }
    device_counts.push(std::uint32_t{is_part ? 1U : 0U});
  }

  void push_nodes(const job_shape& shape) {
    std::vector<std::string_view> selector;
    if (!shape.pool.empty()) selector.insert(selector.end(), {"pool", shape.pool});
    if (!shape.model.empty()) selector.insert(selector.end(), {"gpu.model", shape.model});
    push_texts(selectors, selector);
    const std::string term = fmt::format("{} in ({})", product_label, fmt::join(shape.products, ","));
    push_texts(affinities,
               shape.products.empty() ? std::vector<std::string_view>{} : std::vector<std::string_view>{term});
    const std::string toleration = fmt::format("pool={}:NoSchedule", shape.pool);
    push_texts(tolerations,
               is_tainted(shape.pool) ? std::vector<std::string_view>{toleration} : std::vector<std::string_view>{});
  }

  void push_bystanders(const job& j) {
    const std::string spread = fmt::format("rack: app={}", j.name);
    push_texts(anti_affinities,
               j.shape.one_per_rack ? std::vector<std::string_view>{spread} : std::vector<std::string_view>{});
    push_texts(labels,
               j.shape.one_per_rack ? std::vector<std::string_view>{"app", j.name} : std::vector<std::string_view>{});
    obstacles.push(j.obstacle);
  }

  void push_claims(const job& j, std::size_t pod) {
    const job_shape& shape = j.shape_of(j.pods[pod]);
    const std::string name = claim_name(j, pod);
    push_texts(claims, name.empty() ? std::vector<std::string_view>{} : std::vector<std::string_view>{name});
    claimed_gpus.push(shape.claims == claimed::gpus ? static_cast<std::uint32_t>(shape.claim_count) : 0U);
  }
};

std::string_view sub_group_of(const job& j, const job_pod& pod) {
  if (!j.roles.empty()) return j.roles[pod.role].name;
  return !j.shape.launcher ? std::string_view{} : pod.is_launcher ? launcher_set : worker_set;
}

table pod_table(const world& from) {
  pod_columns to;
  for (const job& j : from.jobs) {
    for (std::size_t i = 0; i < j.pods.size(); ++i) {
      const job_pod& pod = j.pods[i];
      const bool on_node = pod.status != pod_status::pending && pod.status != pod_status::gated;
      to.names.push(fmt::format("{}-{}", j.name, i));
      to.groups.push(j.name);
      const job_shape& shape = j.shape_of(pod);
      to.sub_groups.push(sub_group_of(j, pod));
      to.push_request(shape, pod.is_launcher);
      to.statuses.push(static_cast<std::uint8_t>(pod.status));
      to.nodes.push(on_node ? std::string_view(from.machines[pod.node].name) : std::string_view{});
      to.devices.push_list(std::span<const std::int64_t>(pod.devices));
      to.created.push(j.created);
      push_flag(to.leaders, pod.is_launcher || (!j.roles.empty() && j.roles[pod.role].leads));
      to.push_nodes(shape);
      to.push_bystanders(j);
      to.push_claims(j, i);
    }
  }
  return std::move(to.pods);
}

}  // namespace

cluster_input tables_of(const world& from) {
  cluster_input input;
  input.now = now;
  input.tables.push_back(topology_table());
  input.tables.push_back(queue_table(from));
  input.tables.push_back(node_table(from));
  input.tables.push_back(device_table(from));
  input.tables.push_back(group_table(from));
  input.tables.push_back(sub_group_table(from));
  input.tables.push_back(pod_table(from));
  if (from.options.mix) add_claim_tables(from, input);
  input.source = "the invented cluster";
  return input;
}

}  // namespace kaisched::io::invented
