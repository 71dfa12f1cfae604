#pragma once
/// @file
/// Clusters of GPUs that are divided in hardware, most of them in use, and gangs that wait for instances which nobody
/// has free: what the action `repartition` is for.

#include <cstdint>
#include <vector>

#include <kaisched/table.hpp>

namespace kaisched::bench {

struct divided_cluster {
  std::int32_t nodes = 500;       ///< with eight GPUs each
  std::int32_t gangs = 100;       ///< that wait
  std::uint64_t seed = 1;         ///< another cluster of the same kind
  std::int32_t kinds_of_cpu = 1;  ///< how many amounts of free cores nodes have: nodes that are alike but for them
};

/// The tables of such a cluster, in the order in which a cluster takes them: a function of these figures alone.
[[nodiscard]] std::vector<table> to_tables(const divided_cluster& of);

}  // namespace kaisched::bench
