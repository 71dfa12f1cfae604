#pragma once
/// @file
/// Very large clusters: a workload that takes the place of others, and a cluster that fills from nothing.

#include <cstdint>
#include <string>
#include <vector>

#include <kaisched/engine.hpp>

namespace kaisched::bench {

/// 130,000 nodes with 8 GPUs, full of preemptible jobs of lower priority; a gang of 39,000 pods of one GPU comes.
/// Seconds are processor time of this thread.
struct victims_result {
  std::int64_t nodes = 0;
  std::int64_t pods = 0;
  std::int64_t gang = 0;            ///< pods of the gang
  double load = 0;                  ///< columns to cluster
  double open = 0;                  ///< snapshot and session
  double action = 0;                ///< `preempt`
  std::int64_t placed = 0;          ///< pods of the gang that get a place
  std::int64_t evicted = 0;         ///< pods that leave for good
  std::int64_t evicted_groups = 0;  ///< groups that these belong to
  std::int64_t lost = 0;            ///< GPUs of pods that leave for good
  std::int64_t moved = 0;
  std::int64_t needless = 0;      ///< gangs, and pods of other groups, that have room on their nodes and could stay
  std::int64_t bound = 0;         ///< fewest pods that have to leave or move, as `session::gaps` proves; -1: no proof
  double gaps = 0;                ///< seconds of that proof
  std::uint64_t simulations = 0;  ///< sets of victims that were tried
  std::uint64_t steps = 0;
  bool cut = false;  ///< the search ended at a bound of its effort
  std::string outcome;
  std::int64_t columns_peak = 0;  ///< most bytes of the process before the cluster had the columns
  std::int64_t peak = 0;          ///< and until the action had ended
  std::string digest;
};
[[nodiscard]] victims_result run_victims(const engine& with, double scale);

/// 1,000,000 pods for 100,000 nodes from columns to decisions of `allocate`, and a session after one more pod.
struct filling_result {
  std::int64_t nodes = 0;
  std::int64_t pods = 0;
  std::int64_t groups = 0;
  double load = 0;
  double open = 0;
  double action = 0;
  double read = 0;  ///< decisions
  std::int64_t binds = 0;
  std::int64_t columns_peak = 0;
  std::int64_t peak = 0;
  double assume = 0;  ///< to take the decisions in
  double change = 0;  ///< one more pod: to apply it
  double again = 0;   ///< snapshot, session, `allocate` and decisions once more
  std::int64_t binds_again = 0;
  std::int64_t peak_again = 0;
  std::string digest;

  [[nodiscard]] double total() const { return load + open + action + read; }
};
/// @param alone each pod is a job of its own; else jobs have 1 to 64 pods.
[[nodiscard]] filling_result run_filling(const engine& with, double scale, bool alone);

}  // namespace kaisched::bench
