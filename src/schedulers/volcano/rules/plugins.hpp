#pragma once
/// @file
/// The plug-ins of tiers that there are.
///
/// Source: volcano-sh/volcano, pkg/scheduler/plugins/NAME. Each is a small part with its own books.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "policy/placement/strategy_fit.hpp"
#include "policy/placement/utilisation.hpp"
#include "policy/topology/network_scores.hpp"
#include "schedulers/volcano/rules/plugin.hpp"

namespace kaisched::volcano {

/// A job runs with enough tasks, or none of it does; jobs that lack some come first, and no victim makes a job lack
/// any.
[[nodiscard]] std::unique_ptr<plugin> make_gang();
/// Jobs, and tasks of a job, of higher priority come first and take from those of lower priority.
[[nodiscard]] std::unique_ptr<plugin> make_priority();
/// Tasks of the system are no victims.
[[nodiscard]] std::unique_ptr<plugin> make_conformance();
/// Jobs with the smaller dominant share come first, and take from jobs whose share would still be the larger one. With
/// a hierarchy (point::hierarchy) queues are ordered likewise, by the shares of all that is below the steps of their
/// paths, and take from those that would still come behind them.
[[nodiscard]] std::unique_ptr<plugin> make_drf();
/// The cluster is divided among queues that have jobs by weight, up to what they ask for.
[[nodiscard]] std::unique_ptr<plugin> make_proportion();
/// Queues deserve what they say; with a hierarchy (point::hierarchy) a queue is held to what its ancestors may have.
/// `reclaim_levels`: how many levels of ancestors a victim is judged by as well.
[[nodiscard]] std::unique_ptr<plugin> make_capacity(std::int64_t reclaim_levels);
/// Nodes that refuse a task by what does not change during a session.
[[nodiscard]] std::unique_ptr<plugin> make_predicates();

struct network_settings {
  policy::resource_weights weights;
  double weight = 1;
  bool packs_other_tasks = true;
  double fading = 0.8;
  std::size_t most_to_evict_from = 8;  ///< domains that are named to those who would take room from others there
};
/// Domains from the nearest on, full ones first, and nodes near to where the sub-job is.
[[nodiscard]] std::unique_ptr<plugin> make_network(network_settings settings);

struct node_order_weights {
  std::int64_t least_requested = 1;
  std::int64_t most_requested = 0;
  std::int64_t balanced = 1;
  bool balanced_gpus = true;  ///< equal parts of GPUs as well, for tasks that ask for some
  std::int64_t taints = 3;
  std::int64_t affinity = 2;
  std::int64_t pods = 2;
  bool scales_affinity = true;     ///< the node that is preferred most counts 100, others by their part of it
  std::int64_t required_pods = 0;  ///< of `pods`: what a term of tasks that must be near such a one counts
  std::int64_t spread = 2;
};
/// Nodes by how full they would be: emptier, fuller, or in equal parts of cpu and memory; by their taints that keep
/// nobody away, by what tasks prefer, by tasks that are welcome near, and by how evenly tasks are spread.
[[nodiscard]] std::unique_ptr<plugin> make_node_order(node_order_weights weights);

/// Jobs come in while what they need at least, and was promised to others, is no more than the cluster by a factor,
/// without what is in use.
[[nodiscard]] std::unique_ptr<plugin> make_overcommit(double factor);

/// Jobs have to start in time: by their own, else so many nanoseconds after they came; 0: the others have no such time.
/// Who is late comes in, and keeps the room that comes free.
[[nodiscard]] std::unique_ptr<plugin> make_sla(std::int64_t waiting_time);

/// Nodes by the groups that queues want or avoid; with a hierarchy (point::hierarchy) queues that say nothing have the
/// wishes of those above them. `strict`: nodes without a group are for nobody. `in_order`: the groups that are
/// preferred first count more.
[[nodiscard]] std::unique_ptr<plugin> make_node_group(bool strict, bool in_order);

struct usage_settings {
  std::int64_t weight = 5;
  policy::load_weights weights;
  policy::measured_load thresholds{80, 80};  ///< per cent: busier nodes take no pods
  double request_ratio = 0.7;                ///< what tasks will use of what they ask for
  double risk_threshold = 0.6;               ///< from 0 to 1: where nodes are busier, they will use more by a factor
  double risk_factor = 1.2;
  double cpu_of_none = 250;                      ///< milli-cores that tasks will use that ask for nothing
  double memory_of_none = 200.0 * 1024 * 1024;   ///< bytes
  std::int64_t measured_after = 30'000'000'000;  ///< ns
};
/// Nodes that are used least, by what was measured of them and what tasks will use that came since; none that are busy.
[[nodiscard]] std::unique_ptr<plugin> make_usage(const usage_settings& settings);

/// Tasks that say so are no victims for a while after their start.
[[nodiscard]] std::unique_ptr<plugin> make_cooldown();
/// No more victims at once than budgets let go.
[[nodiscard]] std::unique_ptr<plugin> make_budgets();

/// Nodes that would be fullest, by weight of resources.
[[nodiscard]] std::unique_ptr<plugin> make_binpack(policy::resource_weights weights, std::int64_t weight);

/// Nodes where tasks of a job whose roles should be together are, or could be together, and those of other roles not.
[[nodiscard]] std::unique_ptr<plugin> make_task_topology(std::int64_t weight);

/// Strategies that tasks have of their own, by the name of the task.
using strategies_by_task = std::map<std::string, policy::resource_strategies, std::less<>>;
/// Nodes by how full each resource would be, resource by resource, and by how few scarce ones they have. What is kept
/// beside idle scarce resources (`proportional`) is no part of it.
[[nodiscard]] std::unique_ptr<plugin> make_strategy_fit(policy::strategy_fit_settings fit,
                                                        policy::scarcity_settings scarcity,
                                                        strategies_by_task of_tasks);

}  // namespace kaisched::volcano
