#pragma once
/// @file
/// Quantities of Kubernetes as text (`1500m`, `2Gi`, `3e3`) -> integers in fixed units, exactly.

#include <cstdint>
#include <optional>
#include <string_view>

namespace kaisched::io::kubernetes {

/// What became of a text.
enum class quantity_fault : std::uint8_t {
  none,
  malformed,  ///< no quantity
  overflow,   ///< more than 63 bits hold
};

/// A quantity in the unit that was asked for.
struct quantity {
  std::int64_t amount = 0;
  quantity_fault fault = quantity_fault::none;
};

/// Grammar: `[+-]digits[.digits]` and a suffix: none, `n u m k M G T P E`, `Ki Mi Gi Ti Pi Ei`, or `e` / `E` and an
/// exponent. What lies between two units is rounded up in size, away from zero, as Kubernetes does. `decimals` is the
/// number of decimal places of the unit: 0 for whole ones, 3 for thousandths.
[[nodiscard]] quantity parse_quantity(std::string_view text, int decimals = 0);

/// A decimal number without suffix (`0.5`, `1e-1`) in units of 1/1000, rounded down; empty if it is none or does not
/// fit.
[[nodiscard]] std::optional<std::int64_t> parse_thousandths(std::string_view text);

/// Digits with or without `-`, and nothing else; empty if it is no such number or 63 bits do not hold it.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace kaisched::io::kubernetes
