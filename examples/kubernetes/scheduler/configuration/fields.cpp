#include "configuration/fields.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "api_server/text_parts.hpp"

namespace shim {

std::string scalar(const YAML::Node& value) {
  if (!value.IsScalar()) throw bad_input("expected one value");
  return value.Scalar();
}

std::string some_text(const YAML::Node& value) {
  std::string text = scalar(value);
  if (text.empty()) throw bad_input("may not be empty");
  return text;
}

std::chrono::milliseconds duration(const YAML::Node& value, std::chrono::milliseconds least) {
  const std::chrono::milliseconds time = parse_duration(scalar(value));
  if (time < least) throw bad_input(fmt::format("at least {} ms", least.count()));
  return time;
}

unsigned number(const YAML::Node& value, unsigned least, unsigned most) {
  const std::string text = scalar(value);
  const auto read = read_number<unsigned>(text);
  if (read && *read >= least && *read <= most) return *read;
  throw bad_input(fmt::format("expected a number from {} to {}, found \"{}\"", least, most, text));
}

bool truth(const YAML::Node& value) {
  constexpr std::array<std::pair<std::string_view, bool>, 2> words{{{"true", true}, {"false", false}}};
  return one_of<bool>(value, words);
}

namespace {

std::chrono::milliseconds parse_up_to(std::string_view text, std::int64_t most, std::string_view expected) {
  const auto refused = [&, whole = text] {
    return bad_input(fmt::format("expected a time such as {}, found \"{}\"", expected, whole));
  };
  if (text.empty()) throw refused();
  std::int64_t sum = 0;
  while (!text.empty()) {
    std::int64_t amount = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), amount);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    std::int64_t unit = 0;
    for (const auto& [suffix, size] : {std::pair<std::string_view, std::int64_t>{"ms", 1},
                                       {"s", 1000},
                                       {"m", 60'000},
                                       {"h", 3'600'000},
                                       {"d", 86'400'000},
                                       {"w", 604'800'000}}) {
      if (!text.starts_with(suffix)) continue;
      unit = size;
      text.remove_prefix(suffix.size());
      break;
    }
    if (failed != std::errc{} || unit == 0 || amount < 0 || amount > (most - sum) / unit) throw refused();
    sum += amount * unit;
  }
  return std::chrono::milliseconds(sum);
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text) {
  return parse_up_to(text, 86'400'000, "10s, 250ms or 1m30s, a day at most");
}

std::chrono::milliseconds long_duration(const YAML::Node& value, std::chrono::milliseconds least) {
  const std::chrono::milliseconds time = parse_up_to(scalar(value), 36'525LL * 86'400'000, "90m, 12h, 7d or 2w");
  if (time < least) throw bad_input(fmt::format("at least {} ms", least.count()));
  return time;
}

}  // namespace shim
