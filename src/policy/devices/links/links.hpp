#pragma once
/// @file
/// Sets of devices by how well they are linked.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/devices/vendor/device.hpp"

namespace kaisched::devices {

/// How many partial sets the search for the best set looks at before it takes the best that it knows.
inline constexpr std::size_t link_search_limit = 200'000;

/// Of several grants: one alone is the least linked to all others, so that the rest stays together; a set has the
/// greatest sum of scores of its pairs. Among equals the first in the order of the grants. Exact up to `limit`, else at
/// least as good as a greedy choice.
[[nodiscard]] container_grants best_linked(const container_grants& among, std::size_t count, const link_scores& links,
                                           std::size_t limit = link_search_limit);

}  // namespace kaisched::devices
