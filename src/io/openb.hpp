#pragma once
/// @file
/// The openb trace: nodes and pods of a production GPU cluster as two CSV files, see docs/formats.md.

#include <string_view>

#include <kaisched/result.hpp>

#include "io/cluster_input.hpp"

namespace kaisched::io {

/// One CSV text and the name that errors call it by.
struct named_text {
  std::string_view name;
  std::string_view text;
};

/// Name of the one queue that all pods of a trace are in.
inline constexpr std::string_view openb_queue = "openb";
/// Label of a node that holds the model of its GPUs.
inline constexpr std::string_view openb_model_label = "gpu.model";

/// Nodes with their devices, and all pods of the list as one batch of pending pods, each its own pod group.
/// Errors name file, line and column.
[[nodiscard]] result<cluster_input> parse_openb(named_text nodes, named_text pods);

}  // namespace kaisched::io
