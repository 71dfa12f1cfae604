#include "session/replay.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "framework/members.hpp"

namespace kaisched::session_detail {

namespace {

using framework::session_state;
using policy::free_amount;

void replay_placement(session_state& onto, const decision& d, bool same_commit) {
  framework::place now{d.node, false, d.devices, {}};
  // A gang that cannot start as a whole becomes claims after its last pod: until then its pods held what was free.
  const model::pod_class& ask = onto.state().class_of(d.pod);
  const bool held = same_commit && d.kind == decision_kind::pipeline &&
                    policy::amounts_fit(onto.access, ask, d.node, free_amount::idle,
                                        policy::gpus_paid(onto.access, d.pod, d.node, free_amount::idle)) &&
                    onto.constraints.resources_allow(onto.access, d.pod, d.node, free_amount::idle) &&
                    onto.choice.choose_devices(onto, d.pod, d.node, free_amount::idle, now) &&
                    framework::fits_with_devices(onto, d.pod, now);
  if (d.kind == decision_kind::bind || d.kind == decision_kind::migrate || held) {
    onto.statement.allocate(d.pod, d.node, held ? now.devices : d.devices, held ? now.groups : policy::group_ids{});
  } else {
    onto.statement.pipeline(d.pod, d.node, d.devices);
  }
}

/// Repeats one commit: who leaves, devices that are divided, and of the placements those before `end`.
void replay_commit(session_state& onto, std::span<const decision> one, std::span<const framework::division>& divisions,
                   std::size_t end, bool is_asked_about) {
  for (const decision& d : one) {
    if (takes_away(d) && onto.live.pod_node[d.pod] != no_row) onto.statement.evict(d.pod);  // else a place was given up
  }
  for (const decision& d : one) {
    if (d.kind != decision_kind::repartition) continue;
    onto.statement.divide(divisions.front());
    divisions = divisions.subspan(1);  // they are in the order of their decisions
  }
  for (std::size_t i = 0; i < std::min(one.size(), end); ++i) {
    if (is_placement(one[i])) replay_placement(onto, one[i], is_asked_about);
  }
}

std::span<const decision> commit_from(std::span<const decision> all) {
  const auto end =
      std::find_if(all.begin(), all.end(), [&](const decision& d) { return d.commit != all.front().commit; });
  return all.first(static_cast<std::size_t>(end - all.begin()));
}

}  // namespace

bool is_placement(const decision& d) {
  return d.kind != decision_kind::evict && d.kind != decision_kind::unschedulable &&
         d.kind != decision_kind::repartition;
}

bool takes_away(const decision& d) {
  return d.kind == decision_kind::evict || d.kind == decision_kind::move || d.kind == decision_kind::migrate;
}

std::size_t placement_of(const session_state& c, pod_row pod) {
  for (std::size_t i = c.results.decisions.size(); i-- > 0;) {
    if (c.results.decisions[i].pod == pod && is_placement(c.results.decisions[i])) return i;
  }
  return c.results.decisions.size();
}

void replay_before(session_state& onto, const session_state& of, std::size_t end) {
  std::span<const framework::division> divisions = of.statement.divisions;
  const std::span<const decision> all = of.results.decisions;
  for (std::size_t first = 0; first <= end;) {
    const std::span<const decision> one = commit_from(all.subspan(first));
    replay_commit(onto, one, divisions, end - first, first + one.size() > end);
    first += one.size();
  }
}

void replay_commits(session_state& onto, const session_state& of, std::uint32_t before) {
  std::span<const framework::division> divisions = of.statement.divisions;
  for (std::span<const decision> left = of.results.decisions; !left.empty() && left.front().commit < before;) {
    const std::span<const decision> one = commit_from(left);
    std::vector<group_row> starting;  // those that held nothing before
    for (const decision& d : one) {
      const bool starts = d.kind == decision_kind::bind;
      if (starts && framework::count_pods(onto, d.group, &model::sub_counts::holding) == 0) starting.push_back(d.group);
    }
    replay_commit(onto, one, divisions, one.size(), false);
    for (const group_row g : starting) onto.groups.note_start(g);
    onto.run.action = one.front().action;
    onto.statement.commit();
    left = left.subspan(one.size());
  }
  onto.run.action = action_kind::none;
}

}  // namespace kaisched::session_detail
