#pragma once
/// @file
/// Places a chunk of a group with topology constraints in `strict`: goes down the tree of sub-groups, and back to
/// another domain of an earlier member where a later one finds no room.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/chunk_members.hpp"
#include "actions/piece_sets.hpp"
#include "actions/placement.hpp"
#include "actions/pod_placer.hpp"
#include "framework/session_state.hpp"
#include "policy/topology/pieces.hpp"
#include "policy/topology/strict_domains.hpp"

namespace kaisched::actions {

class domain_walk {
 public:
  domain_walk(framework::session_state& c, group_row group, const placing& how, framework::failure& why);

  result<bool> run(std::span<const pod_row> chunk);

  /// For members that require a level with a shape: pieces of domains that could hold their pods of the chunk if nodes
  /// had so much more free as so many victims leave, best first, in all at most so many. Those inside of such a member
  /// are left out. `more`: [nodes x dimensions]. `victims`: by node.
  [[nodiscard]] offered_pieces pieces_with(std::span<const pod_row> chunk, const std::vector<std::int64_t>& more,
                                           const std::vector<std::uint32_t>& victims, std::size_t most);

 private:
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
    std::vector<pod_row> first;  ///< a pod of each kind
  };

  /// Where a member may be, the best first: domains, and at last all nodes if the level is only a wish.
  struct domain_choices {
    sub_group_row member;
    level_ask ask;
    const nodes_offered* offered;
    measured what;
    std::vector<std::uint32_t> domains;
    std::size_t next;                      ///< of these
    std::optional<std::size_t> last_size;  ///< nodes of the last choice; none: there was none
    std::optional<nodes_offered> again;    ///< the last choice once more, without its order
    bool is_done;
  };

  /// A member above others that requires a level without a shape: where they can be together.
  struct holder {
    sub_group_row member;
    level_ask ask;
    std::vector<std::uint8_t> has_room;  ///< by domain: 1 for those of the level that may hold all its pods
  };

  result<bool> place(const agenda* todo);
  [[nodiscard]] bool plans(const agenda& todo) const;
  result<bool> place_as_planned(const agenda& todo);
  void remember(sub_group_row member, const nodes_offered& nodes) const;
  result<bool> place_in_pieces(const agenda& todo, const level_ask& ask);
  result<bool> place_on(const agenda& todo, const nodes_offered& nodes);
  result<bool> place_children(const agenda& todo, const nodes_offered& nodes);
  result<bool> place_pods(sub_group_row pod_set, const nodes_offered& nodes);

  [[nodiscard]] std::uint32_t narrowest_below(sub_group_row member) const;
  [[nodiscard]] std::optional<level_ask> ask_of(sub_group_row member) const;
  [[nodiscard]] measured measure(sub_group_row member, const policy::topology::domain_tree& tree,
                                 std::span<const pod_row> pods, const nodes_offered& offered);
  [[nodiscard]] domain_choices choices_of(sub_group_row member, const level_ask& ask, const nodes_offered& offered);
  [[nodiscard]] std::optional<nodes_offered> next_of(domain_choices& from);
  [[nodiscard]] static bool is_tried_without_order(const nodes_offered& nodes, const measured& what);
  [[nodiscard]] nodes_offered nodes_of(const level_ask& ask, const measured& what, std::uint32_t domain,
                                       const nodes_offered& offered) const;
  [[nodiscard]] bool holds_slices(sub_group_row member, const policy::topology::domain_tree& tree, const measured& what,
                                  std::uint32_t domain) const;
  [[nodiscard]] nodes_offered everywhere(const level_ask& ask, const measured& what,
                                         const nodes_offered& offered) const;
  void note_shortage(const level_ask& ask, const measured& what);

  // levels with shapes
  [[nodiscard]] static bool has_shape(const level_ask& ask);
  [[nodiscard]] bool requires_shape(sub_group_row member) const;
  [[nodiscard]] holder holder_of(sub_group_row member, level_ask ask, const nodes_offered& offered);
  [[nodiscard]] bool add_holders(sub_group_row member, const nodes_offered& offered, std::vector<holder>& to);
  [[nodiscard]] bool has_nodes(sub_group_row member) const;
  void add_pieces(const nodes_offered& offered, std::span<const holder> holders, std::size_t most, members_alike& to);
  [[nodiscard]] static std::uint32_t home_of(const holder& above, const std::vector<node_row>& piece);
  [[nodiscard]] std::vector<std::uint8_t> nodes_in_use(sub_group_row member) const;
  [[nodiscard]] std::vector<std::int64_t> places_of_kinds(const measured& what, node_row row) const;
  [[nodiscard]] policy::topology::piece_search pieces_in(const level_ask& ask, std::uint32_t level,
                                                         sub_group_row member, const measured& what,
                                                         std::span<const std::uint32_t> domains,
                                                         const nodes_offered& offered) const;
  void note_small_pieces(const level_ask& ask, sub_group_row member, const measured& what,
                         const nodes_offered& offered);

  framework::session_state& c_;
  group_row group_;
  const placing& how_;
  framework::failure& why_;
  pod_placer placer_;
  chunk_members chunk_;
  const std::vector<std::int64_t>* more_ = nullptr;      ///< what nodes would have beside what is free; null: nothing
  const std::vector<std::uint32_t>* victims_ = nullptr;  ///< by node, who would leave for it
  bool looks_back_;
  std::int64_t own_steps_;
  std::int64_t& steps_left_;  ///< those of the plan, or its own
};

/// Nodes to be filled one after the other.
[[nodiscard]] nodes_offered one_by_one(std::span<const node_row> nodes, std::size_t node_count);

}  // namespace kaisched::actions
