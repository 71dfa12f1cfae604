#include "policy/claims/device_pools.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace kaisched::policy {

device_pools::device_pools(std::span<const device_slice* const> slices) {
  std::vector<const device_slice*> sorted(slices.begin(), slices.end());
  const auto name = [](const device_slice* s) { return std::tie(s->driver, s->pool); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const device_slice* a, const device_slice* b) { return name(a) < name(b); });
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto last = std::find_if(first, sorted.end(), [&](const device_slice* s) { return name(s) != name(*first); });
    std::int64_t newest = (*first)->generation;
    for (auto one = first; one != last; ++one) newest = std::max(newest, (*one)->generation);
    std::vector<const device_slice*> current;
    std::copy_if(first, last, std::back_inserter(current),
                 [&](const device_slice* s) { return s->generation == newest; });
    add_pool(current);
    first = last;
  }
}

void device_pools::add_pool(std::span<const device_slice* const> slices) {
  const auto number = static_cast<std::uint32_t>(pools_.size());
  pool_entry made{slices.front()->driver, slices.front()->pool, slices.front()->generation};
  const auto spoil = [&](std::string why) {
    made.usable = false;
    if (made.why.empty()) made.why = std::move(why);
  };
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> counters;
  for (const device_slice* slice : slices) {
    if (slice->slices != static_cast<std::int64_t>(slices.size())) {
      spoil("it has " + std::to_string(slices.size()) + " of " + std::to_string(slice->slices) + " slices");
    }
    for (const counter_amount& one : slice->counters) {
      const auto at = static_cast<std::uint32_t>(counters_.size());
      if (!counters.try_emplace({one.set, one.name}, at).second) {
        spoil("counter " + base::shown(one.set + "/" + one.name) + " is there twice");
      }
      counters_.push_back(one.amount);
    }
  }
  std::set<std::string_view> names;
  for (const device_slice* slice : slices) {
    for (const offered_device& one : slice->devices) {
      const auto at = static_cast<std::uint32_t>(devices_.size());
      device_entry& added = devices_.emplace_back(device_entry{&one, number, {}});
      if (!names.insert(one.name).second) spoil("device " + base::shown(one.name) + " is there twice");
      for (const counter_amount& use : one.consumes) {
        const auto found = counters.find({use.set, use.name});
        if (found == counters.end()) {
          spoil("device " + base::shown(one.name) + " consumes counter " + base::shown(use.set + "/" + use.name) +
                ", which is not there");
          continue;
        }
        const auto same = std::find_if(added.counters.begin(), added.counters.end(),
                                       [&](const auto& known) { return known.first == found->second; });
        if (same == added.counters.end()) {
          added.counters.emplace_back(found->second, use.amount);
        } else {
          same->second.billionths += use.amount.billionths;
        }
      }
      by_name_.try_emplace(std::string(made.driver) + "/" + std::string(made.name) + "/" + one.name, at);
      if (one.reach.all_nodes || one.reach.node.empty()) {
        elsewhere_.push_back(at);
      } else {
        by_node_[one.reach.node].push_back(at);
      }
    }
  }
  pools_.push_back(std::move(made));
}

model::device_facts device_pools::facts_of(std::uint32_t device) const {
  const offered_device& one = *devices_[device].offered;
  return {pool_of(device).driver, one.attributes, one.capacities, one.allow_multiple_allocations};
}

std::string device_pools::name_of(std::uint32_t device) const {
  const pool_entry& of = pool_of(device);
  return std::string(of.driver) + "/" + std::string(of.name) + "/" + devices_[device].offered->name;
}

std::uint32_t device_pools::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? no_device : found->second;
}

std::vector<std::uint32_t> device_pools::reachable(std::string_view node, const model::label_list& labels) const {
  std::vector<std::uint32_t> found;
  const auto own = by_node_.find(node);
  if (own != by_node_.end()) found = own->second;
  std::copy_if(elsewhere_.begin(), elsewhere_.end(), std::back_inserter(found),
               [&](std::uint32_t device) { return devices_[device].offered->reach.reaches(node, labels); });
  std::sort(found.begin(), found.end());
  return found;
}

device_usage::device_usage(const device_pools& pools)
    : users_(pools.devices().size(), 0), consumed_(pools.devices().size()), counters_(pools.counters().size()) {
  for (std::size_t d = 0; d < consumed_.size(); ++d) {
    const offered_device& one = *pools.devices()[d].offered;
    if (one.allow_multiple_allocations) consumed_[d].resize(one.capacities.size());
  }
}

void device_usage::take(const device_pools& pools, const device_share& share) {
  if (share.admin) return;
  // A device that several share consumes its counters once.
  if (users_[share.device]++ == 0) {
    for (const auto& [counter, amount] : pools.devices()[share.device].counters) {
      counters_[counter].billionths += amount.billionths;
    }
  }
  std::vector<model::exact_quantity>& consumed = consumed_[share.device];
  const std::size_t both = std::min(consumed.size(), share.consumed.size());
  for (std::size_t i = 0; i < both; ++i) consumed[i].billionths += share.consumed[i].billionths;
}

void device_usage::give_back(const device_pools& pools, const device_share& share) {
  if (share.admin) return;
  if (--users_[share.device] == 0) {
    for (const auto& [counter, amount] : pools.devices()[share.device].counters) {
      counters_[counter].billionths -= amount.billionths;
    }
  }
  std::vector<model::exact_quantity>& consumed = consumed_[share.device];
  const std::size_t both = std::min(consumed.size(), share.consumed.size());
  for (std::size_t i = 0; i < both; ++i) consumed[i].billionths -= share.consumed[i].billionths;
}

bool device_usage::can_take(const device_pools& pools, const device_share& share, const wanted_shares& besides) const {
  if (share.admin) return true;
  const device_pools::device_entry& device = pools.devices()[share.device];
  const bool shared = device.offered->allow_multiple_allocations;
  std::int64_t users = users_[share.device];
  for (const device_share& other : besides.all()) users += !other.admin && other.device == share.device ? 1 : 0;
  if (users > 0 && !shared) return false;
  for (std::size_t c = 0; users == 0 && c < device.counters.size(); ++c) {
    const auto& [counter, amount] = device.counters[c];
    base::int128 after = counters_[counter].billionths + amount.billionths;
    for (std::size_t i = 0; i < besides.all().size(); ++i) {
      const device_share& other = besides.all()[i];
      const auto earlier = besides.all().first(i);
      const bool counts = !other.admin && users_[other.device] == 0 &&
                          std::none_of(earlier.begin(), earlier.end(), [&](const device_share& before) {
                            return !before.admin && before.device == other.device;
                          });
      if (!counts) continue;
      for (const auto& [used, by] : pools.devices()[other.device].counters) {
        if (used == counter) after += by.billionths;
      }
    }
    if (after > pools.counters()[counter].billionths) return false;
  }
  for (std::size_t i = 0; shared && i < share.consumed.size(); ++i) {
    base::int128 after = consumed_[share.device][i].billionths + share.consumed[i].billionths;
    for (const device_share& other : besides.all()) {
      const bool same = !other.admin && other.device == share.device && i < other.consumed.size();
      if (same) after += other.consumed[i].billionths;
    }
    if (after > device.offered->capacities[i].value.billionths) return false;
  }
  return true;
}

}  // namespace kaisched::policy
