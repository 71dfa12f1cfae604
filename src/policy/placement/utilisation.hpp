#pragma once
/// @file
/// Scores of nodes by measured load and by what has been placed since it was measured.
///
/// Source: Volcano's plugin usage (pkg/scheduler/plugins/usage/estimator.go), in its order of operations. A measurement
/// is old when pods start in quick succession; what they will use is estimated from what they ask for until it shows.

#include <cstdint>

namespace kaisched::policy {

/// Weights of cpu and memory.
struct load_weights {
  std::int64_t cpu = 1;
  std::int64_t memory = 1;
};

/// The load of a node from its parts, 0 to 1; 0 without weights.
[[nodiscard]] double combined_load(double cpu, double memory, const load_weights& weights);
/// The factor by which estimates grow on a loaded node: never less than 1.
[[nodiscard]] double risk_factor(double load, double threshold, double factor);
/// What a pod will use of one resource: parts of its request and of what it may use beyond it.
[[nodiscard]] double estimated_use(double request, double limit, double request_weight, double burst_weight,
                                   double risk);
/// What a pod that asks for nothing will use.
[[nodiscard]] double estimated_best_effort_use(double configured, double risk);
/// Measured load in per cent and estimated use, as part of the capacity, 0 to 1.
[[nodiscard]] double composite_load(double measured_percent, double estimated, double capacity);
/// 100 for an idle node, times the weight.
[[nodiscard]] double load_score(double cpu, double memory, const load_weights& weights, std::int64_t weight);

/// What was measured on a node, in per cent.
struct measured_load {
  double cpu = 0;
  double memory = 0;
};
/// Why a node is too busy for more pods; cpu is looked at first.
enum class load_refusal : std::uint8_t { none, cpu, memory };
[[nodiscard]] load_refusal refused_by_load(const measured_load& node, const measured_load& thresholds);

}  // namespace kaisched::policy
