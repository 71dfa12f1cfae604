#pragma once
/// @file
/// Two plays of one workload, side by side: which jobs and queues win and lose, by how much, when, and why.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// Of a job that ended in both plays. Nanoseconds; positive: later in the second one.
struct job_change {
  std::uint32_t job = 0;
  std::int64_t end = 0;
  std::int64_t start = 0;
};

/// Jobs that came in one part of the time, or of one queue. Times are means of those that ended in both plays.
struct jobs_changed {
  std::string name;       ///< of the queue
  std::int64_t from = 0;  ///< of the part of the time
  std::int64_t to = 0;
  std::uint64_t jobs = 0;
  std::uint64_t ended_in_both = 0;
  std::uint64_t sooner = 0;
  std::uint64_t later = 0;
  std::int64_t first = 0;   ///< nanoseconds from submit to end in the first play
  std::int64_t second = 0;  ///< likewise in the second one
};

struct comparison {
  jobs_changed all;
  std::uint64_t only_first = 0;  ///< jobs that ended there alone
  std::uint64_t only_second = 0;
  std::vector<jobs_changed> queues;  ///< by name
  std::vector<jobs_changed> parts;   ///< of the time in which jobs came, equal ones
  std::vector<job_change> jobs;      ///< those whose end has changed: largest gain first, largest loss last
};
/// @param queue of jobs that name none
[[nodiscard]] comparison compare_runs(const workload& jobs, const run_result& first, const run_result& second,
                                      const std::string& queue, std::size_t parts);

/// Where two plays part: what each does at that time that the other does not.
struct parting {
  std::int64_t time = 0;
  std::vector<std::string> first;
  std::vector<std::string> second;
};
/// @param over the cluster, for the names of nodes. Both plays have noted their changes.
[[nodiscard]] std::optional<parting> part_of_plays(const workload& jobs, const snapshot& over, const run_result& first,
                                                   const run_result& second);

/// Why a job waited at a time.
struct question {
  std::uint32_t job = 0;
  std::int64_t time = 0;
  std::string answer;  ///< a sentence of the last session until then; empty: the job did not wait
};
/// Answers questions from a play that is played again. @param sessions its moments, see `run_result::sessions`
[[nodiscard]] session_watcher answer(std::vector<question>& questions, const workload& jobs,
                                     const std::vector<std::int64_t>& sessions);

}  // namespace kaisched::simulation
