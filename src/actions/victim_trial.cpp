#include "actions/victim_trial.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "actions/step_cost.hpp"
#include "actions/unit_remains.hpp"
#include "framework/members.hpp"
#include "framework/repeated_checks.hpp"

namespace kaisched::actions {

namespace {

/// Draws the steps for a set of these units. A set that is ruled out without a trial costs one step.
void draw_trial(framework::session_state& c, std::span<const victim_unit> units) {
  std::int64_t steps = steps_of_trial;
  for (const pod_row p : c.chunks.partial.chunk) steps += steps_of_pod(c, p);
  for (const victim_unit& one : units) {
    for (const pod_row p : one.pods) steps += steps_of_pod(c, p);
  }
  c.run.search_effort.draw(steps);
}

}  // namespace

result<bool> victim_trial::run(std::span<const victim_unit> units) {
  const std::uint32_t start = c_.statement.depth();
  for (const own_places own : {own_places::like_others, own_places::first}) {
    result<bool> helps = run(units, own);
    if (!helps || !*helps || moves_little(units)) return helps;
    c_.statement.rollback(start);
  }
  return false;
}

result<void> victim_trial::leave_out([[maybe_unused]] std::span<const victim_unit> units) {
  c_.run.search_effort.draw(1);
#ifdef KAISCHED_CHECKS
  if (!framework::is_repeated(++left_out_)) return {};
  const action_statistics statistics = c_.results.statistics.back();
  const std::uint64_t sets = c_.run.sets_tried;
  const framework::effort effort = c_.run.search_effort;
  const std::uint32_t start = c_.statement.depth();
  victim_rules quiet = rules_;  // which tells nothing
  quiet.refused = nullptr;
  quiet.over_budget = nullptr;
  quiet.moved_too_much = nullptr;
  const result<bool> helps = victim_trial(c_, waiting_, quiet, plan_).run(units);
  c_.statement.rollback(start);
  c_.run.search_effort = effort;
  c_.results.statistics.back() = statistics;
  c_.run.sets_tried = sets;
  if (!helps) return helps.failure();
  if (*helps) return error{status::internal, "invariant violated: a set that has no room helps", {}};
#endif
  return {};
}

bool victim_trial::moves_little(std::span<const victim_unit> units) const {
  if (!rules_.moves_little || rules_.moves_little({waiting_, {}, {units.begin(), units.end()}})) return true;
  if (rules_.moved_too_much != nullptr) *rules_.moved_too_much = true;
  return false;
}

result<bool> victim_trial::decide(std::span<const victim_unit> units) {
  const std::uint32_t start = c_.statement.depth();
  // A pod in its own place has its status again.
  const auto count_moved = [&] {
    std::size_t moved = 0;
    for (const victim_unit& one : units)
      moved += static_cast<std::size_t>(std::count_if(one.pods.begin(), one.pods.end(), [&](pod_row p) {
        return static_cast<pod_status>(c_.live.pod_state[p]) == pod_status::pipelined;
      }));
    return moved;
  };
  const auto find_lost = [&] {
    std::vector<pod_row> lost;
    for (const victim_unit& one : units)
      std::copy_if(one.pods.begin(), one.pods.end(), std::back_inserter(lost),
                   [&](pod_row p) { return !framework::is_active(c_, p); });
    return lost;
  };
  result<bool> helps = run(units);
  if (!helps || !*helps) return helps;
  const std::size_t moved = count_moved();
  if (moved < 2) return true;  // a single one has no other to change places with
  const std::vector<pod_row> lost = find_lost();
  c_.statement.rollback(start);
  helps = run(units, own_places::first);
  if (!helps) return helps;
  if (*helps) {
    if (count_moved() < moved && find_lost() == lost) return true;
    c_.statement.rollback(start);
  }
  return run(units);
}

result<bool> victim_trial::run(std::span<const victim_unit> units, own_places own) {
  const std::uint32_t start = c_.statement.depth();
  ++c_.results.statistics.back().candidates;
  ++c_.run.sets_tried;
  draw_trial(c_, units);
  for (const victim_unit& one : units) {
    for (const pod_row p : one.pods) c_.statement.evict(p);
  }
  framework::failure why;
  result<bool> placed = place_group(c_, waiting_, {true, nullptr, plan_}, why);
  if (!placed) return placed;
  was_placed_ = *placed;
  if (*placed) {
    if (auto done = place_again(units, own); !done) return done.failure();
    if (accepted(c_, rules_, {waiting_, {}, {units.begin(), units.end()}})) return true;
  }
  c_.statement.rollback(start);
  return false;
}

result<void> victim_trial::place_again(std::span<const victim_unit> units, own_places own) {
  std::map<group_row, std::vector<pod_row>> pods;
  std::vector<group_row> groups;
  for (const victim_unit& one : units) {
    std::vector<pod_row>& gone = pods[one.group];
    if (gone.empty()) groups.push_back(one.group);
    gone.insert(gone.end(), one.pods.begin(), one.pods.end());
  }
  const auto place = [&](group_row group) -> result<void> {
    if (own == own_places::first) {
      if (auto done = bring_back(group, pods[group]); !done) return done;
    }
    return actions::place_again(c_, group, std::move(pods[group]));
  };
  if (groups.size() == 1) return place(groups.front());
  job_queue queue(c_, 0);
  if (auto done = queue.fill(groups); !done) return done;
  while (!queue.empty()) {
    result<group_row> next = queue.pop();
    if (!next) return next.failure();
    if (auto done = place(*next); !done) return done;
  }
  return {};
}

/// Each pod for itself, in their order: to where it was, and to the devices that it had.
result<void> victim_trial::bring_back(group_row group, std::span<const pod_row> pods) {
  if (has_units(c_, group)) return {};  // they come back in whole units
  framework::partial_group waiting = c_.chunks.set_part_aside();
  result<void> outcome;
  framework::node_set own(c_.state().node_count(), 0);
  const std::set<pod_row> gone(pods.begin(), pods.end());
  for (const pod_row p : pods_of(c_, group)) {
    if (!gone.contains(p)) continue;
    const node_row row = node_of(c_, p);
    const std::uint32_t before = c_.statement.depth();
    own[row] = 1;
    c_.chunks.take_part(group, std::span(&p, 1));
    framework::failure why;
    result<bool> placed = place_group(c_, group, {true, &own, nullptr}, why);
    own[row] = 0;
    if (!placed) {
      outcome = placed.failure();
      break;
    }
    if (*placed && (!framework::is_active(c_, p) || c_.statement.eviction_of(p) != no_row))
      c_.statement.rollback(before);
  }
  c_.chunks.resume_part(std::move(waiting));
  return outcome;
}

result<void> place_again(framework::session_state& c, group_row group, std::vector<pod_row> pods) {
  framework::partial_group waiting = c.chunks.set_part_aside();
  result<void> outcome;
  // With roles in units a part of them comes back with whole units or not at all.
  const bool keeps_units = has_units(c, group);
  const std::size_t broken = keeps_units ? unit_remains(c, group).size() : 0;
  const std::uint32_t start = c.statement.depth();
  std::uint32_t whole = start;
  while (true) {
    std::erase_if(pods, [&](pod_row p) { return framework::is_active(c, p); });
    if (pods.empty()) break;
    c.chunks.take_part(group, pods);
    if (c.chunks.partial.chunk.empty()) break;
    framework::failure why;
    result<bool> placed = place_group(c, group, {true, nullptr, nullptr}, why);
    if (!placed) outcome = placed.failure();
    if (!placed || !*placed) break;
    if (keeps_units && unit_remains(c, group).size() <= broken) whole = c.statement.depth();
  }
  c.chunks.resume_part(std::move(waiting));
  if (!keeps_units) return outcome;
  c.statement.rollback(whole);
  if (whole > start && !framework::is_satisfied(c, c.state().groups[group].first_sub)) c.statement.rollback(start);
  return outcome;
}

}  // namespace kaisched::actions
