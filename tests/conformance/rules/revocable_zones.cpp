#include "conformance/rules/revocable_zones.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace kaisched::policy {

namespace {

constexpr std::int64_t minute_seconds = 60;
constexpr std::int64_t day_minutes = 24 * 60;

std::optional<std::int64_t> number_of(std::string_view digits) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<std::int64_t> minutes_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 2 || text.size() - colon != 3) return std::nullopt;
  const std::optional<std::int64_t> hours = number_of(text.substr(0, colon));
  const std::optional<std::int64_t> minutes = number_of(text.substr(colon + 1));
  if (!hours || !minutes || *hours < 0 || *hours > 23 || *minutes < 0 || *minutes > 59) return std::nullopt;
  return *hours * 60 + *minutes;
}

/// What is neither a number nor per cent counts as nothing.
std::int64_t pods_of(std::string_view text, std::size_t all) {
  constexpr std::int64_t most = 1'000'000'000;  // beyond that sums and products would not fit
  if (!text.ends_with('%')) return std::clamp(number_of(text).value_or(0), -most, most);
  const std::int64_t percent = number_of(text.substr(0, text.size() - 1)).value_or(0);
  const auto pods = static_cast<std::int64_t>(all);
  const std::int64_t product = std::clamp(percent, -most, most) * std::min(pods, most);
  return product > 0 ? (product + 99) / 100 : product / 100;
}

}  // namespace

bool daily_window::holds(std::int64_t second) const {
  const std::int64_t last = end > start ? end : end + day_minutes;
  return second >= start * minute_seconds && second <= last * minute_seconds;
}

std::optional<daily_window> daily_window_of(std::string_view text) {
  const std::string_view inner = trimmed(text);
  const std::size_t dash = inner.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> start = minutes_of(inner.substr(0, dash));
  const std::optional<std::int64_t> end = minutes_of(inner.substr(dash + 1));
  if (!start || !end) return std::nullopt;
  return daily_window{*start, *end};
}

std::size_t most_leaving(const job_pods& of, const job_budget& budget) {
  const auto running = static_cast<std::int64_t>(of.running);
  if (!budget.max_unavailable.empty()) {
    const std::int64_t missing = static_cast<std::int64_t>(of.all) - static_cast<std::int64_t>(of.over) - running;
    return static_cast<std::size_t>(std::max<std::int64_t>(0, pods_of(budget.max_unavailable, of.all) - missing));
  }
  if (!budget.min_available.empty()) {
    const std::int64_t spare = running - pods_of(budget.min_available, of.all);
    if (spare >= 0) return static_cast<std::size_t>(spare);
  }
  return 1;
}

}  // namespace kaisched::policy
