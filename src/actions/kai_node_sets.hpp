#pragma once
/// @file
/// The nodes that a group or sub-group with a topology constraint is tried on in `compat`, and in which order.

#include <map>
#include <span>
#include <vector>

#include "framework/session_state.hpp"
#include "model/state.hpp"
#include "policy/topology/kai_domains.hpp"

namespace kaisched::actions {

/// For one walk over the tree of a group.
class kai_node_sets {
 public:
  explicit kai_node_sets(framework::session_state& c) : c_(c) {}

  /// Domains of a topology, to be tried one after the other.
  struct domain_sets {
    const policy::topology::domain_tree* tree = nullptr;
    std::vector<std::uint32_t> domains;
  };
  /// None: `why` tells what domains have. `offered`: null is all nodes.
  [[nodiscard]] domain_sets sets_of(sub_group_row member, const model::topology_ask& ask, std::span<const pod_row> pods,
                                    const framework::node_set* offered, framework::failure& why);
  /// Those of a pod set or of the nearest set above it that has some; null: none.
  [[nodiscard]] const policy::topology::preferred_domains* preferred_of(sub_group_row pod_set) const;

 private:
  [[nodiscard]] policy::topology::pods_ask asks_of(std::span<const pod_row> pods) const;
  [[nodiscard]] std::vector<node_row> nodes_in_use(std::span<const pod_row> pods) const;

  framework::session_state& c_;
  std::map<sub_group_row, policy::topology::preferred_domains> preferred_;
};

}  // namespace kaisched::actions
