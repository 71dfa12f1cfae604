#pragma once
/// @file
/// Groups of every leaf queue in the order in which they are served or offered, kept over many searches.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// What a queue of groups is for.
enum class serving : std::uint8_t {
  groups,   ///< the most deserving queue first, its best group
  victims,  ///< the reverse: the most over-served queue first, its worst group
};

/// The key of a group can depend on what others hold: then all are ordered anew after every change.
[[nodiscard]] bool has_shared_order(const framework::session_state& c);

/// Keys of one group, from the parts that order groups. Returns the number of keys.
[[nodiscard]] result<std::size_t> keys_of_group(const framework::session_state& c, group_row group,
                                                std::vector<order_key>& to);

/// Order of two groups by their keys, then age, then name.
[[nodiscard]] bool group_is_before(const model::cluster_state& s, group_row a, std::span<const order_key> keys_of_a,
                                   group_row b, std::span<const order_key> keys_of_b);

/// Members of leaf queues, sorted. A member whose keys have changed must be updated; others are never looked at again,
/// so that a search costs what it takes from the index and not what is in it. Copies share what was filled in.
class group_index {
 public:
  group_index(framework::session_state& c, serving what) : c_(&c), what_(what) {}

  /// From now on the members are groups of this copy of the session, which is as the other one was.
  void move_to(framework::session_state& c) {
    c_ = &c;
    order_ = &c.groups.order();
  }

  /// Makes the given groups the members.
  result<void> fill(std::span<const group_row> members);
  /// Adds, removes or orders a group anew.
  result<void> update(group_row group, bool is_member);

  [[nodiscard]] bool is_member(group_row group) const { return group < versions_.size() && versions_[group].now != 0; }
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
    const std::vector<std::uint32_t>& ranks = order_->of_leaf[leaf];
    for (std::size_t i = list.first_rank; i < ranks.size() && ranks[i] <= limit; ++i) {
      const group_row g = group_at(ranks[i]);
      if (versions_[g].now != 0 && accepts(g)) return ranks[i];
    }
    return no_row;
  }
  /// Which of two members comes first.
  [[nodiscard]] bool before(group_row a, group_row b) const;
  /// Position of a group among all by priority, age and name, and the reverse.
  [[nodiscard]] std::uint32_t rank_of(group_row group) const { return order_->ranks[group]; }
  [[nodiscard]] group_row group_at(std::uint32_t rank) const { return order_->groups[rank]; }

 private:
  struct item {
    group_row group;
    std::uint32_t version;  ///< dead unless it is that of the group
  };
  struct group_version {
    std::uint32_t now = 0;   ///< 0: no member
    std::uint32_t last = 0;  ///< 1: as it was filled in
  };
  struct leaf_list {
    std::shared_ptr<const std::vector<item>> sorted = std::make_shared<const std::vector<item>>();
    std::size_t first = 0;       ///< all before are dead
    std::vector<item> moved;     ///< sorted as well: members that were ordered anew
    std::size_t first_rank = 0;  ///< no group of the leaf before this one is a member
  };

  [[nodiscard]] bool is_live(const item& one) const { return versions_[one.group].now == one.version; }
  [[nodiscard]] std::span<const order_key> keys_of(group_row g) const;
  result<void> set_keys(std::span<const group_row> groups);
  void skip_dead(queue_row leaf);
  void merge(leaf_list& list);
  void set_later_keys(group_row g, std::span<const order_key> keys);

  framework::session_state* c_;
  const framework::group_order* order_ = nullptr;  ///< known once members are filled in
  serving what_;
  std::size_t orders_ = 0;
  std::shared_ptr<const std::vector<order_key>> keys_;  ///< by group, `orders_` each, as they were filled in
  std::vector<order_key> later_keys_;                   ///< of groups that were ordered anew, `orders_` each
  std::vector<std::uint32_t> later_at_;                 ///< by group: where there, and one more; empty: nobody was
  std::vector<order_key> fresh_keys_;                   ///< of the group that is ordered anew
  std::vector<group_version> versions_;                 ///< by group
  std::vector<leaf_list> lists_;                        ///< by queue
  std::vector<queue_row> leaves_;
};

}  // namespace kaisched::actions
