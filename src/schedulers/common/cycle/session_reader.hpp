#pragma once
/// @file
/// What every scheduler reads of a session for the view that it decides over.

#include <cstdint>
#include <vector>

#include "base/text_order.hpp"
#include "framework/session_state.hpp"

namespace kaisched::schedulers {

/// The node refuses pods of the class in the group, whatever becomes of other pods.
[[nodiscard]] bool is_closed(const framework::session_state& c, node_row node, class_row of_class, group_row group);

/// Reads a session, which has to outlive it.
class session_reader {
 public:
  explicit session_reader(const framework::session_state& c) : c_(c), s_(c.state()) {}

  [[nodiscard]] pod_status status(pod_row pod) const { return static_cast<pod_status>(c_.live.pod_state[pod]); }
  /// no_row: it is on none.
  [[nodiscard]] node_row node_of(pod_row pod) const {
    const std::uint32_t slot = c_.live.pod_node[pod];
    return slot == no_row ? no_row : c_.row_of_slot(slot);
  }
  /// Its own priority, else that of its group.
  [[nodiscard]] std::int64_t priority_of(pod_row pod) const;
  /// By dimension. Of GPUs it is what queues count: parts by memory are parts of the smallest device.
  [[nodiscard]] std::vector<std::int64_t> request_of(class_row of_class) const;

  /// Groups for which `is` holds, by name.
  template <class Is>
  [[nodiscard]] std::vector<group_row> groups_that(const Is& is) const {
    std::vector<group_row> groups;
    for (group_row g = 0; g < s_.group_slots; ++g) {
      if (s_.groups[g].live && is(g)) groups.push_back(g);
    }
    base::sort_by_text(groups, [&](group_row g) { return s_.group_names[g]; });
    return groups;
  }
  [[nodiscard]] std::vector<group_row> all_groups() const {
    return groups_that([](group_row) { return true; });
  }

  /// Calls `act` for the pods of a group, in task order within pod sets.
  template <class Act>
  void each_pod(group_row g, const Act& act) const {
    for (sub_group_row sub = s_.groups[g].first_sub; sub < s_.groups[g].first_sub + s_.groups[g].sub_count; ++sub) {
      for (pod_row p = s_.subs[sub].first_pod; p != no_row; p = s_.pods[p].next) act(p);
    }
  }

 protected:
  const framework::session_state& c_;
  const model::cluster_state& s_;
};

}  // namespace kaisched::schedulers
