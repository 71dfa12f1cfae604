#pragma once
/// @file
/// When a gang runs, would run, or lacks something: by its pods and the roles of them.
///
/// Source: Volcano (pkg/scheduler/api/job_info.go, sub_job_info.go, plugin gang). A pod that asks for nothing counts
/// while it waits: it never lacks room.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kaisched::policy {

/// Pods of a gang, or of one role or sub-group of it.
struct gang_counts {
  std::int64_t ready = 0;       ///< hold their resources, or have ended well
  std::int64_t waiting = 0;     ///< have a place that is being released
  std::int64_t needs_none = 0;  ///< pending, and ask for nothing
  std::int64_t min_available = 0;
};

[[nodiscard]] constexpr bool is_gang_ready(const gang_counts& gang) {
  return gang.ready + gang.needs_none >= gang.min_available;
}
/// Ready once all that is being released is free.
[[nodiscard]] constexpr bool is_gang_pipelined(const gang_counts& gang) {
  return gang.waiting + gang.ready + gang.needs_none >= gang.min_available;
}
/// May take from others.
[[nodiscard]] constexpr bool is_gang_starving(const gang_counts& gang) {
  return gang.waiting + gang.ready < gang.min_available;
}

/// By role, how many pods there must be; roles count only if together they ask for no more than the gang does.
struct role_minimums {
  std::map<std::string, std::int64_t, std::less<>> by_role;

  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] bool count_for(std::int64_t min_available) const { return min_available >= total(); }
};

/// How far apart pods may be: `hard` is a condition, `soft` a wish. A tier of none says nothing.
struct distance_limit {
  bool hard = false;
  std::optional<std::int64_t> highest_tier;

  [[nodiscard]] bool is_condition() const { return hard && highest_tier.has_value(); }
};

}  // namespace kaisched::policy
