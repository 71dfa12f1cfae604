#pragma once
/// @file
/// All layouts of instances that are legal on a divided device, one by one: what rules of layouts are compared with.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "policy/devices/partition/mig.hpp"

namespace kaisched::devices::test {

struct layout_walk {
  std::span<const slice_profile> profiles;
  const std::function<void(const slice_layout&)>& visit;
  slice_layout layout{};

  /// All layouts whose further instances start at `from` or later: every set has one order by start.
  void go_on(std::int64_t from, std::int64_t end) {
    visit(layout);
    for (std::int64_t start = from; start < end; ++start) {
      for (std::size_t p = 0; p < profiles.size(); ++p) {
        for (const slice_range& place : profiles[p].placements) {
          if (place.start != start) continue;
          layout.emplace_back(p, place);
          go_on(place.start + place.size, end);
          layout.pop_back();
        }
      }
    }
  }
};

/// Calls `visit` once for each set of instances that do not overlap, the empty one and those to which more could be
/// added included, in a fixed order.
inline void for_each_layout(std::span<const slice_profile> profiles,
                            const std::function<void(const slice_layout&)>& visit) {
  std::int64_t end = 0;
  for (const slice_profile& one : profiles) {
    for (const slice_range& place : one.placements) end = std::max(end, place.start + 1);
  }
  layout_walk{profiles, visit}.go_on(0, end);
}

}  // namespace kaisched::devices::test
