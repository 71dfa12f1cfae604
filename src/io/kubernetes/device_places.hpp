#pragma once
/// @file
/// Devices of a pod as an annotation lists them: their places on the node, with commas between (`0,1,3`).
///
/// Source: Volcano's annotation volcano.sh/gpu-index (pkg/scheduler/api/devices/nvidia/gpushare/share.go).

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

namespace kaisched::io::kubernetes {

/// The places in the order of the text; none if one of them is no whole number.
[[nodiscard]] inline std::vector<std::int64_t> device_places(std::string_view text) {
  std::vector<std::int64_t> places;
  while (true) {
    const std::string_view one = text.substr(0, text.find(','));
    std::int64_t place = 0;
    const auto [end, failure] = std::from_chars(one.data(), one.data() + one.size(), place);
    if (failure != std::errc{} || end != one.data() + one.size()) return {};
    places.push_back(place);
    if (one.size() == text.size()) return places;
    text.remove_prefix(one.size() + 1);
  }
}

}  // namespace kaisched::io::kubernetes
