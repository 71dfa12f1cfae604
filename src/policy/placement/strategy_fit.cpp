#include "policy/placement/strategy_fit.hpp"

#include <algorithm>

namespace kaisched::policy {

bool is_resource_pattern(std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return true;
  return pattern.size() > 1 && star == pattern.size() - 1;
}

strategy_fit_settings usable_settings(strategy_fit_settings settings) {
  const strategy_fit_settings fallback;
  if (settings.weight < 0) settings.weight = fallback.weight;
  if (settings.resources.empty()) settings.resources = fallback.resources;
  std::erase_if(settings.resources, [](const auto& one) { return !is_resource_pattern(one.first); });
  for (auto& [name, by] : settings.resources) {
    if (by.weight <= 0) by.weight = 1;
    if (by.strategy == fit_strategy::none) by.strategy = fit_strategy::least_allocated;
  }
  return settings;
}

std::optional<resource_strategy> strategy_of(const resource_strategies& all, std::string_view resource) {
  if (const auto exact = all.find(resource); exact != all.end()) return exact->second;
  std::optional<resource_strategy> found;
  std::size_t longest = 0;
  for (const auto& [pattern, by] : all) {
    if (!pattern.ends_with('*')) continue;
    const std::string_view prefix = std::string_view(pattern).substr(0, pattern.size() - 1);
    if (!resource.starts_with(prefix) || prefix.size() <= longest) continue;
    longest = prefix.size();
    found = by;
  }
  return found;
}

std::optional<double> strategy_score(const resource_strategy& by, double requested, double used, double capacity) {
  if (by.weight == 0 || capacity == 0) return 0.0;
  const double in_use = requested + used;
  if (in_use > capacity) return std::nullopt;
  switch (by.strategy) {
    case fit_strategy::most_allocated:
      return in_use * static_cast<double>(by.weight) / capacity;
    case fit_strategy::least_allocated:
      return (capacity - in_use) * static_cast<double>(by.weight) / capacity;
    case fit_strategy::none:
      break;
  }
  return 0.0;
}

double strategy_fit_score(const resource_list& request, const resource_list& allocatable, const resource_list& used,
                          const strategy_fit_settings& settings, const resource_strategies* of_pod) {
  double score = 0;
  std::int64_t weights = 0;
  for (const std::string& name : request.something_of()) {
    std::optional<resource_strategy> by;
    if (of_pod == nullptr) {
      by = strategy_of(settings.resources, name);
    } else if (const auto own = of_pod->find(name); own != of_pod->end()) {
      by = own->second;
    }
    if (!by) continue;
    // Without a known strategy a pod's resource is not looked at, but its weight counts.
    const std::optional<double> part =
        by->strategy == fit_strategy::none
            ? std::optional<double>(0.0)
            : strategy_score(*by, request.get(name), used.get(name), allocatable.get(name));
    if (!part) return 0;
    score += *part;
    weights += by->weight;
  }
  if (weights > 0) score /= static_cast<double>(weights);
  return score * (max_node_score * static_cast<double>(settings.weight));
}

double scarcity_score(const resource_list& request, const resource_list& allocatable,
                      const scarcity_settings& settings) {
  const resource_names asked = request.something_of();
  if (std::any_of(asked.begin(), asked.end(), [&](const std::string& name) { return allocatable.get(name) == 0; }))
    return 0;
  double score = 0;
  std::int64_t weights = 0;
  for (const auto& [name, weight] : settings.resources) {
    weights += weight;
    if (allocatable.get(name) > 0) score += static_cast<double>(weight);
  }
  if (weights > 0) score = 1.0 - score / static_cast<double>(weights);
  return score * (max_node_score * static_cast<double>(settings.weight));
}

}  // namespace kaisched::policy
