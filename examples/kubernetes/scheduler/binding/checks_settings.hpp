#pragma once
/// @file
/// How long places are held for those who have to agree.

#include <chrono>

namespace shim {

/// The scheduling gate of pods whose places were given up because nobody agreed.
inline constexpr const char* lapsed_gate = "kaisched.io/checks-lapsed";

struct checks_settings {
  std::chrono::milliseconds timeout{0};                       ///< 0: for ever
  std::chrono::milliseconds retry = std::chrono::minutes(1);  ///< until the group may have a place again

  [[nodiscard]] bool lapsed(std::chrono::steady_clock::time_point since) const {
    return timeout.count() > 0 && std::chrono::steady_clock::now() >= since + timeout;
  }
};

}  // namespace shim
