#include "simulation/amounts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/int128.hpp"

namespace kaisched::simulation {

namespace {

/// So many nanoseconds: `factor` times a power of ten.
struct duration_unit {
  std::string_view name;
  std::int64_t factor;
  std::int64_t power;
};
constexpr std::array duration_units{
    duration_unit{"d", 864, 11}, duration_unit{"h", 36, 11}, duration_unit{"m", 6, 10}, duration_unit{"s", 1, 9},
    duration_unit{"ms", 1, 6},   duration_unit{"us", 1, 3},  duration_unit{"ns", 1, 0},
};

/// Digits behind the last nanosecond that still count where a unit has a factor.
constexpr std::int64_t guard_digits = 4;
constexpr std::int64_t guard = 10'000;
constexpr std::int64_t most_digits = 30;

std::optional<base::int128> in_nanoseconds(base::decimal number, const duration_unit& unit) {
  number.exponent += unit.power + guard_digits;
  const std::optional<base::int128> value = base::integer_of(number, base::rounding::down, most_digits);
  if (!value) return std::nullopt;
  return *value * unit.factor / guard;
}

bool is_number_character(char c) { return (c >= '0' && c <= '9') || c == '.'; }

/// Takes the unit off the front; null if there is none.
const duration_unit* take_unit(std::string_view& text) {
  const auto end = std::find_if(text.begin(), text.end(), is_number_character);
  const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  for (const duration_unit& unit : duration_units) {
    if (unit.name != name) continue;
    text.remove_prefix(name.size());
    return &unit;
  }
  return nullptr;
}

constexpr duration_unit seconds_unit{"", 1, 9};

/// `1e+06`, as programs write large numbers.
bool is_exponent(std::string_view text) {
  return text.size() > 1 && (text.front() == 'e' || text.front() == 'E') &&
         (is_number_character(text[1]) || text[1] == '+' || text[1] == '-');
}

}  // namespace

std::optional<std::int64_t> parse_duration(std::string_view text) {
  base::int128 sum = 0;
  bool is_first = true;
  do {
    std::optional<base::decimal> number = base::take_decimal(text);
    if (!number) return std::nullopt;
    const duration_unit* unit = &seconds_unit;
    if (is_first && is_exponent(text)) {
      if (!base::scale(*number, text)) return std::nullopt;
      text = {};
    } else if (!is_first || !text.empty()) {
      unit = take_unit(text);
    }
    if (unit == nullptr) return std::nullopt;
    const std::optional<base::int128> part = in_nanoseconds(*number, *unit);
    if (!part) return std::nullopt;
    sum += *part;
    if (sum > max_time) return std::nullopt;
    is_first = false;
  } while (!text.empty());
  return static_cast<std::int64_t>(sum);
}

std::string format_decimal(std::int64_t amount, std::int64_t unit) {
  std::string text = std::to_string(amount / unit);
  std::int64_t rest = amount % unit;
  if (rest == 0) return text;
  text += '.';
  for (; rest != 0; rest %= unit) {
    unit /= 10;
    text += static_cast<char>('0' + rest / unit);
  }
  return text;
}

}  // namespace kaisched::simulation
