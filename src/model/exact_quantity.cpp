#include "model/exact_quantity.hpp"

#include <algorithm>
#include <limits>

#include "base/decimal.hpp"

namespace kaisched::model {

std::optional<exact_quantity> parse_exact_quantity(std::string_view text) {
  constexpr base::int128 most =
      static_cast<base::int128>(std::numeric_limits<std::int64_t>::max()) * billionths_per_unit;
  constexpr std::int64_t most_digits = 28;  // of that number
  const bool negative = base::take_sign(text);
  std::optional<base::decimal> number = base::take_decimal(text);
  if (!number || !base::scale(*number, text)) return std::nullopt;
  number->exponent += 9;
  const base::int128 size = std::min(base::integer_of(*number, base::rounding::up, most_digits).value_or(most), most);
  return exact_quantity{negative ? -size : size};
}

std::string text_of(exact_quantity quantity) {
  base::int128 left = quantity.billionths < 0 ? -quantity.billionths : quantity.billionths;
  std::string digits;
  for (int place = 0; place < 10 || left > 0; ++place, left /= 10) {
    digits += static_cast<char>('0' + static_cast<int>(left % 10));
    if (place == 8) digits += '.';
  }
  std::reverse(digits.begin(), digits.end());
  digits.resize(std::min(digits.size(), digits.find_last_not_of('0') + 1));
  if (digits.ends_with('.')) digits.pop_back();
  return (quantity.billionths < 0 ? "-" : "") + digits;
}

}  // namespace kaisched::model
