#include "policy/devices/sharing/load_book.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "policy/access.hpp"

namespace kaisched::policy {

void load_book::open(const session_access& a, std::int64_t most) {
  const model::cluster_state& s = *a.state;
  *this = {};
  std::vector<class_row> kinds(s.pod_slots, no_row);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    const bool counts = s.pods[p].live && s.class_of(p).is_shared() && !s.class_of(p).load.empty();
    if (!counts) continue;
    kinds[p] = s.pods[p].pod_class;
    for (const model::named_amount& one : s.class_of(p).load) resources_.push_back(one.name);
  }
  std::sort(resources_.begin(), resources_.end());
  resources_.erase(std::unique(resources_.begin(), resources_.end()), resources_.end());
  if (!used()) return;
  most_ = most;
  loads_.resize(1);
  load_of_pod_.assign(s.pod_slots, 0);
  std::map<class_row, std::uint32_t> known;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (kinds[p] == no_row) continue;
    const auto [at, fresh] = known.try_emplace(kinds[p], static_cast<std::uint32_t>(loads_.size()));
    if (fresh) loads_.push_back(parts_of(s.class_of(p)));
    load_of_pod_[p] = at->second;
  }
  const std::size_t devices = s.first_device->back();
  staying_.assign(devices * resources_.size(), 0);
  leaving_.assign(staying_.size(), 0);
  spots_.assign(s.pod_slots, {});
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (load_of_pod_[p] != 0) changed(a, p);
  }
}

std::vector<load_book::part> load_book::parts_of(const model::pod_class& c) const {
  std::vector<part> parts;
  for (const model::named_amount& one : c.load) {
    const auto at = std::lower_bound(resources_.begin(), resources_.end(), one.name);
    if (at != resources_.end() && *at == one.name)
      parts.push_back({static_cast<std::uint32_t>(at - resources_.begin()), one.amount});
  }
  return parts;
}

void load_book::changed(const session_access& a, pod_row pod) {
  if (load_of_pod_[pod] == 0) return;
  const auto status = static_cast<pod_status>(a.live->pod_state[pod]);
  spot now;
  if (model::is_in(status, model::active_used) && a.live->pod_node[pod] != no_row) {
    now.row = (*a.state->node_row_of_slot)[a.live->pod_node[pod]];
    now.devices = a.live->pod_devices[pod].mask;
    now.is_leaving = status == pod_status::releasing;
  }
  if (now != spots_[pod]) {
    count(*a.state, parts_of(pod), spots_[pod], -1);
    count(*a.state, parts_of(pod), now, 1);
    spots_[pod] = now;
  }
  const auto is_of_pod = [pod](const auto& one) { return one.first == pod; };
  for (const auto& [other, where] : left_behind_) {
    if (other == pod) count(*a.state, parts_of(pod), where, -1);
  }
  std::erase_if(left_behind_, is_of_pod);
  for (const leaving_pod& one : *a.leaving) {
    if (one.pod != pod) continue;
    left_behind_.emplace_back(pod, spot{(*a.state->node_row_of_slot)[one.node], one.devices.mask, true});
    count(*a.state, parts_of(pod), left_behind_.back().second, 1);
  }
}

void load_book::count(const model::cluster_state& s, const std::vector<part>& load, const spot& where,
                      std::int64_t sign) {
  if (where.row == no_row) return;
  std::vector<std::int64_t>& sums = where.is_leaving ? leaving_ : staying_;
  for (std::uint64_t left = where.devices; left != 0; left &= left - 1) {
    const std::size_t device = (*s.first_device)[where.row] + static_cast<std::size_t>(std::countr_zero(left));
    for (const part& one : load) sums[device * resources_.size() + one.resource] += sign * one.load;
  }
}

bool load_book::has_room(const std::vector<part>& load, device_row device, amount which) const {
  return std::all_of(load.begin(), load.end(), [&](const part& one) {
    const std::size_t at = std::size_t{device} * resources_.size() + one.resource;
    return staying_[at] + (which == amount::now ? leaving_[at] : 0) + one.load <= most_;
  });
}

std::uint64_t load_book::devices_for(const model::cluster_state& s, const model::pod_class& c, node_row row,
                                     amount which) const {
  if (!concerns(c)) return std::numeric_limits<std::uint64_t>::max();
  const std::vector<part> load = parts_of(c);
  const device_row first = (*s.first_device)[row];
  std::uint64_t mask = 0;
  for (device_row d = first; d < (*s.first_device)[row + 1]; ++d) {
    if (has_room(load, d, which)) mask |= std::uint64_t{1} << (d - first);
  }
  return mask;
}

bool load_book::can_take(const model::cluster_state& s, const model::pod_class& c, node_row row, std::uint64_t devices,
                         amount which) const {
  return (devices & ~devices_for(s, c, row, which)) == 0;
}

std::int64_t load_book::contention(const model::cluster_state& s, const model::pod_class& c, node_row row,
                                   std::uint32_t device) const {
  std::int64_t sum = 0;
  for (const part& one : parts_of(c)) {
    sum += one.load * staying_[((*s.first_device)[row] + std::size_t{device}) * resources_.size() + one.resource];
  }
  return sum;
}

}  // namespace kaisched::policy
