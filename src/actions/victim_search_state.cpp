#include "actions/victim_search_state.hpp"

#include <algorithm>

#include "session/members.hpp"

namespace kaisched::actions {

void victim_search_state::open_nodes() {
  if (knows_nodes_) return;
  knows_nodes_ = true;
  const model::cluster_state& s = c.state();
  for (node_row row = 0; row < s.node_count(); ++row) {
    largest_node = std::max(largest_node, c.gpu_capacity(row));
  }
  with_gpus.assign(s.node_count(), 0);
  every_node.assign(s.node_count(), 1);
  known_free.assign(s.node_count(), 0);
  for (node_row row = 0; row < s.node_count(); ++row) note_node(row);
}

result<void> victim_search_state::open() {
  open_nodes();
  if (knows_groups_) return {};
  knows_groups_ = true;
  const model::cluster_state& s = c.state();
  if (auto done = fill_indexes(); !done) return done;
  is_spread.assign(s.group_slots, 0);
  lone_pods.assign(s.group_slots, {});
  is_counted_.assign(s.group_slots, 0);
  held_.assign(s.node_count(), 0);
  for (const group_row g : c.groups_in_order()) note_group(g);
  marks.assign(s.node_count(), {});
  last_unit_of.assign(s.group_slots, no_row);
  freed_by_set.assign(s.node_count(), 0);
  return {};
}

result<void> victim_search_state::fill_indexes() {
  std::vector<group_row> waiting;
  for (const group_row g : *c.state().pending_groups) {
    if (waits(g)) waiting.push_back(g);
  }
  std::vector<group_row> losing;
  for (const group_row g : c.groups_in_order()) {
    if (can_lose(c, g)) losing.push_back(g);
  }
  if (auto done = pending.fill(waiting); !done) return done;
  return victims.fill(losing);
}

std::int64_t victim_search_state::most_free(node_row row) const {
  // Where pods share devices amounts are rounded.
  if (c.state().pods_with_shares > 0) return c.gpu_capacity(row);
  return std::max<std::int64_t>(0, known_free[row] + held_[row]);
}

result<void> victim_search_state::update_indexes(std::span<const group_row> groups) {
  if (!knows_groups_) return {};
  for (const group_row g : groups) {
    if (g != no_row) note_group(g);
  }
  if (has_shared_order(c)) return fill_indexes();
  for (const group_row g : groups) {
    if (g == no_row) continue;
    if (auto done = pending.update(g, waits(g)); !done) return done;
    if (auto done = victims.update(g, can_lose(c, g)); !done) return done;
  }
  return {};
}

bool victim_search_state::waits(group_row g) const {
  return c.is_schedulable_queue(c.state().groups[g].queue) && work::count_pods(c, g, &model::sub_counts::pending) > 0;
}

void victim_search_state::note_group(group_row g) {
  bool spread = false;
  bool old_chunk = false;
  const bool loses = can_lose(c, g);
  if (is_counted_[g] != 0) count_holding(g, -1);
  if (loses) {
    std::uint32_t node = no_row;
    const model::group_core& group = c.state().groups[g];
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
        if (c.live.pod_node[p] == no_row) continue;
        spread = spread || (node != no_row && c.live.pod_node[p] != node);
        node = c.live.pod_node[p];
      }
    }
    old_chunk = c.has_old_chunk(g);
  }
  is_spread[g] = spread ? 1 : 0;
  note_lone_pod(g);
  is_counted_[g] = loses ? 1 : 0;
  if (loses) count_holding(g, 1);
  if (spread)
    spread_groups.insert(g);
  else
    spread_groups.erase(g);
  plays_all = plays_all || old_chunk;
}

void victim_search_state::note_lone_pod(group_row g) {
  lone_pods[g] = {};
  const model::group_core& group = c.state().groups[g];
  if (group.sub_count != 2) return;
  const model::sub_info& set = c.state().subs[group.first_sub + 1];
  if (set.first_pod == no_row || set.first_pod != set.last_pod || !work::is_active(c, set.first_pod)) return;
  lone_pods[g] = {set.first_pod, node_of(c, set.first_pod), gpus_of(c, set.first_pod)};
}

void victim_search_state::count_holding(group_row g, std::int64_t sign) {
  if (const placed_pod& lone = lone_pods[g]; lone.pod != no_row) {
    held_[lone.row] += sign * lone.gpus;
    return;
  }
  std::vector<placed_pod>& counted = counted_pods_[g];
  if (sign > 0) {
    counted.clear();
    for (const pod_row p : pods_of(c, g)) {
      if (work::is_active(c, p) && c.live.pod_node[p] != no_row) counted.push_back({p, node_of(c, p), gpus_of(c, p)});
    }
  }
  for (const placed_pod& one : counted) held_[one.row] += sign * one.gpus;
}

void victim_search_state::note_node(node_row row) {
  if (!knows_nodes_) return;
  free_everywhere -= known_free[row];
  if (with_gpus[row] != 0) free_with_gpus -= known_free[row];
  known_free[row] = free_gpus(c, row);
  with_gpus[row] = c.has_free_gpus(row) ? 1 : 0;
  free_everywhere += known_free[row];
  if (with_gpus[row] != 0) free_with_gpus += known_free[row];
}

}  // namespace kaisched::actions
