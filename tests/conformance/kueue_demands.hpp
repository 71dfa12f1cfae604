#pragma once
/// @file
/// Recorded workloads of Kueue -> what flavors are looked for with.

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "conformance/kueue_objects.hpp"

namespace kaisched::conformance::kueue {

/// Why a pod set does not go with a flavor, beyond what its pods say, or none.
using flavor_check =
    std::function<std::optional<std::string>(const std::string& flavor, const nlohmann::json& pod_set)>;
[[nodiscard]] demand_texts demands_of(const cluster& all, const queue_object& queue, const nlohmann::json& workload,
                                      const nlohmann::json& input, const flavor_check& check = {});
/// The rules of the queue; no oracle yet. Refers to the cluster and the queue.
[[nodiscard]] kaisched::kueue::flavor_search search_of(const cluster& all, const queue_object& queue,
                                                       const nlohmann::json& input, bool fair);

}  // namespace kaisched::conformance::kueue
