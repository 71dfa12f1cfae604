#include "conformance/rules/local_usage.hpp"

#include <cmath>
#include <limits>

namespace kaisched::kueue {

namespace {

void add_part(usage_amounts& into, const usage_amounts& amounts, double part) {
  for (const auto& [resource, value] : amounts) into[resource] += value * part;
}

}  // namespace

double fading(double elapsed, double half_life) {
  return half_life == 0 ? 0.0 : 1.0 - std::pow(0.5, elapsed / half_life);
}

usage_amounts faded(const usage_amounts& before, const usage_amounts& held, double elapsed, double half_life) {
  const double part = fading(elapsed, half_life);
  usage_amounts made;
  add_part(made, before, 1 - part);
  add_part(made, held, part);
  return made;
}

double weighted_usage(const usage_amounts& amounts, double weight, const usage_amounts& resource_weights) {
  if (weight <= 0) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const auto& [resource, value] : amounts) {
    const auto found = resource_weights.find(resource);
    sum += (found == resource_weights.end() ? 1.0 : found->second) * value;
  }
  return sum / weight;
}

void usage_history::got(const std::string& workload, const usage_amounts& asked, double share) {
  usage_amounts& entry = entries_[workload];
  entry.clear();
  add_part(entry, asked, share);
}

usage_amounts usage_history::total() const {
  usage_amounts made = had_;
  for (const auto& [workload, amounts] : entries_) add_part(made, amounts, 1.0);
  return made;
}

}  // namespace kaisched::kueue
