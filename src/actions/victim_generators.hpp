#pragma once
/// @file
/// Which sets of the collected victims are tried: the generators of KAI Scheduler 0.17 (plugins `nodelocalgreedy` and
/// `multinodegang`).

#include <functional>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/victim_builder.hpp"

namespace kaisched::actions {

/// Tries a set; true ends the search.
using victim_attempt = std::function<result<bool>(const victim_set&)>;

/// One node of the newest victim at a time: all victims so far that touch it.
result<bool> node_local(const framework::session_state& c, victim_builder& from, const victim_attempt& attempt);

/// The smallest nodes that together free enough for all pending pods, then ever more nodes.
result<bool> multi_node(victim_builder& from, const victim_attempt& attempt);

}  // namespace kaisched::actions
