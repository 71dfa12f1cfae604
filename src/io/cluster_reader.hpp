#pragma once
/// @file
/// The one reader of clusters: JSON and YAML are the same document to it, see docs/formats.md.

#include <string_view>

#include <kaisched/result.hpp>

#include "io/cluster_input.hpp"
#include "io/json_document.hpp"

namespace kaisched::io {

inline constexpr std::string_view cluster_schema = "kaisched-cluster/1";

/// Reads a cluster. Errors start with `source`, the line and the place in the text (`c.yaml:12: node[3].capacity.gpu`),
/// say what was expected, and for a wrong name which one may have been meant.
[[nodiscard]] result<cluster_input> read_cluster_document(const json_document& document, std::string_view source);

}  // namespace kaisched::io
