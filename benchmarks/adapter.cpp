#include "benchmarks/adapter.hpp"

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

namespace kaisched::bench {

namespace {

constexpr std::int64_t minute = 60'000'000'000;
constexpr std::int64_t core = 1000;
constexpr std::int64_t node_memory = 1'000'000'000'000;
constexpr std::int64_t pod_memory = 1'000'000'000;
constexpr std::int64_t gpu_memory = std::int64_t{80000} << 20U;

std::uint32_t number(table_kind kind) { return static_cast<std::uint32_t>(kind); }
constexpr auto add = static_cast<std::uint32_t>(table_op::add);

table queue_table(const scenario_input& input) {
  table t(number(table_kind::queue), add);
  auto& name = t.add(col::queue_name, column_type::string);
  auto& parent = t.add(col::queue_parent, column_type::string);
  auto& created = t.add(col::queue_created, column_type::i64);
  auto& quota = t.add(col::queue_quota, column_type::i64, quota_dimensions);
  auto& weight = t.add(col::queue_over_quota_weight, column_type::f64, quota_dimensions);
  const auto put = [&](std::string_view queue, std::string_view above, std::size_t index, std::int64_t gpus,
                       double share) {
    name.push(queue);
    parent.push(above);
    created.push(static_cast<std::int64_t>(index) * minute);
    quota.push(unlimited);
    quota.push(unlimited);
    quota.push(gpus == unlimited_gpus ? unlimited : gpus * whole_device);
    weight.push(1.0);
    weight.push(1.0);
    weight.push(share);
  };
  for (std::size_t i = 0; i < input.departments.size(); ++i) {
    const scenario_department& d = input.departments[i];
    put(d.name, {}, i, d.quota_gpus, static_cast<double>(d.quota_gpus));
  }
  for (std::size_t i = 0; i < input.queues.size(); ++i) {
    const scenario_queue& q = input.queues[i];
    put(q.name, q.parent, i, q.quota_gpus, static_cast<double>(q.weight_gpus));
  }
  return t;
}

table node_table(const scenario_input& input) {
  table t(number(table_kind::node), add);
  auto& name = t.add(col::node_name, column_type::string);
  auto& capacity = t.add(col::node_capacity, column_type::i64, built_in_dimensions);
  auto& memory = t.add(col::node_gpu_memory, column_type::i64);
  auto& labels = t.add(col::node_labels, column_type::string_list);
  for (const scenario_node& node : input.nodes) {
    name.push(std::string_view(node.name));
    for (const std::int64_t amount : {128 * core, node_memory, node.gpus * whole_device, std::int64_t{110}})
      capacity.push(amount);
    memory.push(gpu_memory);
    std::vector<std::string_view> pairs;
    for (const auto& [key, value] : {std::pair<std::string_view, std::string_view>{"zone", node.zone},
                                     {"block", node.block},
                                     {"rack", node.rack}}) {
      if (value.empty()) continue;
      pairs.push_back(key);
      pairs.push_back(value);
    }
    if (input.has_topology()) {
      pairs.emplace_back("host");
      pairs.push_back(node.name);
    }
    labels.push_list(pairs);
  }
  return t;
}

constexpr std::string_view topology_of_all = "fabric";

table topology_table(const scenario_input& input) {
  table t(number(table_kind::topology), add);
  auto& name = t.add(col::topology_name, column_type::string);
  auto& levels = t.add(col::topology_levels, column_type::string_list);
  if (!input.has_topology()) return t;
  name.push(topology_of_all);
  levels.push_list(std::vector<std::string_view>(input.topology_levels.begin(), input.topology_levels.end()));
  return t;
}

table group_table(const scenario_input& input) {
  table t(number(table_kind::pod_group), add);
  auto& name = t.add(col::pod_group_name, column_type::string);
  auto& queue = t.add(col::pod_group_queue, column_type::string);
  auto& priority = t.add(col::pod_group_priority, column_type::i64);
  auto& preemptible = t.add(col::pod_group_preemptible, column_type::u8);
  auto& created = t.add(col::pod_group_created, column_type::i64);
  auto& min = t.add(col::pod_group_min_member, column_type::i64);
  auto& start = t.add(col::pod_group_last_start, column_type::i64);
  auto& topology = t.add(col::pod_group_topology, column_type::string);
  auto& required = t.add(col::pod_group_required_level, column_type::string);
  auto& preferred = t.add(col::pod_group_preferred_level, column_type::string);
  const auto count = static_cast<std::int64_t>(input.jobs.size());
  for (std::size_t k = 0; k < input.jobs.size(); ++k) {
    const scenario_job& job = input.jobs[k];
    name.push(std::string_view(job.name));
    queue.push(std::string_view(job.queue));
    priority.push(std::int64_t{job.priority});
    preemptible.push(static_cast<std::uint8_t>(job.priority < first_non_preemptible_priority ? 1 : 0));
    created.push(scenario_now - (count - static_cast<std::int64_t>(k)) * minute);
    min.push(std::int64_t{job.pod_sets.front().min});
    start.push(job.running() ? scenario_now - minute : unset);
    const bool is_bound = !job.required_level.empty() || !job.preferred_level.empty();
    topology.push(is_bound ? topology_of_all : std::string_view{});
    required.push(std::string_view(job.required_level));
    preferred.push(std::string_view(job.preferred_level));
  }
  return t;
}

bool has_sub_groups(const scenario_job& job) {
  return job.pod_sets.size() > 1 || job.pod_sets.front().name != "default";
}

table sub_group_table(const scenario_input& input) {
  table t(number(table_kind::sub_group), add);
  auto& group = t.add(col::sub_group_group, column_type::string);
  auto& name = t.add(col::sub_group_name, column_type::string);
  auto& min = t.add(col::sub_group_min_member, column_type::i64);
  for (const scenario_job& job : input.jobs) {
    for (const scenario_pod_set& set : job.pod_sets) {
      if (!has_sub_groups(job)) continue;
      group.push(std::string_view(job.name));
      name.push(std::string_view(set.name));
      min.push(std::int64_t{set.min});
    }
  }
  return t;
}

table pod_table(const scenario_input& input) {
  table t(number(table_kind::pod), add);
  auto& name = t.add(col::pod_name, column_type::string);
  auto& group = t.add(col::pod_group_ref, column_type::string);
  auto& sub = t.add(col::pod_sub_group, column_type::string);
  auto& request = t.add(col::pod_request, column_type::i64, built_in_dimensions);
  auto& state = t.add(col::pod_status_column, column_type::u8);
  auto& node = t.add(col::pod_node, column_type::string);
  for (const scenario_job& job : input.jobs) {
    std::size_t index = 0;
    for (const scenario_pod_set& set : job.pod_sets) {
      for (std::int32_t i = 0; i < set.count; ++i, ++index) {
        name.push(std::string_view(job.name + "-" + std::to_string(index)));
        group.push(std::string_view(job.name));
        sub.push(has_sub_groups(job) ? std::string_view(set.name) : std::string_view{});
        for (const std::int64_t amount : {core, pod_memory, job.gpus_milli_per_pod, std::int64_t{1}})
          request.push(amount);
        state.push(static_cast<std::uint8_t>(job.running() ? pod_status::running : pod_status::pending));
        node.push(job.running() ? std::string_view(input.nodes[static_cast<std::size_t>(job.nodes[index])].name)
                                : std::string_view{});
      }
    }
  }
  return t;
}

}  // namespace

std::vector<table> to_tables(const scenario_input& input) {
  std::vector<table> tables;
  tables.push_back(queue_table(input));
  tables.push_back(node_table(input));
  tables.push_back(topology_table(input));
  tables.push_back(group_table(input));
  tables.push_back(sub_group_table(input));
  tables.push_back(pod_table(input));
  return tables;
}

}  // namespace kaisched::bench
