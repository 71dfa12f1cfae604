#include "policy/constraints/registry.hpp"

namespace kaisched::policy {

std::vector<constraint_factory> built_in_constraints() {
  return {make_shared_gpus,    make_numa_zones,   make_resource_claims, make_vendor_grants, make_disruption_limits,
          make_reserved_nodes, make_pod_affinity, make_pod_spread,      make_device_loads,  make_power_feeds};
}

}  // namespace kaisched::policy
