#pragma once
/// @file
/// How fast a job learns on the GPUs that it has, and how far it comes in a while. All numbers are doubles, in the
/// order of operations of the published simulator, so that they round as they do there.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "benchmarks/pollux/trace.hpp"

namespace kaisched::bench::pollux {

/// What the published simulator does that one could do otherwise: as it does, unless said otherwise.
struct artefact {
  std::int64_t nodes = 16;
  std::int64_t gpus_per_node = 4;
  std::int64_t step = 60;                           ///< seconds between two plans
  std::int64_t restart = 30;                        ///< seconds that a job loses with every change of its GPUs
  std::int64_t demotion = std::int64_t{16} * 3600;  ///< GPU seconds after which a job is in the second queue
  /// An epoch ends at a whole second, the nearest, though what is learnt is exactly that of its end.
  bool ends_at_whole_seconds = true;
  /// Of applications of these names one GPU is enough, whoever counts.
  std::vector<std::string> lone_apps{"ncf"};
  /// Optimus expects of a job with one GPU that it splits its batch, also where it does not.
  bool expects_lone_split = true;
  /// Optimus expects that the epoch which has begun is over, and one iteration of a job in its last epoch.
  bool skips_present_epoch = true;

  [[nodiscard]] std::int64_t gpus() const { return nodes * gpus_per_node; }
};

/// A batch in parts that fit a GPU: all replicas compute `parts` of `local` samples, then exchange gradients.
struct batch_split {
  std::int64_t local = 0;
  std::int64_t parts = 1;
};
/// @param splits_alone one replica computes at least two parts
[[nodiscard]] batch_split split_batch(const application& app, std::int64_t batch, std::int64_t replicas,
                                      bool splits_alone);
/// Seconds for a batch. @param gpus on each node, in the order in which the nodes were taken
[[nodiscard]] result<double> batch_time(const measurements& of, app_row app, const std::vector<std::int64_t>& gpus,
                                        const batch_split& split);
/// Seconds that Optimus expects for a batch on full nodes.
[[nodiscard]] result<double> expected_time(const measurements& of, const artefact& as, const job_spec& job,
                                           std::int64_t replicas);
/// Iterations that Optimus expects to be left.
[[nodiscard]] result<double> expected_iterations(const measurements& of, const artefact& as, const job_spec& job,
                                                 std::int64_t epoch);
/// Most GPUs that Optimus gives a job.
[[nodiscard]] std::int64_t most_replicas(const measurements& of, const artefact& as, const job_spec& job);

/// A job from its arrival to its end.
class running_job {
 public:
  running_job(const measurements& of, const artefact& as, const job_spec& job) : of_(&of), as_(&as), job_(&job) {}

  /// Other GPUs than before, or none.
  result<void> move_to(std::vector<std::int64_t> gpus);
  /// Goes on from a time for some seconds.
  result<void> go_on(std::int64_t from, std::int64_t seconds);

  [[nodiscard]] std::int64_t epoch() const { return epoch_; }
  [[nodiscard]] double progress() const { return progress_; }
  [[nodiscard]] bool has_ended() const { return end_ >= 0; }
  [[nodiscard]] double end() const { return end_; }  ///< seconds; below 0: not yet

 private:
  result<void> find_speed();
  [[nodiscard]] std::int64_t whole_batch() const;

  const measurements* of_;
  const artefact* as_;
  const job_spec* job_;
  std::vector<std::int64_t> gpus_;
  std::int64_t restart_left_ = 0;
  std::int64_t epoch_ = 0;
  double progress_ = 0;
  double end_ = -1;
  // What follows from the GPUs and the epoch.
  batch_split split_;
  double batch_time_ = 0;
  double speed_ = 0;  ///< learnt in a second; 0: not asked for yet
  double next_ = 0;   ///< progress at the end of the epoch
};

}  // namespace kaisched::bench::pollux
