#include "io/kubernetes/quantity.hpp"

#include <charconv>
#include <limits>

#include "base/decimal.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// The number as an integer; empty if 63 bits do not hold it.
std::optional<std::int64_t> integer_of(const base::decimal& number, base::rounding rule) {
  constexpr std::int64_t most_digits = std::numeric_limits<std::int64_t>::digits10 + 1;
  const std::optional<base::int128> value = base::integer_of(number, rule, most_digits);
  if (!value || *value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace

quantity parse_quantity(std::string_view text, int decimals) {
  const bool negative = base::take_sign(text);
  std::optional<base::decimal> number = base::take_decimal(text);
  if (!number || !base::scale(*number, text)) return {0, quantity_fault::malformed};
  number->exponent += decimals;
  const std::optional<std::int64_t> amount = integer_of(*number, base::rounding::up);
  if (!amount) return {0, quantity_fault::overflow};
  return {negative ? -*amount : *amount, quantity_fault::none};
}

std::optional<std::int64_t> parse_thousandths(std::string_view text) {
  constexpr int places = 3;
  const bool negative = base::take_sign(text);
  std::optional<base::decimal> number = base::take_decimal(text);
  if (!number) return std::nullopt;
  // Of the suffixes only exponents are part of a number: `E` alone is 10^18.
  const bool has_exponent =
      text.size() > 1 && text.substr(1).find_first_not_of("+-0123456789") == std::string_view::npos;
  if (!text.empty() && !has_exponent) return std::nullopt;
  if (!base::scale(*number, text)) return std::nullopt;
  number->exponent += places;
  const std::optional<std::int64_t> amount = integer_of(*number, base::rounding::down);
  if (!amount) return std::nullopt;
  return negative ? -*amount : *amount;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace kaisched::io::kubernetes
