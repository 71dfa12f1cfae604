#include "policy/gang/admission.hpp"

#include <algorithm>

namespace kaisched::policy {

resource_list promisable(const resource_list& total, const resource_list& used, double factor) {
  constexpr double fallback = 1.2;
  resource_list left = total;
  left.multiply(factor < 1.0 ? fallback : factor);
  left.subtract(used);
  return left;
}

resource_names overcommitted(const resource_list& promisable, const resource_list& promised,
                             const resource_list& minimum) {
  resource_list together = promised;
  together.add(minimum);
  return exceeding_of(together, promisable, minimum);
}

bool within_quotas(std::span<const space_limit> quotas, const resource_list& promised, const resource_list& minimum,
                   std::span<const std::string> named) {
  return std::all_of(quotas.begin(), quotas.end(), [&](const space_limit& quota) {
    return std::all_of(named.begin(), named.end(), [&](const std::string& name) {
      if (std::find(quota.limited.begin(), quota.limited.end(), name) == quota.limited.end()) return true;
      return quota.used.get(name) + promised.get(name) + minimum.get(name) <= quota.hard.get(name);
    });
  });
}

}  // namespace kaisched::policy
