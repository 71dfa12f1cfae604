#pragma once
/// @file
/// Whether a play makes sense, before it begins.

#include <kaisched/cluster.hpp>

#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// The error names the job, the outage, the profile or the option.
[[nodiscard]] result<void> check_play(cluster& over, const play& what, const simulation_options& options);

}  // namespace kaisched::simulation
