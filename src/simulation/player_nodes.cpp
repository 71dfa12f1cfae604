// Nodes and devices that fail and come back, nodes that are switched on for those who wait.
#include <algorithm>
#include <bit>

#include "simulation/player.hpp"

namespace kaisched::simulation {

void player::tell_node(std::uint32_t slot) {
  const node_entry& n = nodes_[slot];
  delta_.change_node(n.name, n.was_ready && !n.is_away && !n.is_off, n.was_cordoned || n.is_cordoned);
  changed_ = true;
}

/// Its GPUs are there from now on, or not.
void player::count_node(std::uint32_t slot, int sign) {
  const node_entry& n = nodes_[slot];
  gpus_->node_is_there(slot, sign > 0 && n.was_ready);
  power_->node_is_there(slot, sign > 0 && n.was_ready, now_);
  if (n.was_ready) gpus_there_ += sign * (n.gpus - std::popcount(n.lost) * whole_device);
  if (usage_) usage_->capacity(gpus_there_, now_);
}

// ---- outages --------------------------------------------------------------------------------------------------------

void player::node_is_cordoned(std::uint32_t i) {
  nodes_[outages_[i]].is_cordoned = true;
  tell_node(outages_[i]);
}

/// The devices of an outage go or come back.
void player::tell_devices(std::uint32_t i, bool healthy) {
  node_entry& n = nodes_[outages_[i]];
  std::uint64_t devices = 0;
  for (const std::uint32_t d : play_.outages[i].devices) {
    devices |= std::uint64_t{1} << d;
    gpus_->device_is_there(outages_[i], d, healthy);
    delta_.change_device(n.name, d, healthy);
  }
  if (!n.is_away && !n.is_off) count_node(outages_[i], -1);
  n.lost = healthy ? n.lost & ~devices : n.lost | devices;
  if (!n.is_away && !n.is_off) count_node(outages_[i], 1);
  std::vector<std::int64_t> capacity = n.capacity;
  capacity[dim_gpu] -= std::popcount(n.lost) * whole_device;
  delta_.change_capacity(n.name, capacity);
  changed_ = true;
}

/// A pod of the node.
bool player::is_hit(const pod_entry& pod, const outage& by, std::uint64_t devices) {
  return pod.where == whereabouts::on_node && (by.devices.empty() || (pod.devices.mask & devices) != 0);
}

void player::node_goes(std::uint32_t i) {
  const outage& o = play_.outages[i];
  const std::uint32_t slot = outages_[i];
  if (o.devices.empty()) {
    if (!nodes_[slot].is_off) count_node(slot, -1);
    nodes_[slot].is_away = true;
    tell_node(slot);
  } else {
    tell_devices(i, false);
  }
  note_change('d', i, slot);
  std::vector<std::uint32_t> failed;
  for (const std::uint32_t p : nodes_[slot].held) {
    if (is_hit(pods_[p], o, nodes_[slot].lost)) failed.push_back(p);
  }
  std::sort(failed.begin(), failed.end());
  saves_work_ = o.saves_work;
  for (const std::uint32_t p : failed) {
    stop_pod(p, true);
    times_[pods_[p].job].has_failed = true;
  }
  settle_jobs();
}

void player::node_comes(std::uint32_t i) {
  const std::uint32_t slot = outages_[i];
  if (play_.outages[i].devices.empty()) {
    nodes_[slot].is_away = false;
    nodes_[slot].is_cordoned = false;
    if (!nodes_[slot].is_off) count_node(slot, 1);
    tell_node(slot);
  } else {
    tell_devices(i, true);
  }
  note_change('u', i, slot);
}

// ---- pools ----------------------------------------------------------------------------------------------------------

std::uint32_t player::place_in_pool(std::uint32_t slot) const {
  const std::vector<std::uint32_t>& slots = pools_[nodes_[slot].pool].slots;
  return static_cast<std::uint32_t>(std::find(slots.begin(), slots.end(), slot) - slots.begin());
}

void player::pod_leaves_node(std::uint32_t p) {
  const std::uint32_t slot = pods_[p].node.slot();
  node_entry& n = nodes_[slot];
  --n.pods;
  if (n.can_fail) {
    const std::uint32_t last = n.held.back();
    n.held[pods_[p].in_list] = last;
    pods_[last].in_list = pods_[p].in_list;
    n.held.pop_back();
  }
  plan_to_switch_off(slot);
}

/// An empty node of a pool goes off after some time; a pod that comes until then calls it off.
void player::plan_to_switch_off(std::uint32_t slot) {
  const node_entry& n = nodes_[slot];
  if (n.pool == no_row || n.pods > 0 || n.is_off) return;
  const std::uint32_t k = place_in_pool(slot);
  if (k < play_.pools[n.pool].least) return;
  events_.add(now_ + play_.pools[n.pool].idle_time, event_kind::node_is_idle, n.pool, k, ++pools_[n.pool].stamps[k]);
}

void player::node_is_idle(std::uint32_t pool, std::uint32_t k) {
  pool_entry& in = pools_[pool];
  const std::uint32_t slot = in.slots[k];
  node_entry& n = nodes_[slot];
  // While somebody waits it stays: what waits may be for it, and it would be asked for again.
  if (n.pods > 0 || n.is_off || pods_waiting_ > 0) return;
  n.is_off = true;
  --in.on;
  if (!n.is_away) count_node(slot, -1);
  tell_node(slot);
  note_change('f', slot, pool);
}

void player::node_is_on(std::uint32_t pool, std::uint32_t k) {
  pool_entry& in = pools_[pool];
  const std::uint32_t slot = in.slots[k];
  in.comes[k] = 0;
  nodes_[slot].is_off = false;
  if (!nodes_[slot].is_away) count_node(slot, 1);
  tell_node(slot);
  note_change('o', slot, pool);
  plan_to_switch_off(slot);
}

/// As many nodes as those who wait would fill, beside what is coming; where they ask for no GPUs, one.
void player::ask_pools() {
  if (pools_.empty()) return;
  std::int64_t missing = pods_waiting_ == 0 ? 0 : std::max<std::int64_t>(1, gpus_wanted_);
  for (const pool_entry& in : pools_) {
    for (std::uint32_t k = 0; k < in.slots.size(); ++k) {
      if (in.comes[k] != 0) missing -= std::max<std::int64_t>(1, nodes_[in.slots[k]].gpus);
    }
  }
  for (std::uint32_t i = 0; i < pools_.size(); ++i) {
    pool_entry& in = pools_[i];
    for (std::uint32_t k = 0; k < in.slots.size() && missing > 0; ++k) {
      const node_entry& n = nodes_[in.slots[k]];
      if (!n.is_off || in.comes[k] != 0) continue;
      in.comes[k] = 1;
      ++in.on;
      missing -= std::max<std::int64_t>(1, n.gpus);
      events_.add(now_ + play_.pools[i].start_time, event_kind::node_is_on, i, k, ++in.stamps[k]);
    }
  }
  // Nodes that were empty while somebody waited.
  if (pods_waiting_ == 0 && waited_) {
    for (const pool_entry& in : pools_) {
      for (const std::uint32_t slot : in.slots) plan_to_switch_off(slot);
    }
  }
  waited_ = pods_waiting_ > 0;
}

}  // namespace kaisched::simulation
