#pragma once
/// @file
/// Amounts of a quota: 64-bit integers that saturate, the largest of which means "no limit".

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

#include "base/int128.hpp"
#include "base/saturating.hpp"

namespace kaisched::kueue {

/// An amount in the unit of its resource. Sums that would overflow saturate, so that a tree of absurdly large quotas
/// never wraps round to a small or negative one.
class amount {
 public:
  constexpr amount() = default;
  constexpr explicit amount(std::int64_t value) : value_(value) {}
  /// More than any amount; what is added to it or taken from it leaves it so.
  static constexpr amount unlimited() { return amount(std::numeric_limits<std::int64_t>::max()); }

  [[nodiscard]] constexpr bool is_unlimited() const { return value_ == std::numeric_limits<std::int64_t>::max(); }
  [[nodiscard]] constexpr std::int64_t value() const { return value_; }

  friend constexpr amount operator+(amount a, amount b) {
    if (a.is_unlimited() || b.is_unlimited()) return unlimited();
    return amount(base::saturating_add(a.value_, b.value_));
  }
  /// Without limit minus without limit is nothing; a bounded amount minus one without limit is the least of all.
  friend constexpr amount operator-(amount a, amount b) {
    if (a.is_unlimited()) return b.is_unlimited() ? amount() : a;
    if (b.is_unlimited()) return amount(std::numeric_limits<std::int64_t>::min());
    return clamped(static_cast<base::int128>(a.value_) - b.value_);
  }
  constexpr amount& operator+=(amount other) { return *this = *this + other; }
  constexpr amount& operator-=(amount other) { return *this = *this - other; }
  friend constexpr auto operator<=>(const amount&, const amount&) = default;

 private:
  static constexpr amount clamped(base::int128 value) {
    constexpr base::int128 least = std::numeric_limits<std::int64_t>::min();
    constexpr base::int128 most = std::numeric_limits<std::int64_t>::max();
    return amount(static_cast<std::int64_t>(std::clamp(value, least, most)));
  }

  std::int64_t value_ = 0;
};

}  // namespace kaisched::kueue
