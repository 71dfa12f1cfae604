#pragma once
/// @file
/// The cluster format `kaisched-cluster/1`: JSON, one array of objects per kind of table, see docs/formats.md.

#include <cstdint>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

#include "io/cluster_input.hpp"

namespace kaisched::io {

inline constexpr std::string_view cluster_schema = "kaisched-cluster/1";

/// Reads a cluster. Errors start with `source` and the place in the text (`node[3].capacity.gpu`), say what was
/// expected, and for a wrong name which one may have been meant.
[[nodiscard]] result<cluster_input> parse_cluster_json(std::string_view text, std::string_view source);

/// Writes every table of a snapshot, one row a line, without values that equal their defaults. Reading it gives a
/// snapshot with the same digest.
[[nodiscard]] result<std::string> format_cluster_json(const snapshot& from, std::int64_t now);

}  // namespace kaisched::io
