#pragma once
/// @file
/// Resources that are instances of a divided GPU (MIG), by their names in Kubernetes.

#include <cstdint>
#include <optional>
#include <string>
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
/// What the resource calls its instances: `3g.40gb` of `nvidia.com/mig-3g.40gb`; empty if it is none of MIG.
[[nodiscard]] std::string_view profile_name_of(std::string_view resource);

/// An instance of a divided device.
struct mig_instance {
  std::string profile;     ///< "3g.40gb"
  std::int64_t start = 0;  ///< memory slice of the device at which it begins

  friend bool operator==(const mig_instance&, const mig_instance&) = default;
};
/// `profile@start`.
[[nodiscard]] std::optional<mig_instance> parse_mig_instance(std::string_view text);
[[nodiscard]] std::string text_of(const mig_instance& one);

/// An instance that a pod uses.
struct placed_instance {
  std::uint32_t device = 0;
  mig_instance what;

  friend bool operator==(const placed_instance&, const placed_instance&) = default;
};
/// `device/profile@start`.
[[nodiscard]] std::optional<placed_instance> parse_placed_instance(std::string_view text);

}  // namespace kaisched::model
