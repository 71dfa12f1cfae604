#pragma once
/// @file
/// The rules of Tiresias and Optimus as parts of policies, and what they look up.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/engine.hpp>

#include "benchmarks/pollux/learning.hpp"

namespace kaisched::bench::pollux {

/// What a scheduler remembers of a job from plan to plan.
struct job_facts {
  bool active = false;         ///< has arrived and has not ended
  std::int64_t gpus = 0;       ///< by the last plan
  std::int64_t served = 0;     ///< seconds with GPUs
  std::int64_t queue = 0;      ///< 0 or 1
  std::int64_t position = 0;   ///< in the queue: who came later has a larger one
  double iterations_left = 0;  ///< as Optimus expects
};

/// A policy of the table: parts that say how many GPUs a job gets, and parts that say where.
struct policy_name {
  std::string published;
  bool is_elastic = false;  ///< jobs may have any number of GPUs; else what they were tuned for, or none
  std::string plan;         ///< values of the option `parts`
  std::string place;
};
[[nodiscard]] const std::vector<policy_name>& policies();

/// What is known of all jobs, for the parts to look up.
class book {
 public:
  book(const measurements& of, const artefact& as, const workload& jobs);

  void arrive(std::size_t job);
  void leave(std::size_t job);
  /// Time has passed since the last plan.
  void serve(std::int64_t seconds);
  result<void> expect_iterations(std::size_t job, std::int64_t epoch);
  void set_gpus(std::size_t job, std::int64_t gpus) { facts_[job].gpus = gpus; }

  [[nodiscard]] const std::vector<job_facts>& facts() const { return facts_; }
  /// Seconds that one GPU more would save a job, by what Optimus expects.
  [[nodiscard]] result<double> saving(std::size_t job, std::int64_t gpus) const;

 private:
  result<double> expected(std::size_t job, std::int64_t gpus) const;

  const measurements& of_;
  const artefact& as_;
  const workload& jobs_;
  std::vector<job_facts> facts_;
  std::int64_t next_position_ = 0;
  mutable std::vector<std::vector<double>> expected_;  ///< by job and GPUs; below 0: not asked yet
};

/// Names of groups that sort like the numbers of their jobs.
[[nodiscard]] std::string group_name(std::size_t job);
[[nodiscard]] std::size_t job_of_group(std::string_view name);

/// Adds the parts `two_queues`, `largest_saving`, `fewest_gpus` and `same_node`. The book must outlive the engine.
result<void> register_parts(engine& with, const book& facts);

}  // namespace kaisched::bench::pollux
