#pragma once
/// @file
/// What nodes have room for as they are, counted once for all searches for victims until a statement is committed.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// What asks for nothing has this many places on a node.
inline constexpr std::int64_t most_places = 2'147'483'647;

[[nodiscard]] inline std::int64_t places_on(std::int64_t free, std::int64_t size) {
  return std::max<std::int64_t>(0, free) / size;
}

/// A number of places for pods of one size.
struct size_places {
  std::int64_t size = 0;
  std::int64_t places = 0;
};

/// The statement must be at rest when it is asked.
class room_table {
 public:
  explicit room_table(framework::session_state& c) : c_(c) {}

  /// A set of nodes, with sums over them.
  struct scope {
    framework::node_set nodes;                                ///< by row
    std::array<std::int64_t, dim_gpu + 1> free{};             ///< sums, of each node at least 0
    std::array<std::vector<size_places>, dim_gpu + 1> bases;  ///< as far as sizes were asked for
    std::vector<std::uint8_t> confined;                       ///< by class: 0 unknown, 1 no, 2 yes
    std::vector<std::uint32_t> with_class;                    ///< by class: this scope with its nodes, or no_row
    std::vector<std::uint8_t> reached;                        ///< by group: 0 unknown, 1 no, 2 yes
  };
  /// Pods of one class, wherever no group is kept from nodes.
  struct class_room {
    std::uint32_t scope = no_row;     ///< nodes that let them in; no_row: not known
    std::vector<std::int64_t> asked;  ///< by dimension
    std::int64_t places = 0;          ///< on these nodes
  };

  /// Forgets what was counted before the last commit. Numbers of scopes, and references, end then.
  void refresh();
  /// `like`: a pod of the class.
  [[nodiscard]] const class_room& of_class(pod_row like);
  /// What pods like this one ask of nodes, by dimension.
  [[nodiscard]] std::vector<std::int64_t> asked_by(pod_row like) const;
  [[nodiscard]] std::uint32_t scope_of(framework::node_set nodes);
  /// Nodes that let in some pod of the classes of these pods.
  [[nodiscard]] std::uint32_t scope_of(std::span<const pod_row> pods);
  /// The scope and the nodes that let pods of the class in.
  [[nodiscard]] std::uint32_t with_class(std::uint32_t base, class_row of);
  [[nodiscard]] scope& at(std::uint32_t number) { return *scopes_[number]; }
  [[nodiscard]] const scope& at(std::uint32_t number) const { return *scopes_[number]; }
  /// All nodes that let pods of the class in are in the scope.
  [[nodiscard]] bool is_confined(scope& in, class_row of);
  /// The group has pods on nodes of the scope.
  [[nodiscard]] bool is_reached(scope& in, group_row group);
  /// Places for pods of a size, in one amount alone.
  [[nodiscard]] std::int64_t places_before(scope& in, dimension d, std::int64_t size) const;

  [[nodiscard]] std::int64_t free(node_row row, dimension d) const;
  /// How many pods the node has room for, with what is freed there by dimension; null: nothing.
  [[nodiscard]] std::int64_t places_of(std::span<const std::int64_t> asked, node_row row,
                                       const std::int64_t* freed) const;
  /// Others may pay for what the pod asks of a node's GPUs: then it may need none.
  [[nodiscard]] bool may_be_paid_for(pod_row pod) const;

 private:
  framework::session_state& c_;
  std::uint64_t commits_ = 0;
  std::vector<std::unique_ptr<scope>> scopes_;
  std::vector<class_room> classes_;
};

}  // namespace kaisched::actions
