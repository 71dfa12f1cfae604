#pragma once
/// @file
/// How the program ends. The numbers are a promise to scripts; docs/cli.md explains them.

#include <kaisched/result.hpp>

namespace kaisched::cli {

enum exit_status : int {
  exit_ok = 0,          ///< done; pods that wait are an outcome, not a failure
  exit_problems = 1,    ///< done, and something is wrong with what was examined
  exit_usage = 2,       ///< wrong arguments, or input that is not there or cannot be used
  exit_failure = 3,     ///< the engine failed, or something could not be written
  exit_unfinished = 4,  ///< stopped early; what was found so far has been written
};

/// The status for an error that came up while input was read or decided on: what only the input can have caused, or
/// not.
[[nodiscard]] exit_status exit_of(const error& why);

}  // namespace kaisched::cli
