#pragma once
/// @file
/// Which rows of a table have been marked.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kaisched::base {

/// A bit for each row; nothing is reserved before the first one is marked.
class row_marks {
 public:
  void mark(std::uint32_t row, std::size_t rows) {
    if (marked_.empty()) marked_.resize(rows, false);
    marked_[row] = true;
  }
  void unmark(std::uint32_t row) {
    if (!marked_.empty()) marked_[row] = false;
  }
  [[nodiscard]] bool has(std::uint32_t row) const { return !marked_.empty() && marked_[row]; }

 private:
  std::vector<bool> marked_;
};

}  // namespace kaisched::base
