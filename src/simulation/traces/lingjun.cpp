#include "simulation/traces/lingjun.hpp"

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "io/added_rows.hpp"

namespace kaisched::simulation {

namespace {

constexpr std::string_view lingjun_queue = "default";
constexpr std::array<std::string_view, 3> lingjun_levels{"dsw", "psw", "asw"};
constexpr std::int64_t most_pods_per_host = 110;

void push_texts(table::column& to, std::span<const std::string_view> elements) { to.push_list(elements); }

table clos_topology() {
  table topologies = io::added(table_kind::topology);
  topologies.add(col::topology_name, column_type::string).push(std::string_view("clos"));
  push_texts(topologies.add(col::topology_levels, column_type::string_list), lingjun_levels);
  topologies.add(col::topology_primary, column_type::u8).push(std::uint8_t{1});
  return topologies;
}

table default_queue() {
  table queues = io::added(table_kind::queue);
  queues.add(col::queue_name, column_type::string).push(lingjun_queue);
  return queues;
}

result<void> check_lingjun(const lingjun_options& options) {
  const auto wrong = [](std::string_view name, std::int64_t most, std::int64_t found) {
    return error{status::argument, fmt::format("{}: expected 0 to {}, found {}", name, most, found), {}};
  };
  if (options.gpus < 0 || options.gpus > max_devices_per_node) return wrong("gpus", max_devices_per_node, options.gpus);
  constexpr std::int64_t most_cores = max_amount / 1000;
  if (options.cores < 0 || options.cores > most_cores) return wrong("cores", most_cores, options.cores);
  if (options.memory < 0 || options.memory > max_amount) return wrong("memory", max_amount, options.memory);
  return {};
}

}  // namespace

result<io::cluster_input> read_lingjun_hosts(io::named_text hosts, const lingjun_options& options) {
  enum column : unsigned { host, dsw, psw, asw, ip };
  constexpr std::array<std::string_view, 5> header{"host", "DSW", "PSW", "ASW", "ip"};
  if (auto sound = check_lingjun(options); !sound) return sound.take_failure();
  io::csv_file csv(hosts, header);
  // The published file calls its hosts by hashes of their addresses.
  const column name = csv.has(ip) && !csv.has(host) ? ip : host;
  for (const column one : {name, dsw, psw, asw}) csv.require(one);
  table nodes = io::added(table_kind::node);
  table::column& names = nodes.add(col::node_name, column_type::string);
  table::column& capacities = nodes.add(col::node_capacity, column_type::i64, built_in_dimensions);
  table::column& labels = nodes.add(col::node_labels, column_type::string_list);
  io::table_origin origin{std::string(hosts.name), {}};
  while (csv.next()) {
    for (const column one : {name, dsw, psw, asw}) {
      if (csv.text(one).empty()) csv.refuse(one, "a name");
    }
    origin.lines.push_back(csv.line());
    names.push(csv.text(name));
    io::push_amounts(capacities, options.cores * 1000, options.memory, options.gpus * whole_device, most_pods_per_host);
    push_texts(labels, std::array{lingjun_levels[0], csv.text(dsw), lingjun_levels[1], csv.text(psw), lingjun_levels[2],
                                  csv.text(asw)});
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  io::cluster_input input;
  input.source = hosts.name;
  input.add(clos_topology(), {});
  input.add(default_queue(), {});
  input.add(std::move(nodes), std::move(origin));
  return input;
}

}  // namespace kaisched::simulation
