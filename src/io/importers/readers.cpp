#include "io/importers/readers.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kaisched::io::importers {

void imported_policy::leave_out(json_value what, std::string_view why) {
  unmapped.push_back(fmt::format("{}: {}{}{}", what.line(), what.key(), what.key().empty() ? "" : ": ", why));
}

const json_value* find_member(json_value of, std::string_view key, json_value& kept) {
  if (!of.is(json_kind::object)) return nullptr;
  for (const json_value one : of) {
    if (one.key() != key) continue;
    kept = one;
    return &kept;
  }
  return nullptr;
}

std::string scalar_text(json_value of) {
  switch (of.kind()) {
    case json_kind::boolean:
      return of.boolean() ? "true" : "false";
    case json_kind::integer:
      return fmt::format("{}", of.integer());
    case json_kind::number:
      return fmt::format("{}", of.number());
    case json_kind::string:
      return std::string(of.text());
    case json_kind::null:
    case json_kind::array:
    case json_kind::object:
      break;
  }
  return {};
}

std::optional<double> seconds_of(std::string_view text) {
  double sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    double number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    std::size_t letters = 0;
    while (letters < text.size() && text[letters] >= 'a' && text[letters] <= 'z') ++letters;
    const std::string_view unit = text.substr(0, letters);
    const double seconds = unit == "h" ? 3600 : unit == "m" ? 60 : unit == "s" ? 1 : unit == "ms" ? 0.001 : 0;
    if (seconds == 0 && number != 0) return std::nullopt;
    sum += number * seconds;
    text.remove_prefix(letters);
  }
  return sum;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == '[' || c == ']';
  });
}

std::string joined(const std::vector<std::string>& names, std::string_view between) {
  return fmt::format("{}", fmt::join(names, between));
}

}  // namespace kaisched::io::importers
