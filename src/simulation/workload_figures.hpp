#pragma once
/// @file
/// What is in a workload, in numbers.

#include <cstdint>
#include <string>
#include <vector>

#include "simulation/workload.hpp"

namespace kaisched::simulation {

/// The smallest values that so many per cent of all are not above.
struct percentiles {
  std::int64_t least = 0;
  std::int64_t p25 = 0;
  std::int64_t median = 0;
  std::int64_t p75 = 0;
  std::int64_t p90 = 0;
  std::int64_t p99 = 0;
  std::int64_t most = 0;
  double mean = 0;
};

/// Jobs that ask for the same milli-GPU.
struct size_figures {
  std::int64_t gpus = 0;
  std::int64_t jobs = 0;
  double gpu_hours = 0;
};

/// Jobs of a queue.
struct queue_figures {
  std::string name;
  std::int64_t jobs = 0;
  double gpu_hours = 0;
};

struct workload_figures {
  std::int64_t jobs = 0;
  std::int64_t pods = 0;
  std::int64_t left_out = 0;
  std::int64_t first_submit = 0;
  std::int64_t last_submit = 0;
  std::int64_t end_without_waiting = 0;  ///< when the last job would end if all started at once
  double gpu_hours = 0;
  double mean_gpus = 0;               ///< that are busy until then, if nobody waits
  std::int64_t most_gpus = 0;         ///< milli-GPU that are busy at once, if nobody waits
  percentiles run_time;               ///< nanoseconds
  percentiles gpus;                   ///< milli-GPU of a job
  std::vector<size_figures> sizes;    ///< by size
  std::vector<queue_figures> queues;  ///< by name
  std::int64_t users = 0;             ///< with a name, different ones
  std::int64_t models = 0;
  std::int64_t period = 0;             ///< a round number of hours
  std::int64_t first_period = 0;       ///< when the first one begins: a multiple of it
  std::vector<std::int64_t> arrivals;  ///< jobs in each period
};

/// Periods of arrivals are as long as they have to be so that there are at most so many, or one more.
[[nodiscard]] workload_figures figures_of(const workload& of, std::size_t most_periods = 24);

}  // namespace kaisched::simulation
