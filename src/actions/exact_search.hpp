#pragma once
/// @file
/// Searches of `strict` that are exact: the smallest set of victims of a small cluster, all small sets, and what can be
/// left out of a set.
///
/// A set is *closed*: with a unit it has all that the group of the unit loses before. Its *cost* is the number of units
/// that are lost, then the number of units that are evicted at all.

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/piece_sets.hpp"
#include "actions/placement.hpp"
#include "actions/room_bound.hpp"
#include "actions/victim_cost.hpp"
#include "actions/victim_search_state.hpp"
#include "actions/victim_trial.hpp"
#include "actions/victim_units.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

/// For one waiting group, which the core has been told to cut to a chunk. The statement must be at rest.
class exact_search {
 public:
  /// `plan`: null if the group asks for no shapes.
  exact_search(victim_search_state& kept, group_row waiting, const victim_rules& rules, domain_plan* plan);

  /// So few nodes and units that every set is tried.
  [[nodiscard]] result<bool> is_small();
  /// True: there are victims and the group fits without any (A9); the statement holds its claims.
  [[nodiscard]] result<bool> needs_nobody();
  /// Tries every set: the one of least cost, of equals the first in victim order. True: the statement holds it.
  [[nodiscard]] result<bool> find_smallest();
  /// There are no victims, or not even all of them make room.
  [[nodiscard]] bool is_hopeless();
  /// Tries all sets of up to four units, by size, then in victim order; as many as the budget of steps allows.
  [[nodiscard]] result<bool> find_small_set();
  /// For a group with members that must get a piece of a domain (level with a shape): the victims on a piece for each
  /// of them that they could make free, pieces with few of them first. Changes nothing for other groups.
  [[nodiscard]] result<bool> find_in_pieces();
  /// Not 0: after sets for so many choices of pieces that search has left out others.
  [[nodiscard]] std::int64_t pieces_tried() const { return pieces_tried_; }
  /// Improves a set that helps until nothing can be left out of it, last victims first, and no victim can be exchanged
  /// for another one at less cost. The statement holds the outcome. False: the set does not help.
  [[nodiscard]] result<bool> improve(std::vector<victim_unit> set);

  /// The set of the last search that succeeded.
  [[nodiscard]] const std::vector<victim_unit>& found() const { return found_; }
  /// The nodes have no room for the chunk, even when all these have left.
  [[nodiscard]] bool lacks_room(std::span<const victim_unit> set);

 private:
  using positions = std::vector<std::uint32_t>;  ///< of units, ascending
  struct sized_set {
    std::size_t size;
    positions set;
    auto operator<=>(const sized_set&) const = default;
  };

  /// Groups that units are collected of.
  enum class candidate_groups : std::uint8_t {
    all,
    on_usable_nodes,  ///< with pods on nodes that some pod of the chunk may use
  };
  result<void> collect(std::size_t most, candidate_groups which = candidate_groups::all);
  [[nodiscard]] positions every_position() const;
  [[nodiscard]] std::vector<victim_unit> units_at(const positions& at) const;
  [[nodiscard]] positions closure_of(const positions& at) const;
  [[nodiscard]] std::int64_t gpus_missing() const;
  [[nodiscard]] victim_cost least_possible(std::span<const sized_set> sets) const;
  [[nodiscard]] bool has_pod_without_node() const;
  [[nodiscard]] bool may_use(node_row row, pod_row pod) const;
  [[nodiscard]] result<bool> attempt(const positions& at);

  // Sets of a chunk of one pod: those that free a node.
  [[nodiscard]] result<bool> try_sets_by_node();
  void add_sets_of(node_row row, const positions& on_node, std::set<sized_set>& to);
  [[nodiscard]] bool makes_room_on(node_row row, pod_row pod, const positions& at) const;

  [[nodiscard]] positions units_that_open_nodes();

  /// What a queue would hold beyond its limit with the chunk.
  struct excess {
    queue_row queue;
    std::uint32_t resource;
    std::int64_t over;
  };
  [[nodiscard]] std::vector<excess> excesses() const;
  /// What a unit holds of the resource in the queue.
  [[nodiscard]] std::int64_t freed_of(const victim_unit& unit, const excess& one) const;
  /// Not even the four units that hold most are enough.
  [[nodiscard]] bool cannot_end(std::span<const excess> limits) const;
  [[nodiscard]] positions units_that_open_nodes_or_end(std::span<const excess> limits);

  [[nodiscard]] result<bool> leave_out();
  [[nodiscard]] result<bool> exchange();
  /// Units of one group, from the first that it loses on.
  struct offer {
    victim_cost cost;
    group_row group;
    std::size_t units;
    room_bound::checked_amounts freed;
  };
  [[nodiscard]] std::vector<offer> cheaper_units();
  [[nodiscard]] result<bool> try_instead(std::size_t out, const offer& in);
  /// Calls `visit(leaf, group, may_lose)` for all groups of leaf queues that pods may be taken from.
  template <class Visit>
  void each_victim(Visit visit) const;
  struct taken_leaves {
    std::vector<queue_row> leaves;
    bool all = false;               ///< all groups there may lose pods, and any number of them
    bool is_listed = false;         ///< those that may are told
    std::vector<group_row> groups;  ///< these
  };
  [[nodiscard]] taken_leaves leaves_taken_from() const;
  [[nodiscard]] std::shared_ptr<const candidate_list> known_list(const taken_leaves& taken, std::uint32_t scope);
  [[nodiscard]] bool is_too_much_to_collect(const taken_leaves& taken);
  void measure();
  [[nodiscard]] bool can_leave(std::size_t i) const;
  [[nodiscard]] bool frees_a_usable_node(const victim_unit& unit) const;
  void plan_pieces(const piece_set& set, const offered_pieces& offered);
  [[nodiscard]] result<bool> try_sets_of(const positions& candidates);
  [[nodiscard]] result<bool> extend(const positions& candidates, std::size_t from, std::size_t size, positions& set);

  victim_search_state& kept_;
  framework::session_state& c_;
  group_row waiting_;
  const victim_rules& rules_;
  domain_plan* plan_;
  victim_trial trial_;
  room_bound bound_;
  victim_chains chains_;
  loss_measure how_;  ///< of the candidates
  bool is_measured_ = false;
  std::int64_t look_ = 0;  ///< steps for a look at all groups that may lose pods
  std::int64_t pieces_tried_ = 0;
  bool was_placed_ = false;  ///< the chunk, in some trial
  std::shared_ptr<const candidate_list> all_ = std::make_shared<candidate_list>();
  std::set<positions> tried_;  ///< in vain
  std::vector<victim_unit> found_;
  victim_cost cost_;  ///< of the set that is improved
  std::set<std::vector<pod_row>> in_vain_;
};

}  // namespace kaisched::actions
