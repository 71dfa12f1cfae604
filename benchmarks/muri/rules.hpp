#pragma once
/// @file
/// What the simulations assume beside the policy. The values are those of the authors' program.

#include <cstdint>
#include <vector>

namespace kaisched::bench::muri {

struct loop_rules {
  std::int64_t nodes = 8;
  std::int64_t gpus_per_node = 8;
  /// Every iteration takes so many times what was measured.
  double slowdown = 1.015;
  /// Jobs that come, and ends, within this part of their time of each other are one event. 0: only equal times.
  double same_time = 1e-9;
  bool same_time_of_ends = true;  ///< false: ends must be equal
  /// Between any two events a job has no progress for the time of a restart, though it may have gone on. When it ends
  /// is told without: the end comes later with every event before it. False: only after it has started, or started
  /// again.
  bool restarts_at_every_event = true;
  bool counts_gpus_only = false;  ///< all GPUs are one pool: jobs fit wherever enough are free
  /// GPU seconds, rising: a job that has had as many goes to the end of the next queue, one queue at an event. Inside
  /// of a queue those that run stand before those that do not, and else as they came into it.
  std::vector<std::int64_t> queue_limits;
  /// So many jobs may share GPUs; each asks for such a part of its devices. More than one only for jobs whose stages
  /// are known, and with a part that says which.
  std::int64_t sharers = 1;
  /// Seconds: an end that is so close to jobs that come is one event with them, at their time.
  double ends_with_arrivals = 0;
  /// Beside jobs that come and end there is an event when a job that runs reaches the limit of its queue.
  bool wakes_at_limits = true;
};

}  // namespace kaisched::bench::muri
