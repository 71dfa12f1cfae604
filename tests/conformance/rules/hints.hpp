#pragma once
/// @file
/// Merging of NUMA hints: which zones suit all resources of a pod at once. Pure functions.
///
/// Every resource names the sets of zones that it could come from; the merged hint is the narrowest set in common, with
/// one that all prefer before one that not all do. Source: the topology manager of the kubelet, as Volcano's plugin
/// `numaaware` (pkg/scheduler/plugins/numaaware/policy) asks it for nodes.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/numa/alignment.hpp"

namespace kaisched::policy {

struct zone_hint {
  std::optional<zone_mask> zones;  ///< none: any
  bool preferred = false;
  friend bool operator==(const zone_hint&, const zone_hint&) = default;
};

/// The hints of one resource. `any`: it does not matter where from. No hints: there is no place.
struct resource_hints {
  bool any = false;
  std::vector<zone_hint> hints;
};

enum class hint_policy : std::uint8_t { none, best_effort, restricted, single_numa_node };

struct merged_hint {
  zone_hint best;
  bool admitted = false;
};

/// Merges the hints of all resources on a node with these zones. Of equally narrow sets the one whose highest zone is
/// lowest; hints are tried in the order given, the last resource's fastest.
[[nodiscard]] merged_hint merge_hints(hint_policy policy, zone_mask all_zones,
                                      std::span<const resource_hints> resources);

}  // namespace kaisched::policy
