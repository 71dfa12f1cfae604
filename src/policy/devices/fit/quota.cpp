#include "policy/devices/fit/quota.hpp"

#include <algorithm>
#include <string_view>

namespace kaisched::devices {

namespace {

struct of_device {
  std::string_view id;
  held_amounts first;  ///< peak of those that run one after another
  held_amounts sum;
};

of_device& entry_of(std::vector<of_device>& among, std::string_view id) {
  for (of_device& one : among) {
    if (one.id == id) return one;
  }
  among.push_back({id, {}, {}});
  return among.back();
}

bool at_most(const std::optional<std::int64_t>& limit, std::int64_t used) { return !limit || used <= *limit; }

}  // namespace

const space_quota* find_quota(const space_quotas& among, std::string_view space, std::string_view vendor) {
  const auto found = std::find_if(among.begin(), among.end(),
                                  [&](const space_quota& one) { return one.space == space && one.vendor == vendor; });
  return found == among.end() ? nullptr : &*found;
}

held_amounts held_by(const vendor_grants& containers, std::size_t init_containers) {
  std::vector<of_device> devices;
  for (std::size_t c = 0; c < containers.size(); ++c) {
    for (const grant& one : containers[c]) {
      of_device& at = entry_of(devices, one.id);
      if (c < init_containers) {
        at.first.memory = std::max(at.first.memory, one.memory);
        at.first.cores = std::max(at.first.cores, one.cores);
        at.first.slots = std::max(at.first.slots, one.slots);
      } else {
        at.sum.memory += one.memory;
        at.sum.cores += one.cores;
        at.sum.slots += one.slots;
      }
    }
  }
  held_amounts held;
  for (const of_device& one : devices) {
    held.memory += std::max(one.first.memory, one.sum.memory);
    held.cores += std::max(one.first.cores, one.sum.cores);
    held.slots += std::max(one.first.slots, one.sum.slots);
  }
  return held;
}

bool within(const space_quota& quota, const held_amounts& more) {
  return at_most(quota.memory, quota.used_memory + more.memory) &&
         at_most(quota.cores, quota.used_cores + more.cores) && at_most(quota.slots, quota.used_slots + more.slots);
}

}  // namespace kaisched::devices
