#pragma once
/// @file
/// Requests that send objects, or parts of them.

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"

namespace shim {

inline constexpr const char* merge_patch_type = "application/merge-patch+json";
inline constexpr const char* strategic_patch_type = "application/strategic-merge-patch+json";

/// @param method `POST` or `PUT`.
[[nodiscard]] request with_object(std::string method, std::string target, const nlohmann::json& object);

/// Changes an object.
[[nodiscard]] request patch_of(std::string target, const nlohmann::json& change, const char* type = merge_patch_type);

/// Deletes an object, if it is still the one with this uid. @param grace seconds; none: those of the object.
[[nodiscard]] request removal_of(std::string target, const std::string& uid, std::optional<int> grace = {});

}  // namespace shim
