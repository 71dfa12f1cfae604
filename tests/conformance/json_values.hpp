#pragma once
/// @file
/// Reading members that may be missing or null: in the recorded cases both mean zero, empty or not set.

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kaisched::conformance {

/// The member, or null.
inline const nlohmann::json& member(const nlohmann::json& of, std::string_view key) {
  static const nlohmann::json nothing;
  if (!of.is_object()) return nothing;
  const auto found = of.find(key);
  return found == of.end() ? nothing : *found;
}

/// The elements of a list or the members of an object; none if it is missing.
inline const nlohmann::json& items(const nlohmann::json& of, std::string_view key) {
  static const nlohmann::json none = nlohmann::json::array();
  const nlohmann::json& found = member(of, key);
  return found.is_null() ? none : found;
}

inline bool has(const nlohmann::json& of, std::string_view key) { return !member(of, key).is_null(); }

template <class T>
[[nodiscard]] T value_or(const nlohmann::json& of, std::string_view key, T fallback) {
  const nlohmann::json& found = member(of, key);
  return found.is_null() ? fallback : found.get<T>();
}

/// The member "name", which every recorded entity has.
inline const std::string& name_of(const nlohmann::json& of) { return of.at("name").get_ref<const std::string&>(); }

inline std::string text_or_empty(const nlohmann::json& of, std::string_view key) {
  return value_or(of, key, std::string{});
}

inline std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& one : texts) all.append(all.empty() ? "" : ",").append(one);
  return all;
}

}  // namespace kaisched::conformance
