#pragma once
/// @file
/// For every kind of ask the first node, by score and name, that has room and does not refuse it.
///
/// A node that has changed is looked at again by those who ask next: what a question costs follows what has changed.

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "schedulers/yunikorn/rules/state.hpp"

namespace kaisched::yunikorn {

class node_index {
 public:
  explicit node_index(const cluster_state& cluster);

  /// The first node; no_row: none. Nodes that are kept for others are out of the question.
  [[nodiscard]] row first(row kind);
  /// The node has room, does not refuse the kind and is not kept for anybody.
  [[nodiscard]] bool takes(row kind, row node) const;
  /// How many asks of a kind have room, each alone; counted up to `enough`. What was too little is remembered until
  /// something changes.
  [[nodiscard]] std::int64_t places(row kind, std::int64_t enough);
  /// A node has changed: what it has, or for whom it is kept.
  void changed(row node);
  /// The node refuses the kind from now on, whatever it has.
  void refuse(row kind, row node) { refused_.insert({kind, node}); }
  [[nodiscard]] bool refuses(row kind, row node) const;
  /// By name: below for the one that comes first.
  [[nodiscard]] std::uint32_t name_rank(row node) const { return ranks_[node]; }

 private:
  struct entry {
    double score = 0;
    std::uint32_t rank = 0;
    std::uint32_t node = 0;
    std::uint64_t version = 0;
    /// For heaps with the first at the top.
    friend bool operator<(const entry& l, const entry& r) {
      return l.score != r.score ? l.score > r.score : l.rank > r.rank;
    }
  };
  struct kind_heap {
    bool is_open = false;
    std::size_t seen = 0;  ///< of the changes
    std::vector<entry> nodes;
  };

  void push(kind_heap& to, row kind, row node);

  const cluster_state& cluster_;
  std::vector<double> scores_;
  std::vector<std::uint64_t> versions_;
  std::vector<std::uint32_t> ranks_;
  std::vector<row> changes_;
  std::vector<kind_heap> heaps_;
  std::set<std::pair<row, row>> refused_;
  struct place_count {
    std::size_t seen = 0;  ///< 1 + of the changes; 0: never
    std::int64_t count = 0;
  };
  std::vector<place_count> too_few_;  ///< by kind
};

}  // namespace kaisched::yunikorn
