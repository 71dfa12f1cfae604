#pragma once
/// @file
/// The format `kaisched-node-types/1`, as JSON or YAML: nodes that can be had, what they cost and how many there are,
/// see docs/scaling.md.

#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/scaling.hpp>
#include <kaisched/snapshot.hpp>

#include "io/json_document.hpp"

namespace kaisched::io {

inline constexpr std::string_view node_types_schema = "kaisched-node-types/1";

/// Reads offers for a cluster, whose resource dimensions they have; `-` is the standard input. The ending of the name
/// says the form; without one, JSON starts with a brace. Errors name file, line and place in the text.
[[nodiscard]] result<node_offers> read_node_types(const std::string& path, const snapshot& over);
/// The same from a value of a document that has been read. Errors name `source`.
[[nodiscard]] result<node_offers> read_node_types(json_value root, std::string_view source, const snapshot& over);

}  // namespace kaisched::io
