#include "conformance/rules/disruption_budgets.hpp"

#include <algorithm>
#include <cstddef>

namespace kaisched::policy {

std::vector<std::uint32_t> within_budgets(std::span<const disruption_budget> budgets,
                                          std::span<const offered_victim> offered) {
  std::vector<std::int64_t> left;
  for (const disruption_budget& one : budgets) left.push_back(one.allowed);
  std::vector<std::uint32_t> taken;
  for (std::uint32_t i = 0; i < offered.size(); ++i) {
    const offered_victim& victim = offered[i];
    if (victim.labels.empty()) continue;
    bool allowed = true;
    for (std::size_t b = 0; b < budgets.size(); ++b) {
      const disruption_budget& budget = budgets[b];
      if (budget.space != victim.space || budget.pods.requirements.empty() || !budget.pods.matches(victim.labels))
        continue;
      if (std::find(budget.disrupted.begin(), budget.disrupted.end(), victim.name) != budget.disrupted.end()) continue;
      allowed = --left[b] >= 0 && allowed;
    }
    if (allowed) taken.push_back(i);
  }
  return taken;
}

}  // namespace kaisched::policy
