#pragma once
/// @file
/// Which pod group is served next, and which victims are offered next: a tree of queues with a heap per queue (KAI's
/// JobsOrderByQueues).

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/group_index.hpp"
#include "base/heap.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Pops the best group of the most deserving leaf queue, or the worst of the least deserving.
///
/// `compat` repeats KAI's heaps to the letter: a queue is placed by the first group pushed into it, and an entry that
/// is not at the top is not moved when its queue changes. `strict` orders the filled tree and repairs it from the
/// leaves up, so that the order of arrival does not matter and a queue always stands with its best group.
class job_queue {
 public:
  job_queue(framework::session_state& c, std::size_t depth, serving what = serving::groups)
      : c_(c), depth_(depth), what_(what) {}

  /// Fills the empty queue.
  result<void> fill(std::span<const group_row> groups);
  /// The same where no group in the queue can change before it is popped: each leaf has its groups in order. Without a
  /// bound on its depth.
  result<void> fill_in_order(std::span<const group_row> groups);
  /// Fills the empty queue with the accepted members of some leaf queues in an index and with some groups of their own
  /// keys, as if all had been added in the order of priority, age and name, except for those that `late` lists at the
  /// end. Members are taken from the index as they are popped.
  result<void> fill_from(const group_index& index, std::span<const queue_row> leaves,
                         std::function<bool(group_row)> accepts, std::span<const group_row> others = {},
                         std::span<const group_row> late = {});
  /// Empties the queue. What it has allocated is kept for the next filling.
  void clear();
  /// Adds one group again, with its present keys.
  result<void> push(group_row group);
  /// Adds some pods of a group as if they were the whole of it.
  result<void> push(group_row group, std::vector<pod_row> pods);
  [[nodiscard]] bool empty() const { return roots_.empty(); }
  [[nodiscard]] result<group_row> pop();
  /// Pods of the entry that was popped last: empty where it was the whole group.
  [[nodiscard]] std::vector<pod_row>& popped_pods() { return popped_pods_; }

 private:
  static constexpr std::uint32_t never = 0xFFFFFFFFU;
  static constexpr double never_held = std::numeric_limits<double>::quiet_NaN();
  struct entry {
    group_row group = no_row;
    std::uint32_t keys = never;         ///< position in `keys_`
    std::uint32_t changes = 0;          ///< of the group when the keys were made
    std::uint32_t amount_made = never;  ///< the same of the amount
    model::quota_vector amount{};       ///< of the next chunk; of victims: what they hold
    policy::kai_amounts native{};       ///< the same in `compat`
    std::vector<pod_row> pods;          ///< empty: all of the group
    std::uint64_t compared_at =
        0;  ///< `session_state::chunk_changes` when it was last looked whether the group has changed
    std::uint32_t position = 0;  ///< in the order of adding, where queues are filled from an index
  };
  struct node {
    /// As new, but for what its lists have allocated.
    void clear();

    queue_row queue = no_row;
    bool is_leaf = false;
    bool moved = false;  ///< its key may have changed since it was put in its heap
    std::uint32_t parent = no_row;
    base::heap<std::uint32_t> entries;   ///< of a leaf: positions in `entries_`; else nodes
    group_index::cursor members;         ///< of a leaf that is filled from an index
    std::vector<std::uint32_t> ordered;  ///< of a leaf that is filled in order: entries, last one first
    std::uint32_t head = no_row;         ///< its best member that is left, as an entry
    std::uint32_t shown = no_row;        ///< while queues are linked: the best of those that have been added
    std::vector<std::uint32_t> others;   ///< the same: entries that do not come from the index
    /// Of groups in `compat`, with what the queue holds, by what is asked for.
    mutable std::vector<std::pair<policy::kai_amounts, policy::kai_standing>> standings;
    mutable policy::kai_amounts held{never_held, never_held, never_held};
  };
  /// Victims that a leaf has given so far.
  struct given {
    void clear() {
      entries.clear();
      native.clear();
      sum = {};
      summed = 0;
    }
    std::vector<std::uint32_t> entries;
    std::vector<policy::kai_amounts> native;  ///< of those that queues have been compared by
    model::quota_vector sum{};
    std::size_t summed = 0;
  };

  result<void> add(group_row group, std::vector<pod_row> pods);
  result<std::uint32_t> new_entry(group_row group, std::vector<pod_row> pods, bool set_keys_now = true);
  [[nodiscard]] group_row next_member(node& leaf) const;
  [[nodiscard]] group_row pop_only_leaf();
  result<void> leave_only_leaf();
  result<void> advance(std::uint32_t leaf);
  result<void> link_in_order(std::span<const std::uint32_t> leaves);
  /// A leaf whose best entry may be another one at a later position.
  struct changing_leaf {
    std::uint32_t leaf;
    std::uint32_t member;  ///< the entry of the best member of the index until then
  };
  result<bool> show_best_until(changing_leaf& one, std::uint32_t position);
  [[nodiscard]] std::uint32_t top_of(const node& leaf) const;
  [[nodiscard]] static bool has_entries(const node& one) { return !one.entries.empty() || one.head != no_row; }
  result<void> set_keys(entry& e) const;
  result<void> set_keys_of(std::span<const group_row> groups);
  void refresh(std::uint32_t position) const;
  const entry& with_amount(std::uint32_t position) const;
  void sum_up(given& so_far) const;
  std::uint32_t node_of(queue_row q, bool leaf, bool& fresh);
  void link(std::uint32_t n);
  void mark(std::uint32_t n);
  void after_pop(std::uint32_t n);
  void order_queues();
  void order_nodes(std::uint32_t n);
  void settle(base::heap<std::uint32_t>& level);
  [[nodiscard]] std::uint32_t best_leaf();
  [[nodiscard]] std::uint32_t leaf_of(std::uint32_t n) const;
  [[nodiscard]] bool entry_before(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool node_before(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool serves_before(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] const policy::kai_standing& standing_of(std::uint32_t n) const;
  [[nodiscard]] bool groups_in_order(const entry& x, const entry& y) const;

  framework::session_state& c_;
  std::size_t depth_;
  serving what_;
  mutable std::size_t orders_ = 0;  ///< parts that order groups
  mutable std::vector<order_key> keys_;
  mutable std::vector<entry> entries_;
  std::vector<node> nodes_;
  std::vector<node> unused_nodes_;
  std::vector<std::uint32_t> node_of_queue_;
  mutable std::vector<given> given_;                             ///< by queue; victims only
  std::vector<std::uint32_t> leaves_;                            ///< while the queue is filled from an index
  std::vector<std::pair<std::uint32_t, std::uint32_t>> firsts_;  ///< position, leaf; while these are linked
  std::vector<changing_leaf> changing_;                          ///< likewise
  base::heap<std::uint32_t> roots_;
  std::vector<pod_row> popped_pods_;
  const group_index* index_ = nullptr;
  std::function<bool(group_row)> accepts_;
  std::uint32_t only_leaf_ = no_row;  ///< the one leaf of all victims, while none has been added again
  group_row next_ = no_row;           ///< its best member that is left
};

}  // namespace kaisched::actions
