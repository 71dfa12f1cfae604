#include "session/members.hpp"

#include <algorithm>

#include "base/int128.hpp"

namespace kaisched::work {

namespace {

/// Satisfied members are ordered by active / threshold; members without a threshold come last, by active.
bool less_filled(const core& c, sub_group_row a, sub_group_row b, bool& equal) {
  const std::int64_t x = members_active(c, a);
  const std::int64_t y = members_active(c, b);
  const std::int64_t x_needed = members_needed(c, a);
  const std::int64_t y_needed = members_needed(c, b);
  equal = false;
  if ((x_needed == 0) != (y_needed == 0)) return y_needed == 0;
  if (x_needed == 0) {
    equal = x == y;
    return x < y;
  }
  if (c.compat()) {
    const double p = static_cast<double>(x) / static_cast<double>(x_needed);
    const double q = static_cast<double>(y) / static_cast<double>(y_needed);
    equal = p == q;
    return p < q;
  }
  const base::int128 p = static_cast<base::int128>(x) * y_needed;
  const base::int128 q = static_cast<base::int128>(y) * x_needed;
  equal = p == q;
  return p < q;
}

void take_pods(const core& c, sub_group_row pod_set, std::vector<pod_row>& chunk) {
  const model::cluster_state& s = c.state();
  const model::sub_counts& n = c.counts(pod_set);
  std::int64_t wanted = std::max<std::int64_t>(1, s.subs[pod_set].min - n.active_allocated);
  if (n.pending == 0) return;
  for (pod_row p = s.subs[pod_set].first_pod; p != no_row && wanted > 0; p = s.pods[p].next) {
    if (static_cast<pod_status>(c.live.pod_state[p]) != pod_status::pending) continue;
    chunk.push_back(p);
    --wanted;
  }
}

void take_from(const core& c, sub_group_row member, std::vector<pod_row>& chunk);

/// As in KAI: the first `needed` members, of which those already satisfied are skipped.
void complete_compat(const core& c, sub_group_row set, std::vector<pod_row>& chunk) {
  const std::vector<sub_group_row> members = children_in_order(c, set);
  const auto needed = std::min<std::int64_t>(members_needed(c, set), static_cast<std::int64_t>(members.size()));
  for (std::int64_t i = 0; i < needed; ++i) {
    const sub_group_row member = members[static_cast<std::size_t>(i)];
    if (!is_satisfied(c, member)) take_from(c, member, chunk);
  }
}

/// Repaired: as many further members as are missing, of those that have enough pods.
void complete_strict(const core& c, sub_group_row set, std::vector<pod_row>& chunk) {
  std::int64_t missing = members_needed(c, set) - members_active(c, set);
  for (const sub_group_row member : children_in_order(c, set)) {
    if (missing <= 0) break;
    if (is_satisfied(c, member) || !is_ready(c, member)) continue;
    take_from(c, member, chunk);
    --missing;
  }
}

void take_from(const core& c, sub_group_row member, std::vector<pod_row>& chunk) {
  if (!c.state().subs[member].is_set) {
    take_pods(c, member, chunk);
    return;
  }
  if (!is_satisfied(c, member)) {
    if (c.compat())
      complete_compat(c, member, chunk);
    else
      complete_strict(c, member, chunk);
    return;
  }
  for (const sub_group_row child : children_in_order(c, member)) {
    const std::size_t before = chunk.size();
    if (!c.compat() && !is_ready(c, child)) continue;  // the reference starts a part of it
    take_from(c, child, chunk);
    if (chunk.size() > before) return;
  }
}

}  // namespace

std::int64_t members_active(const core& c, sub_group_row member) {
  const model::sub_info& info = c.state().subs[member];
  if (!info.is_set) return c.counts(member).active_allocated;
  std::int64_t satisfied = 0;
  for (sub_group_row child = info.first_child; child != no_row; child = c.state().subs[child].next_sibling) {
    satisfied += is_satisfied(c, child) ? 1 : 0;
  }
  return satisfied;
}

std::int64_t members_needed(const core& c, sub_group_row member) {
  const model::sub_info& info = c.state().subs[member];
  return info.is_set && info.min == unset ? info.members : info.min;
}

bool is_satisfied(const core& c, sub_group_row member) {
  return members_active(c, member) >= members_needed(c, member);
}

bool is_ready(const core& c, sub_group_row member) {
  const model::sub_info& info = c.state().subs[member];
  if (!info.is_set) return static_cast<std::int64_t>(c.counts(member).alive) - c.counts(member).gated >= info.min;
  std::int64_t ready = 0;
  for (sub_group_row child = info.first_child; child != no_row; child = c.state().subs[child].next_sibling) {
    ready += is_ready(c, child) ? 1 : 0;
  }
  return ready >= members_needed(c, member);
}

std::vector<sub_group_row> children_in_order(const core& c, sub_group_row set) {
  std::vector<sub_group_row> members;
  for (sub_group_row child = c.state().subs[set].first_child; child != no_row;
       child = c.state().subs[child].next_sibling) {
    members.push_back(child);  // in name order, which a stable sort keeps
  }
  std::stable_sort(members.begin(), members.end(), [&](sub_group_row a, sub_group_row b) {
    const bool a_satisfied = is_satisfied(c, a);
    const bool b_satisfied = is_satisfied(c, b);
    if (a_satisfied != b_satisfied) return b_satisfied;
    if (!a_satisfied) return false;
    bool equal = false;
    return less_filled(c, a, b, equal) && !equal;
  });
  return members;
}

bool must_wait_as_a_whole(const core& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = c.state().subs[sub];
    const model::sub_counts& n = c.counts(sub);
    if (!info.is_set && n.pipelined > 0 && static_cast<std::int64_t>(n.active_allocated) - n.pipelined < info.min)
      return true;
  }
  return false;
}

std::uint32_t count_pods(const core& c, group_row group, std::uint32_t model::sub_counts::* field) {
  const model::group_core& g = c.state().groups[group];
  std::uint32_t sum = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) sum += c.counts(sub).*field;
  return sum;
}

void next_chunk(const core& c, group_row group, std::vector<pod_row>& chunk) {
  const sub_group_row root = c.state().groups[group].first_sub;
  if (c.state().groups[group].sub_count == 2) {  // one pod set below the root: the tree decides nothing
    const std::int64_t needed = members_needed(c, root);
    if (needed == 1) {
      take_pods(c, root + 1, chunk);
      return;
    }
  }
  take_from(c, root, chunk);
}

model::quota_vector request_of(const core& c, std::span<const pod_row> chunk) {
  model::quota_vector sum{};
  for (const pod_row p : chunk) {
    const model::quota_vector one = model::quota_request(c.state().class_of(p));
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += one[r];
  }
  return sum;
}

}  // namespace kaisched::work
