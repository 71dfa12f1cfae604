#pragma once
/// @file
/// Replays of recorded calls of Kueue by kind. Each tells what differs, one text per difference.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kaisched::conformance::kueue {

using differences = std::vector<std::string>;

/// Adds a text if the two are not equal.
void compare(differences& found, const std::string& what, const nlohmann::json& expected, const nlohmann::json& got);

[[nodiscard]] differences check_quota_available(const nlohmann::json& one);
[[nodiscard]] differences check_quota_usage(const nlohmann::json& one);
[[nodiscard]] differences check_fair_share(const nlohmann::json& one);
[[nodiscard]] differences check_resources_to_reserve(const nlohmann::json& one);
[[nodiscard]] differences check_flavor_preference(const nlohmann::json& one);
[[nodiscard]] differences check_flavor_assignment(const nlohmann::json& one);
[[nodiscard]] differences check_flavor_math(const nlohmann::json& one);
[[nodiscard]] differences check_candidate_order(const nlohmann::json& one);
[[nodiscard]] differences check_entry_order(const nlohmann::json& one);
[[nodiscard]] differences check_entry_compare(const nlohmann::json& one);
[[nodiscard]] differences check_victims(const nlohmann::json& one);
[[nodiscard]] differences check_places(const nlohmann::json& one);
[[nodiscard]] differences check_replacement(const nlohmann::json& one);
[[nodiscard]] differences check_domain_order(const nlohmann::json& one);
[[nodiscard]] differences check_balanced(const nlohmann::json& one);
[[nodiscard]] differences check_place_math(const nlohmann::json& one);
[[nodiscard]] differences check_cycle(const nlohmann::json& one);
[[nodiscard]] differences check_two_cycles(const nlohmann::json& one);
[[nodiscard]] differences check_cycles_by_usage(const nlohmann::json& one);

}  // namespace kaisched::conformance::kueue
