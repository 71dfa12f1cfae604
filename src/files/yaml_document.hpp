#pragma once
/// @file
/// YAML in the data model of JSON: what is read is a `json_document`, as if the text had been JSON.

#include <string>
#include <string_view>

#include <kaisched/result.hpp>

#include "io/json_document.hpp"

namespace kaisched::io {

/// Reads one YAML document. Plain scalars are null, true or false, integers, numbers or strings by the core schema of
/// YAML 1.2, so `yes`, `on` and dates are strings; quoted ones and block scalars are strings. Keys are text. What JSON
/// does not have is refused: anchors, aliases, tags, several documents, infinities, keys that are collections, a key
/// twice in one object. Errors start with `source`, line and column (`c.yaml:3:17: ...`).
[[nodiscard]] result<json_document> parse_yaml(std::string_view text, std::string_view source);
/// Reads JSON where the name `source` ends so or, if it ends as neither, the text begins with a brace; else YAML.
[[nodiscard]] result<json_document> parse_json_or_yaml(std::string_view text, std::string_view source);
/// As `parse_yaml` for any number of documents: the root is an array of them.
[[nodiscard]] result<json_document> parse_yaml_stream(std::string_view text, std::string_view source);

}  // namespace kaisched::io
