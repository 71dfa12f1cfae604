#include "policy/topology/network_scores.hpp"

#include <algorithm>
#include <cmath>

namespace kaisched::policy {

double domain_packing(const resource_list& request, const domain_amounts& domain, const resource_weights& weights) {
  double sum = 0;
  std::int64_t total = 0;
  bool fits = true;
  request.each_of_something([&](std::string_view name, double asked) {
    const auto weight = weights.find(name);
    if (weight == weights.end()) return;
    const double in_use = domain.used.get(name) + asked;
    const double allocatable = domain.allocatable.get(name);
    fits = fits && in_use <= allocatable;
    sum += static_cast<double>(weight->second) * (in_use / allocatable);
    total += weight->second;
  });
  if (!fits) return 0;
  return total > 0 ? sum / static_cast<double>(total) : 0;
}

double packing_around(const resource_list& request, const domains_by_tier& around, const resource_weights& weights,
                      std::int64_t lowest_tier, double fading) {
  double sum = 0;
  double total = 0;
  std::int64_t tier = lowest_tier;
  for (const domain_amounts* domain : around) {
    const double weight = std::pow(fading, static_cast<double>(tier - 1));
    total += weight;
    sum += weight * (domain == nullptr ? 1.0 : domain_packing(request, *domain, weights));
    ++tier;
  }
  return total > 0 ? sum / total : 0;
}

void prefer_where_pods_are(std::span<near_candidate> candidates, std::size_t pods) {
  if (candidates.empty() || pods == 0) return;
  const double highest =
      std::max_element(candidates.begin(), candidates.end(), [](const near_candidate& a, const near_candidate& b) {
        return a.score < b.score;
      })->score;
  const auto is_best = [&](const near_candidate& one) { return one.score == highest; };
  if (std::count_if(candidates.begin(), candidates.end(), is_best) < 2) return;
  for (near_candidate& one : candidates) {
    if (is_best(one)) one.score += static_cast<double>(one.pods_there) / static_cast<double>(pods);
  }
}

double nearness(const network_domains& domains, std::string_view domain, std::string_view allocated,
                std::int64_t lowest_tier, std::int64_t highest_tier) {
  if (domain.empty() || allocated.empty()) return 0;
  if (domain == allocated) return 1;
  const network_domains::domain* common = domains.find(domains.common_ancestor(domain, allocated));
  return common == nullptr ? 0 : tier_score(common->tier, lowest_tier, highest_tier);
}

}  // namespace kaisched::policy
