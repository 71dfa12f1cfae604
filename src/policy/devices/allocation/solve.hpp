#pragma once
/// @file
/// Pods on nodes as a whole: devices for all containers together, so that a pod fits wherever an assignment exists, and
/// the assignment is the best by the policy once the pod is there.

#include <cstddef>
#include <cstdint>

#include "policy/devices/allocation/place.hpp"

namespace kaisched::devices {

/// How many choices of a device the search looks at before it takes the best assignment that it knows.
inline constexpr std::size_t solve_limit = 20'000;

/// What is better about an assignment, the first difference counts. All are sums over containers.
struct assignment_cost {
  std::int64_t parts = 0;  ///< NUMA nodes or groups of the vendor's rule that the sets are spread over, where asked for
  std::int64_t unlinked = 0;  ///< less the scores of links within the sets, where asked for
  /// By how much the squares of the use of devices grow; less that for `binpack`. Uses are in millionths of slots,
  /// cores and memory, by the weights.
  std::int64_t growth = 0;

  friend auto operator<=>(const assignment_cost&, const assignment_cost&) = default;
};

struct solved_placement {
  node_placement placed;  ///< grants: one list per container, empty where a container asks nothing of a vendor
  assignment_cost cost{};
  std::int64_t use_after = 0;  ///< of all devices of the node, in millionths, with the pod
  bool exact = true;           ///< the search has come to an end
};

/// Places a pod on a node, which is afterwards as it was before. If the search does not come to an end and has found
/// nothing, what HAMi's order finds is taken.
[[nodiscard]] solved_placement solve(const vendor_catalog& vendors, node& where, const pod& asking,
                                     const place_policies& policies, const space_quotas& quotas,
                                     std::size_t limit = solve_limit);

}  // namespace kaisched::devices
