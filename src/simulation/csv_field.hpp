#pragma once

#include <string>
#include <string_view>

namespace kaisched::simulation {

/// A text as a field of CSV: in quotes where it needs them (RFC 4180).
[[nodiscard]] inline std::string csv_field(std::string_view text) {
  const bool quoted =
      text.find_first_of(",\"") != std::string_view::npos || text.starts_with(' ') || text.ends_with(' ');
  if (!quoted) return std::string(text);
  std::string made = "\"";
  for (const char c : text) made.append(c == '"' ? 2 : 1, c);
  return made + '"';
}

/// The same in a report, which spreadsheets open and the program does not read: a text that they would take for a
/// formula gets an apostrophe in front.
[[nodiscard]] inline std::string csv_report_field(std::string_view text) {
  const bool is_formula = !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  return csv_field(is_formula ? "'" + std::string(text) : std::string(text));
}

}  // namespace kaisched::simulation
