#pragma once
/// @file
/// A group of which some pods are left: what it can lose next, and what is left when all surplus is gone.

#include <span>
#include <vector>

#include "framework/session_state.hpp"

namespace kaisched::framework {

/// The gangs are those of the group as a whole, also while the session looks at a part of it.
class remaining_group {
 public:
  /// Nothing is left of it.
  remaining_group(const session_state& c, group_row group);
  /// Pods of a pod set are added in task order.
  void add(pod_row pod) { left_[c_.state().pods[pod].sub - first_].push_back(pod); }
  void remove(std::span<const pod_row> pods);

  /// What is beyond the gangs, one unit: the last pod of a pod set, a unit of several, or a whole member that its set
  /// does not need.
  /// Empty: only the core is left.
  [[nodiscard]] std::vector<pod_row> surplus() const { return surplus_of(first_); }
  /// What is left of members that have less than their gangs, and of units that are not whole; everything if that is
  /// what the group lacks.
  [[nodiscard]] std::vector<pod_row> broken() const { return broken_in(first_); }
  /// All gangs that the group needs are there.
  [[nodiscard]] bool keeps_gangs() const { return has_enough(first_); }
  /// Everything, the last in task order first.
  [[nodiscard]] std::vector<pod_row> all() const { return all_of(first_); }

 private:
  [[nodiscard]] const model::sub_info& info(sub_group_row sub) const { return c_.state().subs[sub]; }
  [[nodiscard]] std::int64_t needed(sub_group_row member) const;
  /// Number of pods, or of satisfied children.
  [[nodiscard]] std::int64_t active(sub_group_row member) const;
  [[nodiscard]] bool has_enough(sub_group_row member) const { return active(member) >= needed(member); }
  [[nodiscard]] std::vector<pod_row> all_of(sub_group_row member) const;
  [[nodiscard]] std::vector<pod_row> broken_in(sub_group_row member) const;
  /// Of roles that come in units, what is beyond those units that all of them have.
  void add_broken_units(sub_group_row set, std::vector<pod_row>& to) const;
  [[nodiscard]] std::vector<pod_row> surplus_of(sub_group_row member) const;
  [[nodiscard]] std::vector<pod_row> last_unit_of(sub_group_row set) const;
  [[nodiscard]] std::vector<sub_group_row> in_reverse_order(sub_group_row set) const;

  const session_state& c_;
  bool semi_;  ///< semi-preemptible: a member that is not satisfied is surplus too if its set does not need it
  sub_group_row first_;
  std::vector<std::vector<pod_row>> left_;  ///< by sub-group, in task order
};

}  // namespace kaisched::framework
