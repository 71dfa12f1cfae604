#pragma once
/// @file
/// What a run was worth, in figures that can be compared.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// Of some times, in seconds. Percentiles are nearest ranks: the smallest value that so many are not above.
struct distribution {
  std::uint64_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double most = 0;
};
[[nodiscard]] distribution distribution_of(std::vector<std::int64_t> nanoseconds);

/// Figures of one run. Those of times are of jobs that have ended.
struct metrics {
  std::uint64_t jobs = 0;
  std::uint64_t ended = 0;
  std::uint64_t never_started = 0;
  distribution completion;             ///< from submit to end (JCT)
  distribution waiting;                ///< from submit to the first start, of all jobs that started
  double makespan = 0;                 ///< seconds from the first submit to the last end
  double utilisation = 0;              ///< of the GPUs that were there in the contended window, 0 to 1
  double utilisation_of_span = 0;      ///< likewise, from the first submit to the end of the play
  double utilisation_of_arrivals = 0;  ///< likewise, from the first submit until the last job came
  /// Seconds: the contended window, see `contended_window`; the span if there is none.
  double contended_from = 0;
  double contended_until = 0;
  double gpu_hours = 0;                ///< held by pods
  double lost_gpu_hours = 0;           ///< of these, without progress that was kept
  double partial_gang_gpu_hours = 0;   ///< of the lost ones: held by gangs of which too few pods had places to begin
  double stale_gang_gpu_hours = 0;     ///< likewise, by gangs that had lost pods and could not go on
  double idle_fitting_gpu_hours = 0;   ///< of GPUs that were free while jobs waited that fit on them
  std::uint64_t evictions = 0;         ///< times that decisions stopped a job
  std::uint64_t failures = 0;          ///< times that nodes did
  std::uint64_t restarts = 0;          ///< starts of jobs after their first ones
  std::uint64_t pods_evicted = 0;      ///< as `run_counts` says
  std::uint64_t moves = 0;             ///< of pods, likewise
  std::uint64_t withdrawn_starts = 0;  ///< of pods, likewise
  std::uint64_t quota_claims = 0;      ///< of all queues, see `quota_claim`
  double longest_quota_claim = 0;      ///< seconds, of all queues
  /// Finish-time fairness (Themis, NSDI 2020): the time that a job took by the time that it would have taken on its
  /// part of the cluster, which is its run time, times what was wanted by what was there in its life, at least 1.
  double worst_fairness = 0;
  double unfair = 0;  ///< jobs for which it is above 1.05, 0 to 1
  /// Jain's index of the slowdowns of jobs (their time by their run time): 1 if all are equal, 1 / jobs at worst.
  double jain = 0;
  double fragmentation = 0;      ///< of the GPUs that are free, what pods of the workload cannot use, 0 to 1
  double idle_though_asked = 0;  ///< of the GPUs that are there, those that are free while as many are waited for
  double share_error = 0;        ///< of the GPUs that are held, those that max-min fairness would give to other queues
  /// Of jobs of several pods, weighted by GPU time: levels of the topology between their nodes, see
  /// `job_outcome::distance`.
  double topology_cost = 0;
  double gpu_hours_there = 0;  ///< of all GPUs that were there: what the cluster costs
  double energy = 0;           ///< kilowatt hours that nodes drew, where they say what they draw
  double peak_power = 0;       ///< kilowatts, likewise
  double fullest_feed = 0;     ///< of the power feeds, the largest peak by what the feed may deliver
};

[[nodiscard]] metrics metrics_of(const workload& jobs, const run_result& run);

/// A part of a play, nanoseconds of virtual time.
struct time_window {
  std::int64_t from = 0;
  std::int64_t until = 0;

  friend bool operator==(const time_window&, const time_window&) = default;
};
/// From the first moment to the end of the last one at which pods on nodes and pods that wait ask for more GPUs than
/// are there; none if they never do.
[[nodiscard]] std::optional<time_window> contended_window(const run_result& run);
/// From the first sample to the end of the play.
[[nodiscard]] time_window whole_span(const run_result& run);

/// The mean of a figure of the timeline over equal pieces of a window, for plots.
enum class series : std::uint8_t { held, wanted, there, running, waiting };
[[nodiscard]] std::vector<double> pieces_of(const run_result& run, series what, std::size_t count,
                                            const time_window& window);
/// Of the whole span.
[[nodiscard]] std::vector<double> pieces_of(const run_result& run, series what, std::size_t count);

}  // namespace kaisched::simulation
