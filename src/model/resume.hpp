#pragma once
/// @file
/// Going on from a version: what a writer keeps beside a state, found again from the state.

#include "model/state.hpp"
#include "model/writer.hpp"

namespace kaisched::model {

/// Makes `writer` and `names` what they would be if all rows of `state` had come from this writer. New names go to a
/// pool of the state's own; identifiers stay valid, and those of what has gone stay stale. Cost: the whole cluster.
void resume(cluster_state& state, writer_state& writer, name_maps& names);

}  // namespace kaisched::model
