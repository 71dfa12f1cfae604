#pragma once
/// @file
/// Invented workloads: jobs that arrive at random, drawn from published distributions.
///
/// Equal options give equal jobs on every machine, see draws.hpp. Every job has a stream of its own for each of its
/// properties, so that another law of run times changes neither sizes nor arrivals.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "simulation/workload.hpp"

namespace kaisched::simulation {

/// So many of all jobs ask for so many GPUs.
struct size_weight {
  std::int64_t gpus = 1;
  std::int64_t weight = 1;
};

/// Run times of 10^x minutes, x being uniform between two numbers; as often as the weight says.
struct power_range {
  double least = 0;
  double most = 0;
  std::int64_t weight = 1;
};

/// Log-normal run times, unless there are ranges of powers of ten.
struct run_time_law {
  double median = 0;  ///< seconds
  double sigma = 0;   ///< standard deviation of the natural logarithm
  std::vector<power_range> powers;
  std::int64_t least = 1;       ///< seconds; what is shorter or longer is cut to these
  std::int64_t most = 5184000;  ///< 60 days
};

/// How the rate of arrivals changes: thousandths of the mean.
struct arrival_rhythm {
  std::array<std::int64_t, 24> hours{};  ///< of a day
  std::array<std::int64_t, 7> days{};    ///< of a week that begins with the workload
};
enum class rhythm_use : std::uint8_t { none, day, week };

/// A set of defaults and where they come from.
struct workload_model {
  std::string_view name;
  std::string_view source;
  double jobs_per_hour = 1;
  std::vector<size_weight> sizes;
  run_time_law run_times;
  arrival_rhythm rhythm;
  rhythm_use used = rhythm_use::none;  ///< what of the rhythm counts if nobody says it
};
[[nodiscard]] std::span<const workload_model> workload_models();
[[nodiscard]] const workload_model* find_workload_model(std::string_view name);

struct generator_options {
  std::int64_t jobs = 1000;
  std::uint64_t seed = 1;
  double jobs_per_hour = 1;
  std::vector<size_weight> sizes;
  run_time_law run_times;
  arrival_rhythm rhythm;
  rhythm_use used = rhythm_use::none;
  std::int64_t queues = 0;  ///< jobs are in queue-1 to queue-N, equally often; 0: in none
  std::int64_t gpus_per_node = 8;
  /// Jobs of several pods may run with one and are elastic: their speed-ups follow Amdahl's law, with a serial part
  /// drawn evenly from 0.5 to 20 percent.
  bool elastic = false;
};
/// The options that a model stands for.
[[nodiscard]] generator_options options_of(const workload_model& model);

/// `1:70,2:10,4:15`: GPUs and their weights.
[[nodiscard]] result<std::vector<size_weight>> parse_sizes(std::string_view text);
/// `log-normal:15m:2.2` (median, sigma) or `powers:1.5:3:80,3:4:20` (exponents of ten minutes, weight).
[[nodiscard]] result<run_time_law> parse_run_times(std::string_view text);

[[nodiscard]] result<workload> generate_workload(const generator_options& options);

}  // namespace kaisched::simulation
