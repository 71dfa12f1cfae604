#pragma once
/// @file
/// Which pod group is served next: a tree of queues with a heap per queue (KAI's JobsOrderByQueues).

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/heap.hpp"
#include "session/core.hpp"

namespace kaisched::actions {

/// Pops the best group of the most deserving leaf queue.
///
/// `compat` repeats KAI's heaps to the letter: a queue is placed by the first group pushed into it, and an entry that
/// is not at the top is not moved when its queue changes. `strict` orders the filled tree and repairs it from the
/// leaves up, so that the order of arrival does not matter and a queue always stands with its best group.
class job_queue {
 public:
  job_queue(work::core& c, std::size_t depth) : c_(c), depth_(depth) {}

  /// Fills the empty queue.
  result<void> fill(std::span<const group_row> groups);
  /// Adds one group again, with its present keys.
  result<void> push(group_row group);
  [[nodiscard]] bool empty() const { return roots_.empty(); }
  [[nodiscard]] group_row pop();

 private:
  struct entry {
    group_row group = no_row;
    std::uint32_t keys = 0;         ///< position in `keys_`
    model::quota_vector request{};  ///< of the next chunk
  };
  struct node {
    queue_row queue = no_row;
    bool is_leaf = false;
    bool moved = false;  ///< its key may have changed since it was put in its heap
    std::uint32_t parent = no_row;
    heap<std::uint32_t> entries;  ///< of a leaf: positions in `entries_`; else nodes
  };

  result<void> add(group_row group);
  std::uint32_t node_of(queue_row q, bool leaf, bool& fresh);
  void link(std::uint32_t n);
  void mark(std::uint32_t n);
  void after_pop(std::uint32_t n);
  void order_nodes(std::uint32_t n);
  void settle(heap<std::uint32_t>& level);
  [[nodiscard]] std::uint32_t best_leaf();
  [[nodiscard]] const entry& best_entry(std::uint32_t n) const;
  [[nodiscard]] bool entry_before(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool node_before(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] policy::kai_side side(std::uint32_t n) const;

  work::core& c_;
  std::size_t depth_;
  std::size_t orders_ = 0;  ///< parts that order groups
  std::vector<order_key> keys_;
  std::vector<entry> entries_;
  std::vector<node> nodes_;
  std::vector<std::uint32_t> node_of_queue_;
  heap<std::uint32_t> roots_;
};

}  // namespace kaisched::actions
