#pragma once
/// @file
/// Whether a chunk can have room at all once some pods have left: a necessary condition, in every amount that the chunk
/// asks for and on the nodes that it may use. What fails it needs no trial.
///
/// Source: bounds of bin packing by dual feasible functions (C. Alves, F. Clautiaux, J. de Carvalho, J. Rietz, "Dual-
/// Feasible Functions for Integer Programming and Combinatorial Optimization", 2016): on a node the sum of
/// floor(size / r) over its pods is at most floor(free / r), for every r.

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

#include "actions/room_table.hpp"
#include "actions/victim_units.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

/// What pods that leave free, and which of them have to have a place again.
struct leaving_pods {
  struct returning_pod {
    pod_row pod = no_row;
    node_row row = no_row;
    class_row of = no_row;
  };
  /// Of the nodes of a scope, in one amount.
  struct totals {
    std::uint32_t scope = no_row;
    dimension d = 0;
    std::int64_t room = 0;  ///< free once the pods have left, less those that come back to these nodes
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes;  ///< of those, with how many they are
    std::vector<size_places> places;                           ///< then, as far as it was asked for
  };

  std::vector<node_row> rows;       ///< nodes that pods leave
  std::vector<std::int64_t> freed;  ///< there, by dimension
  std::vector<returning_pod> back;
  // What has been counted of them.
  std::vector<totals> counted;
  std::size_t counts = 0;                                        ///< entries of `counted` that are in use
  std::vector<std::pair<class_row, std::int64_t>> class_places;  ///< for pods of a class

  void clear();
};

/// For the chunk that the core has been told of, as long as no node changes but by the statement that is undone.
///
/// The condition is monotone: what a set of pods lacks each part of it lacks as well.
class room_bound {
 public:
  room_bound(framework::session_state& c, room_table& table, group_row waiting, const victim_rules& rules);

  /// The nodes have no room for the chunk, and for those pods of the units that may not be lost, once the units have
  /// left.
  [[nodiscard]] bool lacks_room(std::span<const victim_unit> set);
  /// The chunk alone had room, by what was asked last.
  [[nodiscard]] bool had_room_for_chunk() const { return had_room_for_chunk_; }
  /// The same of pods that are told one group after the other, all that each has on nodes, into a set of the caller's:
  /// first `begin`. A set that was told may be asked about for other chunks while no node is closed to groups.
  void begin(leaving_pods& set);
  void leave(group_row group);
  [[nodiscard]] bool lacks_room();
  void ask_again(leaving_pods& told);
  /// Looks at the caller's set no more.
  void rest() { begin(own_); }
  /// Amounts that all pods of a chunk are counted in together: GPUs, or where none are asked for cores and memory.
  using checked_amounts = std::array<std::int64_t, 2>;
  /// What nodes have beyond what the chunk asks for, in sum, once the units have left. Less than 0: it lacks room.
  [[nodiscard]] checked_amounts surplus(std::span<const victim_unit> set);
  /// By how much the surplus of a set can rise at most with these units, and by how much it falls at least without them
  /// if they are in the set.
  [[nodiscard]] checked_amounts most_freed(std::span<const victim_unit> units);
  [[nodiscard]] checked_amounts least_freed(std::span<const victim_unit> units);
  /// Nodes that the chunk may use, by number in the table.
  [[nodiscard]] std::uint32_t usable_nodes();
  /// Pods of the leaf queue have to have a place again.
  [[nodiscard]] bool returns(queue_row leaf);
  /// The node has places for more pods of the chunk once so much is freed there, by dimension.
  [[nodiscard]] bool opens(node_row row, std::span<const std::int64_t> freed);
  /// The group has pods on nodes that some pod of the chunk may use.
  [[nodiscard]] bool frees_usable_node(group_row group);
  /// Adds what a pod frees when it leaves.
  void add_freed(pod_row p, std::span<std::int64_t> freed) const;

 private:
  /// Pods of the chunk of one class.
  struct kind {
    class_row of = no_row;
    std::int64_t pods = 0;
    std::vector<std::int64_t> asked;  ///< by dimension
    std::int64_t places = 0;          ///< on the nodes as they are
  };

  void open();
  void find_scope();
  void leave(pod_row p, bool returns);
  void begin_with(std::span<const victim_unit> set);
  /// Sums over pods of units that `counts` accepts.
  template <class Counts>
  [[nodiscard]] checked_amounts freed_by(std::span<const victim_unit> units, Counts counts);
  [[nodiscard]] bool has_room();
  [[nodiscard]] bool has_room_for(const kind& one);
  [[nodiscard]] bool has_room_in(std::uint32_t scope, std::size_t checked);
  [[nodiscard]] leaving_pods::totals& totals_of(std::uint32_t scope, dimension d);
  [[nodiscard]] std::int64_t places_after(leaving_pods::totals& of, std::int64_t size) const;

  framework::session_state& c_;
  room_table& table_;
  group_row waiting_;
  const victim_rules& rules_;
  bool is_open_ = false;
  std::vector<kind> kinds_;
  std::vector<dimension> checked_;                      ///< amounts in which all pods together are counted
  std::vector<std::vector<std::int64_t>> chunk_sizes_;  ///< of these, by pod
  std::uint32_t scope_ = no_row;                        ///< nodes that the chunk may use
  std::vector<std::pair<queue_row, bool>> returning_;   ///< leaf queues that were asked

  // Of one set.
  std::vector<std::uint32_t> slot_of_;  ///< by node: position among the rows, or no_row
  leaving_pods own_;
  leaving_pods* set_ = &own_;
  bool had_room_for_chunk_ = false;
  std::vector<std::uint8_t> scopes_asked_;
};

}  // namespace kaisched::actions
