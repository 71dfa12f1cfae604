#include "actions/victim_units.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using work::core;
using work::is_active;

void append(std::vector<pod_row>& to, const std::vector<pod_row>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// A group of which some pods are left.
class remaining_group {
 public:
  remaining_group(const core& c, group_row group, std::span<const pod_row> pods)
      : c_(c), first_(c.state().groups[group].first_sub) {
    active_.resize(c.state().groups[group].sub_count);
    for (const pod_row p : pods) {
      if (is_active(c, p)) active_[c.state().pods[p].sub - first_].push_back(p);
    }
  }

  [[nodiscard]] std::vector<pod_row> unit() const {
    std::vector<pod_row> found = surplus(first_);
    return found.empty() ? all_active(first_) : found;
  }

 private:
  [[nodiscard]] const model::sub_info& info(sub_group_row sub) const { return c_.state().subs[sub]; }
  [[nodiscard]] std::int64_t active(sub_group_row member) const {
    if (!info(member).is_set) return static_cast<std::int64_t>(active_[member - first_].size());
    std::int64_t satisfied = 0;
    for (sub_group_row child = info(member).first_child; child != no_row; child = info(child).next_sibling) {
      satisfied += active(child) >= work::members_needed(c_, child) ? 1 : 0;
    }
    return satisfied;
  }

  /// Last in task order first.
  [[nodiscard]] std::vector<pod_row> all_active(sub_group_row member) const {
    std::vector<pod_row> pods;
    if (!info(member).is_set) {
      const std::vector<pod_row>& mine = active_[member - first_];
      pods.assign(mine.rbegin(), mine.rend());
      return pods;
    }
    // Member order of the reference: sets before pod sets.
    for (const bool sets : {true, false}) {
      for (sub_group_row child = info(member).first_child; child != no_row; child = info(child).next_sibling) {
        if (info(child).is_set == sets) append(pods, all_active(child));
      }
    }
    return pods;
  }

  [[nodiscard]] std::vector<pod_row> surplus(sub_group_row member) const {
    if (!info(member).is_set) {
      if (active(member) <= work::members_needed(c_, member)) return {};
      return {active_[member - first_].back()};
    }
    const std::int64_t satisfied = active(member);
    if (satisfied == 0) return {};
    const std::vector<sub_group_row> members = in_reverse_order(member);
    for (const sub_group_row child : members) {
      std::vector<pod_row> found = surplus(child);
      if (!found.empty()) return found;
    }
    if (satisfied <= work::members_needed(c_, member)) return {};
    for (const sub_group_row child : members) {
      std::vector<pod_row> found = all_active(child);
      if (!found.empty()) return found;
    }
    return {};
  }

  [[nodiscard]] std::vector<sub_group_row> in_reverse_order(sub_group_row set) const {
    std::vector<sub_group_row> members;
    for (sub_group_row child = info(set).first_child; child != no_row; child = info(child).next_sibling) {
      members.push_back(child);  // by name
    }
    std::stable_sort(members.begin(), members.end(), [&](sub_group_row a, sub_group_row b) {
      return work::member_before(c_, {a, active(a)}, {b, active(b)});
    });
    std::reverse(members.begin(), members.end());
    return members;
  }

  const core& c_;
  sub_group_row first_;
  std::vector<std::vector<pod_row>> active_;  ///< by sub-group, in task order
};

}  // namespace

std::vector<pod_row> pods_in(std::span<const victim_unit> units) {
  std::vector<pod_row> all;
  for (const victim_unit& one : units) append(all, one.pods);
  return all;
}

std::vector<victim_unit> joined(std::vector<victim_unit> units) {
  std::vector<victim_unit> made;
  std::map<group_row, std::size_t> place;
  for (victim_unit& one : units) {
    const auto [at, fresh] = place.try_emplace(one.group, made.size());
    if (fresh)
      made.push_back(std::move(one));
    else
      append(made[at->second].pods, one.pods);
  }
  return made;
}

bool has_pods_to_lose(const core& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  return g.live && g.preemptible && work::count_pods(c, group, &model::sub_counts::active_allocated) > 0;
}

std::vector<pod_row> scenario::pods() const {
  std::vector<pod_row> all = pods_in(recorded);
  append(all, pods_in(potential));
  return all;
}

std::vector<victim_unit> victims_by_group(const scenario& of) {
  std::vector<victim_unit> units = of.recorded;
  units.insert(units.end(), of.potential.begin(), of.potential.end());
  return joined(std::move(units));
}

std::vector<pod_row> pods_of(const core& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  std::vector<pod_row> pods;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) pods.push_back(p);
  }
  return pods;
}

std::vector<pod_row> next_unit(const core& c, group_row group, std::span<const pod_row> pods) {
  if (pods.size() == 1) return is_active(c, pods.front()) ? std::vector<pod_row>{pods.front()} : std::vector<pod_row>{};
  return remaining_group(c, group, pods).unit();
}

std::int64_t free_gpus(const core& c, node_row row) {
  const std::size_t at = static_cast<std::size_t>(row) * c.state().dims() + dim_gpu;
  return (*c.live.idle)[at] + (*c.live.releasing)[at];
}

bool can_lose(const core& c, group_row group) {
  return c.is_schedulable_queue(c.state().groups[group].queue) && has_pods_to_lose(c, group);
}

}  // namespace kaisched::actions
