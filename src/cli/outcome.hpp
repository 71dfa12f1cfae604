#pragma once
/// @file
/// What a report says about a session: figures, taken from the tables that every host can take.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <kaisched/engine.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>
#include <kaisched/session.hpp>
#include <kaisched/snapshot.hpp>
#include <kaisched/table.hpp>

#include "cli/progress.hpp"

namespace kaisched::cli {

using quota_amounts = std::array<std::int64_t, quota_dimensions>;  ///< cpu, memory, gpu

/// Amounts of all nodes.
struct amounts {
  quota_amounts total{};
  quota_amounts before{};
  quota_amounts after{};
};

struct queue_figures {
  std::string name;
  std::string parent;
  std::uint32_t depth = 0;
  bool has_children = false;
  quota_amounts quota{};
  quota_amounts limit{};
  quota_amounts fair_share{};
  quota_amounts request{};
  quota_amounts before{};
  quota_amounts after{};
  std::int64_t waiting_pods = 0;
};

/// Devices of one domain of the narrowest level of the primary topology.
struct domain_figures {
  std::string name;
  std::string parents;  ///< names of the domains that hold it, widest first
  std::int64_t total = 0;
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// Jobs that wait for the same thing.
struct waiting_figures {
  std::string headline;
  std::int64_t jobs = 0;
  std::int64_t pods = 0;
  std::int64_t gpus = 0;  ///< milli-GPU
  std::string example_job;
  std::int64_t example_pods = 0;
  std::int64_t example_gpus = 0;
  std::vector<std::string> example_reasons;  ///< the one that decides first
};

/// A job that waits, and why.
struct waiting_group {
  group_row group = no_row;
  std::string headline;
  std::int64_t pods = 0;        ///< that wait
  std::int64_t gpus = 0;        ///< milli-GPU, of these
  std::vector<reason> reasons;  ///< the one that decides first
};
/// Jobs that wait for the same thing, most GPUs first.
[[nodiscard]] std::vector<waiting_figures> summary_of(const session& from, std::span<const waiting_group> groups);

/// A device that is divided anew.
struct division_figures {
  std::string node;
  std::string group;  ///< for which
  std::int64_t device = 0;
  std::vector<std::string> layout;  ///< `profile@start`
  std::vector<std::string> gone;
};

struct outcome {
  std::int64_t nodes = 0;
  std::int64_t gpu_nodes = 0;
  std::int64_t pods = 0;
  std::int64_t jobs = 0;
  std::int64_t queues = 0;
  std::int64_t left_out = 0;       ///< objects of the input in quarantine
  std::int64_t pods_before = 0;    ///< on nodes when the session opened
  std::int64_t pods_started = 0;   ///< bound
  std::int64_t pods_claiming = 0;  ///< pipelined: they wait for pods that are ending
  std::int64_t pods_evicted = 0;
  std::int64_t pods_moved = 0;
  std::int64_t pods_waiting = 0;
  std::int64_t jobs_started = 0;
  std::int64_t jobs_waiting = 0;
  amounts used;
  std::vector<division_figures> divisions;
  std::vector<queue_figures> shares;
  std::vector<domain_figures> domains;
  std::vector<std::string> domain_levels;     ///< label keys, widest first
  std::vector<waiting_group> waiting_groups;  ///< in the order of `session::reasons`
  std::vector<waiting_figures> waiting;       ///< these, by what they wait for
  std::string digest;
  std::string preset;
  std::string mode;
  double load_seconds = 0;
  double decide_seconds = 0;
};

/// A session that has run, and what is to be said about it.
struct decided {
  session over;
  outcome figures;
  std::vector<std::uint32_t> last_decision;  ///< by pod row: its position among the decisions, or no_row
};

/// Steps of `decide` in a progress bar.
[[nodiscard]] std::size_t decide_steps(const engine& with);
/// Opens a session, runs the actions of the engine and measures how long that takes.
/// @param watch told of the session that decides, and then of null: it can be cancelled in between
[[nodiscard]] result<decided> decide(const engine& with, const snapshot& over, std::int64_t now, progress& shown,
                                     const std::function<void(const session*)>& watch = {});

}  // namespace kaisched::cli
