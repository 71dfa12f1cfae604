#pragma once
/// @file
/// The cluster of a session as tiered plug-ins see it.
///
/// Pod groups are jobs, pods are tasks, queues and nodes stay what they are. The least that a job needs is the sum of
/// its first pods by priority, as many as the gang has. Pod sets are roles with minimums of their own, or sub-jobs if
/// any of them asks for a domain of a topology; its levels are tiers, the narrowest the first. Without pod sets roles
/// are what the annotation volcano.sh/task-spec of pods says. The weight of a queue is that of GPUs; what it deserves
/// is its quota, and its capability is its limit. Pods without a group only use their nodes.

#include <vector>

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"
#include "schedulers/volcano/rules/catalog.hpp"
#include "schedulers/volcano/rules/state.hpp"

namespace kaisched::volcano {

struct cluster_view {
  cluster_state cluster;
  std::vector<pod_row> pods;      ///< by task
  std::vector<group_row> groups;  ///< by job
};

/// @param jobs what they are made of. @param enqueues an action lets them in. Error: groups ask for domains of several
/// topologies.
[[nodiscard]] result<cluster_view> view_of(const framework::session_state& c, const job_plan& jobs, bool enqueues);

}  // namespace kaisched::volcano
