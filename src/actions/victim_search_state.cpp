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

std::span<const std::int64_t> victim_search_state::most_free() {
  if (!most_free_of_node.empty()) return most_free_of_node;
  const bool counts_parts = c.state().pods_with_shares > 0;  // then amounts of pods are rounded
  for (node_row row = 0; row < c.state().node_count(); ++row) {
    most_free_of_node.push_back(counts_parts ? c.gpu_capacity(row) : free_gpus(c, row));
  }
  for (const group_row g : c.groups_in_order()) {
    if (counts_parts || !can_lose(c, g)) continue;
    for (const pod_row p : pods_of(c, g)) {
      if (c.live.pod_node[p] != no_row) most_free_of_node[node_of(c, p)] += gpus_of(c, p);
    }
  }
  for (std::int64_t& free : most_free_of_node) free = std::max<std::int64_t>(0, free);
  return most_free_of_node;
}

result<void> victim_search_state::update_indexes(std::span<const group_row> groups) {
  if (!knows_groups_) return {};
  most_free_of_node.clear();
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
  if (can_lose(c, g)) {
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
