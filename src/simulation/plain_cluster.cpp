#include "simulation/plain_cluster.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "io/added_rows.hpp"

namespace kaisched::simulation {

namespace {

constexpr std::int64_t most_nodes = 1'000'000;
constexpr std::int64_t plenty_of_cores = 1'000'000'000;  ///< milli-CPU
constexpr std::int64_t plenty_of_memory = std::int64_t{1} << 50;
constexpr std::int64_t memory_of_all = std::int64_t{1} << 62;  ///< what a cluster can hold
constexpr std::string_view rack_label = "rack";
constexpr std::int64_t plenty_of_pods = 1'000'000;

struct node_kind {
  std::int64_t count = 0;
  std::int64_t gpus = 0;
  std::string_view model;
};

bool read_number(std::string_view text, std::int64_t least, std::int64_t most, std::int64_t& to) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), to);
  return fault == std::errc{} && end == text.data() + text.size() && to >= least && to <= most;
}

bool read_kind(std::string_view text, node_kind& to) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    to.model = text.substr(colon + 1);
    text = text.substr(0, colon);
    if (to.model.empty()) return false;
  }
  const std::size_t times = text.find('x');
  return times != std::string_view::npos && read_number(text.substr(0, times), 1, most_nodes, to.count) &&
         read_number(text.substr(times + 1), 0, max_devices_per_node, to.gpus);
}

/// The kinds in a list such as 8x8:V100,4x4:T4; none if it is no such list, or too many nodes.
std::vector<node_kind> read_kinds(std::string_view nodes) {
  std::vector<node_kind> kinds;
  std::int64_t all = 0;
  for (std::string_view rest = nodes;;) {
    const std::size_t comma = rest.find(',');
    node_kind kind;
    if (!read_kind(rest.substr(0, comma), kind) || kind.count > most_nodes - all) return {};
    all += kind.count;
    kinds.push_back(kind);
    if (comma == std::string_view::npos) return kinds;
    rest = rest.substr(comma + 1);
  }
}

/// Of one node: plenty, but the sum over all nodes stays an amount.
std::int64_t memory_of_each(std::span<const node_kind> kinds) {
  std::int64_t nodes = 0;
  for (const node_kind& one : kinds) nodes += one.count;
  std::int64_t memory = plenty_of_memory;
  while (memory > memory_of_all / nodes) memory /= 2;
  return memory;
}

}  // namespace

bool needs_cohort(const policy_options& options) {
  return std::find(options.actions.begin(), options.actions.end(), "kueue") != options.actions.end();
}

result<io::cluster_input> plain_cluster(std::string_view nodes, const workload& jobs, std::string_view queue,
                                        std::string_view model_label, bool equal_quotas, std::int64_t nodes_per_rack,
                                        bool in_cohort) {
  std::set<std::string_view> queues;
  for (const job& one : jobs.jobs) {
    queues.insert(one.queue.empty() ? queue : std::string_view(one.queue));
  }
  const std::set<std::string_view> named = queues;
  queues.insert(queue);
  table node_rows = io::added(table_kind::node);
  table::column& names = node_rows.add(col::node_name, column_type::string);
  table::column& capacities = node_rows.add(col::node_capacity, column_type::i64, built_in_dimensions);
  table::column& labels = node_rows.add(col::node_labels, column_type::string_list);
  const std::vector<node_kind> kinds = read_kinds(nodes);
  if (kinds.empty()) {
    return error{status::argument,
                 fmt::format("\"{}\": expected nodes as NUMBERxGPUS or NUMBERxGPUS:MODEL, such as 16x8 or "
                             "8x8:V100,4x4:T4, up to {} nodes of {} GPUs",
                             nodes, most_nodes, max_devices_per_node),
                 {}};
  }
  const std::int64_t memory = memory_of_each(kinds);
  std::int64_t made = 0;
  std::int64_t gpus = 0;
  for (const node_kind& kind : kinds) {
    gpus += kind.count * kind.gpus * whole_device;
    for (std::int64_t i = 0; i < kind.count; ++i) {
      names.push(std::string_view(fmt::format("node-{:05}", made)));
      io::push_amounts(capacities, plenty_of_cores, memory, kind.gpus * whole_device, plenty_of_pods);
      const std::string rack = nodes_per_rack > 0 ? fmt::format("rack-{:05}", made / nodes_per_rack) : std::string();
      std::vector<std::string_view> pairs;
      if (!kind.model.empty()) pairs.insert(pairs.end(), {model_label, kind.model});
      if (!rack.empty()) pairs.insert(pairs.end(), {rack_label, rack});
      labels.push_list(pairs);
      ++made;
    }
  }
  table queue_rows = io::added(table_kind::queue);
  table::column& queue_names = queue_rows.add(col::queue_name, column_type::string);
  table::column* const quotas =
      equal_quotas ? &queue_rows.add(col::queue_quota, column_type::i64, quota_dimensions) : nullptr;
  std::string above;
  if (equal_quotas && in_cohort) {
    above = "cohort";
    while (queues.contains(above)) above += "-";
    queue_names.push(std::string_view(above));
    for (const std::int64_t amount : {unlimited, unlimited, gpus}) quotas->push(amount);
    table::column& parents = queue_rows.add(col::queue_parent, column_type::string);
    parents.push(std::string_view());
    for (std::size_t i = 0; i < queues.size(); ++i) parents.push(std::string_view(above));
  }
  for (const std::string_view name : queues) {
    queue_names.push(name);
    if (quotas == nullptr) continue;
    // A queue that no job names has nothing to divide.
    const bool is_idle = named.find(name) == named.end();
    const std::int64_t part = is_idle ? 0 : gpus / static_cast<std::int64_t>(named.size());
    for (const std::int64_t amount : {unlimited, unlimited, part}) {
      quotas->push(amount);
    }
  }

  io::cluster_input input;
  input.source = nodes;
  if (nodes_per_rack > 0) {
    table trees = io::added(table_kind::topology);
    trees.add(col::topology_name, column_type::string).push(std::string_view("racks"));
    trees.add(col::topology_levels, column_type::string_list).push_list(std::span(&rack_label, 1));
    input.add(std::move(trees), {});
  }
  input.add(std::move(queue_rows), {});
  input.add(std::move(node_rows), {});
  return input;
}

}  // namespace kaisched::simulation
