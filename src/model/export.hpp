#pragma once

#include <kaisched/result.hpp>
#include <kaisched/table.hpp>

#include "model/state.hpp"

namespace kaisched::model {

/// All entities of an input kind as an `add` table with every column of the schema, in an order that depends on
/// names only.
[[nodiscard]] table export_table(const cluster_state& s, table_kind kind);

}  // namespace kaisched::model
