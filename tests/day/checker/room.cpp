#include "checker/room.hpp"

#include <algorithm>
#include <map>

namespace day_check {

room::room(const state& of) : of_(of), nodes_(of.plan().nodes.size()) {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const node_plan& plan = of.plan().nodes[n];
    nodes_[n].idle = plan.capacity;
    nodes_[n].slots = plan.pods;
    const auto devices = static_cast<std::size_t>(plan.capacity[gpu] / whole);
    nodes_[n].devices.assign(devices, whole);
    nodes_[n].devices_releasing.assign(devices, 0);
    nodes_[n].devices_claimed.assign(devices, 0);
  }
  for (const std::size_t j : of.there()) {
    const job_plan& row = of.plan().jobs[j];
    for (const pod_now& pod : of.jobs()[j].pods) {
      if (pod.is == status::running || pod.is == status::releasing) hold(row, pod, 1);
      if (pod.is == status::claimed) claim(row, pod.node, pod.devices);
      if (pod.next != none) claim(row, pod.next, pod.next_devices);
    }
  }
}

void room::hold(const job_plan& row, const pod_now& pod, std::int64_t sign) {
  node_room& at = nodes_[pod.node];
  const bool leaving = pod.is == status::releasing;
  add(at.idle, row.ask, -sign);
  at.slots -= sign;
  if (leaving) {
    add(at.releasing, row.ask, sign);
    at.slots_releasing += sign;
  }
  for (const std::int64_t device : pod.devices) {
    const auto d = static_cast<std::size_t>(device);
    const std::int64_t share = row.ask[gpu] < whole ? row.ask[gpu] : whole;
    if (d >= at.devices.size()) continue;
    at.devices[d] -= sign * share;
    if (leaving) at.devices_releasing[d] += sign * share;
  }
}

void room::leave(pod_name which) {
  const pod_now& pod = of_.pod(which);
  hold(of_.plan().jobs[which.job], pod, -1);
}

void room::leaving(const job_plan& row, pod_now pod) {
  pod.is = status::releasing;
  hold(row, pod, 1);
}

void room::claim(const job_plan& row, std::size_t node, const std::vector<std::int64_t>& devices) {
  node_room& at = nodes_[node];
  add(at.claimed, row.ask);
  ++at.slots_claimed;
  if (row.ask[gpu] > 0 && row.ask[gpu] < whole) {
    for (const std::int64_t device : devices) {
      if (static_cast<std::size_t>(device) < at.devices.size())
        at.devices_claimed[static_cast<std::size_t>(device)] += row.ask[gpu];
    }
    if (devices.empty()) ++at.whole_claims;
  } else {
    at.whole_claims += row.ask[gpu] / whole;
  }
}

std::int64_t room::takes_devices(const node_room& at, std::int64_t ask) const {
  std::int64_t free = 0;
  std::int64_t coming = 0;
  std::int64_t in_parts = 0;
  for (std::size_t d = 0; d < at.devices.size(); ++d) {
    const std::int64_t left = usable(at.devices[d], at.devices_releasing[d], at.devices_claimed[d]);
    if (at.devices[d] == whole) {
      free += left == whole ? 1 : 0;
      if (left != whole && ask < whole) in_parts += left / ask;
    } else {
      coming += at.devices[d] + at.devices_releasing[d] - at.devices_claimed[d] == whole ? 1 : 0;
      if (ask < whole && left > 0) in_parts += left / ask;
    }
  }
  free = std::max<std::int64_t>(0, usable(free, coming, at.whole_claims));
  return ask < whole ? in_parts + free * (whole / ask) : free / (ask / whole);
}

std::int64_t room::takes(std::size_t node, const job_plan& row) const {
  if (!of_.ready(node)) return 0;
  const node_room& at = nodes_[node];
  std::int64_t most = usable(at.slots, at.slots_releasing, at.slots_claimed);
  for (std::size_t d = 0; d < row.ask.size(); ++d) {
    if (row.ask[d] > 0) most = std::min(most, usable(at.idle[d], at.releasing[d], at.claimed[d]) / row.ask[d]);
  }
  if (most > 0 && row.ask[gpu] > 0) most = std::min(most, takes_devices(at, row.ask[gpu]));
  return std::max<std::int64_t>(most, 0);
}

bool room::takes(std::size_t job, std::int64_t pods) const {
  const job_plan& row = of_.plan().jobs[job];
  std::map<std::string, std::int64_t> racks;
  std::string bound;
  for (const pod_now& pod : of_.jobs()[job].pods) {
    if (row.one_rack && pod.node != none) bound = of_.plan().nodes[pod.node].rack;
  }
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const std::string rack = row.one_rack ? of_.plan().nodes[n].rack : std::string();
    if (!row.one_rack || bound.empty() || rack == bound) racks[rack] += takes(n, row);
  }
  return std::any_of(racks.begin(), racks.end(), [&](const auto& rack) { return rack.second >= pods; });
}

bool room::overdrawn(std::size_t node) const {
  const node_room& at = nodes_[node];
  const auto negative = [](std::int64_t left) { return left < 0; };
  return at.slots < 0 || std::any_of(at.idle.begin(), at.idle.end(), negative) ||
         std::any_of(at.devices.begin(), at.devices.end(), negative);
}

}  // namespace day_check
