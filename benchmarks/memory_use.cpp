#include "benchmarks/memory_use.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/heap.hpp"
#include "benchmarks/scenarios.hpp"
#include "benchmarks/timing.hpp"

namespace kaisched::bench {

namespace {

/// Names are as long as those that Kubernetes makes up.
std::string node_name(std::int32_t i) { return fmt::format("gpu-node-{:06}", i); }

table nodes_of(std::int32_t count) {
  table t = rows_of(table_kind::node);
  auto& name = t.add(col::node_name, column_type::string);
  auto& capacity = t.add(col::node_capacity, column_type::i64, 4);
  for (std::int32_t i = 0; i < count; ++i) {
    name.push(std::string_view(node_name(i)));
    for (const std::int64_t x : {std::int64_t{128'000}, std::int64_t{1} << 40, std::int64_t{8000}, std::int64_t{110}})
      capacity.push(x);
  }
  return t;
}

/// `pods` of them in groups of `size`, on as many nodes as they fill.
void add_running(cluster& c, std::int32_t pods, std::int32_t size) {
  table groups = rows_of(table_kind::pod_group);
  auto& group_name = groups.add(col::pod_group_name, column_type::string);
  auto& queue = groups.add(col::pod_group_queue, column_type::string);
  table rows = rows_of(table_kind::pod);
  auto& name = rows.add(col::pod_name, column_type::string);
  auto& group = rows.add(col::pod_group_ref, column_type::string);
  auto& request = rows.add(col::pod_request, column_type::i64, 4);
  auto& status = rows.add(col::pod_status_column, column_type::u8);
  auto& node = rows.add(col::pod_node, column_type::string);
  for (std::int32_t p = 0; p < pods; ++p) {
    const std::string job = fmt::format("training-job-{:07}", p / size);
    if (p % size == 0) {
      group_name.push(std::string_view(job));
      queue.push(std::string_view("research"));
    }
    name.push(std::string_view(fmt::format("{}-{}", job, p % size)));
    group.push(std::string_view(job));
    for (const std::int64_t x : {std::int64_t{1000}, std::int64_t{1} << 30, std::int64_t{1000}, std::int64_t{1}})
      request.push(x);
    status.push(static_cast<std::uint8_t>(pod_status::running));
    node.push(std::string_view(node_name(p / 8)));
  }
  must(c.apply(groups));
  must(c.apply(rows));
}

void add_queue(cluster& c) {
  table queue = rows_of(table_kind::queue);
  queue.add(col::queue_name, column_type::string).push(std::string_view("research"));
  must(c.apply(queue));
}

/// Bytes of a cluster. `size`: pods of a group; 0: no pods.
std::int64_t bytes_of(std::int32_t nodes, std::int32_t pods, std::int32_t size) {
  const std::int64_t before = heap_now().bytes;
  cluster c;
  add_queue(c);
  must(c.apply(nodes_of(nodes)));
  if (size > 0) add_running(c, pods, size);
  return heap_now().bytes - before;
}

}  // namespace

bytes_per_row measure_rows(std::int32_t nodes, std::int32_t pods) {
  // All in clusters of one size, so that nothing else differs.
  const std::int32_t most = std::max(2 * nodes, (2 * pods + 7) / 8);
  const auto per = [](std::int64_t more, std::int32_t rows) {
    return static_cast<double>(more) / static_cast<double>(rows);
  };
  constexpr std::int32_t gang = 1000;
  return {per(bytes_of(2 * nodes, 0, 0) - bytes_of(nodes, 0, 0), nodes),
          per(bytes_of(most, 2 * pods, 1) - bytes_of(most, pods, 1), pods),
          per(bytes_of(most, 2 * pods, gang) - bytes_of(most, pods, gang), pods)};
}

session_heap measure_session(const std::string& scenario, std::int32_t nodes) {
  const scenario_input input = build(scenario, nodes);
  cluster c;
  for (const table& t : to_tables(input)) must(c.apply(t));
  engine e;
  must(e.set("mode", "compat"));
  must(e.set("consolidation.max_victims", "-1"));
  const snapshot taken = c.take_snapshot();
  const std::int64_t start = heap_now().calls;
  session opened = must(e.open(taken, scenario_now));
  const std::int64_t is_open = heap_now().calls;
  for (const std::string& action : input.actions) must(opened.run(action));
  session_heap made{is_open - start, heap_now().calls - is_open, 0, 0};
  for (const action_statistics& one : opened.statistics()) made.tried += static_cast<std::int64_t>(one.groups_tried);
  made.decisions = static_cast<std::int64_t>(opened.decisions().size());
  return made;
}

double allocations_per_step(const std::string& scenario, std::int32_t nodes) {
  const session_heap half = measure_session(scenario, nodes);
  const session_heap whole = measure_session(scenario, 2 * nodes);
  const std::int64_t decisions = whole.decisions - half.decisions;
  const std::int64_t steps = decisions > 0 ? decisions : whole.tried - half.tried;
  return static_cast<double>(whole.actions - half.actions) / static_cast<double>(std::max<std::int64_t>(1, steps));
}

}  // namespace kaisched::bench
