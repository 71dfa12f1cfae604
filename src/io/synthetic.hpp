#pragma once
/// @file
/// An invented but plausible GPU cluster, for demonstrations and experiments without data of one's own.
///
/// Everything follows from the options by `std::mt19937_64` and integer arithmetic (`engine() % n`): the same options
/// give the same tables with every compiler and standard library. The C++ standard fixes the engine's numbers but not
/// those of its distributions, so none is used.

#include <cstdint>

#include <kaisched/result.hpp>

#include "io/cluster_input.hpp"

namespace kaisched::io {

struct synthetic_options {
  std::int64_t gpus = 4096;        ///< 1 to 1,048,576
  std::int64_t load_percent = 90;  ///< GPUs held and asked for by jobs that can start, of all; 1 to 1000
  std::uint64_t seed = 1;
  bool mix = false;  ///< another cluster, with what the plain one has not
};

/// GPU nodes of two generations and CPU nodes in racks, blocks and zones, with pools behind taints; three levels of
/// queues; running and waiting jobs of many kinds, a few of which can never start, each for another reason.
/// With `mix` racks of five models, groups with levels of the topology and with sub-groups, claims of devices and
/// promised run times as well.
[[nodiscard]] result<cluster_input> make_synthetic_cluster(const synthetic_options& options);

}  // namespace kaisched::io
