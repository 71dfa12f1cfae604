#pragma once
/// @file
/// Recorded workloads that hold quota and look for places alone: after an admission check, or after a node was lost.

#include <string>

#include <nlohmann/json.hpp>

#include "conformance/kueue_objects.hpp"

namespace kaisched::conformance::kueue {

[[nodiscard]] bool needs_second_pass(const nlohmann::json& workload);
[[nodiscard]] bool has_lost_nodes(const nlohmann::json& workload);
/// Whether the pods find other places without the node.
[[nodiscard]] bool is_lost(const nlohmann::json& workload, const std::string& node);
/// The one pod of such a workload cannot move: the assignment stays, whatever became of the node.
[[nodiscard]] bool is_of_one_pod(const nlohmann::json& workload, const nlohmann::json& input);

/// What a workload holds for a pod set, or null.
[[nodiscard]] const nlohmann::json& admitted_set(const nlohmann::json& workload, const std::string& name);
/// Demands by what the workload holds, with its flavors.
[[nodiscard]] demand_texts held_demands(const cluster& all, const nlohmann::json& workload,
                                        const nlohmann::json& input);

/// The spec of the pods with what ready checks add to it.
[[nodiscard]] nlohmann::json pod_spec_after_checks(const nlohmann::json& workload, const nlohmann::json& pod_set);
/// Whether places are left to a later pass or to another cluster.
[[nodiscard]] bool places_come_later(const nlohmann::json& input, const queue_object& queue, const std::string& flavor,
                                     const nlohmann::json& workload);
/// Whether the workload lists all checks that its flavors need, and all that it lists are ready.
[[nodiscard]] bool checks_pass(const queue_object& queue, const nlohmann::json& workload,
                               const nlohmann::json& admission);

}  // namespace kaisched::conformance::kueue
