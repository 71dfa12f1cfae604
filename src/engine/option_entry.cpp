#include "engine/option_entry.hpp"

#include <algorithm>
#include <cstddef>

#include "base/nearest.hpp"

namespace kaisched::engine_detail {

namespace {

std::vector<std::string_view> choices_of(const option_info& info) {
  std::vector<std::string_view> choices;
  for (std::string_view rest = info.choices; !rest.empty();) {
    choices.push_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(rest.size(), choices.back().size() + 1));
  }
  return choices;
}

}  // namespace

error bad_value(std::string_view name, std::string_view value, std::string_view expected) {
  return {status::argument,
          "option " + std::string(name) + ": '" + base::shown(value) + "' is not " + std::string(expected),
          {}};
}

result<double> parse_number(const option_info& info, std::string_view value) {
  double number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool good = failure == std::errc{} && end == value.data() + value.size() && std::isfinite(number) &&
                    number >= info.least && number <= info.most;
  if (!good || (info.type == option_type::integer && number != std::floor(number))) {
    const std::string_view kind = info.type == option_type::integer ? "an integer" : "a number";
    return bad_value(info.name, value,
                     std::string(kind) + " from " + number_text(info.least) + " to " + number_text(info.most));
  }
  return number;
}

result<std::size_t> parse_choice(const option_info& info, std::string_view value) {
  constexpr std::size_t most_shown = 120;  // errors have 256 bytes in C
  const std::vector<std::string_view> choices = choices_of(info);
  const auto found = std::find(choices.begin(), choices.end(), value);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  if (info.choices.size() <= most_shown) return bad_value(info.name, value, "one of: " + std::string(info.choices));
  const std::string_view nearest = base::nearest_name(value, choices);
  return bad_value(info.name, value,
                   "one of its " + std::to_string(choices.size()) + " values, such as " + std::string(info.fallback) +
                       (nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?"));
}

std::string choice_at(const option_info& info, std::size_t position) {
  return std::string(choices_of(info).at(position));
}

std::string number_text(double value) {
  char text[32];
  const auto [end, failure] = std::to_chars(text, text + sizeof text, value);
  return {text, failure == std::errc{} ? end : text};
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ",").append(name);
  return text;
}

}  // namespace kaisched::engine_detail
