#pragma once
/// @file
/// A workload: jobs that arrive over time, as traces tell of them. Readers of traces make one, the simulator plays it.

#include <cstdint>
#include <string>
#include <vector>

namespace kaisched::simulation {

/// Nobody has said.
inline constexpr std::int64_t unknown_time = -1;

/// Pods of one size.
struct pod_shape {
  std::uint32_t count = 1;
  std::int64_t cpu = 0;         ///< milli-CPU of each
  std::int64_t memory = 0;      ///< bytes of each
  std::int64_t gpus = 0;        ///< milli-GPU of each; below 1,000: a share of one device
  std::int64_t gpu_memory = 0;  ///< bytes of one device that each asks for instead of `gpus`; 0: none

  friend bool operator==(const pod_shape&, const pod_shape&) = default;
};

/// One job. Times are nanoseconds of virtual time; the workload begins at 0.
struct job {
  std::string name;   ///< of its own
  std::string queue;  ///< empty: the queue that the simulation names
  std::string user;   ///< empty: nobody
  std::string model;  ///< what it runs, by which profiles of speed and restarts are found; empty: none
  std::vector<std::string> gpu_models;  ///< models that its pods may run on; empty: all
  std::int64_t submit = 0;
  std::int64_t run_time = 0;             ///< with all its pods and without interruption
  std::int64_t estimate = unknown_time;  ///< what the scheduler is told about `run_time`
  std::int64_t deadline = unknown_time;  ///< at which it should have ended
  std::int64_t iterations = 0;           ///< of `iteration_time`, if the trace tells of them; else 0
  std::int64_t iteration_time = 0;       ///< with all its pods
  std::int64_t priority = 50;
  bool preemptible = true;
  std::uint32_t min_pods = 0;        ///< that must start together; 0: all
  std::vector<std::string> speedup;  ///< how fast it is with so many pods, as the column `speedup` of groups
  std::vector<std::string> after;    ///< jobs that have to begin or end before, as the column `after` of groups
  std::vector<pod_shape> pods;

  friend bool operator==(const job&, const job&) = default;
};

/// Jobs by `submit`, those of one time as the trace has them.
struct workload {
  std::vector<job> jobs;
  std::int64_t left_out = 0;  ///< rows of a trace that say nothing to play, such as jobs that never ran

  friend bool operator==(const workload&, const workload&) = default;
};

}  // namespace kaisched::simulation
