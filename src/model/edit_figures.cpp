// Deltas of what is measured of nodes and devices: power and load.
#include <algorithm>

#include "base/text.hpp"
#include "model/edit.hpp"
#include "model/object_columns.hpp"

namespace kaisched::model {

namespace {

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
  row_reader from(t, row, subject);
  node_figure_columns(from, node);
  if (auto done = from.done(); !done) return done;
  return check(t, row, t.has(col::node_power_max) ? col::node_power_max : col::node_power_idle, subject, node.power);
}

result<void> edit::read_device_figures(const table_reader& t, std::uint64_t row, std::string_view node,
                                       device_info& device) const {
  const std::string subject = "node '" + base::shown(node) + "', device " + std::to_string(device.index);
  row_reader from(t, row, subject);
  device_figure_columns(from, device);
  if (auto done = from.done(); !done) return done;
  return check(t, row, t.has(col::device_power_max) ? col::device_power_max : col::device_power_idle, subject,
               device.power);
}

}  // namespace kaisched::model
