#pragma once
/// @file
/// JSON from clients whom nobody knows.

#include <string>

#include <nlohmann/json.hpp>

namespace shim {

/// Objects of Kubernetes are far from so deep. What is deeper could not even be copied: copies are made by recursion.
inline constexpr int deepest_json = 64;

/// Errors: bad_input for what is no JSON or too deep.
[[nodiscard]] nlohmann::json parse_bounded(const std::string& text);

}  // namespace shim
