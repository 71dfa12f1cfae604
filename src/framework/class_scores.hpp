#pragma once
/// @file
/// Scores of nodes that follow from the class of a pod and the node alone, kept per class: the best node is found
/// among the smallest keys of blocks, and only nodes that have changed since are looked at anew.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

namespace kaisched::framework {

/// Nodes in the order in which they changed, the last one first.
class change_order {
 public:
  void open(std::size_t nodes) {
    at_.assign(nodes, 0);
    links_.assign(nodes + 1, {});
    for (std::size_t i = 0; i <= nodes; ++i) {
      links_[i] = {static_cast<std::uint32_t>(i == 0 ? nodes : i - 1),
                   static_cast<std::uint32_t>(i == nodes ? 0 : i + 1)};
    }
    now_ = 1;
  }
  void close() {
    at_.clear();
    links_.clear();
  }
  [[nodiscard]] bool is_open() const { return !links_.empty(); }

  void note(node_row row) {
    at_[row] = ++now_;
    const auto head = static_cast<std::uint32_t>(at_.size());
    link& own = links_[row];
    links_[own.before].after = own.after;
    links_[own.after].before = own.before;
    own = {head, links_[head].after};
    links_[own.after].before = row;
    links_[head].after = row;
  }
  /// Grows with every change.
  [[nodiscard]] std::uint64_t now() const { return now_; }
  /// By row: `now` when the node changed last.
  [[nodiscard]] const std::vector<std::uint64_t>& at() const { return at_; }

  template <class Visit>
  void each_since(std::uint64_t then, Visit visit) const {
    const auto head = static_cast<std::uint32_t>(at_.size());
    for (std::uint32_t row = links_[head].after; row != head && at_[row] > then; row = links_[row].after) visit(row);
  }

 private:
  struct link {
    std::uint32_t before = 0;
    std::uint32_t after = 0;
  };
  std::vector<std::uint64_t> at_;
  std::vector<link> links_;  ///< by row; the last one is the head of the list
  std::uint64_t now_ = 1;
};

/// The keys of one class: the smallest is the best, ties go to the name that sorts first.
class class_keys {
 public:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();  ///< not offered

  /// All nodes, none of them offered.
  void open(std::size_t nodes) {
    keys_.assign(nodes, none);
    least_.assign((nodes + block - 1) / block, none);
    is_stale_.assign(least_.size(), 0);
  }
  [[nodiscard]] bool is_open() const { return !keys_.empty(); }

  /// `rank`: position of the node in name order.
  void set(std::uint32_t rank, std::int64_t key) {
    std::int64_t& mine = keys_[rank];
    const std::size_t at = rank / block;
    if (key < least_[at])
      least_[at] = key;
    else if (mine == least_[at] && key != mine)
      is_stale_[at] = 1;
    mine = key;
  }
  [[nodiscard]] std::int64_t at(std::uint32_t rank) const { return keys_[rank]; }

  /// The rank of the best node; `no_row`: none is offered.
  [[nodiscard]] std::uint32_t best() {
    std::size_t found = least_.size();
    std::int64_t least = none;
    for (std::size_t i = 0; i < least_.size(); ++i) {
      if (is_stale_[i] != 0) {
        const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(i * block);
        least_[i] =
            *std::min_element(first, first + static_cast<std::ptrdiff_t>(std::min(block, keys_.size() - i * block)));
        is_stale_[i] = 0;
      }
      if (least_[i] >= least) continue;
      least = least_[i];
      found = i;
    }
    if (found == least_.size()) return no_row;
    std::size_t rank = found * block;
    while (keys_[rank] != least) ++rank;
    return static_cast<std::uint32_t>(rank);
  }

  std::uint64_t seen = 0;  ///< `change_order::now` when the keys were made

 private:
  static constexpr std::size_t block = 64;
  std::vector<std::int64_t> keys_;      ///< by rank
  std::vector<std::int64_t> least_;     ///< by block, at most the least there
  std::vector<std::uint8_t> is_stale_;  ///< by block: its least key may be larger
};

/// The keys of all classes. Copies of a session start without.
struct class_scores {
  class_scores() = default;
  class_scores(const class_scores&) {}
  class_scores& operator=(const class_scores&) = delete;

  /// Not open yet, if nobody has asked about the class. What other classes have is forgotten where it becomes too much.
  [[nodiscard]] class_keys& of(class_row row, std::size_t classes, std::size_t nodes) {
    if (of_class_.empty()) of_class_.resize(classes);
    if (!of_class_[row].is_open()) {
      if ((kept_ + 1) * nodes > most_keys && kept_ > 0) {
        forget();
        of_class_.resize(classes);
      }
      ++kept_;
    }
    return of_class_[row];
  }
  void forget() {
    of_class_.clear();
    kept_ = 0;
  }

  // What is used again:
  std::vector<node_row> rows;
  std::vector<double> sums;
  std::vector<std::pair<std::uint32_t, std::int64_t>> skipped;

 private:
  static constexpr std::size_t most_keys = 16U << 20U;  ///< 128 MiB
  std::vector<class_keys> of_class_;                    ///< by class row
  std::size_t kept_ = 0;
};

}  // namespace kaisched::framework
