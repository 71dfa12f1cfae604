#include "policy/ordering/whole_sum.hpp"

#include <algorithm>
#include <array>

#include "base/int128.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

constexpr int binary_digits = 62;
constexpr int128 carry_at = int128{1} << binary_digits;

/// The integer part of the sum of fractions below 1. They are written out `binary_digits` at a time: these digits add
/// up to the answer, unless what follows can still carry over. A sum that is no integer differs from the next one by
/// more than the product of the reciprocals of all denominators, so after as many steps as there are fractions, and
/// one, a sum that still waits for a carry is an integer.
int128 carry_of(std::array<summand, most_summands> rest, std::size_t count, std::size_t steps) {
  int128 digits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int128 shifted = rest[i].over << binary_digits;
    digits += shifted / rest[i].under;
    rest[i].over = shifted % rest[i].under;
  }
  const int128 whole = digits / carry_at;
  const int128 missing = carry_at - digits % carry_at;
  if (missing >= static_cast<int128>(count)) return whole;
  return whole + (steps == 0 || carry_of(rest, count, steps - 1) >= missing ? 1 : 0);
}

}  // namespace

std::int64_t whole_sum(std::span<const summand> all) {
  std::array<summand, most_summands> rest{};
  int128 sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sum += all[i].over / all[i].under;
    rest[i] = {all[i].over % all[i].under, all[i].under};
  }
  return static_cast<std::int64_t>(sum + carry_of(rest, all.size(), all.size() + 1));
}

}  // namespace kaisched::policy
