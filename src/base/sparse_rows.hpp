#pragma once
/// @file
/// Values of few of many rows.

#include <cstdint>

#include <boost/unordered/unordered_flat_map.hpp>

namespace kaisched::base {

/// A column that costs nothing for rows without a value. It cannot be walked, so its order decides nothing.
template <class T>
class sparse_rows {
 public:
  [[nodiscard]] const T* find(std::uint32_t row) const {
    const auto at = values_.find(row);
    return at == values_.end() ? nullptr : &at->second;
  }
  /// The value of a row, made if there is none. Valid until the next one is made.
  [[nodiscard]] T& at(std::uint32_t row) { return values_[row]; }

 private:
  boost::unordered_flat_map<std::uint32_t, T> values_;
};

}  // namespace kaisched::base
