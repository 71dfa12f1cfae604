#pragma once
/// @file
/// A stable sort for ranges that are mostly short.

#include <algorithm>
#include <iterator>

namespace kaisched::base {

/// As std::stable_sort, which takes a buffer from the heap even for two elements.
template <class Range, class Before>
void stable_sort(Range& range, Before before) {
  constexpr std::ptrdiff_t short_range = 32;
  const auto first = std::begin(range);
  const auto last = std::end(range);
  if (std::distance(first, last) > short_range) {
    std::stable_sort(first, last, before);
    return;
  }
  for (auto one = first; one != last; ++one) std::rotate(std::upper_bound(first, one, *one, before), one, one + 1);
}

}  // namespace kaisched::base
