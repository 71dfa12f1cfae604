#pragma once
/// @file
/// Nodes that are lent for hours of the day: who may be there, and who has to leave when the hours are over.
///
/// Source: Volcano's plugin tdm (pkg/scheduler/plugins/tdm/tdm.go).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kaisched::policy {

/// Hours of a day, in minutes since midnight. An end that is not after the start is one of the next day.
struct daily_window {
  std::int64_t start = 0;
  std::int64_t end = 0;
  /// @param second of the day. The last second is that at the end.
  [[nodiscard]] bool holds(std::int64_t second) const;
};

/// `10:00-21:00`; none: the text is something else. Hours may have one digit.
[[nodiscard]] std::optional<daily_window> daily_window_of(std::string_view text);

/// How many pods of a job may be missing or have to stay: a number, or per cent of its pods, rounded up.
struct job_budget {
  std::string_view max_unavailable;  ///< counts first; empty: not said
  std::string_view min_available;
};

struct job_pods {
  std::size_t all = 0;
  std::size_t running = 0;
  std::size_t over = 0;  ///< succeeded or failed
};

/// How many pods of a job may be told to leave at once; without a budget one.
[[nodiscard]] std::size_t most_leaving(const job_pods& of, const job_budget& budget);

}  // namespace kaisched::policy
