#include "benchmarks/many_classes.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/timing.hpp"

namespace kaisched::bench {

namespace {

/// Values of the label "slice" of nodes.
constexpr std::int32_t slices = 97;

void push_texts(table::column& to, std::initializer_list<std::string_view> texts) { to.push_list(std::vector(texts)); }

std::string numbered(const char* prefix, std::int32_t i) {
  const std::string digits = std::to_string(i);
  return prefix + std::string(6 - std::min<std::size_t>(6, digits.size()), '0') + digits;
}

}  // namespace

cluster many_classes(std::int32_t nodes, std::int32_t classes) {
  cluster c;
  table queue = rows_of(table_kind::queue);
  queue.add(col::queue_name, column_type::string).push(std::string_view("q"));
  must(c.apply(queue));
  table rows = rows_of(table_kind::node);
  auto& name = rows.add(col::node_name, column_type::string);
  auto& capacity = rows.add(col::node_capacity, column_type::i64, 4);
  auto& labels = rows.add(col::node_labels, column_type::string_list);
  for (std::int32_t i = 0; i < nodes; ++i) {
    name.push(std::string_view(numbered("n", i)));
    for (const std::int64_t x : {std::int64_t{128'000}, std::int64_t{1} << 40, std::int64_t{8000}, std::int64_t{110}})
      capacity.push(x);
    const std::string rack = "r" + std::to_string(i / 16);
    const std::string slice = std::to_string(i % slices);
    const std::string model = i % 3 == 0 ? "H100" : "A100";
    push_texts(labels, {"gpu.model", model, "rack", rack, "slice", slice});
  }
  must(c.apply(rows));
  table groups = rows_of(table_kind::pod_group);
  auto& group_name = groups.add(col::pod_group_name, column_type::string);
  auto& group_queue = groups.add(col::pod_group_queue, column_type::string);
  table pods = rows_of(table_kind::pod);
  auto& pod_name = pods.add(col::pod_name, column_type::string);
  auto& pod_group = pods.add(col::pod_group_ref, column_type::string);
  auto& request = pods.add(col::pod_request, column_type::i64, 4);
  auto& affinity = pods.add(col::pod_node_affinity, column_type::string_list);
  for (std::int32_t i = 0; i < classes; ++i) {
    const std::string job = numbered("g", i);
    group_name.push(std::string_view(job));
    group_queue.push(std::string_view("q"));
    pod_name.push(std::string_view(job + "-0"));
    pod_group.push(std::string_view(job));
    for (const std::int64_t x : {std::int64_t{1000}, std::int64_t{1} << 30, std::int64_t{1000}, std::int64_t{1}})
      request.push(x);
    const std::string wanted = "gpu.model in (H100),slice notin (" + std::to_string(i % slices) + "," +
                               std::to_string((i / slices + i + 1) % slices) + "),rack";
    push_texts(affinity, {wanted});
  }
  must(c.apply(groups));
  must(c.apply(pods));
  return c;
}

}  // namespace kaisched::bench
