#pragma once
/// @file
/// How pods share a device.

#include <array>
#include <cstdint>
#include <string_view>

namespace kaisched::model {

/// Of a device: what it is set to. Of a pod: what it asks for. `unknown`: nothing is said.
enum class sharing_mode : std::uint8_t { unknown, exclusive, time_slicing, mps, hard_isolation, mig };

[[nodiscard]] constexpr std::string_view sharing_name(sharing_mode m) noexcept {
  constexpr std::array<std::string_view, 6> names{"", "exclusive", "time_slicing", "mps", "hard_isolation", "mig"};
  return names[static_cast<std::size_t>(m)];
}

/// Parts of the device go to pods that ask for this. Who names a mode wants to know that it is that one.
[[nodiscard]] constexpr bool gives_parts(sharing_mode device, sharing_mode asked) noexcept {
  if (device == sharing_mode::exclusive || device == sharing_mode::mig) return false;
  return asked == sharing_mode::unknown || asked == device;
}

}  // namespace kaisched::model
