#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/table.hpp>

#include "model/state.hpp"

namespace kaisched::model {

/// The order in which amounts of dimensions are written.
enum class dimensions_by : std::uint8_t {
  index,  ///< as callers index them
  name,   ///< whatever came first: for digests
};

/// All entities of an input kind as an `add` table with every column of the schema, in an order that depends on
/// names only.
[[nodiscard]] table export_table(const cluster_state& s, table_kind kind, dimensions_by by = dimensions_by::index);

/// Tables that add nodes like one, idle; they have its labels, but no positions and no identifiers of devices.
[[nodiscard]] std::vector<table> copies_of_node(const cluster_state& s, const node_info& like,
                                                std::span<const std::string> names);

}  // namespace kaisched::model
