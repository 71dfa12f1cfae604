#include "model/figures.hpp"

#include <algorithm>
#include <charconv>

#include <kaisched/table.hpp>

#include "base/decimal.hpp"
#include "base/int128.hpp"
#include "base/text.hpp"

namespace kaisched::model {

namespace {

error bad_entry(std::string_view entry, std::string_view expected) {
  std::string text("'");
  return {status::argument, text.append(base::shown(entry)).append("': expected ").append(expected), {}};
}

bool read_integer(std::string_view text, std::int64_t most, std::int64_t& to) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), to);
  return fault == std::errc{} && end == text.data() + text.size() && to >= 0 && to <= most;
}

bool read_thousandths(std::string_view text, std::int64_t& to) {
  constexpr std::int64_t most_digits = 15;
  std::optional<base::decimal> read = base::take_decimal(text);
  if (!read || !text.empty()) return false;
  read->exponent += 3;
  const std::optional<base::int128> down = base::integer_of(*read, base::rounding::down, most_digits);
  const std::optional<base::int128> up = base::integer_of(*read, base::rounding::up, most_digits);
  if (!down || !up || *down != *up) return false;
  to = static_cast<std::int64_t>(*down);
  return true;
}

/// Whether the rise from `b` to `c` is steeper than that from `a` to `b`.
bool gets_steeper(const speed_point& a, const speed_point& b, const speed_point& c) {
  return base::int128{c.throughput - b.throughput} * (b.pods - a.pods) >
         base::int128{b.throughput - a.throughput} * (c.pods - b.pods);
}

}  // namespace

result<std::vector<named_amount>> parse_amounts(std::string_view list, std::int64_t most) {
  std::vector<named_amount> made;
  for (const std::string_view entry : split_list(list)) {
    const std::size_t colon = entry.rfind(':');
    named_amount one;
    if (colon == std::string_view::npos || colon == 0 || !read_integer(entry.substr(colon + 1), most, one.amount))
      return bad_entry(entry, "name:amount, with an amount from 0 to " + std::to_string(most));
    one.name = entry.substr(0, colon);
    if (std::any_of(made.begin(), made.end(), [&](const named_amount& other) { return other.name == one.name; }))
      return bad_entry(entry, "a name that does not stand there twice");
    made.push_back(std::move(one));
  }
  return made;
}

result<std::vector<speed_point>> parse_speedup(std::string_view list) {
  constexpr std::int64_t most_pods = 1'000'000'000;
  std::vector<speed_point> made;
  for (const std::string_view entry : split_list(list)) {
    const std::size_t colon = entry.find(':');
    speed_point one;
    if (colon == std::string_view::npos || !read_integer(entry.substr(0, colon), most_pods, one.pods) ||
        one.pods == 0 || !read_thousandths(entry.substr(colon + 1), one.throughput) || one.throughput == 0)
      return bad_entry(entry, "pods:throughput, such as 4:3.5");
    if (!made.empty() && (one.pods <= made.back().pods || one.throughput < made.back().throughput))
      return bad_entry(entry, "more pods than the entry before, and no less throughput");
    const speed_point origin;
    const speed_point& before = made.empty() ? origin : made.back();
    if (!made.empty() && gets_steeper(made.size() == 1 ? origin : made[made.size() - 2], before, one))
      return bad_entry(entry, "no more throughput for each further pod than before");
    made.push_back(one);
  }
  return made;
}

std::int64_t throughput_of(const std::vector<speed_point>& curve, std::int64_t pods) {
  if (curve.empty() || pods <= 0) return 0;
  const auto at = std::lower_bound(curve.begin(), curve.end(), pods,
                                   [](const speed_point& one, std::int64_t p) { return one.pods < p; });
  if (at == curve.end()) return curve.back().throughput;
  const speed_point before = at == curve.begin() ? speed_point{} : *(at - 1);
  const base::int128 rise = base::int128{at->throughput - before.throughput} * (pods - before.pods);
  return before.throughput + static_cast<std::int64_t>(rise / (at->pods - before.pods));
}

}  // namespace kaisched::model
