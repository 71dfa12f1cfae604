#pragma once
/// @file
/// A recorded KAI session as a scenario file: nothing that the case says is lost.

#include <string>

#include <nlohmann/json.hpp>

#include "conformance/report.hpp"

namespace kaisched::conformance {

/// The session and all its rounds in the language of docs/scenario.md: clock, options, cluster, one `run` per round
/// with the recorded places of all pods, and what changes between the rounds.
[[nodiscard]] std::string kai_scenario(const nlohmann::json& session_case);

/// Converts the case, reads the text back, and compares: the cluster at every `run` with that of the case (gate
/// `scenario`), and, if the engine decides such sessions, what the scenario expects (gate `played`).
[[nodiscard]] std::vector<finding> judge_kai_scenario(const nlohmann::json& session_case);

}  // namespace kaisched::conformance
