#include "actions/nominations.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "actions/placement.hpp"
#include "framework/members.hpp"
#include "model/account.hpp"

namespace kaisched::actions {

namespace {

using framework::session_state;

/// Pods of one group for which places are kept.
struct nominated_group {
  group_row group = no_row;
  std::vector<pod_row> pods;
};

/// By priority, age and name, with their pods in the order of their sets.
std::vector<nominated_group> nominated_groups(const session_state& c) {
  const model::cluster_state& s = c.state();
  std::vector<group_row> groups;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live && s.pods[p].sub != no_row && c.nominated_node(p) != no_row) groups.push_back(s.pods[p].group);
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  std::sort(groups.begin(), groups.end(), [&](group_row a, group_row b) { return model::group_before(s, a, b); });
  std::vector<nominated_group> found;
  for (const group_row g : groups) {
    nominated_group& one = found.emplace_back();
    one.group = g;
    const model::group_core& group = s.groups[g];
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
        if (c.nominated_node(p) != no_row) one.pods.push_back(p);
      }
    }
  }
  return found;
}

bool is_over(const session_state& c, pod_row p) {
  const std::int64_t since = c.state().told_of(p).nominated_since;
  const std::int64_t timeout = c.options.nomination_timeout;
  return timeout >= 0 && since != unset && c.now - since >= timeout;
}

bool may_use(const session_state& c, pod_row pod, node_row node) {
  return !c.has_predicates || policy::node_verdict(c.access, c.state().class_of(pod), node) == constraint::none;
}

bool hold(session_state& c, const nominated_group& one) {
  if (!c.queues.is_schedulable_queue(c.state().groups[one.group].queue)) return false;
  framework::failure why;
  framework::pod_list waiting;
  for (const pod_row p : one.pods) waiting.push_back(p);
  if (c.has_proportion && c.queues.refuse(one.group, framework::least_request_of(c, waiting), waiting, why))
    return false;
  return std::all_of(one.pods.begin(), one.pods.end(), [&](pod_row p) {
    const node_row node = c.nominated_node(p);
    return !is_over(c, p) && may_use(c, p, node) && put_on(c, p, node, false);
  });
}

bool is_held(const session_state& c, pod_row p) {
  return static_cast<pod_status>(c.live.pod_state[p]) == pod_status::pipelined;
}

/// Still on the node from which it moves.
bool is_leaving_yet(const session_state& c, pod_row p) {
  return static_cast<pod_status>(c.state().live.pod_state[p]) != pod_status::pending;
}

/// The gangs of the group are whole with the places that are held: else these are only where its pods would rather be.
bool makes_whole(const session_state& c, group_row group) {
  return framework::is_satisfied(c, c.state().groups[group].first_sub);
}

/// Starts the pods where their places are: false, and nothing is done, if one of them cannot.
bool start_in_places(session_state& c, group_row group, std::span<const pod_row> pods) {
  for (const pod_row p : pods) {
    const node_row node = (*c.state().node_row_of_slot)[c.live.pod_node[p]];
    const device_set devices = c.live.pod_devices[p];
    c.statement.withdraw(p);
    if (c.statement.start_in_place(p, node, devices)) continue;
    c.statement.rollback(0);
    return false;
  }
  if (!framework::must_wait_as_a_whole(c, group)) return true;
  c.statement.rollback(0);
  return false;
}

/// The same anywhere but on nodes where the places are not free yet.
result<bool> start_elsewhere(session_state& c, group_row group, std::span<const pod_row> pods) {
  framework::node_set among(c.state().node_count(), 1);
  for (const pod_row p : pods) {
    const node_row node = (*c.state().node_row_of_slot)[c.live.pod_node[p]];
    const device_set devices = c.live.pod_devices[p];
    c.statement.withdraw(p);
    if (!c.statement.start_in_place(p, node, devices)) among[node] = 0;
    c.statement.rollback(0);
  }
  for (const pod_row p : pods) c.statement.withdraw(p);
  framework::failure why;
  result<bool> placed = place_group(c, group, {false, &among, nullptr}, why);
  if (!placed) return placed;
  const bool starts =
      *placed && !framework::must_wait_as_a_whole(c, group) && std::all_of(pods.begin(), pods.end(), [&](pod_row p) {
        return static_cast<pod_status>(c.live.pod_state[p]) == pod_status::allocated;
      });
  if (!starts) c.statement.rollback(0);
  return starts;
}

/// Where pods are in cells only the action `hived` can say: it gets them back when their places are free.
bool starts_in_cells(const session_state& c) {
  return std::find(c.options.actions.begin(), c.options.actions.end(), "hived") != c.options.actions.end();
}

/// Commits what the statement starts, if it starts anything.
result<void> commit_start(session_state& c, group_row group, bool had_started) {
  result<bool> permitted = permit_start(c, group);
  if (!permitted || !*permitted) return permitted ? result<void>() : permitted.failure();
  return commit_group(c, group, false, had_started);
}

result<void> start(session_state& c, const nominated_group& one) {
  std::vector<pod_row> pods;
  for (const pod_row p : one.pods) {
    if (!is_held(c, p)) return {};
    if (!is_leaving_yet(c, p)) pods.push_back(p);
  }
  if (pods.empty()) return {};
  const bool had_started = framework::count_pods(c, one.group, &model::sub_counts::holding) > 0;
  if (pods.size() == one.pods.size()) {
    if (start_in_places(c, one.group, pods)) {
      if (!starts_in_cells(c)) return commit_start(c, one.group, had_started);
      c.statement.rollback(0);
      for (const pod_row p : pods) c.statement.withdraw(p);
      c.statement.commit_silently();
      return {};
    }
    if (starts_in_cells(c)) return {};
    result<bool> elsewhere = start_elsewhere(c, one.group, pods);
    if (!elsewhere) return elsewhere.failure();
    if (*elsewhere) return commit_start(c, one.group, had_started);
  }
  // Pods beyond the gang start one by one.
  for (const pod_row p : pods) {
    if (!is_held(c, p) || !start_in_places(c, one.group, std::span(&p, 1))) continue;
    if (auto done = commit_start(c, one.group, had_started); !done) return done;
  }
  return {};
}

}  // namespace

void hold_nominated(session_state& c) {
  if (!c.keeps_nominations() || c.state().nominated_pods == 0) return;
  for (const nominated_group& one : nominated_groups(c)) {
    const bool held = hold(c, one);
    if (held && makes_whole(c, one.group)) {
      c.statement.commit_silently();
      continue;
    }
    c.statement.rollback(0);
    if (!held) c.groups.lapsed.insert(c.groups.lapsed.end(), one.pods.begin(), one.pods.end());
  }
}

result<void> start_nominated(session_state& c) {
  if (c.groups.looked_at_nominations || !c.keeps_nominations() || c.state().nominated_pods == 0) return {};
  c.groups.looked_at_nominations = c.run.only_group == no_row;
  const action_kind during = c.run.action;
  c.run.action = action_kind::allocate;
  result<void> done;
  for (const nominated_group& one : nominated_groups(c)) {
    if (c.run.only_group != no_row && c.run.only_group != one.group) continue;
    if (done = c.run.go_on(); !done) break;
    if (done = start(c, one); !done) break;
  }
  c.run.action = during;
  return done;
}

void tell_lapsed(session_state& c) {
  std::vector<pod_row> told;
  for (const pod_row p : c.groups.lapsed) {
    const auto status = static_cast<pod_status>(c.live.pod_state[p]);
    const bool waits = status == pod_status::pending || status == pod_status::releasing;
    if (waits && !c.statement.is_leaving(p)) told.push_back(p);
  }
  c.groups.lapsed.clear();
  if (told.empty()) return;
  ++c.statement.commits;
  for (const pod_row p : told) {
    decision d;
    d.kind = decision_kind::evict;
    d.action = action_kind::allocate;
    d.commit = c.statement.commits;
    d.pod = p;
    d.group = c.state().pods[p].group;
    d.node = c.nominated_node(p);
    c.results.decisions.push_back(std::move(d));
  }
}

}  // namespace kaisched::actions
