#include "simulation/delta.hpp"

#include <array>
#include <bit>
#include <span>

#include <kaisched/quantity.hpp>

namespace kaisched::simulation {

namespace {

/// In the order in which they are applied.
enum place : std::size_t {
  pods_ended,
  pods_gone,
  groups_gone,
  pods_changed,
  nodes_changed,
  capacities_changed,
  devices_changed,
  groups_changed,
  groups_new,
  traffic_told,
  checkpoints_told,
  pods_new,
  pods_nominated,
  queues_changed
};
constexpr std::size_t places = 14;

struct column_plan {
  std::uint32_t id;
  column_type type;
  std::uint32_t width = 1;
};

}  // namespace

delta::delta() {
  using ct = column_type;
  const auto plan = [&](place at, table_kind kind, table_op op, std::initializer_list<column_plan> columns) {
    tables_[at] = table(kind, op);
    for (const column_plan& one : columns) columns_[at].push_back(&tables_[at].add(one.id, one.type, one.width));
  };
  tables_.resize(places);
  columns_.resize(places);
  plan(pods_ended, table_kind::pod, table_op::change, {{col::pod_name, ct::string}, {col::pod_status_column, ct::u8}});
  plan(pods_gone, table_kind::pod, table_op::remove, {{col::pod_name, ct::string}});
  plan(groups_gone, table_kind::pod_group, table_op::remove, {{col::pod_group_name, ct::string}});
  plan(nodes_changed, table_kind::node, table_op::change,
       {{col::node_name, ct::string}, {col::node_ready, ct::u8}, {col::node_unschedulable, ct::u8}});
  plan(queues_changed, table_kind::queue, table_op::change,
       {{col::queue_name, ct::string}, {col::queue_usage, ct::f64, quota_dimensions}});
  plan(capacities_changed, table_kind::node, table_op::change, {{col::node_name, ct::string}});
  plan(devices_changed, table_kind::device, table_op::change,
       {{col::device_node, ct::string}, {col::device_index, ct::u32}, {col::device_healthy, ct::u8}});
  plan(pods_nominated, table_kind::pod, table_op::change,
       {{col::pod_name, ct::string}, {col::pod_nominated_node, ct::u64}, {col::pod_nominated_since, ct::i64}});
  plan(pods_changed, table_kind::pod, table_op::change,
       {{col::pod_name, ct::string},
        {col::pod_status_column, ct::u8},
        {col::pod_node, ct::u64},
        {col::pod_devices, ct::i64_list}});
  plan(groups_changed, table_kind::pod_group, table_op::change,
       {{col::pod_group_name, ct::string},
        {col::pod_group_last_start, ct::i64},
        {col::pod_group_last_eviction, ct::i64},
        {col::pod_group_attained_service, ct::i64},
        {col::pod_group_evictions, ct::i64},
        {col::pod_group_stale_since, ct::i64}});
  plan(groups_new, table_kind::pod_group, table_op::add,
       {{col::pod_group_name, ct::string},
        {col::pod_group_queue, ct::string},
        {col::pod_group_user, ct::string},
        {col::pod_group_priority, ct::i64},
        {col::pod_group_preemptible, ct::u8},
        {col::pod_group_created, ct::i64},
        {col::pod_group_min_member, ct::i64},
        {col::pod_group_runtime_estimate, ct::i64},
        {col::pod_group_deadline, ct::i64},
        {col::pod_group_topology, ct::string},
        {col::pod_group_preferred_level, ct::string},
        {col::pod_group_after, ct::string_list},
        {col::pod_group_speedup, ct::string_list}});
  plan(traffic_told, table_kind::pod_group, table_op::change,
       {{col::pod_group_name, ct::string}, {col::pod_group_traffic, ct::i64}});
  plan(checkpoints_told, table_kind::pod_group, table_op::change,
       {{col::pod_group_name, ct::string},
        {col::pod_group_last_checkpoint, ct::i64},
        {col::pod_group_restart_cost, ct::i64}});
  plan(pods_new, table_kind::pod, table_op::add,
       {{col::pod_name, ct::string},
        {col::pod_group_ref, ct::string},
        {col::pod_gpu_memory, ct::i64},
        {col::pod_created, ct::i64},
        {col::pod_node_affinity, ct::string_list},
        {col::pod_request, ct::i64, built_in_dimensions}});
}

void delta::end_pod(std::string_view name) {
  columns_[pods_ended][0]->push(name);
  columns_[pods_ended][1]->push(static_cast<std::uint8_t>(pod_status::succeeded));
  ++rows_;
}

void delta::remove_pod(std::string_view name) {
  columns_[pods_gone][0]->push(name);
  ++rows_;
}

void delta::remove_group(std::string_view name) {
  columns_[groups_gone][0]->push(name);
  ++rows_;
}

void delta::change_node(std::string_view name, bool ready, bool unschedulable) {
  const auto& to = columns_[nodes_changed];
  to[0]->push(name);
  to[1]->push(static_cast<std::uint8_t>(ready));
  to[2]->push(static_cast<std::uint8_t>(unschedulable));
  ++rows_;
}

void delta::change_usage(std::string_view queue, double of_gpus) {
  const auto& to = columns_[queues_changed];
  to[0]->push(queue);
  for (const double part : {0.0, 0.0, of_gpus}) to[1]->push(part);
  ++rows_;
}

void delta::change_capacity(std::string_view node, std::span<const std::int64_t> amounts) {
  auto& to = columns_[capacities_changed];
  if (to.size() == 1) {
    const auto width = static_cast<std::uint32_t>(amounts.size());
    to.push_back(&tables_[capacities_changed].add(col::node_capacity, column_type::i64, width));
  }
  to[0]->push(node);
  for (const std::int64_t amount : amounts) to[1]->push(amount);
  ++rows_;
}

void delta::change_device(std::string_view node, std::uint32_t index, bool healthy) {
  const auto& to = columns_[devices_changed];
  to[0]->push(node);
  to[1]->push(index);
  to[2]->push(static_cast<std::uint8_t>(healthy));
  ++rows_;
}

void delta::nominate_pod(std::string_view name, entity_id node, std::int64_t since) {
  const auto& to = columns_[pods_nominated];
  to[0]->push(name);
  to[1]->push(node.value);
  to[2]->push(since);
  ++rows_;
}

void delta::change_pod(std::string_view name, pod_status status, entity_id node, const device_set& devices) {
  const auto& to = columns_[pods_changed];
  to[0]->push(name);
  to[1]->push(static_cast<std::uint8_t>(status));
  to[2]->push(node.value);
  std::array<std::int64_t, max_devices_per_node> indices{};
  std::size_t count = 0;
  for (std::uint64_t left = devices.mask; left != 0; left &= left - 1) indices[count++] = std::countr_zero(left);
  to[3]->push_list(std::span<const std::int64_t>(indices.data(), count));
  ++rows_;
}

void delta::change_group(std::string_view name, const group_times& times) {
  const auto& to = columns_[groups_changed];
  to[0]->push(name);
  to[1]->push(times.last_start);
  to[2]->push(times.last_eviction);
  to[3]->push(times.attained_service);
  to[4]->push(times.evictions);
  to[5]->push(times.stale_since);
  ++rows_;
}

void delta::add_group(const group_row& row) {
  const auto& to = columns_[groups_new];
  to[0]->push(row.name);
  to[1]->push(row.queue);
  to[2]->push(row.user);
  to[3]->push(row.priority);
  to[4]->push(static_cast<std::uint8_t>(row.preemptible));
  to[5]->push(row.created);
  to[6]->push(row.min_member);
  to[7]->push(row.runtime_estimate);
  to[8]->push(row.deadline);
  to[9]->push(row.topology);
  to[10]->push(row.preferred_level);
  const std::vector<std::string_view> after(row.after.begin(), row.after.end());
  to[11]->push_list(std::span<const std::string_view>(after));
  const std::vector<std::string_view> speedup(row.speedup.begin(), row.speedup.end());
  to[12]->push_list(std::span<const std::string_view>(speedup));
  ++rows_;
}

void delta::tell_traffic(std::string_view group, std::int64_t traffic) {
  columns_[traffic_told][0]->push(group);
  columns_[traffic_told][1]->push(traffic);
  ++rows_;
}

void delta::tell_checkpoint(std::string_view group, std::int64_t last_checkpoint, std::int64_t restart_cost) {
  const auto& to = columns_[checkpoints_told];
  to[0]->push(group);
  to[1]->push(last_checkpoint);
  to[2]->push(restart_cost);
  ++rows_;
}

void delta::add_pod(std::string_view name, std::string_view group, const pod_shape& shape, std::int64_t created,
                    std::string_view affinity) {
  const auto& to = columns_[pods_new];
  to[0]->push(name);
  to[1]->push(group);
  to[2]->push(shape.gpu_memory);
  to[3]->push(created);
  if (affinity.empty()) {
    to[4]->push_raw({});
  } else {
    to[4]->push_list(std::span<const std::string_view>(&affinity, 1));
  }
  for (const std::int64_t amount : {shape.cpu, shape.memory, shape.gpus, std::int64_t{1}}) to[5]->push(amount);
  ++rows_;
}

std::vector<table_view> delta::views() const {
  std::vector<table_view> all;
  for (const table& t : tables_) {
    if (t.rows() > 0) all.push_back(t.view());
  }
  return all;
}

void delta::clear() {
  for (table& t : tables_) {
    if (t.rows() > 0) t.clear_rows();
  }
  rows_ = 0;
}

}  // namespace kaisched::simulation
