#pragma once
/// @file
/// How long groups may run, and how long they wait after they were evicted.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// A point in time, at most the last one that there is.
[[nodiscard]] inline std::int64_t later_by(std::int64_t time, std::int64_t duration) {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  return time > last - duration ? last : time + duration;
}

/// When a group is expected to have ended that starts or started then, not before now; `unset` if nobody knows.
[[nodiscard]] std::int64_t expected_end(const framework::session_state& c, group_row group, std::int64_t started);
/// The same for a group that holds something. One that only has claims starts with them.
[[nodiscard]] std::int64_t expected_end(const framework::session_state& c, group_row group);

/// The time until then, at most the longest that there is; 0 if it is past.
[[nodiscard]] std::int64_t time_until(const framework::session_state& c, std::int64_t then);

/// The most times at which reservations of nodes begin or end that one search looks at: they may repeat for ever.
inline constexpr std::size_t most_reservation_changes = 64;

/// How long a group waits after an eviction.
struct requeue_delay {
  std::int64_t delay = 0;
  std::int64_t waited = 0;
  /// What is left of it: 0 if the group may be served.
  [[nodiscard]] std::int64_t left() const { return std::max<std::int64_t>(0, delay - waited); }
};

/// Of a group that was never evicted: none.
[[nodiscard]] requeue_delay requeue_delay_of(const framework::session_state& c, group_row group);

}  // namespace kaisched::actions
