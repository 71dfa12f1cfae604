#pragma once
/// @file
/// Tiers by the names of their plug-ins, with settings as text.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "schedulers/volcano/rules/plugin.hpp"

namespace kaisched::volcano {

/// Actions of a session of tiered plug-ins.
enum class tiered_action : std::uint8_t { enqueue, allocate, backfill, preempt, reclaim, gangpreempt, gangreclaim };

/// What the options `volcano.*` say.
struct option_texts {
  std::vector<std::string> tiers;     ///< names joined by `+`, the most important tier first
  std::vector<std::string> settings;  ///< `plugin.key=value`, `plugin.at.point=false`, `action.key=value`
  std::vector<std::string> actions;
};

/// Of the action `preempt`.
struct preemption_settings {
  /// Nodes are tried first: as few victims as possible on each, and the node whose victims matter least is taken.
  bool by_trials = false;
  std::int64_t percent_of_nodes = 10;  ///< that the trials must find
  std::int64_t fewest_nodes = 1;
  std::int64_t most_nodes = 100;
  bool any_queue = false;    ///< jobs of other queues may lose tasks as well
  bool by_start = false;     ///< trials: of equal tasks those leave that started last
  bool for_nothing = false;  ///< tasks that ask for nothing may take from those that ask for something
  bool remembers = true;     ///< what was tried for a task is not tried again for one like it
};
/// Of the actions `gangpreempt` and `gangreclaim`.
struct gang_eviction_settings {
  std::size_t most_domains = 8;  ///< that are tried for a job
  bool whole_jobs = true;        ///< jobs may lose what they cannot run without
};
/// What jobs are made of.
struct job_plan {
  bool one_queue = false;  ///< all of them are in one
  bool by_pod = false;     ///< each pod is one; groups mean nothing
};
/// What a plan means. Nothing of it is known to be wrong.
struct scheduler_setup {
  std::vector<tier> tiers;
  std::vector<tiered_action> actions;
  preemption_settings preemption;
  gang_eviction_settings gang_preemption;
  gang_eviction_settings gang_reclaim;
  job_plan jobs;
  bool keeps_gangs = false;  ///< a plug-in lets nobody start before the gang of the job is complete
};
/// Plug-ins of their own for each call. The error names what is wrong: the tier, the setting or the action.
[[nodiscard]] result<scheduler_setup> make_setup(const option_texts& plan);

/// Names of plug-ins, of the points where they are asked, and of actions.
[[nodiscard]] std::span<const std::string_view> plugin_names();
[[nodiscard]] std::span<const std::string_view> point_names();
[[nodiscard]] std::span<const std::string_view> action_names();

}  // namespace kaisched::volcano
