#pragma once
/// @file
/// The cluster format `kaisched-cluster/1` as YAML: the same members as in JSON, see docs/formats.md.

#include <cstdint>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

#include "io/cluster_input.hpp"
#include "io/cluster_reader.hpp"

namespace kaisched::io {

/// Reads a cluster, see `read_cluster_document` for the errors.
[[nodiscard]] result<cluster_input> parse_cluster_yaml(std::string_view text, std::string_view source);

/// Writes every table of a snapshot, without values that equal their defaults. Reading it gives a snapshot with the
/// same digest, and writing that as JSON the same bytes as without the detour.
[[nodiscard]] result<std::string> format_cluster_yaml(const snapshot& from, std::int64_t now);

}  // namespace kaisched::io
