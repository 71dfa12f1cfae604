#pragma once
/// @file
/// An opened session of Volcano, as it is recorded -> a session of tiered plug-ins.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::conformance {

/// @throws unsupported for what no part of the library decides.
[[nodiscard]] kaisched::volcano::cluster_state volcano_cluster(const nlohmann::json& one);
/// @throws unsupported for plug-ins, and uses of them, of which there is no rule.
[[nodiscard]] std::vector<kaisched::volcano::tier> volcano_tiers(const nlohmann::json& one);

/// Pending, Running, ...
[[nodiscard]] const char* volcano_name(kaisched::volcano::task_status status);
[[nodiscard]] const char* volcano_name(kaisched::volcano::job_phase phase);

/// @throws unsupported for names that are none.
[[nodiscard]] kaisched::volcano::task_status volcano_task_status(const std::string& name);

/// Has been given a node in an earlier session, or has ended.
[[nodiscard]] bool is_scheduled(kaisched::volcano::task_status status);

/// Plays the actions of a recorded session and compares what was decided.
[[nodiscard]] std::vector<struct finding> replay_volcano_actions(const nlohmann::json& one);

}  // namespace kaisched::conformance
