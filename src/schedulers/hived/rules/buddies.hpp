#pragma once
/// @file
/// Free cells of a chain: split where a smaller one is taken, merged again when all parts of one are free.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "schedulers/hived/rules/layout.hpp"

namespace kaisched::hived {

class buddies {
 public:
  explicit buddies(const chain& of);

  /// Cells of a level that are free and no part of a larger free one.
  [[nodiscard]] const std::set<number>& free_at(level l) const { return free_[l]; }
  /// The level of the free cell that the cell is, or is a part of; `nothing` if it is not free.
  [[nodiscard]] level free_above(level l, number cell) const;
  [[nodiscard]] bool is_free(level l, number cell) const { return free_above(l, cell) != nothing; }
  /// Takes a free cell; what it is a part of is split.
  void take(level l, number cell);
  void give_back(level l, number cell);
  /// So many cells of each level can still be taken, in any order, whoever asks first.
  [[nodiscard]] bool holds(std::span<const std::uint32_t> reserved) const;

 private:
  const chain* of_;
  std::vector<std::set<number>> free_;  ///< by level
};

}  // namespace kaisched::hived
