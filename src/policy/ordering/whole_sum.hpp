#pragma once
/// @file
/// Sums of fractions, rounded down.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/int128.hpp"

namespace kaisched::policy {

/// Neither is negative; the denominator is not 0, and at most 2^63.
struct summand {
  base::int128 over = 0;
  base::int128 under = 1;
};

/// Most of them in one sum.
inline constexpr std::size_t most_summands = 8;

/// The integer part of the sum of all, exactly. Integer parts must add up to an integer of 64 bits.
[[nodiscard]] std::int64_t whole_sum(std::span<const summand> all);

}  // namespace kaisched::policy
