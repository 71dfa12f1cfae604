#pragma once
/// @file
/// Sets of small numbers as bits.

#include <bit>
#include <cstdint>
#include <vector>

namespace kaisched::base {

/// The numbers of the bits that are set, ascending.
[[nodiscard]] inline std::vector<std::int64_t> indices_of(std::uint64_t mask) {
  std::vector<std::int64_t> indices;
  for (; mask != 0; mask &= mask - 1) indices.push_back(std::countr_zero(mask));
  return indices;
}

}  // namespace kaisched::base
