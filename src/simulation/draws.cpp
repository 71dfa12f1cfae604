#include "simulation/draws.hpp"

#include <numeric>

namespace kaisched::simulation {

namespace {

// ln 2 in two parts, so that the reduction of an argument loses nothing.
constexpr double ln2_high = 0x1.62e42fee00000p-1;
constexpr double ln2_low = 0x1.a39ef35793c76p-33;

}  // namespace

double log_of(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // from 1/2 on
  constexpr double root_of_half = 0x1.6a09e667f3bcdp-1;
  if (m < root_of_half) {
    m *= 2;
    --exponent;
  }
  // ln m = 2 artanh s; |s| < 0.172, so that the terms left out are below 2^-60.
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 0;
  for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * square;
  const double e = exponent;
  return e * ln2_high + (2 * s + (2 * s * sum + e * ln2_low));
}

double exp_of(double x) {
  constexpr double one_over_ln2 = 0x1.71547652b82fep0;
  const double k = std::floor(x * one_over_ln2 + 0.5);
  const double rest = (x - k * ln2_high) - k * ln2_low;
  double sum = 1;
  for (int n = 18; n >= 1; --n) sum = 1 + sum * rest / n;
  return std::ldexp(sum, static_cast<int>(k));
}

std::size_t draws::weighted(std::span<const std::int64_t> weights) {
  std::int64_t left = below(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
  std::size_t i = 0;
  for (; left >= weights[i]; ++i) left -= weights[i];
  return i;
}

}  // namespace kaisched::simulation
