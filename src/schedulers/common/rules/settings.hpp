#pragma once
/// @file
/// Settings of an option as texts: numbers in them, and what is said of those that make no sense.

#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <kaisched/result.hpp>

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace kaisched::schedulers {

/// The number that the whole text is, if it is within bounds.
template <class Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text, Number least, Number most) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, value);
  const bool good = failure == std::errc{} && at == end && value >= least && value <= most;
  return good ? std::optional(value) : std::nullopt;
}

[[nodiscard]] inline error bad_setting(std::string_view option, std::string_view text, const std::string& why) {
  return {status::argument, "option " + std::string(option) + ": '" + base::shown(text) + "': " + why, {}};
}
/// Why it is bad: the value is something else.
[[nodiscard]] inline std::string is_not(std::string_view value, std::string_view expected) {
  return "'" + base::shown(value) + "' is not " + std::string(expected);
}
/// What stands behind a name that is not known: the nearest one that is, or nothing.
[[nodiscard]] inline std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = base::nearest_name(name, known);
  return nearest.empty() ? std::string() : "; did you mean '" + std::string(nearest) + "'?";
}

}  // namespace kaisched::schedulers
