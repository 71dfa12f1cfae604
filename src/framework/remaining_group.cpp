#include "framework/remaining_group.hpp"

#include <algorithm>

#include "framework/members.hpp"

namespace kaisched::framework {

namespace {

void append(std::vector<pod_row>& to, const std::vector<pod_row>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

remaining_group::remaining_group(const session_state& c, group_row group)
    : c_(c),
      semi_(c.state().groups[group].semi_preemptible),
      first_(c.state().groups[group].first_sub),
      left_(c.state().groups[group].sub_count) {}

void remaining_group::remove(std::span<const pod_row> pods) {
  for (const pod_row p : pods) {
    std::vector<pod_row>& mine = left_[c_.state().pods[p].sub - first_];
    const auto at = std::find(mine.rbegin(), mine.rend(), p);  // surplus is taken from the end
    if (at != mine.rend()) mine.erase(std::next(at).base());
  }
}

std::int64_t remaining_group::needed(sub_group_row member) const {
  const model::sub_info& of = info(member);
  return of.is_set && of.min == unset ? of.members : of.min;
}

std::int64_t remaining_group::active(sub_group_row member) const {
  if (!info(member).is_set) return static_cast<std::int64_t>(left_[member - first_].size());
  std::int64_t satisfied = 0;
  for (sub_group_row child = info(member).first_child; child != no_row; child = info(child).next_sibling) {
    satisfied += active(child) >= needed(child) ? 1 : 0;
  }
  return satisfied;
}

std::vector<pod_row> remaining_group::all_of(sub_group_row member) const {
  std::vector<pod_row> pods;
  if (!info(member).is_set) {
    const std::vector<pod_row>& mine = left_[member - first_];
    pods.assign(mine.rbegin(), mine.rend());
    return pods;
  }
  // Member order of the reference: sets before pod sets.
  for (const bool sets : {true, false}) {
    for (sub_group_row child = info(member).first_child; child != no_row; child = info(child).next_sibling) {
      if (info(child).is_set == sets) append(pods, all_of(child));
    }
  }
  return pods;
}

std::vector<pod_row> remaining_group::surplus_of(sub_group_row member) const {
  if (!info(member).is_set) {
    if (active(member) <= needed(member)) return {};
    return {left_[member - first_].back()};
  }
  const std::int64_t satisfied = active(member);
  if (satisfied == 0 && !semi_) return {};
  const std::vector<sub_group_row> members = in_reverse_order(member);
  for (const sub_group_row child : members) {
    if (comes_in_units(c_, child)) continue;
    std::vector<pod_row> found = surplus_of(child);
    if (!found.empty()) return found;
  }
  if (std::vector<pod_row> unit = last_unit_of(member); !unit.empty()) return unit;
  if (satisfied < needed(member) || (satisfied == needed(member) && !semi_)) return {};
  for (const sub_group_row child : members) {
    if (satisfied == needed(member) && active(child) >= needed(child)) continue;
    std::vector<pod_row> found = all_of(child);
    if (!found.empty()) return found;
  }
  return {};
}

/// The unit that is not whole, if there is one, else the last one.
std::vector<pod_row> remaining_group::last_unit_of(sub_group_row set) const {
  std::vector<pod_row> unit;
  const std::optional<unit_state> units = units_of(c_, set, [&](sub_group_row role) { return active(role); });
  if (!units || units->begun == 0) return unit;
  for (sub_group_row role = info(set).first_child; role != no_row; role = info(role).next_sibling) {
    if (!comes_in_units(c_, role)) continue;
    const std::vector<pod_row>& mine = left_[role - first_];
    const auto kept = std::min<std::int64_t>(active(role), pods_of_units(c_, role, units->begun - 1));
    unit.insert(unit.end(), mine.rbegin(), mine.rend() - kept);
  }
  return unit;
}

std::vector<pod_row> remaining_group::broken_in(sub_group_row member) const {
  if (!has_enough(member)) return all_of(member);
  std::vector<pod_row> pods;
  if (!info(member).is_set) return pods;
  for (sub_group_row child = info(member).first_child; child != no_row; child = info(child).next_sibling) {
    append(pods, broken_in(child));
  }
  add_broken_units(member, pods);
  return pods;
}

void remaining_group::add_broken_units(sub_group_row set, std::vector<pod_row>& to) const {
  const std::optional<unit_state> units = units_of(c_, set, [&](sub_group_row role) { return active(role); });
  if (!units || units->lacks_gang || !units->is_broken) return;
  for (sub_group_row role = info(set).first_child; role != no_row; role = info(role).next_sibling) {
    if (!comes_in_units(c_, role)) continue;
    const std::vector<pod_row>& mine = left_[role - first_];
    const auto kept = std::min<std::int64_t>(active(role), pods_of_units(c_, role, units->whole));
    to.insert(to.end(), mine.rbegin(), mine.rend() - kept);
  }
}

std::vector<sub_group_row> remaining_group::in_reverse_order(sub_group_row set) const {
  std::vector<sub_group_row> members;
  for (sub_group_row child = info(set).first_child; child != no_row; child = info(child).next_sibling) {
    members.push_back(child);  // by name
  }
  std::stable_sort(members.begin(), members.end(), [&](sub_group_row a, sub_group_row b) {
    return member_before(c_, {a, active(a), needed(a)}, {b, active(b), needed(b)});
  });
  std::reverse(members.begin(), members.end());
  return members;
}

}  // namespace kaisched::framework
