#pragma once

/// \file
/// Which of many equal steps a build with checks works out a second time.

#include <cstdint>

namespace kaisched::framework {

/// The first 64 steps of a session and then every 32nd, by how many came before. A session may try a million sets of
/// victims, and a second count of each costs more than the search.
[[nodiscard]] constexpr bool is_repeated(std::uint64_t steps_before) {
  return steps_before < 64 || steps_before % 32 == 0;
}

}  // namespace kaisched::framework
