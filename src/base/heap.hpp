#pragma once
/// @file
/// The heap of Go, on whose steps the order of KAI and of Volcano depends.

#include <cstddef>
#include <utility>
#include <vector>

namespace kaisched::base {

/// A binary heap that compares through its caller and is repaired only where asked. The steps are those of Go's
/// container/heap, because with a comparison that is not a total order the outcome depends on them.
template <class Item>
class heap {
 public:
  /// Adds an item; over the limit the item in the last place goes, not the worst one (as in KAI). 0: no limit.
  template <class Before>
  void push(Item item, std::size_t limit, Before before) {
    items_.push_back(item);
    up(items_.size() - 1, before);
    if (limit != 0 && items_.size() > limit) items_.pop_back();
  }

  template <class Before>
  Item pop(Before before) {
    std::swap(items_.front(), items_.back());
    const Item item = items_.back();
    items_.pop_back();
    if (!items_.empty()) down(0, before);
    return item;
  }

  /// Puts the first item in its place after its key has changed.
  template <class Before>
  void fix_top(Before before) {
    if (!down(0, before)) up(0, before);
  }

  /// Orders everything anew.
  template <class Before>
  void rebuild(Before before) {
    for (std::size_t i = items_.size() / 2; i-- > 0;) down(i, before);
  }

  void clear() { items_.clear(); }

  /// No item that is compared with the first one comes before it. `fix_top` would leave all as it is then.
  template <class Before>
  [[nodiscard]] bool top_stays(Before before) const {
    return (items_.size() < 2 || !before(items_[1], items_[0])) && (items_.size() < 3 || !before(items_[2], items_[0]));
  }

  [[nodiscard]] const Item& top() const { return items_.front(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] const std::vector<Item>& items() const { return items_; }

 private:
  template <class Before>
  void up(std::size_t i, Before before) {
    while (i > 0) {
      const std::size_t parent = (i - 1) / 2;
      if (!before(items_[i], items_[parent])) break;
      std::swap(items_[i], items_[parent]);
      i = parent;
    }
  }

  template <class Before>
  bool down(std::size_t start, Before before) {
    std::size_t i = start;
    for (std::size_t child = 2 * i + 1; child < items_.size(); child = 2 * i + 1) {
      if (child + 1 < items_.size() && before(items_[child + 1], items_[child])) ++child;
      if (!before(items_[child], items_[i])) break;
      std::swap(items_[i], items_[child]);
      i = child;
    }
    return i > start;
  }

  std::vector<Item> items_;
};

}  // namespace kaisched::base
