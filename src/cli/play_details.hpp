#pragma once
/// @file
/// A play in all its details, as columns: what reports and plots are drawn from.

#include <nlohmann/json.hpp>

#include <kaisched/snapshot.hpp>

#include "simulation/simulation.hpp"

namespace kaisched::cli {

/// The member `details` of `kaisched-simulate/1`: docs/schema has it.
/// @param first the cluster before the play
/// @param default_queue of jobs that name none
[[nodiscard]] nlohmann::ordered_json details_of(const snapshot& first, const simulation::workload& jobs,
                                                const simulation::run_result& run, std::string_view default_queue);

}  // namespace kaisched::cli
