#include "policy/devices/sharing/gpu_groups.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <kaisched/policy.hpp>

#include "base/stable_sort.hpp"
#include "model/account.hpp"
#include "policy/devices/sharing/kai_shares.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

using model::cluster_state;
using model::live_state;
using model::pod_class;

namespace {

/// A whole device in the order of devices, before it is a group.
constexpr std::uint32_t whole = no_row;

bool leaves_completely(const gpu_group& group) { return group.used != 0 && group.used == group.releasing; }

std::int64_t gpus_at(const std::vector<std::int64_t>& amounts, const cluster_state& s, node_row row) {
  return amounts[static_cast<std::size_t>(row) * s.dims() + dim_gpu];
}

}  // namespace

// ---- opening -----------------------------------------------------------------------------------------------------

void gpu_groups::open(const cluster_state& s, live_state& live) {
  *this = {};
  if (s.pods_with_shares == 0) return;
  nodes_.resize(s.node_count());
  here_.resize(s.pod_slots);
  for (node_row row = 0; row < s.node_count(); ++row) {
    nodes_[row].gpu_mib = kai_gpu_memory((*s.nodes)[row]->gpu_memory);
  }
  std::vector<pod_row> in_turn;  // their order counts: those that share, and claims, which are in use but take nothing
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    const std::uint32_t slot = live.pod_node[p];
    if (!s.pods[p].live || slot == no_row ||
        !model::is_in(static_cast<pod_status>(live.pod_state[p]), model::active_used))
      continue;
    const node_row row = (*s.node_row_of_slot)[slot];
    const pod_class& c = s.class_of(p);
    if (c.is_shared()) {
      const auto status = static_cast<pod_status>(live.pod_state[p]);
      model::charge_amounts(s, live, c, row, status, -1);
      model::charge_amounts(s, live, c, row, status, 1, model::gpu_charge::none);
      in_turn.push_back(p);
    } else if (static_cast<pod_status>(live.pod_state[p]) == pod_status::pipelined) {
      in_turn.push_back(p);
    } else {
      count_whole(row, c, 1);
    }
  }
  // KAI reads pods in any order. Here bystanders are first, then the oldest pods, which others have joined.
  std::stable_sort(in_turn.begin(), in_turn.end(), [&](pod_row a, pod_row b) {
    const group_row x = s.pods[a].group;
    const group_row y = s.pods[b].group;
    if ((x == no_row) != (y == no_row)) return x == no_row;
    if (s.pod_extras[a].created != s.pod_extras[b].created) return s.pod_extras[a].created < s.pod_extras[b].created;
    if (s.pod_names[a] != s.pod_names[b]) return s.pod_names[a] < s.pod_names[b];
    return x != y && model::group_before(s, x, y);
  });
  for (const pod_row p : in_turn) {
    const node_row row = (*s.node_row_of_slot)[live.pod_node[p]];
    if (!s.class_of(p).is_shared()) {
      count_whole(row, s.class_of(p), 1);
      continue;
    }
    put(s, live, p, row, static_cast<pod_status>(live.pod_state[p]),
        on_devices(row, s.class_of(p), live.pod_devices[p].mask).groups);
  }
}

// ---- questions ---------------------------------------------------------------------------------------------------

bool gpu_groups::may_join(const gpu_group& group, node_row row, std::int64_t mib) const {
  return group.used != 0 && nodes_[row].gpu_mib - group.allocated + group.releasing - mib >= 0 &&
         group.allocated != group.releasing;
}

bool gpu_groups::any_joinable(node_row row, std::int64_t mib) const {
  const std::vector<gpu_group>& groups = nodes_[row].groups;
  return std::any_of(groups.begin(), groups.end(), [&](const gpu_group& g) { return may_join(g, row, mib); });
}

std::int64_t gpu_groups::joinable(node_row row, const pod_class& c) const {
  const std::int64_t mib = kai_memory(c, nodes_[row].gpu_mib);
  const std::vector<gpu_group>& groups = nodes_[row].groups;
  return std::count_if(groups.begin(), groups.end(), [&](const gpu_group& g) { return may_join(g, row, mib); });
}

bool gpu_groups::fits(node_row row, const pod_class& c, std::int64_t free) const {
  const std::int64_t wanted = c.shared_count();
  if (c.memory_devices > 0) {
    // More than one device may only be asked for as whole ones.
    const std::int64_t hundredths = kai_hundredths(kai_requested_mib(c), nodes_[row].gpu_mib);
    if (hundredths > 100 && hundredths % 100 != 0) return false;
  }
  const std::int64_t devices = free >= 0 ? free / whole_device : -((-free + whole_device - 1) / whole_device);
  return devices + std::min(joinable(row, c), wanted) >= wanted;
}

std::uint32_t gpu_groups::device_for_group(const cluster_state& s, const live_state& live, node_row row,
                                           std::uint64_t taken) const {
  const device_row first = (*s.first_device)[row];
  const device_row count = (*s.first_device)[row + 1] - first;
  for (const gpu_group& g : nodes_[row].groups) {
    const bool stays = g.used != 0 && g.allocated != g.releasing;
    if (stays && g.device != no_device) taken |= std::uint64_t{1} << g.device;
  }
  for (const bool now : {true, false}) {
    for (std::uint32_t d = 0; d < count; ++d) {
      if ((taken >> d & 1U) != 0) continue;
      const std::int64_t free = (*live.device_free)[first + d];
      const std::int64_t later = free + (*live.device_releasing)[first + d];
      if (later >= (*s.device_units)[first + d] && (!now || free >= (*s.device_units)[first + d])) return d;
    }
  }
  return no_device;
}

std::optional<gpu_groups::choice> gpu_groups::choose(const cluster_state& s, const live_state& live, node_row row,
                                                     const pod_class& c, bool starts, group_order order) const {
  struct candidate {
    double score = 0;
    std::uint32_t at = whole;
  };
  const node_book& node = nodes_[row];
  const std::int64_t mib = kai_memory(c, node.gpu_mib);
  const auto score_of = [&](double part_used) {
    return (order.pack ? part_used : 0.0) + (order.spread ? 1 - part_used : 0.0);
  };
  boost::container::small_vector<candidate, 16> candidates;
  for (std::uint32_t i = 0; i < node.groups.size(); ++i) {
    const gpu_group& g = node.groups[i];
    if (may_join(g, row, mib))
      candidates.push_back({score_of(static_cast<double>(g.used) / static_cast<double>(node.gpu_mib)), i});
  }
  const std::int64_t idle = gpus_at(*live.idle, s, row);
  const std::int64_t releasing = gpus_at(*live.releasing, s, row);
  if (idle > 0 || releasing > 0) {
    for (std::int64_t left = std::min(idle / whole_device + releasing / whole_device, c.shared_count()); left > 0;
         --left)
      candidates.push_back({score_of(0), whole});
  }
  base::stable_sort(candidates, [](const candidate& x, const candidate& y) { return x.score > y.score; });
  if (static_cast<std::int64_t>(candidates.size()) < c.shared_count()) return std::nullopt;
  candidates.resize(static_cast<std::size_t>(c.shared_count()));
  choice made;
  made.must_wait = !starts;
  std::uint32_t next_id = node.next_id;
  bool told = true;
  for (const candidate& one : candidates) {
    std::uint32_t device = no_device;
    if (one.at == whole) {
      made.groups.push_back(next_id++);
      device = device_for_group(s, live, row, made.devices);
    } else {
      const gpu_group& g = node.groups[one.at];
      made.groups.push_back(g.id);
      made.must_wait = made.must_wait || !g.was_allocated || node.gpu_mib - g.allocated - mib < 0;
      device = g.device;
    }
    told = told && device != no_device;
    if (device != no_device) made.devices |= std::uint64_t{1} << device;
  }
  if (!told) made.devices = 0;
  return made;
}

gpu_groups::choice gpu_groups::on_devices(node_row row, const pod_class& c, std::uint64_t devices) const {
  const node_book& node = nodes_[row];
  choice made;
  made.devices = devices;
  std::uint32_t next_id = node.next_id;
  for (std::uint32_t d = 0; d < max_devices_per_node; ++d) {
    if ((devices >> d & 1U) == 0) continue;
    const auto known = std::find_if(node.groups.begin(), node.groups.end(),
                                    [&](const gpu_group& g) { return g.device == d && g.used != 0; });
    made.groups.push_back(known == node.groups.end() ? next_id++ : known->id);
  }
  while (static_cast<std::int64_t>(made.groups.size()) < c.shared_count()) made.groups.push_back(next_id++);
  return made;
}

const group_ids* gpu_groups::groups_of(pod_row pod, node_row row) const {
  if (here_[pod].row == row) return &here_[pod].groups;
  const auto left = std::find_if(elsewhere_.begin(), elsewhere_.end(),
                                 [&](const holding& one) { return one.pod == pod && one.row == row; });
  return left == elsewhere_.end() ? nullptr : &left->groups;
}

std::int64_t gpu_groups::idle_parts(node_row row) const {
  std::int64_t sum = 0;
  for (const gpu_group& g : nodes_[row].groups) {
    if (g.allocated > 0) sum += whole_device - kai_hundredths(g.allocated, nodes_[row].gpu_mib) * (whole_device / 100);
  }
  return sum;
}

std::int64_t gpu_groups::releasing_parts(node_row row) const {
  std::int64_t sum = 0;
  for (const gpu_group& g : nodes_[row].groups) {
    if (g.releasing > 0 && !leaves_completely(g))
      sum += kai_hundredths(g.releasing, nodes_[row].gpu_mib) * (whole_device / 100);
  }
  return sum;
}

std::int64_t gpu_groups::free_memory(node_row row) const {
  std::int64_t sum = 0;
  for (const gpu_group& g : nodes_[row].groups) {
    if (g.allocated > 0) sum += nodes_[row].gpu_mib - g.allocated;
    if (g.releasing > 0 && !leaves_completely(g)) sum += g.releasing;
  }
  return sum;
}

double gpu_groups::room(node_row row) const {
  double sum = 0;
  for (const gpu_group& g : nodes_[row].groups) {
    const std::int64_t free = nodes_[row].gpu_mib - g.allocated + g.releasing;
    if (g.used > 0 && free > 0) sum += static_cast<double>(free) / static_cast<double>(nodes_[row].gpu_mib);
  }
  return sum;
}

// ---- changes -----------------------------------------------------------------------------------------------------

void gpu_groups::count_whole(node_row row, const pod_class& c, std::int64_t sign) {
  nodes_[row].whole_used += sign * c.requests(dim_gpu);
}

gpu_group& gpu_groups::group_of(node_book& node, std::uint32_t id) {
  const auto known =
      std::find_if(node.groups.begin(), node.groups.end(), [&](const gpu_group& g) { return g.id == id; });
  if (known != node.groups.end()) return *known;
  node.next_id = std::max(node.next_id, id + 1);
  node.groups.push_back({id, no_device});
  return node.groups.back();
}

void gpu_groups::book(const cluster_state& s, live_state& live, const holding& one, std::int64_t sign) {
  node_book& node = nodes_[one.row];
  if (node.gpu_count == not_counted) node.gpu_count = static_cast<std::int64_t>(gpu_count(s, one.row));
  const std::int64_t mib = kai_memory(s.class_of(one.pod), node.gpu_mib);
  for (const std::uint32_t id : one.groups) {
    gpu_group& group = group_of(node, id);
    amounts gpus{gpus_at(*live.idle, s, one.row), gpus_at(*live.releasing, s, one.row)};
    const amounts before = gpus;
    if (sign > 0)
      add(node, group, one.status, mib, gpus);
    else
      remove(node, group, one.status, mib, gpus);
    model::add_gpus(s, live, one.row, gpus.idle - before.idle, gpus.releasing - before.releasing);
  }
}

std::int64_t gpu_groups::in_use(const node_book& node) {
  return node.whole_used / whole_device +
         std::count_if(node.groups.begin(), node.groups.end(), [](const gpu_group& g) { return g.used > 0; });
}

/// The first pod of a group takes the device, unless it is counted as taken already.
void gpu_groups::take_idle(const node_book& node, amounts& gpus) {
  if (node.gpu_count < gpus.idle / whole_device + in_use(node)) gpus.idle -= whole_device;
}

void gpu_groups::give_idle(const node_book& node, amounts& gpus) {
  if (node.gpu_count >= gpus.idle / whole_device + in_use(node)) gpus.idle += whole_device;
}

void gpu_groups::mark(gpu_group& group, bool on, amounts& gpus) {
  if (group.marked == on) return;
  group.marked = on;
  gpus.releasing += on ? whole_device : -whole_device;
}

void gpu_groups::add(node_book& node, gpu_group& group, pod_status status, std::int64_t mib, amounts& gpus) {
  group.used += mib;
  if (status == pod_status::releasing) {
    group.releasing += mib;
    group.allocated += mib;
    group.was_allocated = true;
    if (group.used == group.releasing) {
      mark(group, true, gpus);
      take_idle(node, gpus);
    }
  } else if (status == pod_status::pipelined) {
    group.releasing -= mib;
    if (group.used - mib == group.releasing + mib) gpus.releasing -= whole_device;
  } else {
    group.allocated += mib;
    group.was_allocated = true;
    if (group.used <= mib) take_idle(node, gpus);
    mark(group, false, gpus);
  }
}

void gpu_groups::remove(node_book& node, gpu_group& group, pod_status status, std::int64_t mib, amounts& gpus) {
  group.used -= mib;
  if (status == pod_status::releasing) {
    group.releasing -= mib;
    group.allocated -= mib;
    if (group.used <= 0) {
      give_idle(node, gpus);
      mark(group, false, gpus);
    }
  } else if (status == pod_status::pipelined) {
    group.releasing += mib;
    const bool was_leaving = group.used + mib == group.releasing - mib;
    if (was_leaving || (group.used == 0 && group.releasing == 0)) gpus.releasing += whole_device;
  } else {
    group.allocated -= mib;
    if (group.used <= 0) give_idle(node, gpus);
    if (leaves_completely(group)) mark(group, true, gpus);
  }
}

void gpu_groups::put(const cluster_state& s, live_state& live, pod_row pod, node_row row, pod_status status,
                     const group_ids& groups) {
  // Groups that are opened by this pod take the devices that it was given and that no other group of it is on.
  std::uint64_t devices = live.pod_devices[pod].mask;
  for (const std::uint32_t id : groups) {
    gpu_group& group = group_of(nodes_[row], id);
    if (group.device != no_device) devices &= ~(std::uint64_t{1} << group.device);
  }
  for (const std::uint32_t id : groups) {
    gpu_group& group = group_of(nodes_[row], id);
    if (group.device != no_device || devices == 0) continue;
    group.device = static_cast<std::uint32_t>(std::countr_zero(devices));
    devices &= devices - 1;
  }
  here_[pod] = {pod, row, status, groups};
  book(s, live, here_[pod], 1);
}

void gpu_groups::take(const cluster_state& s, live_state& live, pod_row pod) {
  book(s, live, here_[pod], -1);
  here_[pod].row = no_row;
}

void gpu_groups::restate(const cluster_state& s, live_state& live, pod_row pod, pod_status status) {
  book(s, live, here_[pod], -1);
  here_[pod].status = status;
  book(s, live, here_[pod], 1);
}

void gpu_groups::leave_behind(pod_row pod) {
  elsewhere_.push_back(here_[pod]);
  here_[pod].row = no_row;
}

void gpu_groups::come_back(pod_row pod, node_row row) {
  const auto left = std::find_if(elsewhere_.rbegin(), elsewhere_.rend(),
                                 [&](const holding& one) { return one.pod == pod && one.row == row; });
  if (left == elsewhere_.rend()) return;
  here_[pod] = std::move(*left);
  elsewhere_.erase(std::next(left).base());
}

void gpu_groups::forget(pod_row pod) {
  forgotten_.push_back(here_[pod]);
  here_[pod].row = no_row;
}

void gpu_groups::recall(const cluster_state& s, live_state& live, pod_row pod, pod_status status) {
  const auto lost =
      std::find_if(forgotten_.rbegin(), forgotten_.rend(), [&](const holding& one) { return one.pod == pod; });
  if (lost == forgotten_.rend()) return;
  here_[pod] = std::move(*lost);
  forgotten_.erase(std::next(lost).base());
  here_[pod].status = status;
  book(s, live, here_[pod], 1);
}

void gpu_groups::shelve(const cluster_state& s, live_state& live, pod_row pod) { take(s, live, pod); }

void gpu_groups::unshelve(const cluster_state& s, live_state& live, pod_row pod, node_row row, pod_status status) {
  here_[pod].row = row;
  here_[pod].status = status;
  book(s, live, here_[pod], 1);
}

void gpu_groups::drop_empty(node_row row) {
  std::erase_if(nodes_[row].groups,
                [](const gpu_group& g) { return g.used == 0 && g.allocated == 0 && g.releasing == 0 && !g.marked; });
}

}  // namespace kaisched::policy
