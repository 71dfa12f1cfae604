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

/// Groups of devices that reach each other over links of at least `score`, by position: number of the group of every
/// device, in the order of their first device.
[[nodiscard]] std::vector<std::size_t> link_islands(const link_scores& links, std::size_t devices, std::int64_t score);

/// Fewest links of at least `score` between every pair, row by row; -1 where there is no way.
[[nodiscard]] std::vector<std::int64_t> link_hops(const link_scores& links, std::size_t devices, std::int64_t score);

/// The smallest sum of scores between two halves into which a set can be cut (the weakest place of a set); 0 for less
/// than two devices. A pair counts the larger of its two directions, and nothing if that is negative.
[[nodiscard]] std::int64_t link_cut(const container_grants& of, const link_scores& links);

}  // namespace kaisched::devices
