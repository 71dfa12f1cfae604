#pragma once
/// @file
/// Times and durations as Kubernetes writes them -> nanoseconds.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kaisched::io::kubernetes {

inline constexpr std::int64_t second = 1'000'000'000;  ///< in nanoseconds

/// RFC 3339 (`2026-03-07T12:00:00Z`, `...:00.25+01:00`) -> nanoseconds since 1970; empty if it is no time, or one that
/// 64 bits do not hold (before 1678, after 2261).
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text);

/// Nanoseconds since 1970 -> RFC 3339 in UTC, cut to seconds.
[[nodiscard]] std::string format_time(std::int64_t time);

/// A duration of Go (`1h30m`, `-1.5s`, `250ms`, `0`) -> nanoseconds, what is finer cut off; empty if it is none.
[[nodiscard]] std::optional<std::int64_t> parse_duration(std::string_view text);

}  // namespace kaisched::io::kubernetes
