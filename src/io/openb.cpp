#include "io/openb.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "io/added_rows.hpp"
#include "io/csv_file.hpp"

namespace kaisched::io {

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t latest_time = std::numeric_limits<std::int64_t>::max() / nanoseconds;
/// The trace knows no limit of pods per node.
constexpr std::int64_t most_pods = 1'000'000;

template <std::size_t N>
void push_list(table::column& to, const std::array<std::string_view, N>& elements) {
  to.push_list(std::span<const std::string_view>(elements));
}

table one_queue() {
  table queues = added(table_kind::queue);
  queues.add(col::queue_name, column_type::string).push(openb_queue);
  return queues;
}

result<table> read_nodes(named_text file, std::vector<std::uint32_t>& lines) {
  enum column : unsigned { name, gpu_model, gpu_count, cpu, memory };
  constexpr std::array<std::string_view, 5> header{"name", "gpu_model", "gpu_count", "cpu_milli", "memory_mib"};
  csv_file csv(file, header);
  for (const column wanted : {name, gpu_model, gpu_count, cpu, memory}) csv.require(wanted);

  table nodes = added(table_kind::node);
  table::column& names = nodes.add(col::node_name, column_type::string);
  table::column& capacities = nodes.add(col::node_capacity, column_type::i64, built_in_dimensions);
  table::column& labels = nodes.add(col::node_labels, column_type::string_list);
  while (csv.next()) {
    const std::int64_t gpus = csv.text(gpu_count).empty() ? 0 : csv.integer(gpu_count, 0, max_devices_per_node);
    lines.push_back(csv.line());
    names.push(csv.text(name));
    push_amounts(capacities, csv.integer(cpu, 0, max_amount), csv.integer(memory, 0, max_amount / mebibyte) * mebibyte,
                 gpus * whole_device, most_pods);
    if (gpus > 0 && !csv.text(gpu_model).empty()) {
      push_list(labels, std::array{openb_model_label, csv.text(gpu_model)});
    } else {
      labels.push_raw({});
    }
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return nodes;
}

/// `A|B` as a term of node affinity.
std::string model_term(std::string_view models) {
  std::string term = fmt::format("{} in ({})", openb_model_label, models);
  std::replace(term.begin(), term.end(), '|', ',');
  return term;
}

/// The columns of pod groups and pods that the list fills.
struct pod_tables {
  table groups = added(table_kind::pod_group);
  table pods = added(table_kind::pod);
  table::column& group_names = groups.add(col::pod_group_name, column_type::string);
  table::column& queues = groups.add(col::pod_group_queue, column_type::string);
  table::column& group_times = groups.add(col::pod_group_created, column_type::i64);
  table::column& names = pods.add(col::pod_name, column_type::string);
  table::column& group_refs = pods.add(col::pod_group_ref, column_type::string);
  table::column& requests = pods.add(col::pod_request, column_type::i64, built_in_dimensions);
  table::column& device_counts = pods.add(col::pod_device_count, column_type::u32);
  table::column& times = pods.add(col::pod_created, column_type::i64);
  table::column& affinities = pods.add(col::pod_node_affinity, column_type::string_list);
};

/// Reads the list of pods; returns the time of the last one.
result<std::int64_t> read_pods(named_text file, pod_tables& to, std::vector<std::uint32_t>& lines) {
  enum column : unsigned { name, cpu, memory, num_gpu, gpu_milli, gpu_spec, creation_time };
  constexpr std::array<std::string_view, 7> header{"name",      "cpu_milli", "memory_mib",   "num_gpu",
                                                   "gpu_milli", "gpu_spec",  "creation_time"};
  csv_file csv(file, header);
  for (const column wanted : {name, cpu, memory, num_gpu, gpu_milli}) csv.require(wanted);
  const bool has_times = csv.has(creation_time);

  std::int64_t last = 0;
  for (std::int64_t row = 0; csv.next(); ++row) {
    const std::int64_t created = (has_times ? csv.integer(creation_time, 0, latest_time) : row) * nanoseconds;
    last = std::max(last, created);
    const std::int64_t gpus = csv.integer(num_gpu, 0, max_devices_per_node);
    const std::int64_t share = gpus == 0 ? 0 : csv.integer(gpu_milli, 1, whole_device);
    const std::string_view pod = csv.text(name);

    lines.push_back(csv.line());
    to.group_names.push(pod);
    to.queues.push(openb_queue);
    to.group_times.push(created);
    to.names.push(pod);
    to.group_refs.push(pod);
    push_amounts(to.requests, csv.integer(cpu, 0, max_amount), csv.integer(memory, 0, max_amount / mebibyte) * mebibyte,
                 gpus * share, 1);
    to.device_counts.push(static_cast<std::uint32_t>(share < whole_device ? gpus : 0));
    to.times.push(created);
    if (csv.text(gpu_spec).empty()) {
      to.affinities.push_raw({});
    } else {
      const std::string term = model_term(csv.text(gpu_spec));
      push_list(to.affinities, std::array{std::string_view(term)});
    }
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return last;
}

}  // namespace

result<cluster_input> parse_openb(named_text nodes, named_text pods) {
  table_origin of_nodes{std::string(nodes.name), {}};
  result<table> node_rows = read_nodes(nodes, of_nodes.lines);
  if (!node_rows) return node_rows.take_failure();
  pod_tables rows;
  table_origin of_pods{std::string(pods.name), {}};
  result<std::int64_t> last = read_pods(pods, rows, of_pods.lines);
  if (!last) return last.take_failure();

  cluster_input input;
  input.now = *last;
  input.source = nodes.name;
  input.add(one_queue(), {});
  input.add(std::move(*node_rows), std::move(of_nodes));
  input.add(std::move(rows.groups), of_pods);
  input.add(std::move(rows.pods), std::move(of_pods));
  return input;
}

}  // namespace kaisched::io
