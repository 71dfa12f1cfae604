#pragma once
/// @file
/// Reservations of nodes: who may start where, by the time at which he would start and end.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <kaisched/ids.hpp>

#include "model/state.hpp"

namespace kaisched::policy {

/// A time for which nodes are reserved.
struct reserved_time {
  std::int64_t start = 0;
  std::int64_t end = unset;  ///< `unset`: nobody knows
};

/// The node of this name, or `no_row`.
[[nodiscard]] node_row find_node(const model::cluster_state& s, std::string_view name);
/// Nodes of the cluster that are reserved, in order.
[[nodiscard]] std::vector<node_row> reserved_nodes(const model::cluster_state& s, const model::reservation_info& of);
/// The one that a time is in, or the next one after it; nothing if there is none any more.
[[nodiscard]] std::optional<reserved_time> reserved_at(const model::reservation_info& of, std::int64_t time);

/// Nodes that are closed to a group, by row; 0 is open.
using closed_nodes = std::vector<std::uint8_t>;

/// A reservation that closes a node to a group.
struct reservation_refusal {
  std::uint32_t reservation = 0;  ///< position among those of the cluster, by name
  reserved_time when;             ///< the time that is, or that comes next
};

/// A group may start on a node unless one of its reservations is for others and is on, or begins before the group is
/// expected to have ended. Groups that are expected to run for an unknown time end never.
class reservation_book {
 public:
  /// Those that have ended or name no node of the cluster close nothing. Without others the book is not used.
  void open(const model::cluster_state& s, std::int64_t now);
  [[nodiscard]] bool used() const { return facts_ != nullptr; }

  /// Nodes where pods of the group may not start; null: there are none.
  [[nodiscard]] const closed_nodes* closed_to(group_row group) const;
  [[nodiscard]] bool closes(group_row group, node_row node) const {
    const closed_nodes* const closed = used() ? closed_to(group) : nullptr;
    return closed != nullptr && (*closed)[node] != 0;
  }
  /// Groups of the same number are refused by the same nodes; 0: by none.
  [[nodiscard]] std::uint32_t kind_of(group_row group) const;
  /// Of the reservations that close the node to the group the first by start and name.
  [[nodiscard]] std::optional<reservation_refusal> why(group_row group, node_row node) const;

  /// Some reservation that is on, or is soon, evicts others.
  [[nodiscard]] bool evicts_some() const;
  /// The first one by start and name that evicts pods of the group from the node, if they would end then (`unset`:
  /// nobody knows when).
  [[nodiscard]] std::optional<reservation_refusal> evicts(group_row group, node_row node, std::int64_t end) const;

  /// A look ahead: the group would start then. Until `look_at_now`.
  void look_at(group_row group, std::int64_t time);
  void look_at_now() { later_.clear(); }
  /// The first time after one at which a reservation is over or begins; `unset` if there is none.
  [[nodiscard]] std::int64_t next_change(std::int64_t after) const;

 private:
  struct entry {
    std::uint32_t reservation = 0;
    std::vector<node_row> nodes;
  };
  /// Reservations that close nodes to a group, by position.
  using refusals = std::vector<std::uint32_t>;
  struct facts {
    const model::cluster_state* state = nullptr;
    std::int64_t now = 0;
    std::vector<entry> entries;
    std::vector<std::uint32_t> kind_of_group;
    std::vector<closed_nodes> closed;  ///< by kind; that of kind 0 is empty
  };
  [[nodiscard]] static refusals refusals_of(const facts& from, group_row group, std::int64_t time);
  [[nodiscard]] static closed_nodes closed_by(const facts& from, const refusals& all);

  std::shared_ptr<const facts> facts_;       ///< null: not used
  std::map<group_row, closed_nodes> later_;  ///< of groups that are looked at at another time
};

}  // namespace kaisched::policy
