#pragma once
/// @file
/// Numbers and parts of short texts.

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace shim {

/// The number that the whole text is; none: it is something else, or too large.
template <class Number>
[[nodiscard]] std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The part before a separator, which leaves the text with it.
[[nodiscard]] inline std::string_view take_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

}  // namespace shim
