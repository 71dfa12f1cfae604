#pragma once
/// @file
/// The cluster format `kaisched-cluster/1` as JSON, one array of objects per kind of table, see docs/formats.md.

#include <cstdint>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

#include "io/cluster_input.hpp"
#include "io/cluster_reader.hpp"

namespace kaisched::io {

/// Reads a cluster, see `read_cluster_document` for the errors.
[[nodiscard]] result<cluster_input> parse_cluster_json(std::string_view text, std::string_view source);

/// Writes every table of a snapshot, one row a line, without values that equal their defaults. Reading it gives a
/// snapshot with the same digest.
[[nodiscard]] result<std::string> format_cluster_json(const snapshot& from, std::int64_t now);

}  // namespace kaisched::io
