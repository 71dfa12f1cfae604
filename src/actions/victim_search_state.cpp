#include "actions/victim_search_state.hpp"

#include <algorithm>
#include <memory>

#include "actions/victims_by_node.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

constexpr std::size_t largest_list = std::size_t{1} << 20U;  ///< bytes; larger ones are given back

bool waits(const framework::session_state& c, group_row g) {
  return c.queues.is_schedulable_queue(c.state().groups[g].queue) &&
         framework::count_pods(c, g, &model::sub_counts::pending) > 0;
}

}  // namespace

void victim_survey::read_nodes(const framework::session_state& c) {
  const model::cluster_state& s = c.state();
  for (node_row row = 0; row < s.node_count(); ++row) {
    largest_node = std::max(largest_node, c.gpus.capacity(row));
  }
  with_gpus.assign(s.node_count(), 0);
  every_node.assign(s.node_count(), 1);
  known_free.assign(s.node_count(), 0);
  for (node_row row = 0; row < s.node_count(); ++row) note_node(c, row);
}

result<void> victim_survey::read_groups(const framework::session_state& c) {
  const model::cluster_state& s = c.state();
  if (auto done = fill_indexes(c); !done) return done;
  is_spread.assign(s.group_slots, 0);
  lone_pods.assign(s.group_slots, {});
  larger_victims.assign(s.queues->size(), 0);
  is_counted_.assign(s.group_slots, 0);
  counted_.assign(s.group_slots, {});
  held_.assign(s.node_count(), 0);
  for (const group_row g : c.groups.in_order()) note_group(c, g);
  return {};
}

result<void> victim_survey::fill_indexes(const framework::session_state& c) {
  std::vector<group_row> waiting;
  for (const group_row g : *c.state().pending_groups) {
    if (waits(c, g)) waiting.push_back(g);
  }
  std::vector<group_row> losing;
  for (const group_row g : c.groups.in_order()) {
    if (can_lose(c, g)) losing.push_back(g);
  }
  if (auto done = pending.fill(waiting); !done) return done;
  return victims.fill(losing);
}

std::int64_t victim_survey::most_free(const framework::session_state& c, node_row row) const {
  // Where pods share devices amounts are rounded.
  if (c.state().pods_with_shares > 0) return c.gpus.capacity(row);
  return std::max<std::int64_t>(0, known_free[row] + held_[row]);
}

result<void> victim_survey::update_indexes(const framework::session_state& c, std::span<const group_row> groups) {
  if (has_shared_order(c)) return fill_indexes(c);
  for (const group_row g : groups) {
    if (auto done = pending.update(g, waits(c, g)); !done) return done;
    if (auto done = victims.update(g, can_lose(c, g)); !done) return done;
  }
  return {};
}

void victim_survey::note_group(const framework::session_state& c, group_row g) {
  bool spread = false;
  const bool loses = can_lose(c, g);
  if (is_counted_[g] != 0) {
    count_holding(c, g, -1);
    if (lone_pods[g].pod == no_row) --larger_victims[c.state().groups[g].queue];
  }
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
    has_old_chunks = has_old_chunks || c.chunks.has_old_chunk(g);
  }
  note_spread(g, spread);
  note_lone_pod(c, g);
  is_counted_[g] = loses ? 1 : 0;
  if (!loses) return;
  count_holding(c, g, 1);
  if (lone_pods[g].pod == no_row) ++larger_victims[c.state().groups[g].queue];
}

void victim_survey::note_spread(group_row g, bool spread) {
  const std::uint8_t now = spread ? 1 : 0;
  if (is_spread[g] == now) return;
  is_spread[g] = now;
  const auto at = std::lower_bound(spread_groups.begin(), spread_groups.end(), g);
  if (spread)
    spread_groups.insert(at, g);
  else
    spread_groups.erase(at);
}

void victim_survey::note_lone_pod(const framework::session_state& c, group_row g) {
  lone_pods[g] = {};
  const model::group_core& group = c.state().groups[g];
  if (group.sub_count != 2) return;
  const model::sub_info& set = c.state().subs[group.first_sub + 1];
  if (set.first_pod == no_row || set.first_pod != set.last_pod || !framework::is_active(c, set.first_pod)) return;
  lone_pods[g] = {set.first_pod, node_of(c, set.first_pod), gpus_of(c, set.first_pod)};
}

void victim_survey::count_holding(const framework::session_state& c, group_row g, std::int64_t sign) {
  if (const placed_pod& lone = lone_pods[g]; lone.pod != no_row) {
    held_[lone.row] += sign * lone.gpus;
    return;
  }
  counted_pods& counted = counted_[g];
  if (sign > 0) {
    counted.count = 0;
    const model::group_core& group = c.state().groups[g];
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
        if (!framework::is_active(c, p) || c.live.pod_node[p] == no_row) continue;
        if (counted.count == counted.room) {  // moves to the end, where it can grow
          const std::uint32_t from = counted.first;
          counted.first = static_cast<std::uint32_t>(holding_.size());
          counted.room = std::max<std::uint32_t>(2 * counted.room, 4);
          holding_.resize(holding_.size() + counted.room);
          std::copy_n(holding_.begin() + from, counted.count, holding_.begin() + counted.first);
        }
        holding_[counted.first + counted.count++] = {p, node_of(c, p), gpus_of(c, p)};
      }
    }
  }
  for (std::uint32_t i = 0; i < counted.count; ++i) {
    const placed_pod& one = holding_[counted.first + i];
    held_[one.row] += sign * one.gpus;
  }
}

void victim_survey::note_node(const framework::session_state& c, node_row row) {
  free_everywhere -= known_free[row];
  if (with_gpus[row] != 0) free_with_gpus -= known_free[row];
  known_free[row] = free_gpus(c, row);
  with_gpus[row] = c.gpus.any_free(row) ? 1 : 0;
  free_everywhere += known_free[row];
  if (with_gpus[row] != 0) free_with_gpus += known_free[row];
}

victim_search_state::victim_search_state(framework::session_state& of)
    : victim_survey(of),
      c(of),
      plays_all(of.constraints.has(policy::trait_simulations_leave_traces)),
      touched(of.state().node_count()),
      memory(largest_list),
      by_node(std::make_unique<victims_by_node>(*this, &memory)),
      victim_queue(of, 0, serving::victims),
      service_queue(of, 0),
      rooms(of) {
  const model::cluster_state& s = of.state();
  for (node_row row = 0; s.nodes_not_open > 0 && row < s.node_count(); ++row) {
    if (!(*s.nodes)[row]->open()) closed_nodes.push_back(row);
  }
}
victim_search_state::~victim_search_state() = default;

void victim_search_state::open_nodes() {
  if (knows_nodes_) return;
  knows_nodes_ = true;
  read_nodes(c);
}

result<void> victim_search_state::open() {
  if (knows_groups_) return {};
  const model::cluster_state& s = c.state();
  base::first_made<framework::survey>* const shared = c.shared_survey();
  const auto* const known = shared == nullptr ? nullptr : static_cast<const victim_survey*>(shared->get());
  if (known != nullptr) {
    static_cast<victim_survey&>(*this) = *known;
    pending.move_to(c);
    victims.move_to(c);
  } else {
    open_nodes();
    if (auto done = read_groups(c); !done) return done;
    if (shared != nullptr) shared->offer(std::make_unique<const victim_survey>(*this));
  }
  knows_nodes_ = true;
  knows_groups_ = true;
  plays_all = plays_all || has_old_chunks;
  marks.assign(s.node_count(), {});
  last_unit_of.assign(s.group_slots, no_row);
  is_in_set.assign(s.group_slots, 0);
  freed_by_set.assign(s.node_count(), 0);
  return {};
}

result<void> victim_search_state::note_changes(std::span<const group_row> groups, std::span<const node_row> nodes) {
  for (const node_row row : nodes) {
    if (knows_nodes_) note_node(c, row);
  }
  if (!knows_groups_) return {};
  for (const group_row g : groups) {
    note_group(c, g);
    by_node->note_group(g);
  }
  for (const node_row row : nodes) by_node->note_node(row);
  if (has_shared_order(c)) by_node->forget();
  plays_all = plays_all || has_old_chunks;
  return update_indexes(c, groups);
}

}  // namespace kaisched::actions
