#pragma once
/// @file
/// What became of a workload, as CSV: docs/simulation.md has the columns.

#include <string>

#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// A line for each job, in the order of the workload. Times are seconds; what did not come to pass is empty.
[[nodiscard]] std::string format_outcomes(const workload& jobs, const run_result& run);
/// A line for each moment at which something changed.
[[nodiscard]] std::string format_timeline(const run_result& run);

}  // namespace kaisched::simulation
