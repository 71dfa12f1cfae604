#pragma once
/// @file
/// What is kept of a search for flavors, so that the next cycle goes on where it stopped.

#include <cstdint>
#include <string>

#include "schedulers/kueue/rules/flavor_assignment.hpp"

namespace kaisched::kueue {

/// Where the search for the flavors of a workload stopped, and when that was.
struct scan_memory {
  scan_progress progress;
  std::int64_t cycle = 0;       ///< in which it was
  std::int64_t generation = 0;  ///< how often more had become free for the queue until then
  std::string shape;            ///< of the workload's pod sets; empty if it is not compared
};

/// Whether flavors were left that the search did not look at.
[[nodiscard]] bool has_flavors_left(const scan_progress& progress);

/// Whether the next search has to begin with the first flavor: the workload has another shape, or more has become free
/// for its queue since. `lasts_a_cycle`: what the cycle before found holds even then, as on a busy cluster something
/// becomes free in every cycle and the later flavors would never be looked at. `now` has no progress.
/// Source: flavor fungibility of Kueue (KEP-582).
[[nodiscard]] bool is_outdated(const scan_memory& memory, const scan_memory& now, bool lasts_a_cycle);

}  // namespace kaisched::kueue
