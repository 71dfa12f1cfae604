#pragma once
/// @file
/// The cluster of a session as queues that admit see it.
///
/// Pod groups are workloads: one that holds something is running, and its pods that wait are one more workload. Pods of
/// one pod set and class are a pod set. Queues without children have quotas of their own, those above them are cohorts.
/// Kinds of nodes are flavors, told apart by a label; without one all nodes are one flavor.

#include <cstdint>
#include <string>
#include <vector>

#include "framework/session_state.hpp"
#include "schedulers/kueue/rules/cycle.hpp"
#include "schedulers/kueue/rules/settings.hpp"

namespace kaisched::kueue {

/// Equal pods that wait.
struct waiting_set {
  sub_group_row sub = no_row;
  class_row kind = no_row;
  std::vector<pod_row> pods;
  std::string required;   ///< level of the topology
  std::string preferred;  ///< level of the topology
};

struct waiting_workload {
  group_row group = no_row;
  std::size_t queue = 0;  ///< among those of the world
  std::vector<waiting_set> sets;
  cycle_head head;
  bool is_refused = false;  ///< it asks for what no flavor can give
};

struct cluster_view {
  explicit cluster_view(cell_space cells) : state{quota_tree(cells), {}} {}

  quota_state state;
  std::vector<group_row> running;  ///< groups, as the workloads of the state
  std::vector<cycle_queue> queues;
  std::vector<queue_row> queue_rows;  ///< of these; by name
  std::vector<std::uint8_t> strict_order;
  std::vector<waiting_workload> waiting;  ///< the most important first
  std::vector<std::string> flavors;       ///< by name
  std::vector<std::uint32_t> flavor_of_node;
  std::string topology;  ///< of the flavors; empty: places are left to what chooses nodes
};

[[nodiscard]] cluster_view view_of(const framework::session_state& c, const scheduler_setup& setup);

}  // namespace kaisched::kueue
