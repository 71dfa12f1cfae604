#pragma once
/// @file
/// The gates of recorded KAI sessions: each function compares one round with what was recorded and returns the
/// differences, none if they agree.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "conformance/kai_outcome.hpp"

namespace kaisched::conformance {

using differences = std::vector<std::string>;

/// Two amounts are the same: 1e-9, relative from 1 on.
[[nodiscard]] bool same_amount(double left, double right);

/// How long ago a job last started, in seconds; none if it never did.
using kai_start_ages = std::map<std::string, std::optional<double>, std::less<>>;

/// Gate A: what the test that was recorded asserts.
[[nodiscard]] differences asserted_differences(const nlohmann::json& session_case, const kai_outcome& outcome,
                                               const kai_start_ages& last_starts);

/// Gate B: commits in order, each as a multiset of events; status and node of every task at the end; which tasks share
/// a GPU, whatever its name; fair shares at the start.
[[nodiscard]] differences golden_differences(const nlohmann::json& recorded_round, const kai_outcome& outcome);

/// Amounts of nodes and queues at the end of a round.
[[nodiscard]] differences amount_differences(const nlohmann::json& recorded_round, const kai_outcome& outcome);

/// A session in which nothing ran: amounts of nodes, fair shares and what queues ask for and hold.
[[nodiscard]] differences state_differences(const nlohmann::json& resolved, const kai_outcome& outcome);

}  // namespace kaisched::conformance
