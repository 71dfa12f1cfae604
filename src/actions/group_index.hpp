#pragma once
/// @file
/// Groups of every leaf queue in the order in which they are served or offered, kept over many searches.

#include <cstdint>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "session/core.hpp"

namespace kaisched::actions {

/// What a queue of groups is for.
enum class serving : std::uint8_t {
  groups,   ///< the most deserving queue first, its best group
  victims,  ///< the reverse: the most over-served queue first, its worst group
};

/// The key of a group can depend on what others hold: then all are ordered anew after every change.
[[nodiscard]] bool has_shared_order(const work::core& c);

/// Keys of one group, from the parts that order groups. Returns the number of keys.
[[nodiscard]] result<std::size_t> keys_of_group(const work::core& c, group_row group, std::vector<order_key>& to);

/// Order of two groups by their keys, then age, then name.
[[nodiscard]] bool group_is_before(const model::cluster_state& s, group_row a, std::span<const order_key> keys_of_a,
                                   group_row b, std::span<const order_key> keys_of_b);

/// Members of leaf queues, sorted. A member whose keys have changed must be updated; others are never looked at again,
/// so that a search costs what it takes from the index and not what is in it.
class group_index {
 public:
  group_index(work::core& c, serving what) : c_(c), what_(what) {}

  /// Makes the given groups the members.
  result<void> fill(std::span<const group_row> members);
  /// Adds, removes or orders a group anew.
  result<void> update(group_row group, bool is_member);

  /// Leaf queues that have or had members, by row.
  [[nodiscard]] std::span<const queue_row> leaves() const { return leaves_; }

  /// A walk over the members of a leaf, best first. Valid until the next update.
  class cursor {
   public:
    /// The next member, or no_row.
    [[nodiscard]] group_row next();

   private:
    friend class group_index;
    const group_index* index_ = nullptr;
    queue_row leaf_ = no_row;
    std::size_t sorted_ = 0;
    std::size_t moved_ = 0;
  };
  [[nodiscard]] cursor members_of(queue_row leaf) const;
  /// Position of the first group of a leaf by priority, age and name that `accepts`, up to a limit; no_row if there is
  /// none.
  template <class Accepts>
  [[nodiscard]] std::uint32_t first_by_rank(queue_row leaf, std::uint32_t limit, const Accepts& accepts) const {
    const leaf_list& list = lists_[leaf];
    for (std::size_t i = list.first_rank; i < list.by_rank.size() && list.by_rank[i] <= limit; ++i) {
      const group_row g = group_at(list.by_rank[i]);
      if (versions_[g] != 0 && accepts(g)) return list.by_rank[i];
    }
    return no_row;
  }
  /// Which of two members comes first.
  [[nodiscard]] bool before(group_row a, group_row b) const;
  /// Position of a group among all by priority, age and name, and the reverse.
  [[nodiscard]] std::uint32_t rank_of(group_row group) const { return ranks_[group]; }
  [[nodiscard]] group_row group_at(std::uint32_t rank) const { return by_rank_[rank]; }

 private:
  struct item {
    group_row group;
    std::uint32_t version;  ///< dead unless it is that of the group
  };
  struct leaf_list {
    std::vector<item> sorted;
    std::size_t first = 0;    ///< all before are dead
    std::vector<item> moved;  ///< sorted as well: members that were ordered anew
    std::vector<std::uint32_t> by_rank;
    std::size_t first_rank = 0;  ///< none before is a member
  };

  [[nodiscard]] std::span<const order_key> keys_of(group_row g) const {
    return std::span(keys_).subspan(g * orders_, orders_);
  }
  result<void> set_keys(group_row group);
  result<void> set_keys(std::span<const group_row> groups);
  void skip_dead(leaf_list& list) const;
  void merge(leaf_list& list);

  work::core& c_;
  serving what_;
  std::size_t orders_ = 0;
  std::vector<order_key> keys_;          ///< by group, `orders_` each
  std::vector<std::uint32_t> versions_;  ///< by group; 0: no member
  std::vector<std::uint32_t> last_version_;
  std::vector<std::uint32_t> ranks_;
  std::span<const group_row> by_rank_;
  std::vector<leaf_list> lists_;  ///< by queue
  std::vector<queue_row> leaves_;
  std::vector<order_key> scratch_;
};

}  // namespace kaisched::actions
