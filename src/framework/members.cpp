#include "framework/members.hpp"

#include <algorithm>

#include "base/int128.hpp"
#include "base/stable_sort.hpp"

namespace kaisched::framework {

namespace {

/// Satisfied members are ordered by active / threshold; members without a threshold come last, by active.
bool less_filled(const session_state& c, const member_state& a, const member_state& b) {
  const std::int64_t x = a.active;
  const std::int64_t y = b.active;
  const std::int64_t x_needed = a.needed;
  const std::int64_t y_needed = b.needed;
  if ((x_needed == 0) != (y_needed == 0)) return y_needed == 0;
  if (x_needed == 0) return x < y;
  if (c.compat()) {
    return static_cast<double>(x) / static_cast<double>(x_needed) <
           static_cast<double>(y) / static_cast<double>(y_needed);
  }
  return static_cast<base::int128>(x) * y_needed < static_cast<base::int128>(y) * x_needed;
}

/// Pods of a pod set that were evicted by the open statement.
std::int64_t count_evicted(const session_state& c, sub_group_row pod_set) {
  const model::sub_counts& n = c.counts(pod_set);
  if (c.statement.evicted_here.empty() || n.active_used == n.active_allocated) return 0;
  std::int64_t evicted = 0;
  for (pod_row p = c.state().subs[pod_set].first_pod; p != no_row; p = c.state().pods[p].next) {
    evicted += c.statement.is_evicted_here(p) ? 1 : 0;
  }
  return evicted;
}

/// Enough pods are there or can be started; in a simulation victims can.
bool can_be_completed(const session_state& c, sub_group_row member, startable which) {
  if (which == startable::pending || is_ready(c, member)) return is_ready(c, member);
  const model::sub_info& info = c.state().subs[member];
  if (!info.is_set) {
    const model::sub_counts& n = c.counts(member);
    return static_cast<std::int64_t>(n.alive) - n.gated + count_evicted(c, member) >= members_needed(c, member);
  }
  std::int64_t ready = 0;
  for (sub_group_row child = info.first_child; child != no_row; child = c.state().subs[child].next_sibling) {
    ready += can_be_completed(c, child, which) ? 1 : 0;
  }
  return ready >= members_needed(c, member);
}

/// Goes down the tree of a group and collects what it wants to start.
class collector {
 public:
  collector(const session_state& c, startable which, pod_list& chunk) : c_(c), which_(which), chunk_(chunk) {}

  void take_from(sub_group_row member) {
    if (!c_.state().subs[member].is_set) {
      take_pods(member);
      return;
    }
    if (!is_satisfied(c_, member)) {
      if (c_.compat())
        complete_compat(member);
      else
        complete_strict(member);
      return;
    }
    const std::size_t before_units = chunk_.size();
    take_unit(member);
    if (chunk_.size() > before_units) return;
    for (const sub_group_row child : children_in_order(c_, member)) {
      const std::size_t before = chunk_.size();
      if (comes_in_units(c_, child) && is_satisfied(c_, child)) continue;
      if (!c_.compat() && !can_be_completed(c_, child, which_)) continue;  // the reference starts a part of it
      take_from(child);
      if (chunk_.size() > before) return;
    }
  }

  void take_pods(sub_group_row pod_set) {
    const model::sub_counts& n = c_.counts(pod_set);
    take_pods(pod_set, std::max<std::int64_t>(1, members_needed(c_, pod_set) - n.active_allocated));
  }

 private:
  void take_pods(sub_group_row pod_set, std::int64_t wanted) {
    const model::cluster_state& s = c_.state();
    const model::sub_counts& n = c_.counts(pod_set);
    const bool evicted_too = which_ == startable::pending_or_evicted && n.active_used != n.active_allocated;
    if (n.pending == 0 && !evicted_too) return;
    for (pod_row p = s.subs[pod_set].first_pod; p != no_row && wanted > 0; p = s.pods[p].next) {
      if (!may_start(p)) continue;
      chunk_.push_back(p);
      --wanted;
    }
  }

  /// What completes the units of a set that were begun, else a further one; nothing where some role has too few pods
  /// for it. Of a group that is cut to a part, what the part has of it.
  void take_unit(sub_group_row set) {
    const std::optional<unit_state> units = units_of(
        c_, set, [&](sub_group_row role) { return static_cast<std::int64_t>(c_.counts(role).active_allocated); });
    if (!units || units->lacks_gang) return;
    const std::int64_t target = units->is_broken ? units->begun : units->begun + 1;
    const std::size_t before = chunk_.size();
    const bool is_part = c_.chunks.partial.group == c_.state().subs[set].group;
    for (sub_group_row role = c_.state().subs[set].first_child; role != no_row;
         role = c_.state().subs[role].next_sibling) {
      if (!comes_in_units(c_, role)) continue;
      const std::int64_t wanted = pods_of_units(c_, role, target) - c_.counts(role).active_allocated;
      const std::size_t first = chunk_.size();
      if (wanted > 0) take_pods(role, wanted);
      if (is_part || static_cast<std::int64_t>(chunk_.size() - first) >= wanted) continue;
      chunk_.resize(before);
      return;
    }
  }

  [[nodiscard]] bool may_start(pod_row p) const {
    const auto status = static_cast<pod_status>(c_.live.pod_state[p]);
    const bool waits =
        status == pod_status::pending ||
        (which_ == startable::pending_or_evicted && status == pod_status::releasing && c_.statement.is_evicted_here(p));
    if (c_.groups.passed_over.has(p)) return false;
    return waits && (c_.chunks.partial.group == no_row || c_.chunks.partial.may_start(c_.state().pods[p].group, p));
  }

  /// As in KAI: the first `needed` members, of which those already satisfied are skipped.
  void complete_compat(sub_group_row set) {
    const member_list members = children_in_order(c_, set);
    const auto needed = std::min<std::int64_t>(members_needed(c_, set), static_cast<std::int64_t>(members.size()));
    for (std::int64_t i = 0; i < needed; ++i) {
      const sub_group_row member = members[static_cast<std::size_t>(i)];
      if (!is_satisfied(c_, member)) take_from(member);
    }
  }

  /// Repaired: as many further members as are missing, of those that have enough pods.
  void complete_strict(sub_group_row set) {
    std::int64_t missing = members_needed(c_, set) - members_active(c_, set);
    for (const sub_group_row member : children_in_order(c_, set)) {
      if (missing <= 0) break;
      if (is_satisfied(c_, member) || !can_be_completed(c_, member, which_)) continue;
      take_from(member);
      --missing;
    }
  }

  const session_state& c_;
  startable which_;
  pod_list& chunk_;
};

/// The tree is a root with one pod set, and decides nothing.
[[gnu::always_inline]] inline bool has_one_pod_set(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  return g.has_one_pod_set && members_needed(c, g.first_sub) == 1;
}

}  // namespace

namespace {

void add(model::quota_vector& sum, const model::quota_vector& more) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += more[r];
}

}  // namespace

std::int64_t members_active(const session_state& c, sub_group_row member) {
  const model::sub_info& info = c.state().subs[member];
  if (!info.is_set) return c.counts(member).active_allocated;
  std::int64_t satisfied = 0;
  for (sub_group_row child = info.first_child; child != no_row; child = c.state().subs[child].next_sibling) {
    satisfied += is_satisfied(c, child) ? 1 : 0;
  }
  return satisfied;
}

bool is_satisfied(const session_state& c, sub_group_row member) {
  return members_active(c, member) >= members_needed(c, member);
}

bool is_ready(const session_state& c, sub_group_row member) {
  const model::sub_info& info = c.state().subs[member];
  if (!info.is_set) {
    return static_cast<std::int64_t>(c.counts(member).alive) - c.counts(member).gated >= members_needed(c, member);
  }
  std::int64_t ready = 0;
  for (sub_group_row child = info.first_child; child != no_row; child = c.state().subs[child].next_sibling) {
    ready += is_ready(c, child) ? 1 : 0;
  }
  return ready >= members_needed(c, member);
}

bool member_before(const session_state& c, const member_state& a, const member_state& b) {
  const bool a_satisfied = a.active >= a.needed;
  const bool b_satisfied = b.active >= b.needed;
  if (a_satisfied != b_satisfied) return b_satisfied;
  return a_satisfied && less_filled(c, a, b);
}

member_list children_in_order(const session_state& c, sub_group_row set) {
  boost::container::small_vector<member_state, 8> members;
  for (sub_group_row child = c.state().subs[set].first_child; child != no_row;
       child = c.state().subs[child].next_sibling) {
    members.push_back({child, members_active(c, child), members_needed(c, child)});  // in the order of names
  }
  base::stable_sort(members, [&](const member_state& a, const member_state& b) { return member_before(c, a, b); });
  member_list rows;
  for (const member_state& one : members) rows.push_back(one.member);
  return rows;
}

bool must_wait_as_a_whole(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = c.state().subs[sub];
    const model::sub_counts& n = c.counts(sub);
    if (!info.is_set && n.pipelined > 0 && static_cast<std::int64_t>(n.active_allocated) - n.pipelined < info.min)
      return true;
    // What starts of a unit before the rest of it would wait for that.
    const std::optional<unit_state> units =
        n.pipelined > 0 && comes_in_units(c, sub)
            ? units_of(c, info.parent,
                       [&](sub_group_row role) {
                         const model::sub_counts& of = c.counts(role);
                         return static_cast<std::int64_t>(of.active_allocated) - of.pipelined;
                       })
            : std::nullopt;
    if (units && units->is_broken) return true;
  }
  return false;
}

void next_chunk(const session_state& c, group_row group, startable which, pod_list& chunk) {
  const sub_group_row root = c.state().groups[group].first_sub;
  collector all(c, which, chunk);
  if (has_one_pod_set(c, group)) {
    all.take_pods(root + 1);
  } else {
    all.take_from(root);
  }
}

std::optional<equal_chunk> equal_chunk_of(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  if (group == c.chunks.partial.group || !has_one_pod_set(c, group)) return std::nullopt;
  const sub_group_row pod_set = g.first_sub + 1;
  const model::sub_info& info = c.state().subs[pod_set];
  const model::sub_counts& n = c.counts(pod_set);
  if (!info.is_uniform || info.only_class == no_row || n.active_used != n.active_allocated) return std::nullopt;
  const std::int64_t wanted = std::max<std::int64_t>(1, members_needed(c, pod_set) - n.active_allocated);
  return equal_chunk{info.only_class, std::min<std::int64_t>(wanted, n.pending)};
}

model::quota_vector times(const model::quota_vector& one, std::int64_t count) {
  model::quota_vector all{};
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) all[r] = one[r] * count;
  return all;
}

model::quota_vector request_of(const session_state& c, std::span<const pod_row> chunk) {
  model::quota_vector sum{};
  for (const pod_row p : chunk) add(sum, c.queues.asked(c.state().class_of(p)));
  return sum;
}

model::quota_vector least_request_of(const session_state& c, std::span<const pod_row> chunk) {
  model::quota_vector sum{};
  for (const pod_row p : chunk) add(sum, c.queues.asked_at_least(c.state().class_of(p)));
  return sum;
}

}  // namespace kaisched::framework
