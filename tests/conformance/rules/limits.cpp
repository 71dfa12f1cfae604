#include "conformance/rules/limits.hpp"

#include <algorithm>

namespace kaisched::policy {

bool within_quotas(std::span<const space_limit> quotas, const resource_list& promised, const resource_list& minimum,
                   std::span<const std::string> named) {
  return std::all_of(quotas.begin(), quotas.end(), [&](const space_limit& quota) {
    return std::all_of(named.begin(), named.end(), [&](const std::string& name) {
      if (std::find(quota.limited.begin(), quota.limited.end(), name) == quota.limited.end()) return true;
      return quota.used.get(name) + promised.get(name) + minimum.get(name) <= quota.hard.get(name);
    });
  });
}

bool within_group_limit(const resource_list& held, const resource_list& asked, const resource_list& limit,
                        std::span<const std::string> named) {
  resource_list used = held;
  used.add(asked);
  return std::none_of(named.begin(), named.end(), [&](const std::string& name) {
    const double over = used.get(name) - limit.get(name);
    return over > 0 && over >= resource_slack;
  });
}

bool leaves_proportion(const resource_list& request, const resource_list& idle,
                       const std::map<std::string, reserved_share, std::less<>>& reserved) {
  for (const auto& [name, share] : reserved) {
    if (request.get(name) > 0) return true;
  }
  for (const auto& [name, share] : reserved) {
    if (!idle.names(name)) continue;
    const double units = idle.get(name);
    // Thousandths of a unit times CPUs are milli-CPUs; times megabytes they lack a factor of 1000.
    const double cpu = units * share.cpu;
    const double memory = units * share.memory * 1000 * 1000;
    if (idle.cpu - request.cpu < cpu || idle.memory - request.memory < memory) return false;
  }
  return true;
}

}  // namespace kaisched::policy
