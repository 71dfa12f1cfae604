#pragma once
/// @file
/// The cluster of a session as queues that take turns see it.
///
/// Pod groups are applications, pods are asks or what was given, pod sets are task groups whose first pods by priority
/// and age are placeholders. What a queue is guaranteed is its quota, where that is not unlimited, and the most that it
/// may have is its limit. Pods without a group only use their nodes.

#include <vector>

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"
#include "schedulers/yunikorn/rules/settings.hpp"
#include "schedulers/yunikorn/rules/state.hpp"

namespace kaisched::yunikorn {

struct cluster_view {
  cluster_state cluster;
  std::vector<pod_row> pods;           ///< by ask
  std::vector<group_row> groups;       ///< by application
  std::vector<queue_row> queues;       ///< by queue; no_row: the top of the tree
  std::vector<group_row> unsupported;  ///< groups that ask for domains of a topology: they wait
};

/// Error: a setting names a resource that nobody knows.
[[nodiscard]] result<cluster_view> view_of(const framework::session_state& c, const scheduler_setup& plan);

}  // namespace kaisched::yunikorn
