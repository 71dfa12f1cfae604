#include "usage/usage_window.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "api_server/credentials.hpp"
#include "api_server/text_parts.hpp"

namespace shim {

namespace {

constexpr milli_time minute = 60'000;
/// Leap days are eight years apart around some turns of centuries.
constexpr int most_days = 8 * 366 + 2;

int number_in(std::string_view text, int least, int most) {
  const auto value = read_number<int>(text);
  if (value && *value >= least && *value <= most) return *value;
  throw bad_input(fmt::format("expected a number from {} to {}, found \"{}\"", least, most, text));
}

/// One field of a schedule. @return whether it is `*`, which leaves the choice to the other kind of days.
template <std::size_t Size>
bool read_moments(std::string_view field, int least, int most, std::bitset<Size>& to) {
  const bool any = field.starts_with('*');
  while (!field.empty()) {
    std::string_view step_text = take_part(field, ',');
    std::string_view range = take_part(step_text, '/');
    const int step = step_text.empty() ? 1 : number_in(step_text, 1, most);
    int from = least;
    int to_last = most;
    if (range != "*") {
      from = number_in(take_part(range, '-'), least, most);
      to_last = !range.empty() ? number_in(range, from, most) : (step_text.empty() ? from : most);
    }
    for (int at = from; at <= to_last; at += step) to.set(static_cast<std::size_t>(at));
  }
  return any;
}

}  // namespace

cron_schedule::cron_schedule(std::string_view text) {
  std::array<std::string_view, 5> fields;
  std::size_t count = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view field = take_part(rest, ' ');
    if (field.empty()) continue;
    if (count < fields.size()) fields[count] = field;
    ++count;
  }
  if (count != fields.size()) {
    throw bad_input(fmt::format("expected minute, hour, day, month and day of the week, found \"{}\"", text));
  }
  read_moments(fields[0], 0, 59, minutes_);
  read_moments(fields[1], 0, 23, hours_);
  any_day_ = read_moments(fields[2], 1, 31, days_);
  read_moments(fields[3], 1, 12, months_);
  any_weekday_ = read_moments(fields[4], 0, 6, weekdays_);
  if (last_before(0) < -most_days * 24LL * 60 * minute) {
    throw bad_input(fmt::format("\"{}\": there is no such day", text));
  }
}

/// As cron: of two kinds of days that are both restricted, one is enough.
bool cron_schedule::has_day(std::chrono::sys_days day) const {
  const std::chrono::year_month_day date(day);
  if (!months_.test(unsigned{date.month()})) return false;
  const bool in_month = days_.test(unsigned{date.day()});
  const bool in_week = weekdays_.test(std::chrono::weekday(day).c_encoding());
  return any_day_ || any_weekday_ ? in_month && in_week : in_month || in_week;
}

milli_time cron_schedule::last_before(milli_time now) const {
  const std::chrono::sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds(now)};
  const std::chrono::sys_days today = std::chrono::floor<std::chrono::days>(at);
  for (int back = 0; back <= most_days; ++back) {
    const std::chrono::sys_days day = today - std::chrono::days(back);
    if (!has_day(day)) continue;
    const milli_time begin = std::chrono::milliseconds(day.time_since_epoch()).count();
    for (int of_day = 24 * 60 - 1; of_day >= 0; --of_day) {
      const milli_time moment = begin + of_day * minute;
      if (moment < now && hours_.test(static_cast<std::size_t>(of_day / 60)) &&
          minutes_.test(static_cast<std::size_t>(of_day % 60))) {
        return moment;
      }
    }
  }
  return std::numeric_limits<milli_time>::min();
}

milli_time usage_window::begin_at(milli_time now) const {
  if (type == window_type::sliding) return now - size.count();
  if (type == window_type::cron) return schedule.last_before(now);
  if (now <= start) return now;  // the first one is still to come: nothing counts
  return start + (now - start - 1) / size.count() * size.count();
}

}  // namespace shim
