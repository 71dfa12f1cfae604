#pragma once
/// @file
/// Recorded workloads of Kueue -> what flavors are looked for with.

#include <nlohmann/json.hpp>

#include "conformance/kueue_objects.hpp"

namespace kaisched::conformance::kueue {

[[nodiscard]] demand_texts demands_of(const cluster& all, const queue_object& queue, const nlohmann::json& workload,
                                      const nlohmann::json& input);
/// The rules of the queue; no oracle yet. Refers to the cluster and the queue.
[[nodiscard]] admission::flavor_search search_of(const cluster& all, const queue_object& queue,
                                                 const nlohmann::json& input, bool fair);

}  // namespace kaisched::conformance::kueue
