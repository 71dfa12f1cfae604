#pragma once
/// @file
/// Who was on which node, from when until when: what a chart of GPUs over time draws.

#include <cstdint>
#include <vector>

#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// Pods of a job that came to a node and left it together.
struct interval {
  std::int64_t from = 0;
  std::int64_t to = 0;  ///< the end of the play if they are there then
  std::uint32_t job = 0;
  std::uint32_t node = 0;  ///< slot
  std::uint32_t pods = 0;
  std::int64_t gpus = 0;      ///< milli-GPU of all of them
  std::uint64_t devices = 0;  ///< bits; none if they changed, or if the cluster does not name them

  friend bool operator==(const interval&, const interval&) = default;
};

/// The stays of a play by start, job, node and end; those that did not last are left out.
[[nodiscard]] std::vector<interval> intervals_of(const run_result& run);

}  // namespace kaisched::simulation
