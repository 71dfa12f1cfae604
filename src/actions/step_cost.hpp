#pragma once
/// @file
/// How many steps searches draw for what they do (S19). A step takes about as long everywhere, so that a budget of
/// steps bounds the time of a search.

#include <cstdint>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Of a set of victims that is tried, beside those of its pods and of the chunk's.
constexpr std::int64_t steps_of_trial = 10;

/// Units of sets that are put together, tried or not.
constexpr std::size_t units_per_step = 256;

/// Beside those, where queues are put in order for the set (`compat`): so many leaf queues with waiting groups.
[[nodiscard]] std::int64_t steps_of_queues(std::size_t leaves);

/// Nodes that have to be looked at to place a pod, where the order of nodes does not tell the best one: all for pods
/// with claims, a part for those that other pods keep from nodes.
[[nodiscard]] std::int64_t steps_of_looks(const framework::session_state& c, pod_row pod);

/// One pod that is placed.
[[nodiscard]] inline std::int64_t steps_of_pod(const framework::session_state& c, pod_row pod) {
  return 1 + steps_of_looks(c, pod);
}

}  // namespace kaisched::actions
