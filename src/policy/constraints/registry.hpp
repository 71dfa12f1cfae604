#pragma once
/// @file
/// The node constraints of the library. A new one is declared here and listed in registry.cpp.

#include <memory>
#include <vector>

#include "policy/constraints/node_constraint.hpp"

namespace kaisched::policy {

[[nodiscard]] std::unique_ptr<node_constraint> make_shared_gpus();
[[nodiscard]] std::unique_ptr<node_constraint> make_numa_zones();
[[nodiscard]] std::unique_ptr<node_constraint> make_resource_claims();
[[nodiscard]] std::unique_ptr<node_constraint> make_vendor_grants();
[[nodiscard]] std::unique_ptr<node_constraint> make_disruption_limits();
[[nodiscard]] std::unique_ptr<node_constraint> make_reserved_nodes();
[[nodiscard]] std::unique_ptr<node_constraint> make_pod_affinity();
[[nodiscard]] std::unique_ptr<node_constraint> make_pod_spread();
[[nodiscard]] std::unique_ptr<node_constraint> make_device_loads();
[[nodiscard]] std::unique_ptr<node_constraint> make_power_feeds();

/// In the order in which they are asked.
[[nodiscard]] std::vector<constraint_factory> built_in_constraints();

}  // namespace kaisched::policy
