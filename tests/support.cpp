#include "support.hpp"

#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::test {

namespace {

table make(table_kind kind, table_op op) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(op));
}

void push(table::column& column, const std::vector<std::string>& elements) {
  const std::vector<std::string_view> views(elements.begin(), elements.end());
  column.push_list(views);
}

std::uint8_t flag(bool value) { return value ? 1 : 0; }

table queue_table(const builder& b, table_op op) {
  table t = make(table_kind::queue, op);
  auto& name = t.add(col::queue_name, column_type::string);
  auto& parent = t.add(col::queue_parent, column_type::string);
  auto& quota = t.add(col::queue_quota, column_type::i64, quota_dimensions);
  auto& limit = t.add(col::queue_limit, column_type::i64, quota_dimensions);
  auto& weight = t.add(col::queue_over_quota_weight, column_type::f64, quota_dimensions);
  auto& priority = t.add(col::queue_priority, column_type::i64);
  for (const builder::queue& q : b.queues) {
    name.push(std::string_view(q.name));
    parent.push(std::string_view(q.parent));
    for (const std::int64_t x : {unlimited, unlimited, q.gpu_quota < 0 ? unlimited : q.gpu_quota * whole_device})
      quota.push(x);
    for (const std::int64_t x : {unlimited, unlimited, q.gpu_limit < 0 ? unlimited : q.gpu_limit * whole_device})
      limit.push(x);
    for (int r = 0; r < 3; ++r) weight.push(q.weight);
    priority.push(q.priority);
  }
  return t;
}

table node_table(const builder& b, table_op op) {
  table t = make(table_kind::node, op);
  auto& name = t.add(col::node_name, column_type::string);
  auto& capacity = t.add(col::node_capacity, column_type::i64, built_in_dimensions);
  auto& labels = t.add(col::node_labels, column_type::string_list);
  auto& taints = t.add(col::node_taints, column_type::string_list);
  auto& ready = t.add(col::node_ready, column_type::u8);
  for (const builder::node& n : b.nodes) {
    name.push(std::string_view(n.name));
    for (const std::int64_t x :
         {n.cpus * 1000, std::int64_t{1'000'000'000'000}, n.gpus * whole_device, std::int64_t{110}}) {
      capacity.push(x);
    }
    push(labels, n.labels);
    push(taints, n.taints);
    ready.push(flag(n.ready));
  }
  return t;
}

table group_table(const builder& b, table_op op) {
  table t = make(table_kind::pod_group, op);
  auto& name = t.add(col::pod_group_name, column_type::string);
  auto& queue = t.add(col::pod_group_queue, column_type::string);
  auto& min = t.add(col::pod_group_min_member, column_type::i64);
  auto& priority = t.add(col::pod_group_priority, column_type::i64);
  auto& created = t.add(col::pod_group_created, column_type::i64);
  auto& preemptible = t.add(col::pod_group_preemptible, column_type::u8);
  auto& name_space = t.add(col::pod_group_namespace, column_type::string);
  for (const builder::group& g : b.groups) {
    name.push(std::string_view(g.name));
    queue.push(std::string_view(g.queue));
    min.push(g.min_member);
    priority.push(g.priority);
    created.push(g.created);
    preemptible.push(flag(g.preemptible));
    name_space.push(std::string_view(g.name_space));
  }
  return t;
}

table pod_table(const builder& b, table_op op) {
  table t = make(table_kind::pod, op);
  auto& name = t.add(col::pod_name, column_type::string);
  auto& group = t.add(col::pod_group_ref, column_type::string);
  auto& sub = t.add(col::pod_sub_group, column_type::string);
  auto& request = t.add(col::pod_request, column_type::i64, built_in_dimensions);
  auto& state = t.add(col::pod_status_column, column_type::u8);
  auto& node = t.add(col::pod_node, column_type::string);
  auto& selector = t.add(col::pod_node_selector, column_type::string_list);
  auto& affinity = t.add(col::pod_affinity, column_type::string_list);
  auto& anti = t.add(col::pod_anti_affinity, column_type::string_list);
  auto& labels = t.add(col::pod_labels, column_type::string_list);
  auto& ports = t.add(col::pod_host_ports, column_type::string_list);
  for (const builder::pod& p : b.pods) {
    name.push(std::string_view(p.name));
    group.push(std::string_view(p.group));
    sub.push(std::string_view(p.sub_group));
    for (const std::int64_t x : {p.cpu_milli, std::int64_t{1'000'000'000}, p.gpu_milli, std::int64_t{1}})
      request.push(x);
    state.push(static_cast<std::uint8_t>(p.node.empty() ? pod_status::pending : p.status));
    node.push(std::string_view(p.node));
    push(selector, p.node_selector);
    push(affinity, p.affinity);
    push(anti, p.anti_affinity);
    push(labels, p.labels);
    push(ports, p.host_ports);
  }
  return t;
}

}  // namespace

std::string without_checksum(std::string_view saved) {
  constexpr std::size_t head = std::string_view("kaisched-snapshot/2\n").size() + 8 + 8;
  REQUIRE(saved.size() >= head);
  return "kaisched-snapshot/1\n" + std::string(saved.substr(head));
}

std::vector<table> builder::tables(table_op op) const {
  std::vector<table> all;
  all.push_back(queue_table(*this, op));
  all.push_back(node_table(*this, op));
  all.push_back(group_table(*this, op));
  all.push_back(pod_table(*this, op));
  return all;
}

std::vector<std::string> lines(const session& s) {
  std::vector<std::string> all;
  for (const decision& d : s.decisions()) {
    all.push_back(std::string(decision_kind_name(d.kind)) + " " + std::string(s.base().pod_name(d.pod)) + " " +
                  std::string(s.base().node_name(d.node)));
  }
  return all;
}

engine make_engine(std::initializer_list<std::string_view> options) {
  engine e;
  for (auto it = options.begin(); it != options.end(); it += 2) must(e.set(*it, *(it + 1)));
  return e;
}

pod_row pod_by_name(const snapshot& s, std::string_view name) {
  for (pod_row p = 0; p < model::state_of(s).pod_slots; ++p) {
    if (model::state_of(s).pods[p].live && s.pod_name(p) == name) return p;
  }
  return no_row;
}

node_row node_by_name(const snapshot& s, std::string_view name) {
  for (node_row n = 0; n < model::state_of(s).node_count(); ++n) {
    if (s.node_name(n) == name) return n;
  }
  return no_row;
}

}  // namespace kaisched::test
