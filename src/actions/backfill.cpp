// Small groups fill what is free while a larger one waits, and do not delay it.
#include <algorithm>
#include <optional>

#include "actions/actions.hpp"
#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "actions/runtime.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using work::core;
using work::failure;

/// The group at the head, and from when on it has a place.
struct reservation {
  group_row head = no_row;
  std::int64_t when = unset;  ///< unset: nobody knows
};

/// When a group is expected to have ended, not before now; `unset` if nobody knows.
std::int64_t end_of(const core& c, group_row group, std::int64_t started) {
  const std::int64_t estimate = c.state().group_extras[group].runtime_estimate;
  if (estimate < 0 || started == unset) return unset;
  return std::max(c.now, later_by(started, estimate));
}

/// The same for a group that holds something. One that only has claims starts with them.
std::int64_t end_of(const core& c, group_row group) {
  const bool runs = work::count_pods(c, group, &model::sub_counts::holding) > 0;
  return end_of(c, group, runs ? c.last_start(group) : c.now);
}

struct expected_end {
  group_row group;
  std::int64_t when;  ///< unset: unknown
};

/// Groups that hold something, those that end first in front; unknown ends are last.
std::vector<expected_end> ends_without(core& c, group_row head) {
  std::vector<expected_end> ends;
  for (const group_row g : c.groups_in_order()) {
    if (g != head && work::count_pods(c, g, &model::sub_counts::active_allocated) > 0)
      ends.push_back({g, end_of(c, g)});
  }
  std::stable_sort(ends.begin(), ends.end(), [](const expected_end& a, const expected_end& b) {
    return a.when != unset && (b.when == unset || a.when < b.when);
  });
  return ends;
}

void finish(core& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
      if (model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated)) c.finish(p);
    }
  }
}

/// The group has a place as things stand in the statement.
result<bool> has_place(core& c, group_row group) {
  const std::uint32_t start = c.depth();
  failure why;
  result<bool> placed = place_group(c, group, {}, why);
  c.rollback(start);
  return placed;
}

/// Nothing if the group finds no place even when all others are gone.
result<std::optional<reservation>> reserve(core& c, group_row head) {
  const std::vector<expected_end> ends = ends_without(c, head);
  const std::uint32_t start = c.depth();
  std::optional<reservation> found;
  for (std::size_t i = 0; i < ends.size() && !found; ++i) {
    finish(c, ends[i].group);
    if (i + 1 < ends.size() && ends[i + 1].when == ends[i].when) continue;  // together
    result<bool> placed = has_place(c, head);
    if (!placed) return placed.failure();
    if (*placed) found = reservation{head, ends[i].when};
  }
  c.rollback(start);
  return found;
}

/// Only who lacks its gang, and lacks room for it, waits for others to end.
result<std::optional<reservation>> reserve(core& c, const failure& of) {
  const bool lacks_room =
      of.what == constraint::none && of.pod != no_row && !work::is_satisfied(c, c.state().groups[of.group].first_sub);
  const bool impossible = lacks_room && c.has_predicates &&
                          policy::judge_cluster(c.access, c.state().class_of(of.pod)).what != constraint::none;
  if (!lacks_room || impossible) return std::optional<reservation>{};
  return reserve(c, of.group);
}

/// Beside the group that the statement has placed, the head has its place at the time of its reservation.
result<bool> keeps(core& c, const reservation& of, group_row group) {
  const std::uint32_t start = c.depth();
  for (const expected_end& one : ends_without(c, of.head)) {
    if (one.when == unset || one.when > of.when) break;
    if (one.group != group) finish(c, one.group);
  }
  result<bool> placed = has_place(c, of.head);
  c.rollback(start);
  return placed;
}

/// Whatever the head needs can be taken from the group.
bool yields(const core& c, group_row group, group_row head) {
  const model::group_core& mine = c.state().groups[group];
  const model::group_core& first = c.state().groups[head];
  if (mine.preemptible && (mine.queue != first.queue || mine.priority < first.priority)) return true;
  return std::all_of(c.log.begin(), c.log.end(), [&](const work::operation& op) {
    const model::quota_vector asks = c.asked(c.state().class_of(op.pod));
    return std::all_of(asks.begin(), asks.end(), [](std::int64_t amount) { return amount == 0; });
  });
}

/// What the statement has placed does not delay the head.
result<bool> delays_nobody(core& c, const reservation& of, group_row group, bool had_started) {
  if (of.when == unset) return yields(c, group, of.head);
  const bool starts_now = std::all_of(
      c.log.begin(), c.log.end(), [](const work::operation& op) { return op.kind == work::operation_kind::allocate; });
  const std::int64_t end = end_of(c, group, had_started ? c.last_start(group) : c.now);
  if (starts_now && end != unset && end <= of.when) return true;
  return keeps(c, of, group);
}

}  // namespace

result<bool> is_head(core& c, const failure& of) {
  result<std::optional<reservation>> found = reserve(c, of);
  if (!found) return found.failure();
  return found->has_value();
}

result<std::int64_t> earliest_start(core& c, group_row group) {
  c.prepare_classes();
  result<bool> at_once = has_place(c, group);
  if (!at_once) return at_once.failure();
  if (*at_once) return c.now;
  const result<std::optional<reservation>> found = reserve(c, group);
  if (!found) return found.failure();
  return *found ? (*found)->when : unset;
}

result<void> backfill(core& c) {
  job_queue queue(c, static_cast<std::size_t>(c.options.allocate_queue_depth));
  if (auto done = queue.fill(groups_to_start(c)); !done) return done;
  std::optional<reservation> first;
  while (!queue.empty()) {
    result<group_row> next = queue.pop();
    if (!next) return next.failure();
    const group_row group = *next;
    ++c.statistics.back().groups_tried;
    failure why;
    const bool had_started = work::count_pods(c, group, &model::sub_counts::holding) > 0;
    result<bool> placed = place_group(c, group, {}, why);
    if (!placed) return placed.failure();
    if (!*placed) {
      c.failures.push_back(why);
      if (first) continue;
      result<std::optional<reservation>> found = reserve(c, why);
      if (!found) return found.failure();
      first = *found;
      continue;
    }
    const bool waits = work::must_wait_as_a_whole(c, group);
    if (waits) c.convert_to_pipelined(group);
    if (first) {
      result<bool> good = delays_nobody(c, *first, group, had_started);
      if (!good) return good.failure();
      if (!*good) {
        c.rollback(0);
        why = {};
        why.group = group;
        why.what = constraint::reservation;
        why.head = first->head;
        c.failures.push_back(why);
        continue;
      }
    }
    result<bool> starts = waits ? result<bool>(true) : permit_start(c, group);
    if (!starts) return starts.failure();
    if (!*starts) continue;
    if (auto done = commit_group(c, group, waits, had_started); !done) return done;
    if (work::count_pods(c, group, &model::sub_counts::pending) > 0) {
      if (auto done = queue.push(group); !done) return done;
    }
  }
  return {};
}

}  // namespace kaisched::actions
