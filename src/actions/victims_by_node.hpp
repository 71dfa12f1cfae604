#pragma once
/// @file
/// Which victim makes a node large enough, kept from one search to the next.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory_resource>
#include <set>
#include <span>
#include <vector>

#include "actions/victim_search_state.hpp"

namespace kaisched::actions {

/// Victims of one leaf queue that are groups of one pod, by the nodes that they are on.
///
/// Searches offer victims in an order that decisions hardly change, and from the first one on each time. Where a set of
/// victims is worth a try once its node has room for what is asked for, only the nodes have to be gone over, in the
/// order in which the last victim that this takes is offered.
class victims_by_node {
 public:
  /// `memory`: for entries that come and go; outlives this.
  victims_by_node(const victim_search_state& kept, std::pmr::memory_resource* memory)
      : kept_(kept), memory_(memory), victims_(memory), rows_(memory) {}

  /// What a search wants of a node.
  struct ask {
    queue_row leaf = no_row;
    std::int64_t request = 0;     ///< GPUs, more than 0
    std::int64_t places = 0;      ///< for so many requests, beside those that the node has before anybody leaves
    bool victims_return = false;  ///< victims need places of their own size again
    friend bool operator==(const ask&, const ask&) = default;
  };
  /// A node, and the victim with which it is large enough.
  struct turning_point {
    group_row victim = no_row;
    node_row row = no_row;
  };
  struct in_victim_order {
    const group_index* index;
    bool operator()(const turning_point& a, const turning_point& b) const {
      return a.victim != b.victim && index->before(a.victim, b.victim);
    }
  };
  using turning_points = std::pmr::set<turning_point, in_victim_order>;

  /// Nodes that can be made large enough. Valid until the next change.
  [[nodiscard]] const turning_points& of(const ask& asked);
  /// Victims of a leaf on a node, in victim order.
  void on(node_row row, queue_row leaf, std::pmr::vector<group_row>& to) const;

  /// The survey has looked at a group again.
  void note_group(group_row g);
  /// What a node has free has changed.
  void note_node(node_row row) {
    if (!first_on_.empty()) changed_.push_back(row);
  }
  /// Victims may stand in another order.
  void forget();

 private:
  struct known_ask {
    known_ask(const ask& what, const group_index& index, std::size_t nodes, std::pmr::memory_resource* memory)
        : asked(what), points(in_victim_order{&index}, memory), at(nodes, points.end()) {}
    ask asked;
    std::size_t seen = 0;  ///< of `changed_`
    turning_points points;
    std::vector<turning_points::iterator> at;  ///< by node; the end: it cannot be made large enough
  };

  void open();
  [[nodiscard]] turning_point find(const ask& asked, node_row row);
  void renew(known_ask& one, std::span<const node_row> rows);

  const victim_search_state& kept_;
  std::pmr::memory_resource* memory_;
  std::pmr::vector<group_row> victims_;  ///< of the node that is looked at
  std::pmr::vector<node_row> rows_;      ///< that an ask has not seen yet
  std::vector<group_row> first_on_;      ///< by node: a list of groups; empty: nobody has asked
  std::vector<group_row> next_;          ///< by group: the next one on its node
  std::vector<node_row> row_of_;         ///< by group, or no_row
  std::vector<node_row> changed_;
  std::list<known_ask> known_;  ///< the last one first
};

}  // namespace kaisched::actions
