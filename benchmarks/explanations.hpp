#pragma once
/// @file
/// What would start the groups that wait in an invented cluster.

#include <cstdint>
#include <vector>

#include <kaisched/engine.hpp>

namespace kaisched::bench {

struct explanations_result {
  std::uint32_t nodes = 0;
  std::int64_t pods = 0;
  std::vector<double> seconds;  ///< of each group
  std::vector<std::uint32_t> trials;
  std::uint32_t remedies = 0;
  std::uint32_t complete = 0;  ///< groups whose search ended by itself
};

/// Asks for the remedies of groups that wait after `allocate`, up to so many of them.
[[nodiscard]] explanations_result run_explanations(const engine& with, std::int32_t nodes, std::size_t most,
                                                   const remedy_limits& limits);

}  // namespace kaisched::bench
