#pragma once
/// @file
/// The topologies of a cluster as trees of domains.

#include <memory>
#include <vector>

#include "model/state.hpp"
#include "policy/topology/domain_tree.hpp"

namespace kaisched::framework {

[[nodiscard]] policy::topology::domain_tree build_topology(const model::cluster_state& s,
                                                           const model::topology_info& info, bool compat);
/// One tree for each topology that some group or sub-group names; by name.
[[nodiscard]] std::shared_ptr<const std::vector<policy::topology::domain_tree>> build_topologies(
    const model::cluster_state& s, bool compat);

}  // namespace kaisched::framework
