#pragma once
/// @file
/// Parts of objects of the API server, which may lack any of them.

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace shim {

/// `namespace/name`, or the name alone.
[[nodiscard]] std::string name_of(const nlohmann::json& object);

/// A text somewhere in an object, or an empty one.
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* pointer);

/// Fields somewhere in an object, or none.
[[nodiscard]] nlohmann::json section(const nlohmann::json& of, const char* pointer);

/// A list somewhere in an object, or an empty one.
[[nodiscard]] const nlohmann::json& list_at(const nlohmann::json& object, const char* pointer);

/// An object as a text without line breaks. Bytes that are no UTF-8 are replaced.
template <class Json>
[[nodiscard]] std::string one_line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// FNV-1a: the same everywhere and always, for names that are found again.
[[nodiscard]] std::uint64_t digest(std::string_view text);

/// Fields of the annotations, or none.
[[nodiscard]] nlohmann::json annotations_of(const nlohmann::json& object);

/// Adds a scheduling gate to a pod.
void add_gate(nlohmann::json& pod, const std::string& gate);

}  // namespace shim
