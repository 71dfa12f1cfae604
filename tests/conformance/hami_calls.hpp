#pragma once
/// @file
/// Recorded calls of HAMi, each replayed alone.

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace kaisched::conformance {

/// Replays one call of a case; what differs, or nothing. @throws unsupported for calls of what is no part of the
/// library.
[[nodiscard]] std::optional<std::string> replay_hami_call(const nlohmann::json& call, const nlohmann::json& one);
/// The answer of a function that only its table has recorded: input and expected of the case; what differs, or nothing.
[[nodiscard]] std::optional<std::string> check_hami_table(const nlohmann::json& one);

}  // namespace kaisched::conformance
