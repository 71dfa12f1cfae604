#include "model/figures.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

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

constexpr std::array<std::pair<std::string_view, node_group_word>, 4> affinity_words{{
    {"required", node_group_word::required},
    {"preferred", node_group_word::preferred},
    {"avoided", node_group_word::avoided},
    {"rather_avoided", node_group_word::rather_avoided},
}};

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

result<std::vector<weighted_step>> parse_path(std::string_view list) {
  constexpr double most = 1e12;
  std::vector<weighted_step> made;
  for (const std::string_view entry : split_list(list)) {
    const std::size_t colon = entry.rfind(':');
    weighted_step one;
    const std::string_view weight = colon == std::string_view::npos ? "" : entry.substr(colon + 1);
    const auto [end, fault] = std::from_chars(weight.data(), weight.data() + weight.size(), one.weight);
    const bool is_number = fault == std::errc{} && end == weight.data() + weight.size();
    if (colon == 0 || !is_number || !(one.weight >= 1 && one.weight <= most))
      return bad_entry(entry, "name:weight, with a weight from 1 to 1e12");
    one.name = entry.substr(0, colon);
    made.push_back(std::move(one));
  }
  return made;
}

std::string_view word_of(node_group_word of) { return affinity_words[static_cast<std::size_t>(of)].first; }

result<std::vector<node_group_wish>> parse_node_groups(std::string_view list) {
  std::vector<node_group_wish> made;
  for (const std::string_view entry : split_list(list)) {
    const std::size_t colon = std::min(entry.find(':'), entry.size());
    const auto* const known = std::find_if(affinity_words.begin(), affinity_words.end(),
                                           [&](const auto& one) { return one.first == entry.substr(0, colon); });
    if (known == affinity_words.end() || colon + 1 >= entry.size())
      return bad_entry(entry, "required:NAME, preferred:NAME, avoided:NAME or rather_avoided:NAME");
    made.push_back({known->second, std::string(entry.substr(colon + 1))});
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
