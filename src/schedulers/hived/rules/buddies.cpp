#include "schedulers/hived/rules/buddies.hpp"

#include <algorithm>

namespace kaisched::hived {

buddies::buddies(const chain& of) : of_(&of), free_(of.levels.size()) {
  for (number cell = 0; cell < of.cells_at(of.top()); ++cell) free_.back().insert(free_.back().end(), cell);
}

level buddies::free_above(level l, number cell) const {
  for (;; ++l) {
    if (free_[l].contains(cell)) return l;
    if (l == of_->top()) return nothing;
    cell /= of_->fan[l + 1];
  }
}

void buddies::take(level l, number cell) {
  number part = cell / (of_->size[free_above(l, cell)] / of_->size[l]);
  for (level at = free_above(l, cell); at > l; --at) {
    free_[at].erase(part);
    const number first = part * of_->fan[at];
    for (number child = first; child < first + of_->fan[at]; ++child) free_[at - 1].insert(child);
    part = cell / (of_->size[at - 1] / of_->size[l]);
  }
  free_[l].erase(cell);
}

void buddies::give_back(level l, number cell) {
  for (;; ++l) {
    free_[l].insert(cell);
    if (l == of_->top()) return;
    const number parent = cell / of_->fan[l + 1];
    const auto first = free_[l].find(parent * of_->fan[l + 1]);
    auto end = first;
    number whole = 0;
    while (end != free_[l].end() && *end / of_->fan[l + 1] == parent) ++end, ++whole;
    if (whole < of_->fan[l + 1]) return;
    free_[l].erase(first, end);
    cell = parent;
  }
}

bool buddies::holds(std::span<const std::uint32_t> reserved) const {
  std::uint64_t left = 0;
  for (level l = of_->top() + 1; l-- > 0;) {
    left += free_[l].size();
    if (left < reserved[l]) return false;
    left = (left - reserved[l]) * of_->fan[l];
  }
  return true;
}

}  // namespace kaisched::hived
