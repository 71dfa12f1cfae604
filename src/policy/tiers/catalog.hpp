#pragma once
/// @file
/// Tiers by the names of their plug-ins, with settings as text.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "policy/tiers/plugin.hpp"

namespace kaisched::policy::tiers {

/// Actions of a session of tiered plug-ins.
enum class tiered_action : std::uint8_t { enqueue, allocate, backfill, preempt, reclaim };

/// What the options `tiers` and `tiers.*` say.
struct tier_plan {
  std::vector<std::string> tiers;     ///< names joined by `+`, the most important tier first
  std::vector<std::string> settings;  ///< `plugin.key=value`, `plugin.at.point=false`, `action.key=value`
  std::vector<std::string> actions;
};

/// What a plan means. Nothing of it is known to be wrong.
struct preemption_plan {
  bool by_trials = false;
  std::int64_t percent_of_nodes = 10;
  std::int64_t fewest_nodes = 1;
  std::int64_t most_nodes = 100;
  bool any_queue = false;
};
/// What jobs are made of.
struct job_plan {
  bool one_queue = false;  ///< all of them are in one
  bool by_pod = false;     ///< each pod is one; groups mean nothing
};
struct tier_setup {
  std::vector<tier> tiers;
  std::vector<tiered_action> actions;
  preemption_plan preemption;
  job_plan jobs;
  bool keeps_gangs = false;  ///< a plug-in lets nobody start before the gang of the job is complete
};
/// Plug-ins of their own for each call. The error names what is wrong: the tier, the setting or the action.
[[nodiscard]] result<tier_setup> make_tier_setup(const tier_plan& plan);

/// Names of plug-ins.
[[nodiscard]] std::span<const std::string_view> plugin_names();

}  // namespace kaisched::policy::tiers
