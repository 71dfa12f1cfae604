#include "conformance/kai_outcome.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <kaisched/policy.hpp>

#include "conformance/json_values.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

table table_of(const session& played, table_kind kind) {
  result<table> made = played.to_table(kind);
  if (!made) throw std::runtime_error("session.to_table: " + made.failure().message);
  return std::move(made).value();
}

const column_view& column_of(const table_view& view, std::uint32_t id) {
  const column_view* found = view.find(id);
  if (found == nullptr) throw std::runtime_error("the session's table lacks column " + std::to_string(id));
  return *found;
}

std::vector<std::string> names_of_devices(std::uint64_t mask) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < 64; ++i) {
    if ((mask >> i & 1U) != 0) names.push_back("device " + std::to_string(i));
  }
  return names;
}

std::vector<std::string> without_namespace(std::vector<std::string> texts) {
  for (std::string& text : texts) {
    const std::size_t slash = text.substr(0, text.find('=')).rfind('/');
    if (slash != std::string::npos) text.erase(0, slash + 1);
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<std::int64_t> numbers_of(std::uint64_t mask) {
  std::vector<std::int64_t> numbers;
  for (; mask != 0; mask &= mask - 1) numbers.push_back(std::countr_zero(mask));
  return numbers;
}

/// Pods that ask for parts of devices: only shared devices have names in the recorded cases.
std::set<std::string> sharing_pods(const json& session_case) {
  std::set<std::string> names;
  for (const json& job : items(session_case.at("resolved"), "jobs")) {
    for (const json& task : items(job, "tasks")) {
      const std::string type = value_or(task, "request_type", std::string());
      if (type == "Fraction" || type == "GpuMemory") names.insert(name_of(task));
    }
  }
  return names;
}

void add_events(kai_outcome& outcome, const session& played, const kai_starts& starts,
                const std::set<std::string>& sharing) {
  const snapshot& base = played.base();
  for (const decision& one : played.decisions()) {
    if (one.kind == decision_kind::unschedulable) continue;
    kai_event event{std::string(action_name(one.action)),
                    one.commit,
                    "bind",
                    std::string(base.pod_name(one.pod)),
                    std::string(one.node == no_row ? std::string_view{} : base.node_name(one.node)),
                    {},
                    numbers_of(one.numa_zones),
                    without_namespace(one.claim_devices)};
    if (sharing.contains(event.task)) event.gpu_groups = names_of_devices(one.devices.mask);
    if (one.kind == decision_kind::evict || one.kind == decision_kind::move) {
      kai_event evicted = event;
      evicted.type = "evict";
      evicted.gpu_groups.clear();
      evicted.numa_zones.clear();
      evicted.claim_devices.clear();
      const auto before = starts.find(event.task);
      evicted.node = before == starts.end() ? std::string() : before->second.node;
      outcome.events.push_back(std::move(evicted));
      if (one.kind == decision_kind::evict) continue;
    }
    if (one.kind != decision_kind::bind) event.type = "pipeline";
    if (one.kind == decision_kind::bind) outcome.started_jobs.emplace(base.group_name(one.group));
    outcome.events.push_back(std::move(event));
  }
}

/// Where pods with devices were when the session opened, under the names that events use.
kai_starts devices_at_start(const session& played) {
  kai_starts starts;
  const table made = played.base().to_table(table_kind::pod).value();
  const table_view view = made.view();
  const column_view& names = column_of(view, col::pod_name);
  const column_view& nodes = column_of(view, col::pod_node);
  const column_view& devices = column_of(view, col::pod_devices);
  const std::span<const std::uint8_t> statuses =
      column_of(view, col::pod_status_column).values<std::uint8_t>(view.rows);
  for (std::uint64_t row = 0; row < view.rows; ++row) {
    kai_start start{
        std::string(kai_status_name(static_cast<pod_status>(statuses[row]))), std::string(nodes.string(row)), {}};
    for (const std::int64_t device : devices.list(row)) {
      if (device >= 0) start.gpu_groups.push_back("device " + std::to_string(device));
    }
    starts.emplace(names.string(row), std::move(start));
  }
  return starts;
}

void add_tasks(kai_outcome& outcome, const session& played, const kai_starts& starts) {
  const table made = table_of(played, table_kind::placement);
  const table_view view = made.view();
  const column_view& names = column_of(view, col::placement_pod_name);
  const column_view& nodes = column_of(view, col::placement_node_name);
  const column_view& devices = column_of(view, col::placement_devices);
  const std::span<const std::uint8_t> statuses = column_of(view, col::placement_status).values<std::uint8_t>(view.rows);
  for (std::uint64_t row = 0; row < view.rows; ++row) {
    const std::span<const std::int64_t> zones = column_of(view, col::placement_numa_zones).list(row);
    kai_task task{std::string(kai_status_name(static_cast<pod_status>(statuses[row]))),
                  std::string(nodes.string(row)),
                  {},
                  {zones.begin(), zones.end()}};
    for (const std::int64_t device : devices.list(row)) task.gpu_groups.push_back("device " + std::to_string(device));
    const auto before = starts.find(names.string(row));
    // Recordings keep the name of the node that such a pod had; nothing has happened to it.
    if (before != starts.end() && before->second.status == task.status && !kai_uses_node(task.status)) {
      task.node = before->second.node;
    }
    outcome.tasks.emplace(names.string(row), std::move(task));
  }
}

kai_amounts amounts_of(const session_view& view, std::span<const std::int64_t> matrix, node_row node) {
  kai_amounts amounts;
  const std::uint32_t dims = view.dimension_count();
  for (dimension d = 0; d < dims; ++d) {
    const std::string_view name = view.dimension_name(d);
    amounts.emplace(resource_of_dimension(name), kai_amount(name, matrix[std::size_t{node} * dims + d]));
  }
  return amounts;
}

/// Whatever is on a node is either taken from what was idle or, pipelined, a claim on what is coming free. Neither is
/// booked in a resource that the node does not have at all.
void add_nodes(kai_outcome& outcome, const session& played, const json& session_case) {
  const session_view view = played.view();
  std::map<std::string, kai_amounts, std::less<>> capacities;
  for (node_row row = 0; row < view.node_count(); ++row) {
    const std::string name(view.node_name(row));
    const kai_amounts& capacity = capacities[name] = amounts_of(view, view.node_capacity(), row);
    kai_node node{amounts_of(view, view.node_idle(), row), capacity, amounts_of(view, view.node_releasing(), row), {}};
    const std::span<const std::int64_t> zones = view.node_zones_available(row);
    for (std::uint32_t zone = 0; std::size_t{zone} * view.dimension_count() < zones.size(); ++zone) {
      node.zones.push_back(amounts_of(view, zones, zone));
    }
    for (auto& [resource, used] : node.used) used -= node.idle.at(resource);
    outcome.nodes.emplace(name, std::move(node));
  }
  for (const json& job : items(session_case.at("resolved"), "jobs")) {
    for (const json& task : items(job, "tasks")) {
      const auto found = outcome.tasks.find(name_of(task));
      if (found == outcome.tasks.end() || found->second.status != "Pipelined") continue;
      const kai_amounts& capacity = capacities.at(found->second.node);
      kai_amounts& used = outcome.nodes.at(found->second.node).used;
      for (const auto& [resource, amount] : task.at("request").items()) {
        if (capacity.at(resource) != 0) used.at(resource) += amount.get<double>();
      }
    }
  }
}

kai_amounts three_amounts(const column_view& column, std::uint64_t rows, std::uint64_t row) {
  const std::span<const std::int64_t> values = column.values<std::int64_t>(rows).subspan(row * quota_dimensions);
  return {{"cpu_milli", static_cast<double>(values[dim_cpu])},
          {"memory", static_cast<double>(values[dim_memory])},
          {"gpu", kai_amount("gpu", values[dim_gpu])}};
}

void add_queues(kai_outcome& outcome, const session& played) {
  const table made = table_of(played, table_kind::queue_share);
  const table_view view = made.view();
  const column_view& names = column_of(view, col::share_queue_name);
  for (std::uint64_t row = 0; row < view.rows; ++row) {
    const std::string name(names.string(row));
    outcome.fair_share.emplace(name, three_amounts(column_of(view, col::share_fair_share), view.rows, row));
    outcome.requested.emplace(name, three_amounts(column_of(view, col::share_request), view.rows, row));
    outcome.allocated.emplace(name, three_amounts(column_of(view, col::share_allocated), view.rows, row));
  }
}

}  // namespace

void add_small_domains(kai_outcome& outcome, const session& played) {
  for (const reason& why : played.reasons()) {
    if (why.what != constraint::topology) continue;
    outcome.small_domains[std::string(played.view().group_name(why.group))][{why.need, why.have}] += why.nodes;
  }
}

kai_outcome outcome_of(const session& played, const json& session_case, const kai_starts& starts) {
  kai_outcome outcome;
  outcome.starts = devices_at_start(played);
  const std::set<std::string> sharing = sharing_pods(session_case);
  outcome.shares_devices = !sharing.empty();
  add_events(outcome, played, starts, sharing);
  add_tasks(outcome, played, starts);
  add_nodes(outcome, played, session_case);
  add_small_domains(outcome, played);
  add_queues(outcome, played);
  return outcome;
}

}  // namespace kaisched::conformance
