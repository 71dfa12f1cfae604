#pragma once
/// @file
/// Resources that are instances of a divided GPU (MIG), by their names in Kubernetes.

#include <cstdint>
#include <string_view>

namespace kaisched::model {

/// What the name of a MIG resource tells: `nvidia.com/mig-<slices>g.<memory>gb`. All zero for every other resource, and
/// for names that KAI does not understand either (`nvidia.com/mig-1g.10gb.me`).
struct mig_profile {
  std::int64_t slices = 0;     ///< compute slices; 0: not a MIG resource
  std::int64_t memory_gb = 0;  ///< gigabytes
  std::int64_t share = 0;      ///< milli-GPU of the divided device, rounded down

  [[nodiscard]] explicit operator bool() const { return slices != 0; }
};

/// Labels of nodes with divided GPUs.
inline constexpr std::string_view mig_label = "node-role.kubernetes.io/mig-enabled";
inline constexpr std::string_view mig_strategy_label = "nvidia.com/mig.strategy";

/// The resource is named as one of MIG, whether its profile can be read or not.
[[nodiscard]] bool is_mig_resource(std::string_view name);
[[nodiscard]] mig_profile mig_profile_of(std::string_view name);

}  // namespace kaisched::model
