#pragma once
/// @file
/// Placing the next chunk of one pod group, completely or not at all. All actions use it.

#include <kaisched/result.hpp>

#include "session/core.hpp"

namespace kaisched::actions {

/// True if every pod of the chunk has a place; else the statement is as before and `why` tells the obstacle.
[[nodiscard]] result<bool> place_group(work::core& c, group_row group, bool only_claims, work::failure& why);

}  // namespace kaisched::actions
