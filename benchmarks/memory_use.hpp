#pragma once
/// @file
/// What the model takes per row, and how often sessions ask the heap for memory. For programs that count (heap.hpp).

#include <cstdint>
#include <string>

namespace kaisched::bench {

/// Bytes on the heap for one more row, names and indexes included, averaged over many.
struct bytes_per_row {
  double node = 0;      ///< with eight GPUs
  double job = 0;       ///< a group with one pod that runs
  double gang_pod = 0;  ///< a pod of a large gang that runs
};
/// Of clusters with so many nodes and rows, and twice as many.
[[nodiscard]] bytes_per_row measure_rows(std::int32_t nodes, std::int32_t pods);

/// Allocations of a session.
struct session_heap {
  std::int64_t open = 0;     ///< to open it
  std::int64_t actions = 0;  ///< in all of its actions
  std::int64_t tried = 0;    ///< groups that were looked at
  std::int64_t decisions = 0;
};
[[nodiscard]] session_heap measure_session(const std::string& scenario, std::int32_t nodes);

/// Allocations for each further decision, or group that is tried in vain: working arrays that a session makes once are
/// in neither.
[[nodiscard]] double allocations_per_step(const std::string& scenario, std::int32_t nodes);

}  // namespace kaisched::bench
