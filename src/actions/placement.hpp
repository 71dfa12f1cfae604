#pragma once
/// @file
/// Placing the next chunk of one pod group, completely or not at all. All actions use it.

#include <kaisched/result.hpp>

#include "session/core.hpp"

namespace kaisched::actions {

/// How pods are placed.
struct placing {
  bool only_claims = false;               ///< a simulation: nobody starts, victims may come back
  const work::node_set* among = nullptr;  ///< only these nodes; null: all
};

/// True if every pod of the chunk has a place; else the statement is as before and `why` tells the obstacle.
[[nodiscard]] result<bool> place_group(work::core& c, group_row group, const placing& how, work::failure& why);

}  // namespace kaisched::actions
