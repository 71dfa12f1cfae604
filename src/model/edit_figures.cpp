// Deltas of what is measured of nodes and devices: power and load.
#include <algorithm>

#include "model/edit.hpp"
#include "model/row_reader.hpp"

namespace kaisched::model {

namespace {

constexpr std::int64_t all = 1000;                      ///< per mille
constexpr std::int64_t most_power = 1'000'000'000'000;  ///< milliwatts
constexpr std::int64_t most_feed = max_amount;

void check(row_reader& from, std::uint32_t column, const power_figures& power) {
  if (power.idle == unknown_figure || power.most == unknown_figure || power.idle <= power.most) return;
  from.fail(column, status::argument,
            "power_max " + std::to_string(power.most) + " is less than power_idle " + std::to_string(power.idle));
}

}  // namespace

result<void> edit::read_node_figures(const table_reader& t, std::uint64_t row, node_info& node) const {
  row_reader from(t, row, {"node", node.name, true});
  from.number(col::node_power_idle, unknown_figure, most_power, node.power.idle);
  from.number(col::node_power_max, unknown_figure, most_power, node.power.most);
  from.number(col::node_cpu_utilization, unknown_figure, all, node.cpu_load.mean);
  from.number(col::node_cpu_deviation, 0, all, node.cpu_load.deviation);
  from.number(col::node_memory_utilization, unknown_figure, all, node.memory_load.mean);
  from.number(col::node_memory_deviation, 0, all, node.memory_load.deviation);
  from.list(
      col::node_power_feeds, [](std::string_view list) { return parse_amounts(list, most_feed); },
      node.power_feeds_text, node.power_feeds);
  check(from, t.has(col::node_power_max) ? col::node_power_max : col::node_power_idle, node.power);
  return from.done();
}

result<void> edit::read_device_figures(const table_reader& t, std::uint64_t row, std::string_view node,
                                       device_info& device) const {
  row_reader from(t, row, {"node", node, true, device.index});
  from.number(col::device_power_idle, unknown_figure, most_power, device.power.idle);
  from.number(col::device_power_max, unknown_figure, most_power, device.power.most);
  from.number(col::device_utilization, unknown_figure, all, device.load.mean);
  from.number(col::device_deviation, 0, all, device.load.deviation);
  check(from, t.has(col::device_power_max) ? col::device_power_max : col::device_power_idle, device.power);
  return from.done();
}

}  // namespace kaisched::model
