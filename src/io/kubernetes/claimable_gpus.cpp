#include "io/kubernetes/claimable_gpus.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/table.hpp>

#include "io/kubernetes/device_pools.hpp"
#include "model/device_claims.hpp"
#include "model/selector.hpp"
#include "policy/claims/device_pools.hpp"

namespace kaisched::io::kubernetes {

namespace {

using policy::device_pools;

std::vector<model::counter_amount> counters_of(const std::vector<std::string>& texts) {
  auto read = model::parse_counters(join_list(texts));
  return read ? std::move(*read) : std::vector<model::counter_amount>{};
}

model::device_reach reach_of(const reach_record& from) {
  model::device_reach made;
  made.all_nodes = from.all_nodes;
  made.node = from.node;
  auto labels = model::parse_selector(from.selector);
  made.by_labels = !from.selector.empty() && labels;
  if (made.by_labels) made.labels = std::move(*labels);
  return made;
}

/// What counts for a number of devices: where they are and what they share. Rows that tables refuse are no devices.
std::vector<policy::device_slice> gpu_slices_of(const cluster_records& rows) {
  std::vector<policy::device_slice> slices;
  std::map<std::string_view, std::pair<std::size_t, const resource_slice_record*>> by_name;
  for (const resource_slice_record& row : rows.resource_slices) {
    if (!model::names_gpus(row.driver)) continue;
    by_name[row.name] = {slices.size(), &row};
    slices.push_back({row.driver, row.pool, row.generation, row.slices, {}, counters_of(row.counters)});
  }
  for (const slice_device_record& row : rows.slice_devices) {
    const auto slice = by_name.find(row.slice);
    if (slice == by_name.end()) continue;
    policy::offered_device made;
    made.name = row.device;
    made.reach = reach_of(row.reach);
    if (!made.reach.is_given()) made.reach = reach_of(slice->second.second->reach);
    made.consumes = counters_of(row.consumes);
    slices[slice->second.first].devices.push_back(std::move(made));
  }
  return slices;
}

/// How many of some devices can be in use at once, at most: of those that share counters as many as the smallest of
/// them leave room for.
std::int64_t most_at_once(const device_pools& pools, const std::vector<std::uint32_t>& devices) {
  std::int64_t sum = 0;
  std::map<std::pair<std::uint32_t, std::string_view>, std::vector<std::uint32_t>> sharing;  // by pool and counter set
  for (const std::uint32_t d : devices) {
    const device_pools::device_entry& one = pools.devices()[d];
    if (one.counters.empty()) {
      ++sum;
    } else {
      sharing[{one.pool, one.offered->consumes.front().set}].push_back(d);
    }
  }
  for (const auto& [ignored, group] : sharing) {
    std::map<std::uint32_t, std::vector<base::int128>> amounts;  // by counter, of the devices that consume it
    for (const std::uint32_t d : group) {
      for (const auto& [counter, amount] : pools.devices()[d].counters) amounts[counter].push_back(amount.billionths);
    }
    std::size_t most = group.size();
    for (auto& [counter, list] : amounts) {
      std::sort(list.begin(), list.end());
      std::size_t fit = 0;
      base::int128 used = 0;
      while (fit < list.size() && used + list[fit] <= pools.counters()[counter].billionths) used += list[fit++];
      most = std::min(most, group.size() - list.size() + fit);
    }
    sum += static_cast<std::int64_t>(most);
  }
  return sum;
}

/// GPUs that claims of pods on a node have. Slices may be missing, as while a driver is restarted.
std::map<std::string, std::set<std::string_view>, std::less<>> held_gpus_of(const cluster_records& rows) {
  std::map<std::string_view, const claim_record*> claims;
  for (const claim_record& one : rows.claims) claims.emplace(one.name, &one);
  std::map<std::string, std::set<std::string_view>, std::less<>> held;
  for (const pod_record& pod : rows.pods) {
    if (pod.claimed_gpus == 0 || pod.node.empty()) continue;
    for (const std::string& name : pod.claims) {
      const auto claim = claims.find(name);
      if (claim == claims.end()) continue;
      for (const std::string& device : claim->second->devices) {
        if (model::names_gpus(std::string_view(device).substr(0, device.find('/')))) held[pod.node].insert(device);
      }
    }
  }
  return held;
}

}  // namespace

void add_claimable_gpus(cluster_records& rows) {
  const std::vector<policy::device_slice> slices = gpu_slices_of(rows);
  const auto held = held_gpus_of(rows);
  if (slices.empty() && held.empty()) return;
  std::vector<const policy::device_slice*> pointers;
  pointers.reserve(slices.size());
  for (const policy::device_slice& slice : slices) pointers.push_back(&slice);
  const device_pools pools(pointers);

  const auto counted_of = [](const pod_record& pod) -> std::int64_t {
    if (!pod.device_requests.empty()) return 0;
    if (pod.gpu_memory > 0) return 1;  // a part of one, of which size the node says
    const auto asked = pod.request.find(gpu);
    return asked == pod.request.end() ? 0 : asked->second - pod.claimed_gpus * whole_device;
  };
  const bool keeps_off =
      std::any_of(rows.pods.begin(), rows.pods.end(), [&](const pod_record& pod) { return counted_of(pod) > 0; });
  for (node_record& node : rows.nodes) {
    auto labels = model::parse_labels(join_list(node.labels));
    const auto in_use = held.find(node.name);
    const std::int64_t more =
        std::max(most_at_once(pools, pools.reachable(node.name, labels ? *labels : model::label_list{})),
                 in_use == held.end() ? 0 : static_cast<std::int64_t>(in_use->second.size()));
    const auto known = node.capacity.find(gpu);
    const std::int64_t counted = known == node.capacity.end() ? 0 : known->second;
    if (keeps_off && counted > 0) node.capacity[std::string(counted_gpus)] = counted;
    if (more > 0) node.capacity[std::string(gpu)] = std::min(counted, max_amount) + more * whole_device;
  }
  for (pod_record& pod : rows.pods) {
    if (const std::int64_t counted = counted_of(pod); counted > 0) pod.request[std::string(counted_gpus)] = counted;
  }
}

}  // namespace kaisched::io::kubernetes
