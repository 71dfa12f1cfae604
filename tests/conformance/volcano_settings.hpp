#pragma once
/// @file
/// Arguments of Volcano's plug-ins -> settings of the library's rules.

#include <optional>

#include <nlohmann/json.hpp>

#include "policy/placement/strategy_fit.hpp"
#include "policy/topology/network_scores.hpp"

namespace kaisched::conformance {

/// {type, weight}; an unknown type is none.
[[nodiscard]] policy::resource_strategy volcano_strategy(const nlohmann::json& record);
[[nodiscard]] policy::resource_strategies volcano_strategies(const nlohmann::json& records);
/// Strategies that a pod has of its own, by annotations; empty if these cannot be read.
[[nodiscard]] std::optional<policy::resource_strategies> volcano_strategies_of_pod(const nlohmann::json& pod);
/// {resourceStrategyFitWeight, resources}, as written.
[[nodiscard]] policy::strategy_fit_settings volcano_strategy_settings(const nlohmann::json& arguments);
/// {enable, resources, weight, resourceWeight}
[[nodiscard]] policy::scarcity_settings volcano_scarcity_settings(const nlohmann::json& arguments);
/// {PREFIX.cpu, PREFIX.memory, PREFIX.resources, PREFIX.resources.NAME}
[[nodiscard]] policy::resource_weights volcano_packing_weights(const nlohmann::json& arguments,
                                                               const std::string& prefix);

}  // namespace kaisched::conformance
