#include "actions/victim_generators.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace kaisched::actions {

namespace {

using work::core;

/// Nodes of the pods of a group, in name order.
std::vector<node_row> nodes_of_group(const core& c, group_row group) {
  std::vector<node_row> rows;
  for (const pod_row p : pods_of(c, group)) {
    if (c.live.pod_node[p] == no_row) continue;
    const node_row row = node_of(c, p);
    if (row != no_row) rows.push_back(row);
  }
  const std::vector<std::uint32_t>& rank = *c.state().name_rank;
  std::sort(rows.begin(), rows.end(), [&](node_row a, node_row b) { return rank[a] < rank[b]; });
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<victim_unit> units_at(const std::vector<victim_unit>& all, std::vector<std::uint32_t> positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  std::vector<victim_unit> chosen;
  for (const std::uint32_t i : positions) chosen.push_back(all[i]);
  return chosen;
}

}  // namespace

result<bool> node_local(const core& c, victim_builder& from, const victim_attempt& attempt) {
  return from.each_state([&]() -> result<bool> {
    const std::vector<victim_unit>& potential = from.potential();
    if (potential.empty()) {
      if (from.recorded().empty()) return false;
      return attempt(from.recorded(), std::vector<victim_unit>{});
    }
    std::vector<std::vector<pod_row>> seen;
    for (const node_row row : nodes_of_group(c, potential.back().group)) {
      if (from.node_is_too_small(row)) continue;
      std::set<group_row> groups;
      std::vector<std::uint32_t> positions;
      for (const std::uint32_t i : from.units_on(row)) {
        if (!groups.insert(potential[i].group).second) continue;
        const std::vector<std::uint32_t>& own = from.units_of(potential[i].group);
        positions.insert(positions.end(), own.begin(), own.end());
      }
      std::vector<victim_unit> chosen;
      // In `compat` recorded units of these groups come along again, so that their pods are victims twice.
      if (c.compat() && !groups.empty()) {
        for (const victim_unit& one : from.recorded()) {
          if (groups.contains(one.group)) chosen.push_back(one);
        }
      }
      for (victim_unit& one : units_at(potential, std::move(positions))) chosen.push_back(std::move(one));
      chosen = joined(std::move(chosen));
      std::vector<pod_row> pods = pods_in(chosen);
      std::sort(pods.begin(), pods.end());
      if (pods.empty() || std::find(seen.begin(), seen.end(), pods) != seen.end()) continue;
      seen.push_back(std::move(pods));
      result<bool> ends = attempt(from.recorded(), std::move(chosen));
      if (!ends || *ends) return ends;
    }
    return false;
  });
}

result<bool> multi_node(victim_builder& from, const victim_attempt& attempt) {
  from.keep_nodes_in_order();
  return from.each_state([&]() -> result<bool> {
    const std::vector<victim_unit>& potential = from.potential();
    if (potential.empty()) return attempt(from.recorded(), std::vector<victim_unit>{});
    auto next = from.smallest_request() > 0 ? from.touched().lower_bound({from.smallest_request(), 0, 0})
                                            : from.touched().begin();
    std::int64_t needed = from.needed();
    std::vector<std::uint32_t> positions;
    const auto take = [&] {
      needed -= next->freed;
      positions.insert(positions.end(), from.units_on(next->row).begin(), from.units_on(next->row).end());
      ++next;
    };
    while (needed > 0 && next != from.touched().end()) take();
    if (needed > 0) return false;
    for (std::size_t step = 1;; step *= 2) {
      result<bool> ends = attempt(from.recorded(), units_at(potential, positions));
      if (!ends || *ends) return ends;
      if (next == from.touched().end()) return false;
      for (std::size_t i = 0; i < step && next != from.touched().end(); ++i) take();
    }
  });
}

}  // namespace kaisched::actions
