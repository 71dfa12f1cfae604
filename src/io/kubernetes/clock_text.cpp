#include "io/kubernetes/clock_text.hpp"

#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/int128.hpp"

namespace kaisched::io::kubernetes {

namespace {

using base::int128;

constexpr std::int64_t day_seconds = 86'400;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::int64_t> in_64_bits(int128 value) {
  if (value > std::numeric_limits<std::int64_t>::max() || value < std::numeric_limits<std::int64_t>::min()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

/// Takes exactly `count` digits off the front.
std::optional<std::int64_t> take_number(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text.substr(0, count)) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// Digits behind a point as nanoseconds; what is finer is cut off. False if there is none.
bool take_fraction(std::string_view& text, std::int64_t& nanoseconds) {
  std::size_t digits = 0;
  std::int64_t unit = second;
  for (; digits < text.size() && is_digit(text[digits]); ++digits) {
    unit /= 10;
    nanoseconds += unit * (text[digits] - '0');
  }
  text.remove_prefix(digits);
  return digits > 0;
}

bool is_leap(std::int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

std::int64_t days_in(std::int64_t year, std::int64_t month) {
  constexpr std::array<std::int64_t, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap(year) ? 1 : 0);
}

/// Days since 1970-01-01, of the calendar that RFC 3339 means.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  // A year that starts in March has its leap day last, so months have fixed offsets.
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t m = (month + 9) % 12;
  const std::int64_t before = 365 * y + y / 4 - y / 100 + y / 400;
  constexpr std::int64_t days_to_1970 = 719'468;
  return before + (153 * m + 2) / 5 + day - 1 - days_to_1970;
}

std::optional<std::int64_t> take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || *month < 1 || *month > 12 || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || *day < 1 || *day > days_in(*year, *month)) return std::nullopt;
  return days_of(*year, *month, *day);
}

std::optional<std::int64_t> take_clock(std::string_view& text) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  return *hour * 3600 + *minute * 60;
}

/// `Z`, `+01:00`: seconds that the clock is ahead of UTC.
std::optional<std::int64_t> take_zone(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return 0;
  const bool behind = text.starts_with('-');
  if (!behind && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto ahead = take_clock(text);
  if (!ahead) return std::nullopt;
  return behind ? -*ahead : *ahead;
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  const auto days = take_date(text);
  if (!days || (!take(text, 'T') && !take(text, 't') && !take(text, ' '))) return std::nullopt;
  const auto clock = take_clock(text);
  if (!clock || !take(text, ':')) return std::nullopt;
  const auto seconds = take_number(text, 2);
  if (!seconds || *seconds > 60) return std::nullopt;
  std::int64_t fraction = 0;
  if (take(text, '.') && !take_fraction(text, fraction)) return std::nullopt;
  const auto zone = take_zone(text);
  if (!zone || !text.empty()) return std::nullopt;
  return in_64_bits(static_cast<int128>(*days * day_seconds + *clock + *seconds - *zone) * second + fraction);
}

std::string format_time(std::int64_t time) {
  std::int64_t seconds = time / second - (time % second < 0 ? 1 : 0);
  std::int64_t days = seconds / day_seconds - (seconds % day_seconds < 0 ? 1 : 0);
  seconds -= days * day_seconds;
  std::int64_t year = 1970 + days / 366;  // at or before the right one; for times before 1970 it is behind it
  while (days_of(year, 1, 1) > days) --year;
  while (days_of(year + 1, 1, 1) <= days) ++year;
  std::int64_t month = 1;
  days -= days_of(year, 1, 1);
  for (; days >= days_in(year, month); ++month) days -= days_in(year, month);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", year, month, days + 1, seconds / 3600, seconds / 60 % 60,
                     seconds % 60);
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> units{{{"ns", 1},
                                                                            {"us", 1'000},
                                                                            {"\xC2\xB5s", 1'000},
                                                                            {"\xCE\xBCs", 1'000},
                                                                            {"ms", 1'000'000},
                                                                            {"s", second},
                                                                            {"m", 60 * second},
                                                                            {"h", 3600 * second}}};
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  int128 total = 0;
  while (!text.empty()) {
    std::size_t digits = 0;
    int128 whole = 0;
    for (; digits < text.size() && is_digit(text[digits]); ++digits) {
      whole = whole * 10 + (text[digits] - '0');
      if (whole > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    }
    text.remove_prefix(digits);
    std::int64_t fraction = 0;
    const bool has_fraction = take(text, '.') && take_fraction(text, fraction);
    if (digits == 0 && !has_fraction) return std::nullopt;
    const auto* unit = units.begin();
    while (unit != units.end() && !text.starts_with(unit->first)) ++unit;
    if (unit == units.end()) return std::nullopt;
    text.remove_prefix(unit->first.size());
    total += whole * unit->second + static_cast<int128>(fraction) * unit->second / second;
    if (total > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  }
  return in_64_bits(negative ? -total : total);
}

}  // namespace kaisched::io::kubernetes
