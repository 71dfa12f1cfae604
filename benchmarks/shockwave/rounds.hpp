#pragma once
/// @file
/// The rounds of the benchmark: in each a session of the engine decides who runs, and nobody is moved before the next.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "benchmarks/shockwave/shares.hpp"
#include "benchmarks/shockwave/trace.hpp"

namespace kaisched::bench::shockwave {

/// What the authors' simulator does, as it comes; each can be changed.
struct round_options {
  std::int64_t gpus = 32;
  std::int64_t gpus_per_node = 1;
  double round = 120;  ///< seconds, as all times; one ends when the last of its jobs has done its steps
  /// What a job loses that was not in the round before.
  double restart = 20;
  /// A round that ends sooner than `round` less this is the last of a job: nothing is lost in it.
  double restart_margin = 5;
  /// Shares are divided again when jobs have come or gone, but not sooner than this.
  double between_shares = 1000;
  /// A job that came after shares were divided is lined up last and takes GPUs that are left, but does not run.
  bool newcomers_idle = true;
  /// A job that has run for so many times its planned time ends; 0: no job does.
  double overtime = 1.5;
  /// A change of the batch size may leave no steps; after so many rounds without any the job ends.
  std::int64_t empty_rounds = 5;
  /// Batch sizes change while jobs run; else all are what they are at first.
  bool changing_batches = true;
};

/// What the loop knows of a job that is there. The part that orders groups reads it.
struct book_entry {
  bool has_share = false;
  double share = 0;
  double received = 0;  ///< seconds with its GPUs since shares were divided, and half a round
  double owed = 0;      ///< seconds that were its share until then, less what it had
};
struct round_book {
  std::vector<book_entry> jobs;  ///< by number
  double received = 0;           ///< by all jobs since shares were divided
};

/// The cluster of the rounds, with the jobs that are there as pending groups.
class round_cluster {
 public:
  /// With the parts of this benchmark, which read the book; it must outlive the cluster. Errors: options that are no
  /// cluster, a part that there is not.
  [[nodiscard]] static result<round_cluster> make(const round_options& options, const std::string& part, bool by_share,
                                                  const round_book& book);

  result<void> arrive(std::size_t job, std::int64_t gpus);
  result<void> leave(std::size_t job, std::int64_t gpus);
  /// How long a job has had its GPUs, for parts of the library that ask.
  result<void> serve(std::size_t job, std::int64_t gpus, double seconds);
  /// Numbers of the jobs that a session starts on the empty cluster, ascending.
  [[nodiscard]] result<std::vector<std::size_t>> choose(double now);

 private:
  round_cluster() = default;
  engine engine_;
  cluster cluster_;
};

struct outcome {
  std::vector<double> completion_times;  ///< by job: seconds from its arrival
  std::vector<double> planned_times;     ///< by job: seconds alone
  double makespan = 0;
  std::int64_t rounds = 0;

  [[nodiscard]] double average() const;
  /// Finish-time fairness: the completion time over what the planned time would be with an equal part of the GPUs.
  [[nodiscard]] std::vector<double> fairness(std::int64_t gpus) const;
};

/// Jobs by arrival. The error names the job and what is wrong with it.
[[nodiscard]] result<outcome> play(std::span<const trace_job> jobs, const speed_table& speeds,
                                   const policy_name& policy, const round_options& options = {});

}  // namespace kaisched::bench::shockwave
