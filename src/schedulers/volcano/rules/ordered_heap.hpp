#pragma once
/// @file
/// A heap with its order, which may change while things are in it.
///
/// Queues and jobs are ordered by shares that change with every placement; what is popped then depends on how the heap
/// sifts. Volcano's queues stand on Go's container/heap: that is part of the order.

#include <cstddef>
#include <utility>

#include "base/heap.hpp"

namespace kaisched::volcano {

template <class T, class Before>
class ordered_heap {
 public:
  explicit ordered_heap(Before before) : before_(std::move(before)) {}

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  void push(T item) { items_.push(std::move(item), 0, before_); }
  /// @pre not empty
  T pop() { return items_.pop(before_); }

 private:
  Before before_;
  base::heap<T> items_;
};

}  // namespace kaisched::volcano
