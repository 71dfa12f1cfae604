#pragma once
/// @file
/// Which whole devices of a node a pod gets where links count (option `devices.choice`).

#include "model/state.hpp"

namespace kaisched::policy {

class zone_ledger;

/// Chosen are whole devices that are free, as many as the pod asks for: others as good that suit it better. Where zones
/// of the node count the pod, devices are those of the zones that it gets, as far as the node says which these are; of
/// them the set with the greatest sum of links, and a single device is the one with the weakest links to the other free
/// ones. Among equals the lowest indices. Nodes that say neither keep what was chosen.
void choose_linked(const model::cluster_state& s, const model::live_state& live, const model::pod_class& c,
                   node_row row, const zone_ledger* zones, device_set& chosen);

}  // namespace kaisched::policy
