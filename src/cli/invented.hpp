#pragma once
/// @file
/// The invented cluster, as `generate` writes it and `demo` decides it.

#include <cstdint>

#include <kaisched/result.hpp>

#include "cli/command.hpp"
#include "cli/loaded_cluster.hpp"
#include "cli/progress.hpp"

namespace kaisched::cli {

struct invented_arguments {
  std::int64_t gpus = 4096;
  double load = 0.9;
  std::uint64_t seed = 1;
  bool mix = false;
};
void add_invented_arguments(command& to, invented_arguments& told);

/// Steps of `invent_cluster` in a progress bar.
inline constexpr std::size_t invent_steps = 2;
[[nodiscard]] result<loaded_cluster> invent_cluster(const invented_arguments& told, progress& shown);

}  // namespace kaisched::cli
