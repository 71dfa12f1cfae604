#pragma once
/// @file
/// Placing the next chunk of one pod group, completely or not at all. All actions use it.

#include <vector>

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

/// Groups that may start pods: ready, in a queue that is served, with pending pods.
[[nodiscard]] std::vector<group_row> groups_to_start(const work::core& c);

/// Commits the chunk that the statement has placed. `had_started`: the group held something before.
[[nodiscard]] result<void> commit_group(work::core& c, group_row group, bool waits, bool had_started);

}  // namespace kaisched::actions
