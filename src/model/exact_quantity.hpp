#pragma once
/// @file
/// Quantities of Kubernetes without a unit of ours: capacities and counters of devices mean what their driver says.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/int128.hpp"

namespace kaisched::model {

/// A quantity, exact to a billionth, which is as fine as those of Kubernetes are. Its size is at most 2^63 - 1, so that
/// sums of billions of them cannot overflow.
struct exact_quantity {
  base::int128 billionths = 0;
  friend auto operator<=>(const exact_quantity&, const exact_quantity&) = default;
};

/// One.
inline constexpr std::int64_t billionths_per_unit = 1'000'000'000;

/// A whole number as a quantity.
[[nodiscard]] constexpr exact_quantity whole_quantity(std::int64_t amount) {
  return {static_cast<base::int128>(amount) * billionths_per_unit};
}
/// Text in the grammar of Kubernetes. What is finer than a billionth is rounded away from zero, what is larger than
/// 2^63 - 1 is cut to that, both as Kubernetes does; empty if the text is no quantity.
[[nodiscard]] std::optional<exact_quantity> parse_exact_quantity(std::string_view text);
/// A decimal number that reads back as the same quantity.
[[nodiscard]] std::string text_of(exact_quantity quantity);

}  // namespace kaisched::model
