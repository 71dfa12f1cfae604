#pragma once
/// @file
/// How far jobs are: what they have done, what they lose when they are stopped, when they end.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/int128.hpp"
#include "model/figures.hpp"
#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// Progress of the jobs of a workload. Work is counted in nanoseconds at full speed, in integers.
class job_book {
 public:
  job_book(const play& what, const simulation_options& options);

  struct entry {
    std::uint32_t pods = 0;
    std::uint32_t gang = 0;     ///< pods without which nothing goes on
    std::uint32_t on_node = 0;  ///< pods that have places
    std::int64_t held = 0;      ///< milli-GPU of these
    std::int64_t done = 0;
    std::int64_t kept = 0;              ///< of `done`, when it started last
    base::int128 run_time_of_gpus = 0;  ///< milli-GPU nanoseconds with progress since then
    std::int64_t speed = 0;             ///< parts per million; 0: it does not go on
    std::int64_t since = 0;             ///< accounted for until then
    std::int64_t ready = 0;             ///< overhead of the start until then
    std::uint64_t stamp = 0;            ///< of the plan of its end
    base::int128 gpu_time = 0;          ///< milli-GPU nanoseconds
    base::int128 gpu_time_before = 0;   ///< of `gpu_time`, before it started last
    base::int128 lost_gpu_time = 0;
    base::int128 partial_gpu_time = 0;  ///< of `lost_gpu_time`: held by fewer pods than its gang, of a start in parts
    base::int128 stale_gpu_time = 0;    ///< likewise, of what was left after it had lost pods
    bool live = false;                  ///< it has come and not ended
    bool is_resized = false;            ///< it has got or lost pods since it was settled last
    bool is_stale = false;              ///< it went on, has lost pods of its gang, and has some left
  };

  [[nodiscard]] const entry& operator[](std::uint32_t job) const { return jobs_[job]; }
  [[nodiscard]] bool runs(std::uint32_t job) const { return jobs_[job].on_node >= jobs_[job].gang; }

  /// Before the first pod starts. By slot of the node; empty: nothing is known of it.
  void learn_gpu_models(const std::vector<std::string>& of_nodes);
  /// Whether the nodes of the job decide how fast it is.
  [[nodiscard]] bool asks_for_nodes(std::uint32_t job) const { return !speed_on_[profile_of_[job]].empty(); }
  /// Parts per million of its full speed. Only of jobs that ask.
  [[nodiscard]] std::int64_t speed_on(std::uint32_t job, std::uint32_t slot) const {
    return speed_on_[profile_of_[job]][slot];
  }

  void arrive(std::uint32_t job, std::int64_t now);
  /// A pod of the job gets or loses its place; the amounts of GPUs are those of the pod.
  void pod_starts(std::uint32_t job, std::int64_t gpus, std::int64_t now);
  void pod_stops(std::uint32_t job, std::int64_t gpus, std::int64_t now);
  /// After the pods of a moment have started and stopped: goes on with the speed that it has now. True if the end of
  /// the job has to be planned anew.
  /// @param of_nodes the speed that its slowest node allows
  [[nodiscard]] bool settle(std::uint32_t job, std::int64_t now, bool saves_work, std::int64_t of_nodes = full_speed);
  /// It stops and goes on at once: what `settle` would take from a job that stops is gone.
  void interrupt(std::uint32_t job, std::int64_t now, bool saves_work);
  /// Counts what it has had until now.
  void account_until(std::uint32_t job, std::int64_t now) { account(job, now); }
  /// Of a job that goes on: when it wrote what it would go back to if it were stopped now; `never` if it would begin
  /// again.
  [[nodiscard]] std::int64_t last_checkpoint(std::uint32_t job, std::int64_t now) const;
  [[nodiscard]] std::int64_t restart_cost(std::uint32_t job) const { return profile_of(job).start_overhead; }
  [[nodiscard]] std::int64_t traffic(std::uint32_t job) const { return profile_of(job).traffic; }
  /// When it ends if nothing changes. The job goes on.
  [[nodiscard]] std::int64_t end_of(std::uint32_t job) const;
  void end(std::uint32_t job, std::int64_t now);
  /// Milli-GPU seconds that its pods have had, as of the last change; of a job that goes on, until it started last.
  [[nodiscard]] std::int64_t attained_service(std::uint32_t job) const;
  /// The same with what it has had since then.
  [[nodiscard]] std::int64_t whole_service(std::uint32_t job) const;

  [[nodiscard]] std::vector<job_outcome>& outcomes() { return outcomes_; }
  /// Counts what jobs that have not ended have had until now.
  void close(std::int64_t now);

 private:
  void account(std::uint32_t job, std::int64_t now);
  void lose_work(std::uint32_t job);
  [[nodiscard]] std::int64_t saved_of(std::uint32_t job, std::int64_t done) const;
  [[nodiscard]] std::int64_t speed_with(std::uint32_t job, std::uint32_t pods) const;
  [[nodiscard]] const profile& profile_of(std::uint32_t job) const { return profiles_[profile_of_[job]]; }

  const workload& workload_;
  bool keeps_work_;
  std::vector<profile> profiles_;  ///< the first is that of jobs without one
  std::vector<std::uint32_t> profile_of_;
  std::vector<std::vector<model::speed_point>> curves_;  ///< by job; empty: that of its profile
  std::vector<std::vector<std::int64_t>> speed_on_;      ///< by profile and slot; empty: nodes are all alike
  std::vector<entry> jobs_;
  std::vector<job_outcome> outcomes_;
};

}  // namespace kaisched::simulation
