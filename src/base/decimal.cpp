#include "base/decimal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace kaisched::base {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void multiply(std::string& digits, unsigned factor) {
  unsigned carry = 0;
  for (auto it = digits.rbegin(); it != digits.rend(); ++it) {
    const unsigned product = static_cast<unsigned>(*it - '0') * factor + carry;
    *it = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  for (; carry > 0; carry /= 10) digits.insert(digits.begin(), static_cast<char>('0' + carry % 10));
}

}  // namespace

bool take_sign(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return negative;
}

std::optional<decimal> take_decimal(std::string_view& text) {
  decimal read;
  bool in_fraction = false;
  std::size_t at = 0;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !in_fraction)); ++at) {
    if (text[at] == '.') {
      in_fraction = true;
    } else {
      read.digits += text[at];
      if (in_fraction) --read.exponent;
    }
  }
  if (read.digits.empty()) return std::nullopt;
  text.remove_prefix(at);
  return read;
}

bool scale(decimal& number, std::string_view suffix) {
  constexpr std::array<std::pair<std::string_view, int>, 10> powers_of_ten{
      {{"", 0}, {"n", -9}, {"u", -6}, {"m", -3}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
  constexpr std::array<std::string_view, 6> powers_of_1024{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  for (const auto& [name, power] : powers_of_ten) {
    if (suffix != name) continue;
    number.exponent += power;
    return true;
  }
  for (std::size_t power = 0; power < powers_of_1024.size(); ++power) {
    if (suffix != powers_of_1024[power]) continue;
    for (std::size_t i = 0; i <= power; ++i) multiply(number.digits, 1024);
    return true;
  }
  if (suffix.front() != 'e' && suffix.front() != 'E') return false;
  suffix.remove_prefix(1);
  if (suffix.starts_with('+')) suffix.remove_prefix(1);
  std::int32_t exponent = 0;
  const auto [end, failure] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (failure != std::errc{} || end != suffix.data() + suffix.size() || suffix.starts_with('+')) return false;
  number.exponent += exponent;
  return true;
}

std::optional<int128> integer_of(const decimal& number, rounding rule, std::int64_t most_digits) {
  std::string_view digits = number.digits;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return 0;
  const std::int64_t size = static_cast<std::int64_t>(digits.size()) + number.exponent;
  if (size > most_digits) return std::nullopt;
  std::string whole(digits.substr(0, static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, most_digits))));
  const bool rest = digits.substr(whole.size()).find_first_not_of('0') != std::string_view::npos;
  whole.append(static_cast<std::size_t>(std::max<std::int64_t>(size, 0)) - whole.size(), '0');
  int128 value = 0;
  for (const char c : whole) value = value * 10 + (c - '0');
  if (rest && rule == rounding::up) ++value;
  return value;
}

}  // namespace kaisched::base
