// Deltas of what is measured of nodes and devices: power and load.
#include <algorithm>

#include "base/text.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

constexpr std::int64_t all = 1000;                      ///< per mille
constexpr std::int64_t most_power = 1'000'000'000'000;  ///< milliwatts
constexpr std::int64_t most_feed = max_amount;

/// One column that holds a figure.
struct figure {
  std::uint32_t column;
  std::int64_t least;
  std::int64_t most;
  std::int64_t* target;
};

result<void> read(const table_reader& t, std::uint64_t row, std::string_view subject, std::span<const figure> figures) {
  for (const figure& one : figures) {
    if (!t.has(one.column)) continue;
    const std::int64_t value = t.i64(one.column, row);
    if (value < one.least || value > one.most) {
      return t.fail(value > one.most ? status::limit : status::argument, row, one.column,
                    std::string(subject) + ": " + std::to_string(value) + " is not in " + std::to_string(one.least) +
                        " .. " + std::to_string(one.most));
    }
    *one.target = value;
  }
  return {};
}

result<void> check(const table_reader& t, std::uint64_t row, std::uint32_t column, std::string_view subject,
                   const power_figures& power) {
  if (power.idle == unknown_figure || power.most == unknown_figure || power.idle <= power.most) return {};
  return t.fail(status::argument, row, column,
                std::string(subject) + ": power_max " + std::to_string(power.most) + " is less than power_idle " +
                    std::to_string(power.idle));
}

}  // namespace

result<void> edit::read_node_figures(const table_reader& t, std::uint64_t row, node_info& node) const {
  const std::string subject = "node '" + base::shown(node.name) + "'";
  const figure figures[] = {
      {col::node_power_idle, unknown_figure, most_power, &node.power.idle},
      {col::node_power_max, unknown_figure, most_power, &node.power.most},
      {col::node_cpu_utilization, unknown_figure, all, &node.cpu_load.mean},
      {col::node_cpu_deviation, 0, all, &node.cpu_load.deviation},
      {col::node_memory_utilization, unknown_figure, all, &node.memory_load.mean},
      {col::node_memory_deviation, 0, all, &node.memory_load.deviation},
  };
  if (auto done = read(t, row, subject, figures); !done) return done;
  if (t.has(col::node_power_feeds)) {
    const std::string_view list = t.text(col::node_power_feeds, row);
    result<std::vector<named_amount>> read = parse_amounts(list, most_feed);
    if (!read) return t.fail(read.failure().code, row, col::node_power_feeds, subject + ": " + read.failure().message);
    node.power_feeds = std::move(*read);
    node.power_feeds_text = list;
  }
  return check(t, row, t.has(col::node_power_max) ? col::node_power_max : col::node_power_idle, subject, node.power);
}

result<void> edit::read_device_figures(const table_reader& t, std::uint64_t row, std::string_view node,
                                       device_info& device) const {
  const std::string subject = "node '" + base::shown(node) + "', device " + std::to_string(device.index);
  const figure figures[] = {
      {col::device_power_idle, unknown_figure, most_power, &device.power.idle},
      {col::device_power_max, unknown_figure, most_power, &device.power.most},
      {col::device_utilization, unknown_figure, all, &device.load.mean},
      {col::device_deviation, 0, all, &device.load.deviation},
  };
  if (auto done = read(t, row, subject, figures); !done) return done;
  return check(t, row, t.has(col::device_power_max) ? col::device_power_max : col::device_power_idle, subject,
               device.power);
}

}  // namespace kaisched::model
