#pragma once
/// @file
/// Two policies on one workload: who wins and loses.

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/play_arguments.hpp"
#include "cli/terminal.hpp"
#include "simulation/comparison.hpp"
#include "simulation/metrics.hpp"

namespace kaisched::cli {

/// A policy, and its play once it has been played.
struct competitor {
  std::string name;
  play_arguments play;
  simulation::run_result run;
  simulation::metrics figures;
  bool needs_estimates = false;  ///< see `simulation::named_policy`
};
/// @param notes_changes for a difference to be told
[[nodiscard]] result<void> play_once(competitor& one, const simulation::workload& jobs, bool notes_changes);

struct difference {
  simulation::comparison of;
  std::optional<simulation::parting> parts;
  std::vector<simulation::job_change> gains;  ///< largest first
  std::vector<simulation::job_change> losses;
  std::vector<simulation::question> why_gains;  ///< what kept them in the first play, by place
  std::vector<simulation::question> why_losses;
};
/// Plays both again to ask their sessions why. @param most jobs that gain, and as many that lose
[[nodiscard]] result<difference> difference_of(const competitor& first, const competitor& second,
                                               const simulation::workload& jobs, std::size_t most);

void print_difference(const terminal& out, const difference& d, const competitor& first, const competitor& second,
                      const simulation::workload& jobs);
[[nodiscard]] nlohmann::ordered_json json_of(const difference& d, const simulation::workload& jobs);

}  // namespace kaisched::cli
