#pragma once
/// @file
/// Parts of objects of the API server, which may lack any of them.

#include <string>

#include <nlohmann/json.hpp>

namespace shim {

/// `namespace/name`, or the name alone.
[[nodiscard]] std::string name_of(const nlohmann::json& object);

/// A text somewhere in an object, or an empty one.
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* pointer);

/// Fields somewhere in an object, or none.
[[nodiscard]] nlohmann::json section(const nlohmann::json& of, const char* pointer);

/// Fields of the annotations, or none.
[[nodiscard]] nlohmann::json annotations_of(const nlohmann::json& object);

}  // namespace shim
