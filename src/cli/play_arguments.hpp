#pragma once
/// @file
/// What is to be played: a cluster, a policy and how time passes, by arguments of a command or by a file.

#include <string>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>

#include "cli/command.hpp"
#include "cli/policy_arguments.hpp"
#include "simulation/simulation.hpp"

namespace kaisched::cli {

/// Empty strings: nothing is told, and the default counts.
struct play_arguments {
  std::string cluster;
  std::string nodes;
  std::int64_t gpus_per_node = 8;
  policy_arguments policy;
  std::string period;
  std::string wake;
  std::string grace;
  std::string start_overhead;
  std::string checkpoints;
  std::string estimates;
  std::int64_t estimate_seed = -1;  ///< negative: not told
  std::string until;
  std::string queue;
  std::string preferred_level;
  std::string usage_half_life;
  bool replan = false;
  bool repeat = false;
  bool one_queue = false;
  bool near = false;
  std::int64_t nodes_per_rack = 0;
  bool equal_quotas = false;
  std::vector<simulation::outage> outages;  ///< files only
  std::vector<simulation::node_pool> pools;
  std::vector<simulation::profile> profiles;
};
void add_cluster_arguments(command& to, play_arguments& told);
void add_time_arguments(command& to, play_arguments& told);

/// Takes what a play file says, docs/simulation.md, where nothing has been told. Errors start with file and line.
[[nodiscard]] result<void> read_play_file(const std::string& file, play_arguments& to);

/// A time as it is told: seconds, or 90s, 5m, 1h30m.
[[nodiscard]] result<std::int64_t> read_time(std::string_view option, std::string_view text);

[[nodiscard]] result<simulation::workload> read_jobs(const std::string& file, std::int64_t gpus_per_node);

/// All that a play needs but its jobs.
struct prepared_play {
  engine with;
  cluster over;
  simulation::simulation_options options;
  std::vector<simulation::outage> outages;
  std::vector<simulation::node_pool> pools;
  std::vector<simulation::profile> profiles;
  std::vector<simulation::queue_share> shares;
};
/// @param jobs queues that these name are made where nodes are told by number
[[nodiscard]] result<prepared_play> prepare_play(const play_arguments& told, const simulation::workload& jobs);

}  // namespace kaisched::cli
