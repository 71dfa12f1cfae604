#pragma once
/// @file
/// Places that are kept for pods from one session to the next.

#include "model/state.hpp"

namespace kaisched::model {

/// The same cluster in which pods that are pipelined wait, with the nodes of their places as nominated nodes: queues
/// are asked for what they ask for, and sessions keep the places for them.
[[nodiscard]] cluster_state with_pods_nominated(const cluster_state& s);

}  // namespace kaisched::model
