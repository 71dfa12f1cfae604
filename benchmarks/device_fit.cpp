#include "benchmarks/device_fit.hpp"

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "benchmarks/fleet.hpp"
#include "io/vendors/vendor_reader.hpp"

namespace kaisched::bench {

namespace {

constexpr std::size_t node_count = 100;
constexpr std::size_t devices_per_node = 16;
constexpr std::size_t running_pods = 5000;
constexpr std::size_t waiting_pods = 1000;

std::vector<devices::node> busy_nodes() {
  std::vector<devices::node> nodes(node_count);
  for (std::size_t n = 0; n < node_count; ++n) {
    nodes[n].name = "node-" + std::to_string(n);
    for (std::size_t d = 0; d < devices_per_node; ++d) {
      devices::device of;
      of.id = "GPU-" + std::to_string(n) + "-" + std::to_string(d);
      of.type = "NVIDIA-A100";
      of.index = static_cast<std::int64_t>(d);
      of.slots = 10;
      of.memory = 81920 * devices::mebibyte;
      of.cores = 100;
      nodes[n].devices.push_back(std::move(of));
    }
  }
  for (std::size_t pod = 0; pod < running_pods; ++pod) {
    devices::device& of = nodes[pod % node_count].devices[pod / node_count % devices_per_node];
    of.used_slots += 1;
    of.used_memory += 2048 * devices::mebibyte;
    of.used_cores += 5;
  }
  return nodes;
}

}  // namespace

device_fit_result run_device_fit(bool in_order) {
  result<io::shipped_devices> shipped = io::read_shipped_devices();
  if (!shipped) throw std::runtime_error(shipped.failure().message);
  devices::policy_levels levels;
  levels.global.node_policy = "binpack";
  levels.global.device_policy = "binpack";
  devices::fleet nodes(shipped->vendors, busy_nodes(), levels, in_order);
  devices::pod asking;
  asking.space = "team";
  devices::request one;
  one.vendor = "NVIDIA";
  one.count = 1;
  one.memory = 4096 * devices::mebibyte;
  one.cores = 10;
  asking.containers = {{one}};

  device_fit_result made;
  std::set<std::size_t> used;
  for (std::size_t pod = 0; pod < waiting_pods; ++pod) {
    const auto start = std::chrono::steady_clock::now();
    const std::optional<devices::fleet_choice> chosen = nodes.choose(asking);
    if (chosen) nodes.commit(asking, *chosen);
    made.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (!chosen) continue;
    ++made.placed;
    used.insert(chosen->node);
  }
  made.nodes_used = used.size();
  return made;
}

}  // namespace kaisched::bench
