#pragma once
/// @file
/// Nodes that are promised to groups that wait: a table of time slots, each with the nodes that nobody has been
/// promised.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <kaisched/ids.hpp>
#include <kaisched/result.hpp>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// When a group is expected to leave its nodes.
struct group_end {
  std::int64_t when;
  group_row group;
};

/// Reservations of whole nodes, as batch systems make them: the nodes where a group is expected to start are closed to
/// everybody behind it for as long as it is expected to run. Cheaper than reservations of times alone, and stricter:
/// what a group leaves of its nodes is closed as well.
class node_promises {
 public:
  /// @param most promises; 0: all
  node_promises(framework::session_state& c, std::size_t most);

  /// Nodes that a group may use which would start now; none where all are open. The group must have left before a
  /// promise begins: one that ends at that very moment is in its way.
  [[nodiscard]] std::optional<framework::node_set> open_to(group_row group) const;
  /// The first group whose nodes are promised while this one would run, if it starts now; `no_row` if there is none.
  [[nodiscard]] group_row in_the_way_of(group_row group) const;
  /// Promises nodes to a group that does not start now: the earliest that it can have, as far as is known when those
  /// who hold them end. Nothing, where that is not known or beyond the window. The statement is empty before and after.
  [[nodiscard]] result<void> add(group_row group);

 private:
  struct slot {
    std::int64_t begin;
    std::int64_t end;
    framework::node_set open;
  };
  struct promise {
    group_row group;
    std::int64_t begin;
    std::int64_t end;
  };
  /// When and where a group has a place.
  struct place_found {
    std::int64_t when;
    framework::node_set nodes;
  };

  [[nodiscard]] std::int64_t end_of(group_row group, std::int64_t start) const;
  [[nodiscard]] std::int64_t rounded(std::int64_t time) const;
  [[nodiscard]] framework::node_set open_between(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] std::int64_t next_change(std::int64_t after, std::int64_t end) const;
  [[nodiscard]] result<std::optional<place_found>> first_place(group_row group, const framework::node_set& among,
                                                               std::int64_t start);
  [[nodiscard]] bool overlaps(const framework::node_set& nodes, std::int64_t begin, std::int64_t end) const;
  void split(std::int64_t time);
  void look_at_holders();
  [[nodiscard]] std::vector<group_end> ends_on(const framework::node_set& nodes, group_row but) const;

  framework::session_state& c_;
  std::size_t most_;
  std::vector<slot> slots_;  ///< in order, without gaps, from now on for ever
  std::vector<promise> made_;
  // Of those who hold nodes, as of a commit: most groups that wait are looked at between two.
  std::optional<std::uint32_t> looked_at_;  ///< after so many commits
  std::vector<group_end> ends_;             ///< of whom an end is known, the first at first
  std::vector<std::int64_t> free_devices_;  ///< by node, whole ones; negative where more is held than there is
};

}  // namespace kaisched::actions
