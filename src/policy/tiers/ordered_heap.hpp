#pragma once
/// @file
/// A binary heap whose order may change while things are in it.
///
/// Queues and jobs are ordered by shares that change with every placement; what is popped then depends on how the heap
/// sifts. It sifts as Go's container/heap does, on which Volcano's queues stand: that is part of the order.

#include <cstddef>
#include <utility>
#include <vector>

namespace kaisched::policy::tiers {

template <class T, class Before>
class ordered_heap {
 public:
  explicit ordered_heap(Before before) : before_(std::move(before)) {}

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }

  void push(T item) {
    items_.push_back(std::move(item));
    std::size_t at = items_.size() - 1;
    while (at > 0) {
      const std::size_t parent = (at - 1) / 2;
      if (!before_(items_[at], items_[parent])) break;
      std::swap(items_[at], items_[parent]);
      at = parent;
    }
  }

  /// @pre not empty
  T pop() {
    std::swap(items_.front(), items_.back());
    T first = std::move(items_.back());
    items_.pop_back();
    sift_down();
    return first;
  }

 private:
  void sift_down() {
    std::size_t at = 0;
    while (true) {
      const std::size_t left = 2 * at + 1;
      if (left >= items_.size()) return;
      const std::size_t right = left + 1;
      const std::size_t child = right < items_.size() && before_(items_[right], items_[left]) ? right : left;
      if (!before_(items_[child], items_[at])) return;
      std::swap(items_[child], items_[at]);
      at = child;
    }
  }

  Before before_;
  std::vector<T> items_;
};

}  // namespace kaisched::policy::tiers
