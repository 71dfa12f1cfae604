// Small groups fill what is free while larger ones wait, and do not delay them.
#include "actions/actions.hpp"
#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "actions/timetable.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

using work::core;
using work::failure;

namespace {

/// Whose reservation the group delays that the statement has placed. The first reservation is asked
/// before the others are made: mostly it says no.
/// @param waits it cannot start before others have left
result<group_row> delayed_by(core& c, timetable& times, group_row group, bool waits, bool had_started) {
  for (;;) {
    result<group_row> delayed = times.delayed_by(group, had_started);
    if (!delayed || *delayed != no_row || !times.has_more()) return delayed;
    c.rollback(0);
    if (auto done = times.make_more(); !done) return done.failure();
    failure why;
    result<bool> placed = place_group(c, group, {}, why);  // as before
    if (!placed) return placed.failure();
    if (waits) c.convert_to_pipelined(group);
  }
}

}  // namespace

result<void> backfill(core& c) {
  job_queue queue(c, static_cast<std::size_t>(c.options.allocate_queue_depth));
  if (auto done = queue.fill(groups_to_start(c)); !done) return done;
  timetable times(c, static_cast<std::size_t>(c.options.backfill_reservations));
  while (!queue.empty()) {
    if (auto on = c.go_on(); !on) return on;
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
      times.add(why);
      continue;
    }
    const bool waits = work::must_wait_as_a_whole(c, group);
    if (waits) c.convert_to_pipelined(group);
    const result<group_row> delayed = delayed_by(c, times, group, waits, had_started);
    if (!delayed) return delayed.failure();
    if (*delayed != no_row) {
      c.rollback(0);
      why = {};
      why.group = group;
      why.what = constraint::reservation;
      why.head = *delayed;
      c.failures.push_back(why);
      times.add(group);
      continue;
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
