#pragma once
/// @file
/// Places a chunk of a group with topology constraints in `strict`: goes down the tree of sub-groups, and back to
/// another domain of an earlier member where a later one finds no room.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/placement.hpp"
#include "actions/pod_placer.hpp"
#include "policy/topology/strict_domains.hpp"
#include "session/core.hpp"

namespace kaisched::actions {

class domain_walk {
 public:
  domain_walk(work::core& c, group_row group, const placing& how, work::failure& why);

  result<bool> run(std::span<const pod_row> chunk);

 private:
  /// Nodes that a member is tried on.
  struct nodes_offered {
    work::node_set among;                ///< empty: all
    std::vector<node_row> rows;          ///< the same as a list, once a topology has made one
    std::vector<work::node_band> bands;  ///< the same in the order of a preferred level; empty: in no order
  };
  /// What is left to be placed.
  struct agenda {
    sub_group_row member;
    const nodes_offered* offered;
    const agenda* next;
  };
  /// The levels that a member asks for.
  struct level_ask {
    const policy::topology::domain_tree* tree;
    policy::topology::level_range levels;
  };
  /// What domains have for a member.
  struct measured {
    policy::topology::domain_need need;
    std::vector<policy::topology::domain_room> rooms;  ///< by domain
    std::vector<class_row> kinds;
  };

  result<bool> place(const agenda* todo);
  result<bool> place_on(const agenda& todo, const nodes_offered& nodes);
  result<bool> place_children(const agenda& todo, const nodes_offered& nodes);
  result<bool> place_pods(sub_group_row pod_set, const nodes_offered& nodes);

  [[nodiscard]] std::uint32_t narrowest_below(sub_group_row member) const;
  [[nodiscard]] std::optional<level_ask> ask_of(sub_group_row member) const;
  [[nodiscard]] measured measure(sub_group_row member, const policy::topology::domain_tree& tree,
                                 std::span<const pod_row> pods, const nodes_offered& offered);
  [[nodiscard]] std::vector<nodes_offered> choices_of(sub_group_row member, const nodes_offered& offered);
  [[nodiscard]] nodes_offered nodes_of(const level_ask& ask, const measured& what, std::uint32_t domain,
                                       const nodes_offered& offered) const;
  [[nodiscard]] bool holds_slices(sub_group_row member, const policy::topology::domain_tree& tree, const measured& what,
                                  std::uint32_t domain) const;
  static void add_choice(nodes_offered nodes, const measured& what, std::vector<nodes_offered>& choices);
  [[nodiscard]] nodes_offered everywhere(const level_ask& ask, const measured& what,
                                         const nodes_offered& offered) const;
  void note_shortage(const level_ask& ask, const measured& what);

  work::core& c_;
  group_row group_;
  const placing& how_;
  work::failure& why_;
  pod_placer placer_;
  std::span<const pod_row> chunk_;
  bool looks_back_;
  std::int64_t steps_left_;
};

}  // namespace kaisched::actions
