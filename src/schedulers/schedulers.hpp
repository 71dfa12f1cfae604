#pragma once
/// @file
/// The actions that decide as another scheduler does. Each runs one cycle of that scheduler over a view of the cluster,
/// and carries its decisions out in the session.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"

namespace kaisched::volcano {

/// Action `volcano`: plug-ins in tiers vote on which pods start and which are evicted. Options `volcano.*`.
result<void> schedule(framework::session_state& c);

/// What each of these plug-ins says of nodes for a pod that waits.
struct plugin_points {
  std::vector<std::string> plugins;         ///< that score nodes, in their order
  std::vector<std::vector<double>> points;  ///< by plug-in, then by place in `nodes`
};
/// `nodes`: those that are compared with each other. `without`: a plug-in that is not asked.
[[nodiscard]] result<plugin_points> points_of_nodes(const framework::session_state& c, pod_row pod,
                                                    std::span<const node_row> nodes, std::string_view without);

}  // namespace kaisched::volcano

namespace kaisched::hived {

/// Action `hived`: groups in the cells that their queues own, others on what is idle. Options `hived.*`.
result<void> schedule(framework::session_state& c);

}  // namespace kaisched::hived

namespace kaisched::kueue {

/// Action `kueue`: the heads of all queues take quota, or tell others to leave. Option `kueue.settings`.
result<void> schedule(framework::session_state& c);

}  // namespace kaisched::kueue

namespace kaisched::yunikorn {

/// Action `yunikorn`: queues take turns, one pod each time. Option `yunikorn.settings`.
result<void> schedule(framework::session_state& c);

}  // namespace kaisched::yunikorn
