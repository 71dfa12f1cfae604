#include <algorithm>
#include <array>

#include "actions/actions.hpp"
#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using work::core;
using work::failure;

/// One attempt; the statement is committed or empty afterwards.
result<bool> try_group(core& c, group_row group) {
  ++c.statistics.back().groups_tried;
  failure why;
  const bool had_started = work::count_pods(c, group, &model::sub_counts::holding) > 0;
  result<bool> placed = place_group(c, group, {}, why);
  if (!placed) return placed;
  if (!*placed) {
    c.failures.push_back(why);
    return false;
  }
  const bool waits = work::must_wait_as_a_whole(c, group);
  if (waits) c.convert_to_pipelined(group);
  if (auto done = commit_group(c, group, waits, had_started); !done) return done.failure();
  return true;
}

}  // namespace

result<void> allocate(core& c) {
  job_queue queue(c, static_cast<std::size_t>(c.options.allocate_queue_depth));
  if (auto done = queue.fill(groups_to_start(c)); !done) return done;
  const bool stops_at_head =
      std::find(c.options.actions.begin(), c.options.actions.end(), "backfill") != c.options.actions.end();
  while (!queue.empty()) {
    result<group_row> next = queue.pop();
    if (!next) return next.failure();
    const group_row group = *next;
    result<bool> placed = try_group(c, group);
    if (!placed) return placed.failure();
    if (!*placed && stops_at_head) {
      result<bool> head = is_head(c, c.failures.back());
      if (!head) return head.failure();
      if (*head) break;  // the rest is left to backfill
    }
    if (*placed && work::count_pods(c, group, &model::sub_counts::pending) > 0) {
      if (auto done = queue.push(group); !done) return done;  // the next elastic pod competes again
    }
  }
  return {};
}

std::span<const action_entry> action_list() noexcept {
  static constexpr std::array entries{
      action_entry{"allocate", action_kind::allocate, allocate},
      action_entry{"consolidation", action_kind::consolidation, consolidation},
      action_entry{"reclaim", action_kind::reclaim, reclaim},
      action_entry{"preempt", action_kind::preempt, preempt},
      action_entry{"stalegangeviction", action_kind::stale_gang_eviction, evict_stale_gangs},
      action_entry{"backfill", action_kind::backfill, backfill},
  };
  return entries;
}

}  // namespace kaisched::actions
