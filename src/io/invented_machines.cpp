#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "io/invented_parts.hpp"

namespace kaisched::io::invented {

namespace {

constexpr std::int64_t nodes_per_rack = 8;
constexpr std::int64_t blocks_per_zone = 4;
constexpr std::int64_t cpu_nodes_per_block = 8;

/// Adds machines one by one, until all GPUs are there.
class machine_adder {
 public:
  machine_adder(world& to, dice& with) : to_(to), dice_(with) {}

  void add(std::int64_t block, std::int64_t rack, std::int64_t place, const node_type& type, std::string_view pool);
  [[nodiscard]] std::int64_t gpus_left() const { return to_.options.gpus - gpus_so_far_; }

 private:
  world& to_;
  dice& dice_;
  std::int64_t gpus_so_far_ = 0;
};

void machine_adder::add(std::int64_t block, std::int64_t rack, std::int64_t place, const node_type& type,
                        std::string_view pool) {
  machine& m = to_.machines.emplace_back();
  m.type = &type;
  m.gpus = std::min(type.gpus, gpus_left());  // the last node has what is left
  gpus_so_far_ += m.gpus;
  m.zone = fmt::format("z{}", block / blocks_per_zone + 1);
  m.block = fmt::format("b{:02}", block + 1);
  m.rack = rack < 0 ? m.block + "-cpu" : fmt::format("{}-r{}", m.block, rack + 1);
  m.name = fmt::format("{}-n{}", m.rack, place + 1);
  m.pool = pool;
  m.ready = !dice_.one_in(200);
  m.cordoned = dice_.one_in(100);
  if (type.gpus > 0 && dice_.one_in(64)) m.broken_device = dice_.below(gpus_per_node);
  if (to_.is_small) m.ready = true;
  if (to_.is_small) m.cordoned = false;
  if (to_.is_small || m.broken_device >= m.gpus || type.claims) m.broken_device = -1;
  m.free_cpu = type.cpu;
  m.free_memory = type.memory;
  if (type.gpus > 0) m.free_share.fill(whole_device);
}

/// Of eight racks three hold H100, one B200, two A100, one GB200 and one L40S. The first one is of those that most
/// jobs ask for.
const node_type& type_of_rack(std::int64_t rack, std::int64_t racks) {
  constexpr std::array<const node_type*, 8> eighths{&h100, &h100, &h100, &b200, &a100, &a100, &gb200, &l40s};
  return rack == 0 ? h100 : *eighths[static_cast<std::size_t>(8 * (2 * rack + 1) / (2 * racks))];
}

/// Every fourth rack of the oldest type is for interactive work, if another one stays for training.
std::string_view pool_of_rack(const node_type& type, std::int64_t racks_before) {
  if (type.claims) return claims_pool;
  if (&type == &l40s) return inference_pool;
  return &type == &a100 && racks_before % 4 == 1 ? interactive_pool : training_pool;
}

void find_ranges(world& in) {
  const auto extend = [](std::vector<machine_range>& to, bool begins, std::size_t i) {
    if (begins) to.push_back({i, i});
    to.back().last = i + 1;
  };
  for (std::size_t i = 0; i < in.machines.size(); ++i) {
    const machine& m = in.machines[i];
    extend(in.blocks, i == 0 || in.machines[i - 1].block != m.block, i);
    if (m.type->gpus > 0) extend(in.racks, i == 0 || in.machines[i - 1].rack != m.rack, i);
  }
}

}  // namespace

bool world::trains_on(const node_type& type) const {
  return std::any_of(machines.begin(), machines.end(),
                     [&](const machine& m) { return m.type == &type && m.pool == training_pool; });
}

/// Five of eight racks hold the newer generation. Of each generation one rack in eight is behind a taint: of the newer
/// for inference, of the older for interactive work.
void add_machines(world& to, dice& with) {
  machine_adder adder(to, with);
  to.rack_gpus = gpus_per_node * nodes_per_rack;
  const std::int64_t gpu_nodes = (to.options.gpus + gpus_per_node - 1) / gpus_per_node;
  const std::int64_t racks = (gpu_nodes + nodes_per_rack - 1) / nodes_per_rack;
  for (std::int64_t rack = 0; rack < racks; ++rack) {
    const bool is_new = 8 * rack < 5 * racks;
    const node_type& type = is_new ? h100 : a100;
    std::string_view pool = training_pool;
    if (rack % racks_per_block == racks_per_block - 1) {
      pool = is_new ? inference_pool : interactive_pool;
      (is_new ? to.has_inference_pool : to.has_interactive_pool) = true;
    }
    const std::int64_t block = rack / racks_per_block;
    const std::int64_t places = std::min(nodes_per_rack, gpu_nodes - rack * nodes_per_rack);
    for (std::int64_t place = 0; place < places; ++place) adder.add(block, rack % racks_per_block, place, type, pool);
    if (rack % racks_per_block == racks_per_block - 1 || rack == racks - 1) {
      for (std::int64_t place = 0; place < cpu_nodes_per_block; ++place)
        adder.add(block, -1, place, cpu_only, cpu_pool);
    }
  }
}

/// Racks of small clusters are small, so that there is one of each type.
void add_mixed_machines(world& to, dice& with) {
  machine_adder adder(to, with);
  std::int64_t rack_gpus = gpus_per_node;
  while (rack_gpus < gpus_per_node * nodes_per_rack && rack_gpus * racks_per_block < to.options.gpus) rack_gpus *= 2;
  to.rack_gpus = rack_gpus;
  const std::int64_t racks = (to.options.gpus + rack_gpus - 1) / rack_gpus;
  std::int64_t old_racks = 0;
  for (std::int64_t rack = 0; rack < racks; ++rack) {
    const node_type& type = type_of_rack(rack, racks);
    const std::string_view pool = pool_of_rack(type, old_racks);
    old_racks += &type == &a100 ? 1 : 0;
    to.has_inference_pool = to.has_inference_pool || pool == inference_pool;
    to.has_interactive_pool = to.has_interactive_pool || pool == interactive_pool;
    const std::int64_t block = rack / racks_per_block;
    for (std::int64_t place = 0; place < rack_gpus / type.gpus && adder.gpus_left() > 0; ++place) {
      adder.add(block, rack % racks_per_block, place, type, pool);
    }
    if (rack % racks_per_block == racks_per_block - 1 || rack == racks - 1) {
      const std::int64_t places = std::max<std::int64_t>(2, rack_gpus / gpus_per_node);
      for (std::int64_t place = 0; place < places; ++place) adder.add(block, -1, place, cpu_only, cpu_pool);
    }
  }
  find_ranges(to);
}

}  // namespace kaisched::io::invented
