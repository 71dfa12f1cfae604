#pragma once
/// @file
/// Sums that tell sets apart.

#include <compare>
#include <cstdint>
#include <span>

namespace kaisched::base {

/// 128-bit sums of mixed numbers: equal for equal multisets.
struct set_hash {
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  void add(std::uint64_t value) {
    a += mixed(value + 0x9E3779B97F4A7C15U);
    b += mixed(value ^ 0xD1B54A32D192ED03U);
  }
  void add(std::span<const std::uint32_t> rows) {
    for (const std::uint32_t row : rows) add(row);
  }
  /// One number for two, in their order.
  [[nodiscard]] static std::uint64_t of_pair(std::uint64_t first, std::uint64_t second) {
    return mixed(mixed(first + 0x9E3779B97F4A7C15U) ^ second);
  }
  auto operator<=>(const set_hash&) const = default;

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x ^= x >> 30U;
    x *= 0xBF58476D1CE4E5B9U;
    x ^= x >> 27U;
    x *= 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }
};

}  // namespace kaisched::base
