#pragma once
/// @file
/// Policies by the names under which they are known, for plays that compare them.

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/engine.hpp>

#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// How a policy is told to an engine and to a play. What it does not say stays as it is.
struct named_policy {
  std::string_view name;
  std::string_view meaning;
  std::string_view actions;
  std::string_view parts = {};
  std::string_view settings = {};  ///< more of them, `option=value` separated by blanks
  bool replan = false;
  bool repeat = false;
  bool one_queue = false;
  bool near = false;
  bool needs_estimates = false;      ///< where no job has one it decides like another policy
  std::int64_t usage_half_life = 0;  ///< nanoseconds
};

/// In the order in which they are shown.
[[nodiscard]] std::span<const named_policy> named_policies();
[[nodiscard]] const named_policy* find_policy(std::string_view name);
/// Options of the engine with their values, the actions first.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> settings_of(const named_policy& policy);
/// Tells it to both. Options of the play that a policy does not need stay as they are.
[[nodiscard]] result<void> apply_policy(const named_policy& policy, engine& to, simulation_options& play);

}  // namespace kaisched::simulation
