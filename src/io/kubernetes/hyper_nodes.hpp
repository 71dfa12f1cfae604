#pragma once
/// @file
/// `HyperNode` of Volcano -> a topology, and labels of nodes that say where in it they are.
///
/// Source: volcano-sh/apis, pkg/apis/topology/v1alpha1; volcano-sh/volcano, pkg/scheduler/api/hyper_node_info.go. Tiers
/// become levels, the widest first. A node of which a tier has no HyperNode is there in the next narrower one, and in
/// one of its own where there is none.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// No object of Kubernetes can have this name.
inline constexpr std::string_view hyper_node_topology = "volcano.sh/hypernodes";

/// A tier that some HyperNode has.
struct network_tier {
  std::int64_t tier = 0;
  std::string name;  ///< empty: none
};
/// Tiers, rising.
using network_tiers = std::vector<network_tier>;

/// Adds the topology and the labels. A HyperNode that is not part of one tree with the others is at fault and left out.
[[nodiscard]] network_tiers read_hyper_nodes(std::span<object* const> objects, cluster_records& to);

/// What `networkTopology` of a job or pod group asks for. `obstacle` is set where no HyperNode can be enough. Without
/// any tier nothing is known, and nothing is asked for.
[[nodiscard]] constraint_levels network_levels(object& of, member holder, const network_tiers& tiers,
                                               std::string& obstacle);

}  // namespace kaisched::io::kubernetes
