#pragma once
/// @file
/// Kubernetes objects in JSON -> the short texts that the tables take.

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kaisched::conformance {

/// {key: value} -> key, value, key, value, ...
[[nodiscard]] std::vector<std::string> label_texts(const nlohmann::json& labels);
/// {key, value, effect} -> key=value:Effect
[[nodiscard]] std::string taint_text(const nlohmann::json& taint);
/// {key, operator, value, effect} -> key=value:Effect, key:Effect, ... , *
[[nodiscard]] std::string toleration_text(const nlohmann::json& toleration);
/// {matchLabels, matchExpressions} -> key=value,other in (a,b)
[[nodiscard]] std::string selector_text(const nlohmann::json& selector);
/// The required terms of {nodeAffinity}, one selector each.
/// @throws unsupported for preferred terms and for fields instead of labels.
[[nodiscard]] std::vector<std::string> node_affinity_texts(const nlohmann::json& affinity);
/// The required terms of {podAffinity} or {podAntiAffinity}: topology key: selector.
/// @throws unsupported for preferred terms and for other namespaces.
[[nodiscard]] std::vector<std::string> pod_affinity_texts(const nlohmann::json& affinity, std::string_view kind);

}  // namespace kaisched::conformance
