#pragma once
/// @file
/// The cells of a session: what of the cluster is a cell, which queues own some, and who runs in them.
///
/// Leaf queues are virtual clusters. GPUs, pairs and sockets of nodes that have such facts, nodes and the domains of
/// one topology are cells. Pods that the last session has put into cells are in them again; others of guaranteed groups
/// get cells around them where their queue has some that are free there.

#include <cstdint>
#include <map>
#include <vector>

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"
#include "schedulers/hived/rules/virtual_clusters.hpp"

namespace kaisched::hived {

struct cluster_view {
  virtual_clusters clusters;
  std::map<queue_row, std::uint32_t> cluster_of;  ///< of leaf queues
};

/// It gets cells of its queue or waits; others use what is idle.
[[nodiscard]] bool is_guaranteed(const framework::session_state& c, group_row group);
/// GPUs that a pod needs for itself. Of parts of one it takes the whole.
[[nodiscard]] std::uint32_t gpus_of(const model::pod_class& of);
[[nodiscard]] group_facts facts_of(const framework::session_state& c, const cluster_view& world, group_row group);

/// Error: options that name what is not there, or more cells than there are.
[[nodiscard]] result<cluster_view> view_of(const framework::session_state& c);

}  // namespace kaisched::hived
