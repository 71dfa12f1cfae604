#pragma once
/// @file
/// KAI's queue of groups, heaps and all: with a comparison that is not a total order, and with heaps that are repaired
/// only at the top, the steps decide.

#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "oracle/world.hpp"

namespace kaisched::oracle {

template <class Item>
class kai_heap {
 public:
  /// Over the limit (0: none) the item in the last place goes, whichever it is.
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
    down(0, before);
    return item;
  }
  template <class Before>
  void fix_top(Before before) {
    if (!down(0, before)) up(0, before);
  }
  [[nodiscard]] const Item& top() const { return items_.front(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }

 private:
  template <class Before>
  void up(std::size_t i, Before before) {
    for (std::size_t parent = (i - 1) / 2; i > 0 && before(items_[i], items_[parent]); parent = (i - 1) / 2) {
      std::swap(items_[i], items_[parent]);
      i = parent;
    }
  }
  template <class Before>
  bool down(std::size_t start, Before before) {
    std::size_t i = start;
    while (2 * i + 1 < items_.size()) {
      std::size_t child = 2 * i + 1;
      if (child + 1 < items_.size() && before(items_[child + 1], items_[child])) ++child;
      if (!before(items_[child], items_[i])) break;
      std::swap(items_[i], items_[child]);
      i = child;
    }
    return i > start;
  }

  std::vector<Item> items_;
};

/// A heap of groups per leaf queue, a heap of queues per inner queue.
class kai_tree {
 public:
  using group_order = std::function<bool(std::size_t, std::size_t)>;
  /// Queue, its best group, other queue, its best group.
  using queue_order = std::function<bool(std::size_t, std::size_t, std::size_t, std::size_t)>;

  kai_tree(const world& w, std::size_t depth, group_order groups, queue_order queues)
      : w_(w), depth_(depth), group_before_(std::move(groups)), queue_before_(std::move(queues)) {}

  [[nodiscard]] bool empty() const { return roots_.empty(); }

  void push(std::size_t g) {
    const std::size_t leaf = w_.groups[g].queue;
    const bool fresh = !nodes_.contains(leaf);
    nodes_[leaf].groups.push(g, depth_, group_before_);
    if (fresh) link(leaf);
    mark(leaf);
  }

  std::size_t pop() {
    std::size_t q = repaired_top(roots_);
    while (!w_.queues[q].children.empty()) q = repaired_top(nodes_.at(q).queues);
    const std::size_t g = nodes_.at(q).groups.pop(group_before_);
    while (q != nobody && nodes_.at(q).groups.empty() && nodes_.at(q).queues.empty()) {  // empty queues leave
      const std::size_t parent = w_.queues[q].parent;
      heap_below(parent).pop(order());
      nodes_.erase(q);
      q = parent;
    }
    mark(q);
    return g;
  }

 private:
  struct entry {
    kai_heap<std::size_t> groups;  ///< of a leaf
    kai_heap<std::size_t> queues;  ///< of an inner queue
    bool moved = false;            ///< its key may have changed since it was put in its heap
  };

  kai_heap<std::size_t>& heap_below(std::size_t parent) { return parent == nobody ? roots_ : nodes_.at(parent).queues; }

  void link(std::size_t q) {
    const std::size_t parent = w_.queues[q].parent;
    const bool fresh = parent != nobody && !nodes_.contains(parent);
    if (fresh) nodes_[parent] = {};
    heap_below(parent).push(q, 0, order());
    if (fresh) link(parent);
  }

  void mark(std::size_t q) {
    for (; q != nobody; q = w_.queues[q].parent) nodes_.at(q).moved = true;
  }

  std::size_t repaired_top(kai_heap<std::size_t>& heap) {
    while (nodes_.at(heap.top()).moved) {
      nodes_.at(heap.top()).moved = false;
      heap.fix_top(order());
    }
    return heap.top();
  }

  std::size_t best_group(std::size_t q) const {
    while (!w_.queues[q].children.empty()) q = nodes_.at(q).queues.top();
    return nodes_.at(q).groups.top();
  }

  std::function<bool(std::size_t, std::size_t)> order() const {
    return [this](std::size_t a, std::size_t b) { return queue_before_(a, best_group(a), b, best_group(b)); };
  }

  const world& w_;
  std::size_t depth_;
  group_order group_before_;
  queue_order queue_before_;
  std::map<std::size_t, entry> nodes_;
  kai_heap<std::size_t> roots_;
};

}  // namespace kaisched::oracle
