#pragma once
/// @file
/// Which cells virtual clusters own: as an option says, else what their quotas are worth, the largest cells first.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "schedulers/hived/rules/virtual_clusters.hpp"

namespace kaisched::hived {

/// One row of the option `hived.owned_cells`.
struct ownership {
  std::string queue;
  std::string level;
  std::uint32_t count = 0;
  std::string product;  ///< of the GPUs; empty: any
};
/// `queue:level:count` or `queue:level:count:product`.
[[nodiscard]] result<ownership> parse_ownership(std::string_view text);

struct cell_owner {
  std::string name;
  std::int64_t gpus = 0;  ///< its quota; `unlimited`: an equal part of what is left
};

/// As the rows say. Error: a queue, level or product that is not there, or more cells than there are.
[[nodiscard]] result<std::vector<cell_counts>> cells_by_rows(std::span<const chain> chains,
                                                             std::span<const cell_owner> owners,
                                                             std::span<const ownership> rows);
/// From the largest cells down each owner gets as many as its quota still has room for, in their order; then those
/// without a quota take turns, cell by cell, as long as all of them get one.
[[nodiscard]] std::vector<cell_counts> cells_by_quota(std::span<const chain> chains,
                                                      std::span<const cell_owner> owners);

}  // namespace kaisched::hived
