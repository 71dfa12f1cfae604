#include "actions/victim_units.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "framework/members.hpp"
#include "framework/remaining_group.hpp"

namespace kaisched::actions {

namespace {

using framework::is_active;
using framework::session_state;

/// Every group has one unit.
bool all_differ(std::span<const victim_unit> units) {
  if (units.size() < 2) return true;
  boost::container::small_vector<group_row, 64> groups;
  for (const victim_unit& one : units) groups.push_back(one.group);
  std::sort(groups.begin(), groups.end());
  return std::adjacent_find(groups.begin(), groups.end()) == groups.end();
}

template <class Units>
void join_units(Units& units) {
  if (all_differ(units)) return;
  Units made;
  std::map<group_row, std::size_t> place;
  for (victim_unit& one : units) {
    const auto [at, fresh] = place.try_emplace(one.group, made.size());
    if (fresh)
      made.push_back(std::move(one));
    else
      append_pods(std::span(&one, 1), made[at->second].pods);
  }
  units = std::move(made);
}

}  // namespace

std::vector<pod_row> pods_in(std::span<const victim_unit> units) {
  std::vector<pod_row> all;
  append_pods(units, all);
  return all;
}

void join(std::vector<victim_unit>& units) { join_units(units); }
void join(unit_list& units) { join_units(units); }

bool budgets_refuse(const session_state& c, const victim_rules& rules, std::span<const pod_row> pods) {
  const std::optional<policy::budget_refusal> refused = c.access.budgets->refuses(pods);
  if (refused) tell_budget(rules, *refused);
  return refused.has_value();
}

bool has_pods_to_lose(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  if (!g.live || framework::count_pods(c, group, &model::sub_counts::active_allocated) == 0) return false;
  return g.semi_preemptible ? !next_unit(c, group, pods_of(c, group)).empty() : g.preemptible;
}

bool has_pods_among(const session_state& c, group_row group, const framework::node_set& nodes) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
      if (is_active(c, p) && c.live.pod_node[p] != no_row && nodes[node_of(c, p)] != 0) return true;
    }
  }
  return false;
}

unit_list victims_by_group(const scenario& of) {
  unit_list units(of.recorded.begin(), of.recorded.end());
  units.insert(units.end(), of.potential.begin(), of.potential.end());
  join(units);
  return units;
}

std::vector<pod_row> pods_of(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  std::vector<pod_row> pods;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) pods.push_back(p);
  }
  return pods;
}

const std::vector<victim_unit>& victim_chains::of(group_row group) {
  const auto [at, fresh] = chains_.try_emplace(group);
  if (!fresh) return at->second;
  std::vector<pod_row> left;
  for (const pod_row p : pods_of(c_, group)) {
    if (is_active(c_, p)) left.push_back(p);
  }
  while (!left.empty()) {
    unit_pods unit = next_unit(c_, group, left);
    if (unit.empty()) break;
    std::erase_if(left, [&](pod_row p) { return std::find(unit.begin(), unit.end(), p) != unit.end(); });
    at->second.push_back({group, std::move(unit)});
  }
  return at->second;
}

std::vector<victim_unit> victim_chains::closed(std::span<const victim_unit> units) {
  std::vector<victim_unit> made;
  std::map<group_row, std::size_t> taken;  // so many of the chain
  for (const victim_unit& one : units) {
    const std::vector<victim_unit>& chain = of(one.group);
    std::size_t& count = taken[one.group];
    for (const pod_row p : one.pods) {
      const auto at = std::find_if(chain.begin(), chain.end(), [&](const victim_unit& u) {
        return std::find(u.pods.begin(), u.pods.end(), p) != u.pods.end();
      });
      if (at == chain.end()) continue;
      const auto until = static_cast<std::size_t>(at - chain.begin()) + 1;
      for (; count < until; ++count) made.push_back(chain[count]);
    }
  }
  return made;
}

bool is_lost(const session_state& c, const victim_unit& unit) {
  return std::any_of(unit.pods.begin(), unit.pods.end(),
                     [&](pod_row p) { return static_cast<pod_status>(c.live.pod_state[p]) == pod_status::releasing; });
}

unit_pods next_unit(const session_state& c, group_row group, std::span<const pod_row> pods) {
  const bool keeps_core = c.state().groups[group].semi_preemptible;
  if (pods.size() == 1 && !keeps_core) return is_active(c, pods.front()) ? unit_pods{pods.front()} : unit_pods{};
  framework::remaining_group left(c, group);
  for (const pod_row p : pods) {
    if (is_active(c, p)) left.add(p);
  }
  std::vector<pod_row> unit = left.surplus();
  if (unit.empty() && !keeps_core) unit = left.all();
  return {unit.begin(), unit.end()};
}

bool has_kept_places_only(const session_state& c, group_row group) {
  if (!c.keeps_nominations() || c.state().nominated_pods == 0) return false;
  const std::vector<pod_row> pods = pods_of(c, group);
  return std::none_of(pods.begin(), pods.end(),
                      [&](pod_row p) { return is_active(c, p) && c.nominated_node(p) == no_row; });
}

bool can_lose(const session_state& c, group_row group) {
  return c.queues.is_schedulable_queue(c.state().groups[group].queue) && !c.groups.evicted_enough(group) &&
         has_pods_to_lose(c, group) && !has_kept_places_only(c, group);
}

}  // namespace kaisched::actions
