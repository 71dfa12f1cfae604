#pragma once
/// @file
/// The openb trace: nodes and pods of a production GPU cluster as two CSV files, see docs/formats.md.

#include <string_view>

#include <kaisched/result.hpp>

#include "io/cluster_input.hpp"
#include "io/csv_file.hpp"

namespace kaisched::io {

/// Name of the one queue that all pods of a trace are in.
inline constexpr std::string_view openb_queue = "openb";
/// Label of a node that holds the model of its GPUs.
inline constexpr std::string_view openb_model_label = "gpu.model";

/// Nodes with their devices, and all pods of the list as one batch of pending pods, each its own pod group.
/// Errors name file, line and column, also those that only `build_cluster` finds.
[[nodiscard]] result<cluster_input> parse_openb(named_text nodes, named_text pods);

}  // namespace kaisched::io
