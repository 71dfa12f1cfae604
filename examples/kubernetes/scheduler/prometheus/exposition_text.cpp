#include "prometheus/exposition_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace shim {

namespace {

constexpr std::string_view spaces = " \t\r";

void skip_spaces(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size())); }

template <class T>
bool take_number(std::string_view& text, T& value) {
  skip_spaces(text);
  const std::string_view word = text.substr(0, text.find_first_of(spaces));
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  text.remove_prefix(word.size());
  return failed == std::errc{} && end == word.data() + word.size();
}

/// `name="value",...}` behind the brace.
bool take_labels(std::string_view& text, sample& to) {
  for (;;) {
    skip_spaces(text);
    if (text.starts_with('}')) {
      text.remove_prefix(1);
      return true;
    }
    const std::size_t equals = text.find("=\"");
    if (equals == std::string_view::npos) return false;
    const std::string name(text.substr(0, equals));
    text.remove_prefix(equals + 2);
    std::string value;
    while (!text.empty() && text.front() != '"') {
      if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
      value += text.front();
      text.remove_prefix(1);
    }
    if (text.empty()) return false;
    text.remove_prefix(1);
    to.labels.insert_or_assign(name, std::move(value));
    skip_spaces(text);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
}

}  // namespace

std::size_t read_exposition(
    std::string_view text, const std::function<bool(std::string_view name)>& wanted,
    const std::function<void(std::string_view name, const sample& what, std::optional<std::int64_t> when)>& take) {
  std::size_t unread = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    skip_spaces(line);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view name = line.substr(0, line.find_first_of("{ \t"));
    if (!wanted(name)) continue;
    line.remove_prefix(name.size());
    sample made;
    bool is_read = true;
    if (line.starts_with('{')) {
      line.remove_prefix(1);
      is_read = take_labels(line, made);
    }
    is_read = is_read && take_number(line, made.value);
    std::optional<std::int64_t> when;
    skip_spaces(line);
    if (is_read && !line.empty()) is_read = take_number(line, when.emplace());
    if (!is_read) {
      ++unread;
    } else if (std::isfinite(made.value)) {
      take(name, made, when);
    }
  }
  return unread;
}

}  // namespace shim
