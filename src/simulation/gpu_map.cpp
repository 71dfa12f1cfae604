#include "simulation/gpu_map.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace kaisched::simulation {

gpu_map::gpu_map(const model::cluster_state& s, const workload& jobs) {
  std::map<std::int64_t, std::int64_t> weights;
  for (const job& one : jobs.jobs) {
    for (const pod_shape& shape : one.pods) {
      if (shape.gpus > 0) weights[shape.gpus] += shape.count;
    }
  }
  for (const auto& [gpus, weight] : weights) {
    sizes_.push_back({gpus, weight});
    weights_ += weight;
  }
  nodes_.resize(s.node_row_of_slot->size());
  for (node_row row = 0; row < s.node_count(); ++row) {
    const model::node_info& told = *(*s.nodes)[row];
    node& made = nodes_[told.slot];
    made.there = told.ready;
    const std::int64_t gpus = (*s.capacity)[std::size_t{row} * s.dims() + dim_gpu];
    const std::uint32_t devices = told.device_count();
    for (std::uint32_t d = 0; d < devices; ++d) {
      const bool offered = told.devices.empty() || told.devices[d].is_offered();
      made.free.push_back(offered ? whole_device : 0);
    }
    if (devices == 0) made.free.assign(static_cast<std::size_t>(gpus / whole_device), whole_device);
    made.lost.resize(made.free.size());
    made.changed = false;
    touch(told.slot);
  }
}

void gpu_map::touch(std::uint32_t slot) {
  if (nodes_[slot].changed) return;
  nodes_[slot].changed = true;
  changed_.push_back(slot);
}

void gpu_map::charge(std::uint32_t node_slot, const device_set& devices, std::int64_t gpus, int sign) {
  node& at = nodes_[node_slot];
  touch(node_slot);
  if (devices.mask != 0) {
    const std::int64_t each = gpus >= whole_device ? whole_device : devices.share;
    for (std::uint64_t left = devices.mask; left != 0; left &= left - 1) {
      const auto d = static_cast<std::size_t>(std::countr_zero(left));
      if (d < at.free.size()) at.free[d] -= sign * each;
    }
    return;
  }
  // Devices that are not tracked are alike: the first ones are taken.
  for (std::int64_t& free : at.free) {
    if (gpus <= 0) return;
    const std::int64_t moved = std::min(gpus, sign > 0 ? free : whole_device - free);
    free -= sign * moved;
    gpus -= moved;
  }
}

void gpu_map::node_is_there(std::uint32_t node_slot, bool there) {
  nodes_[node_slot].there = there;
  touch(node_slot);
}

void gpu_map::device_is_there(std::uint32_t node_slot, std::uint32_t device, bool there) {
  nodes_[node_slot].lost[device] = there ? 0 : 1;
  touch(node_slot);
}

std::int64_t gpu_map::amount_of(const node& of) const {
  if (!of.there) return 0;
  std::int64_t sum = 0;
  for (const size& one : sizes_) {
    const std::int64_t share = std::min(one.gpus, whole_device);
    std::int64_t small = 0;
    std::int64_t all = 0;
    std::int64_t enough = 0;
    for (std::size_t d = 0; d < of.free.size(); ++d) {
      const std::int64_t free = of.lost[d] != 0 ? 0 : std::max<std::int64_t>(0, of.free[d]);
      all += free;
      if (free >= share) {
        ++enough;
      } else {
        small += free;
      }
    }
    sum += one.weight * (enough * whole_device < one.gpus ? all : small);
  }
  return sum;
}

std::int64_t gpu_map::fragmented() {
  for (const std::uint32_t slot : changed_) {
    node& one = nodes_[slot];
    one.changed = false;
    sum_ -= one.amount;
    one.amount = amount_of(one);
    sum_ += one.amount;
  }
  changed_.clear();
  return weights_ == 0 ? 0 : sum_ / weights_;
}

}  // namespace kaisched::simulation
