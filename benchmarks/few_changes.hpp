#pragma once
/// @file
/// A cluster in which little happens: every step some jobs end, some new ones come, and everything is decided anew.

#include <cstdint>
#include <string>
#include <vector>

#include <kaisched/engine.hpp>

namespace kaisched::bench {

/// Seconds of one step.
struct step_times {
  double apply = 0;     ///< what happened since the step before: ends, starts, new jobs
  double snapshot = 0;  ///< taking it
  double open = 0;      ///< of the session
  double actions = 0;
  double read = 0;  ///< of all decisions
  [[nodiscard]] double total() const { return apply + snapshot + open + actions + read; }
};

struct few_changes_result {
  std::vector<step_times> steps;
  std::int64_t pods = 0;
  std::int64_t binds = 0;  ///< of all these steps
  std::int64_t others = 0;
  std::string digest;  ///< of the decisions of the last step
};

/// In a smaller cluster the jobs that end make room for one of the gangs.
inline constexpr std::int32_t few_changes_least_nodes = 400;

/// Scenario `few_changes`: in a step the 50 oldest jobs with a GPU end and 50 new ones come, while 200 large gangs
/// wait. The first `warm_up` steps are not told. Throws `std::invalid_argument` as `build` does, `std::runtime_error`
/// if the engine refuses something or there are fewer nodes than that.
[[nodiscard]] few_changes_result run_few_changes(const engine& with, std::int32_t nodes, int warm_up, int steps);

}  // namespace kaisched::bench
