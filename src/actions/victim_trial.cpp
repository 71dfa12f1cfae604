#include "actions/victim_trial.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "actions/unit_remains.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

void draw_trial(work::core& c, std::span<const victim_unit> units) {
  std::size_t pods = c.partial.chunk.size();
  for (const victim_unit& one : units) pods += one.pods.size();
  c.search_effort.draw(steps_of_trial + static_cast<std::int64_t>(pods));
}

result<bool> victim_trial::run(std::span<const victim_unit> units) {
  const std::uint32_t start = c_.depth();
  ++c_.statistics.back().candidates;
  ++c_.sets_tried;
  draw_trial(c_, units);
  for (const victim_unit& one : units) {
    for (const pod_row p : one.pods) c_.evict(p);
  }
  work::failure why;
  result<bool> placed = place_group(c_, waiting_, {true, nullptr, plan_}, why);
  if (!placed) return placed;
  was_placed_ = *placed;
  if (*placed) {
    if (auto done = place_again(units); !done) return done.failure();
    if (accepted(c_, rules_, {waiting_, {}, {units.begin(), units.end()}})) return true;
  }
  c_.rollback(start);
  return false;
}

result<void> victim_trial::place_again(std::span<const victim_unit> units) {
  std::map<group_row, std::vector<pod_row>> pods;
  std::vector<group_row> groups;
  for (const victim_unit& one : units) {
    std::vector<pod_row>& own = pods[one.group];
    if (own.empty()) groups.push_back(one.group);
    own.insert(own.end(), one.pods.begin(), one.pods.end());
  }
  if (groups.size() == 1) return actions::place_again(c_, groups.front(), std::move(pods[groups.front()]));
  job_queue queue(c_, 0);
  if (auto done = queue.fill(groups); !done) return done;
  while (!queue.empty()) {
    result<group_row> next = queue.pop();
    if (!next) return next.failure();
    if (auto done = actions::place_again(c_, *next, std::move(pods[*next])); !done) return done;
  }
  return {};
}

result<void> place_again(work::core& c, group_row group, std::vector<pod_row> pods) {
  work::partial_group waiting = c.set_part_aside();
  result<void> outcome;
  // With roles in units a part of them comes back with whole units or not at all.
  const bool keeps_units = has_units(c, group);
  const std::size_t broken = keeps_units ? unit_remains(c, group).size() : 0;
  const std::uint32_t start = c.depth();
  std::uint32_t whole = start;
  while (true) {
    std::erase_if(pods, [&](pod_row p) { return work::is_active(c, p); });
    if (pods.empty()) break;
    c.take_part(group, pods);
    if (c.partial.chunk.empty()) break;
    work::failure why;
    result<bool> placed = place_group(c, group, {true, nullptr, nullptr}, why);
    if (!placed) outcome = placed.failure();
    if (!placed || !*placed) break;
    if (keeps_units && unit_remains(c, group).size() <= broken) whole = c.depth();
  }
  c.resume_part(std::move(waiting));
  if (!keeps_units) return outcome;
  c.rollback(whole);
  if (whole > start && !work::is_satisfied(c, c.state().groups[group].first_sub)) c.rollback(start);
  return outcome;
}

}  // namespace kaisched::actions
