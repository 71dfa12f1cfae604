#pragma once
/// @file
/// Makes scenarios smaller while something about them stays true. The algorithm is ddmin (Zeller, Hildebrandt:
/// Simplifying and Isolating Failure-Inducing Input, 2002) over sessions, over entities together with what depends on
/// them, and over fields; then entities are merged and amounts made smaller.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <kaisched/result.hpp>

#include "io/scenario/scenario.hpp"

namespace kaisched::io {

/// What a scenario consists of.
struct scenario_size {
  std::size_t statements = 0;  ///< rows, sessions, options
  std::size_t nodes = 0;
  std::size_t queues = 0;
  std::size_t groups = 0;
  std::size_t pods = 0;
};

/// What is to stay true, and how much work it may take.
struct minimise_setup {
  /// Asked about every smaller scenario; must answer the same for equal scenarios.
  std::function<bool(const scenario&)> interesting;
  /// Asked instead of `interesting` if it is set. `next` makes one scenario a call, in the order in which they are to
  /// be taken, and none at the end. Returns the place of the first interesting one, from 0; none if no scenario is. It
  /// may look at several scenarios at a time. `next` must be called by the thread that called.
  std::function<std::optional<std::size_t>(const std::function<std::optional<scenario>()>& next)> first_interesting;
  std::size_t most_trials = 100'000;  ///< scenarios to be tried
  /// True ends the search with the best so far. May be empty.
  std::function<bool()> stopped;
  /// Called with the scenario itself once it is known to be interesting, then with each smaller one that is taken: its
  /// text and size. May be empty.
  std::function<void(const std::string& text, const scenario_size& size)> improved;
};

/// The best that was found.
struct minimised {
  std::string text;        ///< a scenario without expectations, one row a statement
  std::size_t trials = 0;  ///< scenarios that were tried, equal ones once
  std::size_t statements_before = 0;
  std::size_t statements = 0;
  scenario_size size;
  bool finished = true;  ///< no smaller one was found; false if the trials ran out, or the search was stopped
};

/// The smallest scenario that was found. It does not depend on how many scenarios are looked at together. Error if the
/// scenario is not interesting to begin with, or if the search was stopped before that was known.
[[nodiscard]] result<minimised> minimise_scenario(const scenario& from, const minimise_setup& how);

/// What each session of a scenario decides with other options: a text for each, decisions a line. Modes and paths,
/// which are part of digests, are not.
[[nodiscard]] std::vector<std::string> decided_lines(const scenario& from, const scenario_settings& with);

}  // namespace kaisched::io
