#include "model/account.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/int128.hpp"

namespace kaisched::model {

namespace {

enum class rounding : std::uint8_t { down, up };

/// a * b / c of amounts that are not negative.
std::int64_t mul_div(std::int64_t a, std::int64_t b, std::int64_t c, rounding way) {
  const base::int128 product = base::int128{a} * b;
  return static_cast<std::int64_t>((product + (way == rounding::up ? c - 1 : 0)) / c);
}

/// The part of one device that a pod gets, in milli-GPU; by memory rounded up.
std::int64_t milli_of(const pod_class& c, std::int64_t units) {
  if (c.memory_devices == 0) return c.device_share;
  if (units == whole_device) return whole_device;
  return std::min(whole_device, mul_div(c.ask.gpu_memory, whole_device, units, rounding::up));
}

struct free_amounts {
  std::int64_t cpu;
  std::int64_t gpu;
};

free_amounts amounts_of(const cluster_state& s, const live_state& live, node_row row) {
  const std::size_t at = static_cast<std::size_t>(row) * s.dims();
  return {(*live.idle)[at + dim_cpu] + (*live.releasing)[at + dim_cpu],
          (*live.idle)[at + dim_gpu] + (*live.releasing)[at + dim_gpu]};
}

void move_in_indexes(const cluster_state& s, live_state& live, node_row row, const free_amounts& before) {
  const free_amounts now = amounts_of(s, live, row);
  const std::uint32_t rank = (*s.name_rank)[row];
  if (now.cpu != before.cpu) live.by_cpu.write().move_later({before.cpu, rank, row}, now.cpu);
  const bool has_gpu = (*s.capacity)[static_cast<std::size_t>(row) * s.dims() + dim_gpu] != 0;
  if (has_gpu && now.gpu != before.gpu) live.by_gpu.write().move_later({before.gpu, rank, row}, now.gpu);
}

void add_along_path(const cluster_state& s, queue_row q, std::vector<quota_vector>& sums, const quota_vector& amount,
                    std::int64_t sign) {
  const std::vector<queue_info>& queues = *s.queues;
  for (; q != no_row; q = queues[q].parent) {
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) sums[q][r] += sign * amount[r];
  }
}

/// Whole devices that somebody could have, now or later, beyond those that are claimed.
std::int64_t unclaimed(const cluster_state& s, const live_state& live, node_row row, std::uint64_t without) {
  const device_row first = (*s.first_device)[row];
  std::int64_t count = -(*live.device_claims)[row];
  for (device_row d = first; d < (*s.first_device)[row + 1]; ++d) {
    if ((without >> (d - first) & 1U) != 0) continue;
    if ((*live.device_free)[d] + (*live.device_releasing)[d] >= (*s.device_units)[d]) ++count;
  }
  return count;
}

bool choose_whole(const cluster_state& s, const live_state& live, device_row first, device_row last,
                  std::int64_t wanted, device_amount amount, device_set& chosen) {
  const std::vector<std::int64_t>& whole = *s.device_units;
  const std::vector<std::int64_t>& free = *live.device_free;
  const std::vector<std::int64_t>& releasing = *live.device_releasing;
  const bool claim = amount == device_amount::free_or_releasing;
  for (device_row d = first; d < last && wanted > 0; ++d) {
    if (free[d] + releasing[d] < whole[d] || (!claim && free[d] < whole[d])) continue;
    if (!claim) chosen.mask |= std::uint64_t{1} << (d - first);
    --wanted;
  }
  return wanted == 0;
}

bool choose_parts(const cluster_state& s, const live_state& live, const pod_class& c, node_row row,
                  device_amount amount, bool keeps_claims, device_order order, const device_chooser* chooser,
                  std::uint64_t allowed, device_set& chosen) {
  const device_row first = (*s.first_device)[row];
  const device_row last = (*s.first_device)[row + 1];
  const std::vector<std::int64_t>& free = *live.device_free;
  const std::vector<std::int64_t>& releasing = *live.device_releasing;
  const bool packs = order == device_order::pack;
  const bool claimed = keeps_claims && (*live.device_claims)[row] > 0;
  std::int64_t spare = claimed ? unclaimed(s, live, row, 0) : 0;  // whole devices of which parts may be taken
  for (std::int64_t wanted = c.shared_count(); wanted > 0; --wanted) {
    device_row best = no_row;
    std::int64_t best_room = 0;
    std::uint64_t fitting = 0;
    for (device_row d = first; d < last; ++d) {
      if (((chosen.mask | ~allowed) >> (d - first) & 1U) != 0 || !gives_parts_to(s, row, d - first, c)) continue;
      const std::int64_t part = part_of_device(c, (*s.device_units)[d]);
      const std::int64_t available = free[d] + releasing[d];
      const std::int64_t room = amount == device_amount::free_now ? std::min(free[d], available) : available;
      if (part < 0 || room < part) continue;
      if (claimed && spare <= 0 && available >= (*s.device_units)[d]) continue;
      fitting |= std::uint64_t{1} << (d - first);
      if (best != no_row && (packs ? room >= best_room : room <= best_room)) continue;
      best = d;
      best_room = room;
    }
    if (best == no_row) return false;
    if (chooser != nullptr) {
      const std::uint32_t wish = (*chooser)(fitting);
      if (wish < max_devices_per_node && (fitting >> wish & 1U) != 0) best = first + wish;
    }
    if (claimed && free[best] + releasing[best] >= (*s.device_units)[best]) --spare;
    chosen.mask |= std::uint64_t{1} << (best - first);
    chosen.share = std::max(chosen.share, milli_of(c, (*s.device_units)[best]));
  }
  return true;
}

void reset_amounts(const cluster_state& s, live_state& live) {
  live.idle = base::cow(*s.capacity);
  live.releasing = base::cow(std::vector<std::int64_t>(s.capacity->size(), 0));
  std::vector<std::int64_t> free;
  for (const auto& node : *s.nodes) {
    const std::uint32_t count = node->device_count();
    for (std::uint32_t d = 0; d < count; ++d) free.push_back(node->device_offer(d));
  }
  live.device_releasing = base::cow(std::vector<std::int64_t>(free.size(), 0));
  live.device_free = base::cow(std::move(free));
  live.device_claims = base::cow(std::vector<std::int64_t>(s.nodes->size(), 0));
  const std::size_t queues = s.queues->size();
  live.queue_allocated = base::cow(std::vector<quota_vector>(queues));
  live.queue_nonpreemptible = base::cow(std::vector<quota_vector>(queues));
  live.queue_request = base::cow(std::vector<quota_vector>(queues));
  for (sub_group_row sub = 0; sub < s.sub_slots; ++sub) {
    if (!(live.counts[sub] == sub_counts{})) live.counts.write(sub) = {};
  }
}

}  // namespace

namespace {

/// GPUs of a node in parts that a pod takes by memory, rounded down: so parts of one device never come to more than it.
std::int64_t gpus_by_memory(const cluster_state& s, const pod_class& c, node_row row) {
  const std::int64_t memory = device_memory(s, row);
  if (memory == 0) return c.memory_devices * whole_device;
  return c.memory_devices * std::min(whole_device, mul_div(c.ask.gpu_memory, whole_device, memory, rounding::down));
}

/// Amounts of a node without the orders of nodes.
void charge_row(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                std::int64_t sign, gpu_charge gpus) {
  const std::uint32_t dims = s.dims();
  const std::size_t at = static_cast<std::size_t>(row) * dims;
  const std::vector<std::int64_t>& capacity = *s.capacity;
  const bool takes_idle = status != pod_status::pipelined;
  const std::int64_t to_releasing = status == pod_status::pipelined   ? -sign
                                    : status == pod_status::releasing ? sign
                                                                      : 0;
  const auto asked = static_cast<std::uint32_t>(std::min<std::size_t>(dims, c.ask.request.size()));
  const bool is_counted_elsewhere = gpus == gpu_charge::none && c.is_shared();
  const auto charge = [&](std::vector<std::int64_t>& amounts, std::int64_t direction) {
    for (std::uint32_t d = 0; d < asked; ++d) {
      if (capacity[at + d] == 0 || (is_counted_elsewhere && d == dim_gpu)) continue;
      amounts[at + d] += direction * c.ask.request[d];
    }
    if (c.memory_devices > 0 && !is_counted_elsewhere && capacity[at + dim_gpu] != 0)
      amounts[at + dim_gpu] += direction * gpus_by_memory(s, c, row);
  };
  if (takes_idle) charge(live.idle.write(), -sign);
  if (to_releasing != 0) charge(live.releasing.write(), to_releasing);
}

}  // namespace

void charge_gpus(const cluster_state& s, live_state& live, node_row row, pod_status status, std::int64_t amount) {
  const std::size_t at = static_cast<std::size_t>(row) * s.dims() + dim_gpu;
  if (amount == 0 || (*s.capacity)[at] == 0) return;
  const free_amounts before = amounts_of(s, live, row);
  if (status != pod_status::pipelined) live.idle.write()[at] -= amount;
  if (status == pod_status::pipelined) live.releasing.write()[at] -= amount;
  if (status == pod_status::releasing) live.releasing.write()[at] += amount;
  move_in_indexes(s, live, row, before);
}

void charge_devices(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                    const device_set& devices, std::int64_t sign) {
  const device_row first = (*s.first_device)[row];
  for (std::uint64_t left = devices.mask; left != 0; left &= left - 1) {
    const std::size_t d = first + static_cast<std::size_t>(std::countr_zero(left));
    const std::int64_t part = sign * std::max<std::int64_t>(0, part_of_device(c, (*s.device_units)[d]));
    if (status == pod_status::pipelined) {
      live.device_releasing.write()[d] -= part;
      continue;
    }
    live.device_free.write()[d] -= part;
    if (status == pod_status::releasing) live.device_releasing.write()[d] += part;
  }
}

void charge_amounts(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                    std::int64_t sign, gpu_charge gpus) {
  const free_amounts before = amounts_of(s, live, row);
  charge_row(s, live, c, row, status, sign, gpus);
  move_in_indexes(s, live, row, before);
}

namespace {

void charge_devices_of(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                       const device_set& devices, std::int64_t sign) {
  if (devices.mask != 0) {
    charge_devices(s, live, c, row, status, devices, sign);
  } else if (status == pod_status::pipelined && c.whole_devices > 0) {
    live.device_claims.write()[row] += sign * c.whole_devices;
  }
}

}  // namespace

void charge_node(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                 const device_set& devices, std::int64_t sign) {
  charge_amounts(s, live, c, row, status, sign);
  charge_devices_of(s, live, c, row, status, devices, sign);
}

void charge_sums(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                 const device_set& devices, std::int64_t sign) {
  charge_row(s, live, c, row, status, sign, gpu_charge::in_parts);
  charge_devices_of(s, live, c, row, status, devices, sign);
}

void charge_node_anew(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status from,
                      pod_status to, const device_set& devices) {
  const free_amounts before = amounts_of(s, live, row);
  charge_row(s, live, c, row, from, -1, gpu_charge::in_parts);
  charge_row(s, live, c, row, to, 1, gpu_charge::in_parts);
  move_in_indexes(s, live, row, before);
  charge_devices_of(s, live, c, row, from, devices, -1);
  charge_devices_of(s, live, c, row, to, devices, 1);
}

void add_gpus(const cluster_state& s, live_state& live, node_row row, std::int64_t idle, std::int64_t releasing) {
  const free_amounts before = amounts_of(s, live, row);
  const std::size_t at = static_cast<std::size_t>(row) * s.dims() + dim_gpu;
  if (idle != 0) live.idle.write()[at] += idle;
  if (releasing != 0) live.releasing.write()[at] += releasing;
  move_in_indexes(s, live, row, before);
}

std::int64_t device_memory(const cluster_state& s, node_row row) {
  std::int64_t least = 0;
  for (const vendor_device& d : (*s.nodes)[row]->vendor_devices) {
    if (d.memory <= whole_device) return 0;
    least = least == 0 ? d.memory : std::min(least, d.memory);
  }
  if (least != 0) return least;
  for (device_row d = (*s.first_device)[row]; d < (*s.first_device)[row + 1]; ++d) {
    const std::int64_t units = (*s.device_units)[d];
    if (units == whole_device) return 0;
    least = least == 0 ? units : std::min(least, units);
  }
  // A node whose devices are not tracked tells the memory of all.
  return least == 0 && (*s.nodes)[row]->devices.empty() ? (*s.nodes)[row]->gpu_memory : least;
}

std::int64_t part_of_device(const pod_class& c, std::int64_t units) {
  if (c.memory_devices > 0) return units == whole_device ? -1 : c.ask.gpu_memory;
  return mul_div(c.device_share, units, whole_device, rounding::down);
}

bool gives_parts_to(const cluster_state& s, node_row row, std::uint32_t device, const pod_class& c) {
  if (s.nodes_with_sharing_modes == 0 && c.ask.sharing == sharing_mode::unknown) return true;
  return gives_parts((*s.nodes)[row]->sharing_of(device), c.ask.sharing);
}

quota_vector quota_request(const pod_class& c) {
  return {c.requests(dim_cpu), c.requests(dim_memory), c.requests(dim_gpu) + c.mig_share};
}

quota_vector quota_request_on(const cluster_state& s, const pod_class& c, node_row row) {
  quota_vector amount = quota_request(c);
  if (c.memory_devices > 0) amount[2] += gpus_of_memory(c, row == no_row ? 0 : device_memory(s, row));
  return amount;
}

std::int64_t gpus_of_memory(const pod_class& c, std::int64_t device_bytes) {
  if (c.memory_devices == 0) return 0;
  return c.memory_devices * milli_of(c, device_bytes == 0 ? whole_device : device_bytes);
}

void charge_queues(const cluster_state& s, live_state& live, const group_core& group, const quota_vector& amount,
                   std::int64_t sign) {
  if (group.queue == no_row) return;
  add_along_path(s, group.queue, live.queue_allocated.write(), amount, sign);
  // Of semi-preemptible groups sessions know which pods count.
  if (!group.preemptible && !group.semi_preemptible)
    add_along_path(s, group.queue, live.queue_nonpreemptible.write(), amount, sign);
}

void charge_request(const cluster_state& s, live_state& live, const group_core& group, const quota_vector& amount,
                    std::int64_t sign) {
  if (group.queue == no_row) return;
  add_along_path(s, group.queue, live.queue_request.write(), amount, sign);
}

void count_pod(live_state& live, sub_group_row sub, pod_status status, std::int32_t sign) {
  if (sub == no_row) return;
  const auto step = static_cast<std::uint32_t>(sign);  // wraps around: adding 2^32 - 1 takes one off
  sub_counts& n = live.counts.write(sub);
  n.total += step;
  if (status == pod_status::pending) n.pending += step;
  if (status == pod_status::gated) n.gated += step;
  if (status == pod_status::pipelined) n.pipelined += step;
  if (status == pod_status::succeeded) n.succeeded += step;
  if (is_in(status, alive)) n.alive += step;
  if (is_in(status, active_allocated)) n.active_allocated += step;
  if (is_in(status, active_used)) n.active_used += step;
  if (is_in(status, holding)) n.holding += step;
}

void recount_pod(live_state& live, sub_group_row sub, pod_status from, pod_status to) {
  if (sub == no_row) return;
  sub_counts& n = live.counts.write(sub);
  // Wraps around: what only the old status is in loses one.
  const auto count = [&](std::uint32_t& of, std::uint32_t mask) {
    of += static_cast<std::uint32_t>(is_in(to, mask)) - static_cast<std::uint32_t>(is_in(from, mask));
  };
  count(n.pending, bit(pod_status::pending));
  count(n.gated, bit(pod_status::gated));
  count(n.pipelined, bit(pod_status::pipelined));
  count(n.succeeded, bit(pod_status::succeeded));
  count(n.alive, alive);
  count(n.active_allocated, active_allocated);
  count(n.active_used, active_used);
  count(n.holding, holding);
}

bool lacks_pods_of_gang(const cluster_state& s, const live_state& live, group_row g) {
  const group_core& group = s.groups[g];
  bool any = false;
  bool lacks = false;
  for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
    const sub_info& info = s.subs[sub];
    const auto have = static_cast<std::int64_t>(info.is_set ? info.members : live.counts[sub].active_used);
    any = any || (!info.is_set && have > 0);
    lacks = lacks || (info.min != unset && have < info.min);
  }
  return any && lacks;
}

bool group_before(const cluster_state& s, group_row a, group_row b) {
  const group_core& x = s.groups[a];
  const group_core& y = s.groups[b];
  if (x.priority != y.priority) return x.priority > y.priority;
  if (x.created != y.created) return x.created < y.created;
  return s.group_names[a] < s.group_names[b];
}

bool choose_devices(const cluster_state& s, const live_state& live, const pod_class& c, node_row row,
                    device_amount amount, bool keeps_claims, device_set& chosen, device_order order,
                    const device_chooser* chooser, std::uint64_t allowed) {
  chosen = {};
  if (!c.wants_gpu()) return true;
  const device_row first = (*s.first_device)[row];
  const device_row last = (*s.first_device)[row + 1];
  if (first == last) return !c.is_shared() || (*s.nodes)[row]->is_shared_by_vendors();
  chosen.share = c.device_share;
  if (c.whole_devices > 0) {
    const bool claimed = keeps_claims && (*live.device_claims)[row] > 0;
    if (claimed && unclaimed(s, live, row, 0) < c.whole_devices) return false;
    return choose_whole(s, live, first, last, c.whole_devices, amount, chosen);
  }
  return choose_parts(s, live, c, row, amount, keeps_claims, order, chooser, allowed, chosen);
}

bool leaves_claims(const cluster_state& s, const live_state& live, node_row row, std::uint64_t devices) {
  return (*live.device_claims)[row] == 0 || unclaimed(s, live, row, devices) >= 0;
}

device_set devices_of(const cluster_state& s, const pod_class& c, node_row row, std::uint64_t mask) {
  device_set set{mask, c.device_share};
  for (std::uint64_t left = c.memory_devices > 0 ? mask : 0; left != 0; left &= left - 1) {
    const std::size_t d = (*s.first_device)[row] + static_cast<std::size_t>(std::countr_zero(left));
    set.share = std::max(set.share, milli_of(c, (*s.device_units)[d]));
  }
  return set;
}

bool can_take(const cluster_state& s, const live_state& live, const pod_class& c, node_row row,
              const device_set& devices, device_amount amount) {
  for (std::uint64_t left = devices.mask; left != 0; left &= left - 1) {
    const std::size_t d = (*s.first_device)[row] + static_cast<std::size_t>(std::countr_zero(left));
    const std::int64_t available = (*live.device_free)[d] + (*live.device_releasing)[d];
    const std::int64_t room =
        amount == device_amount::free_now ? std::min((*live.device_free)[d], available) : available;
    if (room < part_of_device(c, (*s.device_units)[d])) return false;
  }
  return true;
}

void account_pod(const cluster_state& s, live_state& live, pod_row p, std::int64_t sign) {
  const pod_core& pod = s.pods[p];
  const auto status = static_cast<pod_status>(live.pod_state[p]);
  const pod_class& c = *s.classes[pod.pod_class];
  const std::uint32_t slot = live.pod_node[p];
  const node_row row = slot == no_row ? no_row : (*s.node_row_of_slot)[slot];  // the node may be going with this delta
  if (row != no_row && is_in(status, active_used)) charge_node(s, live, c, row, status, live.pod_devices[p], sign);
  if (pod.sub == no_row) return;  // pods of an unknown sub-group are no part of the group
  const group_core& group = s.groups[pod.group];
  if (is_in(status, holding)) {
    const quota_vector held = quota_request_on(s, c, row);
    charge_queues(s, live, group, held, sign);
    charge_request(s, live, group, held, sign);
  } else if (status == pod_status::pending) {
    charge_request(s, live, group, quota_request(c), sign);
  }
  count_pod(live, pod.sub, status, static_cast<std::int32_t>(sign));
}

namespace {

/// Nodes mostly stand as they stood: then what is new is put in by search.
void put_in_order(std::vector<node_index::entry>& entries, std::size_t known) {
  const auto before = [](const node_index::entry& a, const node_index::entry& b) { return a.before(b); };
  const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(known);
  if (!std::is_sorted(entries.begin(), middle, before)) std::sort(entries.begin(), middle, before);
  std::sort(middle, entries.end(), before);
  std::inplace_merge(entries.begin(), middle, entries.end(), before);
}

}  // namespace

void rebuild_indexes(const cluster_state& s, live_state& live, std::span<const node_row> new_rows) {
  std::vector<node_index::entry> cpu;
  std::vector<node_index::entry> gpu;
  std::vector<bool> in_cpu(s.node_count());
  std::vector<bool> in_gpu(s.node_count());
  const auto add = [&](std::vector<node_index::entry>& to, std::vector<bool>& in, node_row row, std::int64_t key) {
    if (in[row]) return;
    in[row] = true;
    to.push_back({key, (*s.name_rank)[row], row});
  };
  const auto has_gpu = [&](node_row row) {
    return (*s.capacity)[static_cast<std::size_t>(row) * s.dims() + dim_gpu] != 0;
  };
  const auto now = [&](const node_index::entry& old) { return old.row < new_rows.size() ? new_rows[old.row] : no_row; };
  for (const node_index::entry& old : *live.by_cpu) {
    if (const node_row row = now(old); row != no_row) add(cpu, in_cpu, row, amounts_of(s, live, row).cpu);
  }
  for (const node_index::entry& old : *live.by_gpu) {
    if (const node_row row = now(old); row != no_row && has_gpu(row))
      add(gpu, in_gpu, row, amounts_of(s, live, row).gpu);
  }
  const std::size_t known_cpu = cpu.size();
  const std::size_t known_gpu = gpu.size();
  for (node_row row = 0; row < s.node_count(); ++row) {
    const free_amounts free = amounts_of(s, live, row);
    add(cpu, in_cpu, row, free.cpu);
    if (has_gpu(row)) add(gpu, in_gpu, row, free.gpu);
  }
  put_in_order(cpu, known_cpu);
  put_in_order(gpu, known_gpu);
  live.by_cpu.write().assign(std::move(cpu));
  live.by_gpu.write().assign(std::move(gpu));
}

void recount(cluster_state& s) {
  reset_amounts(s, s.live);
  rebuild_indexes(s, s.live, {});
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live) account_pod(s, s.live, p, 1);
  }
  s.live.settle_orders();
}

cluster_state::cluster_state() {
  dimensions.write() = {{"cpu", "milli-cores"}, {"memory", "bytes"}, {"gpu", "milli-GPU"}, {"pods", "count"}};
  first_device.write() = {0};
}

bool cluster_state::has_mig_resources() const {
  return std::any_of(dimensions->begin(), dimensions->end(),
                     [](const dimension_info& d) { return is_mig_resource(d.name); });
}

dimension cluster_state::mig_dimension(std::string_view profile) const {
  for (std::uint32_t d = built_in_dimensions; d < dims(); ++d) {
    if (profile_name_of((*dimensions)[d].name) == profile) return d;
  }
  return no_row;
}

std::int64_t node_info::device_units(std::uint32_t device) const {
  const std::int64_t own = devices.empty() ? 0 : devices[device].memory;
  const std::int64_t memory = own != 0 ? own : gpu_memory;
  return memory > whole_device ? memory : whole_device;
}

std::int64_t node_info::device_offer(std::uint32_t device) const {
  if (devices.empty()) return device_units(device);
  return devices[device].is_offered()
             ? mul_div(devices[device].share, device_units(device), whole_device, rounding::down)
             : 0;
}

std::uint32_t node_info::device_count() const {
  if (is_shared_by_vendors()) return 0;
  if (!devices.empty()) return static_cast<std::uint32_t>(devices.size());
  const std::int64_t gpu = dim_gpu < capacity.size() ? capacity[dim_gpu] : 0;
  if (gpu <= 0 || gpu % whole_device != 0 || gpu / whole_device > max_devices_per_node) return 0;
  return static_cast<std::uint32_t>(gpu / whole_device);
}

}  // namespace kaisched::model
