#pragma once
/// @file
/// GPUs that drivers offer in pools, as capacity of the nodes that can use them.

#include <string_view>

#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// Of nodes the GPUs that plugins count, of pods what they ask of these, in milli-GPU.
inline constexpr std::string_view counted_gpus = "kaisched.io/counted-gpus";

/// Adds the GPUs that nodes reach in pools to their capacity: as many as can be in use at once,
/// and no fewer than pods there have. Pods that ask for
/// numbers or parts of GPUs cannot have these; where there are such pods, the dimension above keeps them off.
void add_claimable_gpus(cluster_records& rows);

}  // namespace kaisched::io::kubernetes
