#pragma once
/// @file
/// What a snapshot may hold and the engine does not decide. It refuses to look at such a snapshot instead of deciding
/// as if the data were not there.

#include <kaisched/result.hpp>

#include "model/state.hpp"

namespace kaisched::engine_detail {

/// Success, or `unsupported` with object and column. Cost: constant if there is no such data.
[[nodiscard]] result<void> require_decided(const model::cluster_state& s);

}  // namespace kaisched::engine_detail
