#pragma once
/// @file
/// JSON from clients whom nobody knows, and from servers that may answer anything.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace shim {

/// Objects of Kubernetes are far from so deep. What is deeper could not even be copied: copies are made by recursion.
inline constexpr int deepest_json = 64;

/// Errors: bad_input for what is no JSON or too deep.
[[nodiscard]] nlohmann::json parse_bounded(const std::string& text);

/// Bytes that are no UTF-8 are replaced, so that one object does not spoil the list that it is in. How deep values are
/// is not looked at. Errors: nlohmann::json::parse_error.
[[nodiscard]] nlohmann::json parse_lenient(std::string_view text);

/// Whether there are more levels than `deepest_json`. It goes no deeper itself.
[[nodiscard]] bool is_too_deep(const nlohmann::json& value);

}  // namespace shim
