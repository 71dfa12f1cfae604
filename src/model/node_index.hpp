#pragma once
/// @file
/// Nodes in the order of the free amount of one resource: a best-fit or worst-fit candidate is found by a search, and a
/// placement moves one entry past the few whose amounts lie between its old and its new one.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <kaisched/ids.hpp>

namespace kaisched::model {

class node_index {
 public:
  struct entry {
    std::int64_t key;    ///< smaller is offered first
    std::uint32_t rank;  ///< position of the node in name order: breaks ties
    node_row row;
    [[nodiscard]] bool before(const entry& other) const {
      return key != other.key ? key < other.key : rank < other.rank;
    }
    friend bool operator==(const entry&, const entry&) = default;
  };

  void assign(std::vector<entry> entries) {
    entries_ = std::move(entries);
    std::sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) { return a.before(b); });
  }

  /// Moves a node from its old key to its new one. The node must be in the index with the old key.
  void move(const entry& old_entry, std::int64_t new_key) {
    if (old_entry.key == new_key) return;
    entry fresh = old_entry;
    fresh.key = new_key;
    const auto less = [](const entry& a, const entry& b) { return a.before(b); };
    const auto from = std::lower_bound(entries_.begin(), entries_.end(), old_entry, less);
    if (new_key < old_entry.key) {
      const auto to = std::lower_bound(entries_.begin(), from, fresh, less);
      std::move_backward(to, from, from + 1);
      *to = fresh;
    } else {
      const auto to = std::lower_bound(from + 1, entries_.end(), fresh, less);
      std::move(from + 1, to, from);
      *(to - 1) = fresh;
    }
  }

  /// Position of the first entry whose key is at least `key`.
  [[nodiscard]] std::size_t first_at_least(std::int64_t key) const {
    return static_cast<std::size_t>(std::lower_bound(entries_.begin(), entries_.end(), key,
                                                     [](const entry& e, std::int64_t k) { return e.key < k; }) -
                                    entries_.begin());
  }

  [[nodiscard]] const std::vector<entry>& entries() const { return entries_; }
  friend bool operator==(const node_index&, const node_index&) = default;

 private:
  std::vector<entry> entries_;
};

}  // namespace kaisched::model
