#pragma once
/// @file
/// Makes scenarios smaller while something about them stays true. The algorithm is ddmin (Zeller, Hildebrandt:
/// Simplifying and Isolating Failure-Inducing Input, 2002) over entities together with what depends on them, then over
/// sessions and fields.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <kaisched/result.hpp>

#include "io/scenario/scenario.hpp"

namespace kaisched::io {

/// What is to stay true, and how much work it may take.
struct minimise_setup {
  /// Asked about every smaller scenario; must answer the same for equal scenarios.
  std::function<bool(const scenario&)> interesting;
  std::size_t most_trials = 100'000;  ///< scenarios to be tried
  /// Called after every trial with the number of trials and of statements that are left; may be empty.
  std::function<void(std::size_t trials, std::size_t statements)> progress;
};

struct minimised {
  std::string text;  ///< a scenario without expectations, one row a statement
  std::size_t trials = 0;
  std::size_t statements_before = 0;
  std::size_t statements = 0;
  bool finished = true;  ///< no smaller one was found; false if the trials ran out
};

/// The smallest scenario that was found. Error if the scenario is not interesting to begin with.
[[nodiscard]] result<minimised> minimise_scenario(const scenario& from, const minimise_setup& how);

/// What each session of a scenario decides with other options: a text for each, decisions a line. Modes and paths,
/// which are part of digests, are not.
[[nodiscard]] std::vector<std::string> decided_lines(const scenario& from, const scenario_settings& with);

}  // namespace kaisched::io
