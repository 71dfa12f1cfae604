#pragma once
/// @file
/// Devices that containers get, as HAMi writes them in annotations of pods: `id,type,memory,cores:` for each device,
/// `;` behind each container, init containers first.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace shim::hami {

inline constexpr const char* to_allocate = "hami.io/vgpu-devices-to-allocate";  ///< of NVIDIA; taken out as it is given
inline constexpr const char* allocated = "hami.io/vgpu-devices-allocated";      ///< the same, and stays

struct device_grant {
  std::string id;
  std::string type;
  std::int64_t memory_mib = 0;
  std::int64_t cores = 0;  ///< percent; 0: as many as there are

  friend bool operator==(const device_grant&, const device_grant&) = default;
};
/// By the place of the container in the pod.
using container_grants = std::vector<std::vector<device_grant>>;

/// Empty for what is none.
[[nodiscard]] std::optional<container_grants> read_grants(std::string_view text);
/// The text without the devices of one container; the others keep their places.
[[nodiscard]] std::string without_container(std::string_view text, std::size_t place);
/// Whether a vendor whose plugin gives the node's lock back has devices for the pod that it has not given yet.
[[nodiscard]] bool has_devices_left(const nlohmann::json& annotations);

}  // namespace shim::hami
