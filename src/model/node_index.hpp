#pragma once
/// @file
/// Nodes in the order of the free amount of one resource: a best-fit or worst-fit candidate is found by a search, and a
/// placement moves one entry. Entries lie in short sorted blocks, so that a move costs the same wherever it leads.
/// Moves are noted and made when somebody looks: trials of victims change the same nodes again and again, and back.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

namespace kaisched::model {

class node_index {
 public:
  struct entry {
    std::int64_t key = 0;    ///< smaller is offered first
    std::uint32_t rank = 0;  ///< position of the node in name order: breaks ties
    node_row row = no_row;
    [[nodiscard]] bool before(const entry& other) const {
      return key != other.key ? key < other.key : rank < other.rank;
    }
    friend bool operator==(const entry&, const entry&) = default;
  };

  /// Goes over the entries in order. Valid until the next change.
  class iterator {
   public:
    const entry& operator*() const { return index_->pool_[index_->order_[block_]].items[offset_]; }
    const entry* operator->() const { return &**this; }
    iterator& operator++() {
      if (++offset_ == index_->pool_[index_->order_[block_]].size) {
        ++block_;
        offset_ = 0;
      }
      return *this;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    friend class node_index;
    iterator(const node_index* index, std::size_t block, std::size_t offset)
        : index_(index), block_(block), offset_(offset) {}
    const node_index* index_;
    std::size_t block_;
    std::size_t offset_;
  };

  [[nodiscard]] iterator begin() const { return {this, 0, 0}; }
  [[nodiscard]] iterator end() const { return {this, order_.size(), 0}; }
  [[nodiscard]] bool empty() const { return order_.empty(); }

  void assign(std::vector<entry> entries) {
    const auto in_order = [](const entry& a, const entry& b) { return a.before(b); };
    if (!std::is_sorted(entries.begin(), entries.end(), in_order)) std::sort(entries.begin(), entries.end(), in_order);
    pool_.clear();
    order_.clear();
    unused_.clear();
    noted_.clear();
    note_of_.clear();
    for (std::size_t i = 0; i < entries.size(); i += filled) {
      order_.push_back(new_block());
      block& one = pool_[order_.back()];
      one.size = static_cast<std::uint32_t>(std::min(filled, entries.size() - i));
      std::copy_n(entries.begin() + static_cast<std::ptrdiff_t>(i), one.size, one.items.begin());
    }
  }

  /// Notes that a node has another key than before, which is the one in the index or noted last. Nobody may look until
  /// the index is settled.
  void move_later(const entry& old_entry, std::int64_t new_key) {
    if (note_of_.size() <= old_entry.row) note_of_.resize(std::size_t{old_entry.row} + 1, 0);
    std::uint32_t& note = note_of_[old_entry.row];
    if (note == 0) {
      noted_.push_back({old_entry, new_key});
      note = static_cast<std::uint32_t>(noted_.size());
    } else {
      noted_[note - 1].key = new_key;
    }
  }
  [[nodiscard]] bool is_settled() const { return noted_.empty(); }
  void settle() {
    for (const noted_move& one : noted_) {
      note_of_[one.from.row] = 0;
      move(one.from, one.key);
    }
    noted_.clear();
  }

  /// Moves a node from its old key to its new one. The node must be in the index with the old key.
  void move(const entry& old_entry, std::int64_t new_key) {
    if (old_entry.key == new_key) return;
    entry fresh = old_entry;
    fresh.key = new_key;
    if (move_in_block(old_entry, fresh)) return;
    erase(old_entry);
    insert(fresh);
  }

  /// Takes a node in that is not in the index.
  void add(const entry& e) { insert(e); }
  /// Takes a node out. It must be in the index with this key.
  void drop(const entry& e) { erase(e); }

  /// The first entry whose key is at least `key`.
  [[nodiscard]] iterator first_at_least(std::int64_t key) const {
    const std::size_t at = block_of({key, 0, 0});
    if (at == order_.size()) return end();
    const block& one = pool_[order_[at]];
    return {this, at, position(one, {key, 0, 0})};
  }

  /// Calls `visit(key, count)` for keys of at least `key`, ascending; a key may come several times.
  template <class Visit>
  void each_key_from(std::int64_t key, Visit visit) const {
    iterator at = first_at_least(key);
    while (at.block_ < order_.size()) {
      const block& one = pool_[order_[at.block_]];
      const std::size_t last = one.size - 1;
      while (at.offset_ <= last) {
        const std::int64_t here = one.items[at.offset_].key;
        std::size_t next = last + 1;
        if (one.items[last].key != here) {
          next = at.offset_;
          while (one.items[next].key == here) ++next;
        }
        visit(here, next - at.offset_);
        at.offset_ = next;
      }
      ++at.block_;
      at.offset_ = 0;
    }
  }

  friend bool operator==(const node_index& a, const node_index& b) {
    iterator i = a.begin();
    iterator k = b.begin();
    for (; i != a.end() && k != b.end(); ++i, ++k) {
      if (!(*i == *k)) return false;
    }
    return i == a.end() && k == b.end();
  }

 private:
  static constexpr std::size_t most = 64;    ///< entries of a block
  static constexpr std::size_t filled = 48;  ///< the same when it is new, and when two are joined
  struct block {
    std::uint32_t size = 0;
    std::array<entry, most> items;
  };

  struct noted_move {
    entry from;  ///< as in the index
    std::int64_t key;
  };

  /// The first block that can hold an entry, by its last one; the number of blocks if all end before it.
  [[nodiscard]] std::size_t block_of(const entry& e) const {
    const auto at = std::partition_point(
        order_.begin(), order_.end(), [&](std::uint32_t id) { return pool_[id].items[pool_[id].size - 1].before(e); });
    return static_cast<std::size_t>(at - order_.begin());
  }
  [[nodiscard]] static std::size_t position(const block& one, const entry& e) {
    const auto end = one.items.begin() + static_cast<std::ptrdiff_t>(one.size);
    return static_cast<std::size_t>(
        std::lower_bound(one.items.begin(), end, e, [](const entry& a, const entry& b) { return a.before(b); }) -
        one.items.begin());
  }

  std::uint32_t new_block() {
    if (unused_.empty()) {
      pool_.emplace_back();
      return static_cast<std::uint32_t>(pool_.size() - 1);
    }
    const std::uint32_t id = unused_.back();
    unused_.pop_back();
    pool_[id].size = 0;
    return id;
  }

  void drop_block(std::size_t at) {
    unused_.push_back(order_[at]);
    order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  /// False, if the new place lies in another block. Most moves are short.
  bool move_in_block(const entry& from, const entry& to) {
    const std::size_t at = block_of(from);
    if (at > 0) {
      const block& previous = pool_[order_[at - 1]];
      if (to.before(previous.items[previous.size - 1])) return false;
    }
    if (at + 1 < order_.size() && pool_[order_[at + 1]].items[0].before(to)) return false;
    block& one = pool_[order_[at]];
    const auto old_place = one.items.begin() + static_cast<std::ptrdiff_t>(position(one, from));
    const auto new_place = one.items.begin() + static_cast<std::ptrdiff_t>(position(one, to));
    if (new_place > old_place) {
      *std::move(old_place + 1, new_place, old_place) = to;
    } else {
      std::move_backward(new_place, old_place, old_place + 1);
      *new_place = to;
    }
    return true;
  }

  void erase(const entry& e) {
    const std::size_t at = block_of(e);
    block& one = pool_[order_[at]];
    const auto first = one.items.begin() + static_cast<std::ptrdiff_t>(position(one, e));
    std::move(first + 1, one.items.begin() + static_cast<std::ptrdiff_t>(one.size), first);
    if (--one.size == 0) return drop_block(at);
    if (at + 1 == order_.size()) return;
    block& next = pool_[order_[at + 1]];
    if (one.size + next.size > filled / 2) return;
    std::copy_n(next.items.begin(), next.size, one.items.begin() + static_cast<std::ptrdiff_t>(one.size));
    one.size += next.size;
    drop_block(at + 1);
  }

  void insert(const entry& e) {
    if (order_.empty()) {
      order_.push_back(new_block());
      pool_[order_.back()].items[0] = e;
      pool_[order_.back()].size = 1;
      return;
    }
    std::size_t at = std::min(block_of(e), order_.size() - 1);
    if (pool_[order_[at]].size == most) {
      const std::uint32_t id = new_block();
      block& full = pool_[order_[at]];
      block& half = pool_[id];
      half.size = most / 2;
      full.size = most / 2;
      std::copy_n(full.items.begin() + most / 2, most / 2, half.items.begin());
      order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at) + 1, id);
      if (full.items[full.size - 1].before(e)) ++at;
    }
    block& one = pool_[order_[at]];
    const auto place = one.items.begin() + static_cast<std::ptrdiff_t>(position(one, e));
    const auto end = one.items.begin() + static_cast<std::ptrdiff_t>(one.size);
    std::move_backward(place, end, end + 1);
    *place = e;
    ++one.size;
  }

  std::vector<block> pool_;
  std::vector<std::uint32_t> order_;   ///< blocks, by their entries
  std::vector<std::uint32_t> unused_;  ///< blocks to be used again
  std::vector<noted_move> noted_;
  std::vector<std::uint32_t> note_of_;  ///< by row: position in `noted_` and one more; 0: none
};

}  // namespace kaisched::model
