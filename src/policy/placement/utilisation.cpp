#include "policy/placement/utilisation.hpp"

#include <algorithm>

#include "policy/placement/strategy_fit.hpp"

namespace kaisched::policy {

double combined_load(double cpu, double memory, const load_weights& weights) {
  const std::int64_t total = weights.cpu + weights.memory;
  if (total == 0) return 0;
  return (cpu * static_cast<double>(weights.cpu) + memory * static_cast<double>(weights.memory)) /
         static_cast<double>(total);
}

double risk_factor(double load, double threshold, double factor) {
  return factor >= 1.0 && load >= threshold ? factor : 1.0;
}

double estimated_use(double request, double limit, double request_weight, double burst_weight, double risk) {
  request = std::max(request, 0.0);
  const double most = limit <= 0 || limit < request ? request : limit;
  const double estimate = (request * request_weight + (most - request) * burst_weight) * risk;
  return std::clamp(estimate, 0.0, most);
}

double estimated_best_effort_use(double configured, double risk) { return std::max(configured, 0.0) * risk; }

double composite_load(double measured_percent, double estimated, double capacity) {
  if (capacity <= 0) return 0;
  return std::clamp((measured_percent / 100.0 * capacity + estimated) / capacity, 0.0, 1.0);
}

double load_score(double cpu, double memory, const load_weights& weights, std::int64_t weight) {
  const std::int64_t total = weights.cpu + weights.memory;
  if (total == 0) return 0;
  const double free =
      ((1.0 - cpu) * static_cast<double>(weights.cpu) + (1.0 - memory) * static_cast<double>(weights.memory)) /
      static_cast<double>(total);
  return free * max_node_score * static_cast<double>(weight);
}

load_refusal refused_by_load(const measured_load& node, const measured_load& thresholds) {
  if (node.cpu > thresholds.cpu) return load_refusal::cpu;
  return node.memory > thresholds.memory ? load_refusal::memory : load_refusal::none;
}

}  // namespace kaisched::policy
