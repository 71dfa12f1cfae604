#pragma once
/// @file
/// Whether a chunk can have room at all once some pods have left: a necessary condition, in every amount that the chunk
/// asks for and on the nodes that it may use. What fails it needs no trial.
///
/// Source: bounds of bin packing by dual feasible functions (C. Alves, F. Clautiaux, J. de Carvalho, J. Rietz, "Dual-
/// Feasible Functions for Integer Programming and Combinatorial Optimization", 2016): on a node the sum of
/// floor(size / r) over its pods is at most floor(free / r), for every r.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

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
  std::vector<node_row> rows;       ///< nodes that pods leave
  std::vector<std::int64_t> freed;  ///< there, by dimension
  std::vector<returning_pod> back;
};

/// For the chunk that the core has been told of, as long as no node changes but by the statement that is undone.
///
/// The condition is monotone: what a set of pods lacks each part of it lacks as well.
class room_bound {
 public:
  room_bound(framework::session_state& c, group_row waiting, const victim_rules& rules);

  /// The nodes have no room for the chunk, and for those pods of the units that may not be lost, once the units have
  /// left.
  [[nodiscard]] bool lacks_room(std::span<const victim_unit> set);
  /// The chunk alone had room, by what was asked last.
  [[nodiscard]] bool had_room_for_chunk() const { return had_room_for_chunk_; }
  /// The same of pods that are told one group after the other: all that it has on nodes.
  void begin();
  void leave(group_row group);
  [[nodiscard]] bool lacks_room();
  /// Those that have been told, to be told again at once.
  [[nodiscard]] const leaving_pods& told() const { return set_; }
  void begin_with(const leaving_pods& known);
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
  /// What nodes as they are hold of pods of a size, as far as it was asked for.
  struct base_places {
    dimension d = 0;
    std::int64_t size = 0;
    std::int64_t places = 0;
  };
  /// Nodes that the chunk may use, and beside them those that pods of some class may use: all that may use no others
  /// have to find their places there.
  struct scope {
    std::vector<std::uint8_t> nodes;  ///< by row
    std::vector<std::int64_t> free;   ///< sums, by position among the amounts that are checked
    std::vector<base_places> bases;
    std::vector<std::uint8_t> confined;  ///< by class: 0 unknown, 1 no, 2 yes
  };

  void open();
  [[nodiscard]] scope make_scope(std::vector<std::uint8_t> nodes) const;
  void leave(pod_row p, bool returns);
  [[nodiscard]] bool has_room();
  [[nodiscard]] bool has_room_for(const kind& one) const;
  [[nodiscard]] bool has_room_in(scope& in, std::size_t checked);
  [[nodiscard]] std::int64_t free(node_row row, dimension d) const;
  [[nodiscard]] std::int64_t places_of(const kind& one, node_row row, const std::int64_t* freed) const;
  [[nodiscard]] std::int64_t places_before(scope& in, dimension d, std::int64_t size) const;
  /// All nodes that let pods of the class in are in the scope.
  [[nodiscard]] bool is_confined(scope& in, class_row of);
  /// The scope of the chunk and of pods of a class.
  [[nodiscard]] std::size_t scope_of(class_row of);

  framework::session_state& c_;
  group_row waiting_;
  const victim_rules& rules_;
  bool is_open_ = false;
  bool counts_gpus_only_ = false;
  std::vector<kind> kinds_;
  std::vector<dimension> checked_;                      ///< amounts in which all pods together are counted
  std::vector<std::vector<std::int64_t>> chunk_sizes_;  ///< of these, by pod
  std::vector<scope> scopes_;                           ///< first that of the chunk
  std::vector<std::uint32_t> scope_of_class_;           ///< no_row: not asked for
  std::vector<std::pair<queue_row, bool>> returning_;   ///< leaf queues that were asked

  // Of one set.
  std::vector<std::uint32_t> slot_of_;  ///< by node: position among the rows, or no_row
  leaving_pods set_;
  bool had_room_for_chunk_ = false;
  std::vector<std::uint8_t> scopes_asked_;
  /// Sizes of those that return to a scope, and how many have them.
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes_;
};

}  // namespace kaisched::actions
