// Small groups fill what is free while larger ones wait, and do not delay them.
#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "actions/actions.hpp"
#include "actions/job_queue.hpp"
#include "actions/node_promises.hpp"
#include "actions/placement.hpp"
#include "actions/runtime.hpp"
#include "actions/timetable.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

using framework::failure;
using framework::session_state;

namespace {

/// Whose reservation the group delays that the statement has placed. The first reservation is asked
/// before the others are made: mostly it says no.
/// @param waits it cannot start before others have left
result<group_row> delayed_by(session_state& c, timetable& times, group_row group, bool waits, bool had_started) {
  for (;;) {
    result<group_row> delayed = times.delayed_by(group, had_started);
    if (!delayed || *delayed != no_row || !times.has_more()) return delayed;
    c.statement.rollback(0);
    if (auto done = times.make_more(); !done) return done.failure();
    failure why;
    result<bool> placed = place_group(c, group, {}, why);  // as before
    if (!placed) return placed.failure();
    if (waits) c.statement.convert_to_pipelined(group);
  }
}

/// Counts the groups that are looked at, from the first that does not start on.
class looked_at {
 public:
  explicit looked_at(const session_state& c) : most_(c.options.backfill_groups) {}
  [[nodiscard]] bool is_enough() const { return most_ != 0 && count_ >= most_; }
  void add(bool starts) { count_ += !starts || count_ > 0 ? 1 : 0; }

 private:
  std::int64_t most_;
  std::int64_t count_ = 0;
};

/// A group that has its place starts, unless a part says no. What else of it waits competes again.
result<void> start(session_state& c, job_queue& queue, group_row group, bool waits, bool had_started) {
  const result<bool> starts = start_placed(c, group, waits, had_started);
  if (!starts) return starts.failure();
  if (!*starts) return {};
  if (framework::count_pods(c, group, &model::sub_counts::pending) > 0) return queue.push(group);
  return {};
}

failure held_back(group_row group, group_row by) {
  failure why;
  why.group = group;
  why.what = constraint::reservation;
  why.head = by;
  return why;
}

/// Groups that have a deadline, say how long they run and wait for their gangs, the oldest first: who comes later takes
/// nothing of what was promised before.
class deadline_keeper {
 public:
  deadline_keeper(session_state& c, timetable& times) : c_(c), times_(times) {}

  result<void> run() {
    std::vector<group_row> groups;
    std::ranges::copy_if(groups_to_start(c_), std::back_inserter(groups), [&](group_row g) { return is_judged(g); });
    std::ranges::sort(groups, [&](group_row a, group_row b) {
      const auto& all = c_.state().groups;
      if (all[a].created != all[b].created) return all[a].created < all[b].created;
      return c_.state().group_names[a] < c_.state().group_names[b];
    });
    for (const group_row g : groups) {
      if (auto on = c_.run.go_on(); !on) return on;
      if (auto done = judge(g); !done) return done;
    }
    return {};
  }

  [[nodiscard]] bool is_judged(group_row g) const {
    const model::group_extra& extra = c_.state().group_extras[g];
    return extra.deadline != unset && extra.runtime_estimate >= 0 &&
           !framework::is_satisfied(c_, c_.state().groups[g].first_sub);
  }

 private:
  /// It starts, has a time, or is refused.
  result<void> judge(group_row g) {
    ++c_.results.statistics.back().groups_tried;
    const std::int64_t deadline = c_.state().group_extras[g].deadline;
    const bool had_started = framework::count_pods(c_, g, &model::sub_counts::holding) > 0;
    failure why;
    result<bool> placed = place_group(c_, g, {}, why);
    if (!placed) return placed.failure();
    if (*placed) {
      const bool waits = framework::must_wait_as_a_whole(c_, g);
      if (waits) c_.statement.convert_to_pipelined(g);
      const result<group_row> delayed = times_.delayed_by(g, had_started);
      if (!delayed) return delayed.failure();
      const std::int64_t end = expected_end(c_, g, c_.now);
      if (*delayed == no_row && end <= deadline) {
        const result<bool> starts = start_placed(c_, g, waits, had_started);
        return starts ? result<void>{} : result<void>(starts.failure());
      }
      c_.statement.rollback(0);
      if (*delayed == no_row) return refuse(g, end);
      why = held_back(g, *delayed);
    } else if (!lacks_room(c_, why)) {
      c_.results.failures.push_back(why);
      return {};
    }
    const result<reservation> found = times_.promise(g, deadline);
    if (!found) return found.failure();
    const bool is_kept = found->group == no_row || (found->end != unset && found->end <= deadline);
    if (!is_kept) return refuse(g, found->end);
    c_.results.failures.push_back(why);
    return {};
  }

  result<void> refuse(group_row g, std::int64_t end) {
    failure why;
    why.group = g;
    why.what = constraint::deadline;
    why.need = end == unset ? -1 : time_until(c_, end);
    why.have = time_until(c_, c_.state().group_extras[g].deadline);
    c_.results.failures.push_back(why);
    return {};
  }

  session_state& c_;
  timetable& times_;
};

/// Reservations are times.
result<void> backfill_around_times(session_state& c, job_queue& queue) {
  timetable times(c, static_cast<std::size_t>(c.options.backfill_reservations));
  std::vector<group_row> groups = groups_to_start(c);
  if (c.options.backfill_deadlines) {
    deadline_keeper deadlines(c, times);
    if (auto done = deadlines.run(); !done) return done;
    groups = groups_to_start(c);
    std::erase_if(groups, [&](group_row g) { return deadlines.is_judged(g); });
  }
  if (auto done = queue.fill(groups); !done) return done;
  looked_at looked(c);
  while (!queue.empty() && !looked.is_enough()) {
    if (auto on = c.run.go_on(); !on) return on;
    result<group_row> next = queue.pop();
    if (!next) return next.failure();
    const group_row group = *next;
    ++c.results.statistics.back().groups_tried;
    failure why;
    const bool had_started = framework::count_pods(c, group, &model::sub_counts::holding) > 0;
    result<bool> placed = place_group(c, group, {}, why);
    if (!placed) return placed.failure();
    if (!*placed) {
      c.results.failures.push_back(why);
      times.add(why);
      looked.add(false);
      continue;
    }
    const bool waits = framework::must_wait_as_a_whole(c, group);
    if (waits) c.statement.convert_to_pipelined(group);
    const result<group_row> delayed = delayed_by(c, times, group, waits, had_started);
    if (!delayed) return delayed.failure();
    looked.add(*delayed == no_row);
    if (*delayed != no_row) {
      c.statement.rollback(0);
      c.results.failures.push_back(held_back(group, *delayed));
      times.add(group);
      continue;
    }
    if (auto done = start(c, queue, group, waits, had_started); !done) return done;
  }
  return {};
}

/// Reservations are nodes.
result<void> backfill_around_nodes(session_state& c, job_queue& queue) {
  if (auto done = queue.fill(groups_to_start(c)); !done) return done;
  node_promises promises(c, static_cast<std::size_t>(c.options.backfill_reservations));
  looked_at looked(c);
  while (!queue.empty() && !looked.is_enough()) {
    if (auto on = c.run.go_on(); !on) return on;
    result<group_row> next = queue.pop();
    if (!next) return next.failure();
    const group_row group = *next;
    ++c.results.statistics.back().groups_tried;
    failure why;
    const bool had_started = framework::count_pods(c, group, &model::sub_counts::holding) > 0;
    result<bool> placed = place_group(c, group, {}, why);
    if (!placed) return placed.failure();
    bool may_wait = !*placed && lacks_room(c, why);
    const std::optional<framework::node_set> open = *placed ? promises.open_to(group) : std::nullopt;
    if (open) {
      c.statement.rollback(0);
      placing how;
      how.among = &*open;
      placed = place_group(c, group, how, why);
      if (!placed) return placed.failure();
      if (!*placed) why = held_back(group, promises.in_the_way_of(group));
      may_wait = !*placed && !framework::is_satisfied(c, c.state().groups[group].first_sub);
    }
    looked.add(*placed);
    if (!*placed) {
      c.results.failures.push_back(why);
      if (!may_wait) continue;
      if (auto done = promises.add(group); !done) return done;
      continue;
    }
    const bool waits = framework::must_wait_as_a_whole(c, group);
    if (waits) c.statement.convert_to_pipelined(group);
    if (auto done = start(c, queue, group, waits, had_started); !done) return done;
  }
  return {};
}

}  // namespace

result<void> backfill(session_state& c) {
  job_queue queue(c, static_cast<std::size_t>(c.options.allocate_queue_depth));
  const bool of_nodes = c.options.backfill_promises == promise_kind::nodes && !c.options.backfill_deadlines;
  return of_nodes ? backfill_around_nodes(c, queue) : backfill_around_times(c, queue);
}

}  // namespace kaisched::actions
