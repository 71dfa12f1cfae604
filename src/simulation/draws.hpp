#pragma once
/// @file
/// Random numbers for invented workloads, the same on every machine.
///
/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) in a stream for each seed and number. Numbers with decimals are made
/// with the operations that IEEE 754 rounds correctly (+ - * / and square root) and with exact ones (frexp, ldexp), in
/// a fixed order and without fused multiply-add: no logarithm or exponential of a C library, whose last bit may differ.

#include <cmath>
#include <cstdint>
#include <span>

namespace kaisched::simulation {

/// Natural logarithm of a positive number; wrong by some units in the last place.
[[nodiscard]] double log_of(double x);
/// e to the power of x, for x from -700 to 700.
[[nodiscard]] double exp_of(double x);

class draws {
 public:
  /// The same seed and stream give the same numbers; other streams are independent of it.
  draws(std::uint64_t seed, std::uint64_t stream) : state_(mixed(mixed(seed + increment) ^ (stream * increment))) {}

  std::uint64_t next() { return mixed(state_ += increment); }
  /// From 0 to below `n`, which is positive. By remainder: the error is below n / 2^64.
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }
  /// Above 0 and up to 1, with 53 bits.
  double unit() { return static_cast<double>((next() >> 11U) + 1) * 0x1p-53; }
  /// With mean 1.
  double exponential() { return -log_of(unit()); }
  /// With mean 0 and deviation 1, by the polar method of Marsaglia.
  double normal() {
    for (;;) {
      const double x = 2 * unit() - 1;
      const double y = 2 * unit() - 1;
      const double square = x * x + y * y;
      if (square > 0 && square < 1) return x * std::sqrt(-2 * log_of(square) / square);
    }
  }
  /// An index, as often as its weight says. Their sum is positive.
  std::size_t weighted(std::span<const std::int64_t> weights);

 private:
  static constexpr std::uint64_t increment = 0x9E3779B97F4A7C15U;
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace kaisched::simulation
