#pragma once
/// @file
/// Decimal numbers as text, without a step that rounds.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/int128.hpp"

namespace kaisched::base {

/// A number without sign: decimal digits and a power of ten.
struct decimal {
  std::string digits;
  std::int64_t exponent = 0;
};

/// What becomes of a part below one.
enum class rounding : bool { down, up };

/// Takes `+` or `-` off the front of a text; true for `-`.
bool take_sign(std::string_view& text);
/// Takes `digits[.digits]` off the front of a text; empty if there is no digit.
[[nodiscard]] std::optional<decimal> take_decimal(std::string_view& text);
/// Applies a suffix of a quantity of Kubernetes: none, `n u m k M G T P E`, `Ki Mi Gi Ti Pi Ei`, or `e` / `E` and an
/// exponent. False if it is none.
[[nodiscard]] bool scale(decimal& number, std::string_view suffix);
/// The number as an integer of at most `most_digits` (37 or fewer) digits; empty if it has more.
[[nodiscard]] std::optional<int128> integer_of(const decimal& number, rounding rule, std::int64_t most_digits);

}  // namespace kaisched::base
