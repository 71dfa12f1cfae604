#include "actions/victim_generators.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory_resource>
#include <set>
#include <utility>

#include "base/set_hash.hpp"

namespace kaisched::actions {

namespace {

using framework::session_state;

/// Nodes of the pods of a group, in name order.
std::vector<node_row> nodes_of_group(const session_state& c, group_row group) {
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

void sort_and_join(std::vector<std::uint32_t>& positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

}  // namespace

void victim_set::make(const victim_builder& from, std::vector<victim_unit>& to) const {
  to.assign(again.begin(), again.end());
  for (const std::uint32_t i : units) to.push_back(from.unit_at(i));
  if (by_group) join(to);
}

void victim_set::clear() {
  units.clear();
  again.clear();
  by_group = false;
}

result<bool> node_local(const session_state& c, victim_builder& from, const victim_attempt& attempt) {
  victim_set& chosen = from.chosen();
  std::pmr::vector<group_row> groups(from.memory());
  std::pmr::set<base::set_hash> seen(from.memory());  // sets of nodes that the newest group has pods on
  const auto is_new = [&] {
    base::set_hash pods;
    for (const victim_unit& one : chosen.again) pods.add(one.pods);
    for (const std::uint32_t i : chosen.units) from.add_pods_of(i, pods);
    return seen.insert(pods).second;
  };
  const auto try_node = [&](node_row row, bool only_new) -> result<bool> {
    if (from.node_is_too_small(row)) return false;
    chosen.clear();
    chosen.by_group = true;
    groups.clear();
    from.each_unit_on(row, [&](std::uint32_t i) { groups.push_back(from.group_of(i)); });
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    for (const group_row g : groups) {
      from.each_unit_of(g, [&](std::uint32_t own) { chosen.units.push_back(own); });
    }
    sort_and_join(chosen.units);
    // In `compat` recorded units of these groups come along again, so that their pods are victims twice.
    if (c.compat() && !groups.empty()) {
      for (const victim_unit& one : from.recorded()) {
        if (std::binary_search(groups.begin(), groups.end(), one.group)) chosen.again.push_back(one);
      }
    }
    if (chosen.units.empty() && chosen.again.empty()) return false;
    from.note_set(chosen.units.size());
    if (only_new && !is_new()) return false;
    return attempt(chosen);
  };
  const auto try_large_node = [&](node_row row) { return try_node(row, false); };
  if (from.knows_nodes()) return from.each_large_node(std::cref(try_large_node));
  const auto try_newest = [&]() -> result<bool> {
    if (from.size() == 0) {
      if (from.recorded().empty()) return false;
      chosen.clear();
      return attempt(chosen);
    }
    const auto newest = static_cast<std::uint32_t>(from.size() - 1);
    const node_row only = from.only_node_of(newest);
    if (only != no_row) return try_node(only, false);
    seen.clear();
    for (const node_row row : nodes_of_group(c, from.group_of(newest))) {
      result<bool> ends = try_node(row, true);
      if (!ends || *ends) return ends;
    }
    return false;
  };
  return from.each_state(std::cref(try_newest));
}

result<bool> multi_node(victim_builder& from, const victim_attempt& attempt) {
  from.keep_nodes_in_order();
  std::pmr::set<base::set_hash> tried(from.memory());  // nodes with what was offered on them
  std::pmr::vector<node_row> rows(from.memory());
  std::pmr::vector<std::uint64_t> marked(from.memory());  // units, as bits
  victim_set& chosen = from.chosen();
  const auto try_state = [&]() -> result<bool> {
    chosen.clear();
    if (from.size() == 0) return attempt(chosen);
    std::int64_t needed = from.needed();
    if (needed > std::max<std::int64_t>(0, from.freed_of_touched())) return false;
    const victim_builder::touched_nodes& touched = from.touched();
    auto next = from.smallest_request() > 0 ? touched.lower_bound({from.smallest_request(), 0, 0}) : touched.begin();
    base::set_hash key;
    rows.clear();
    const auto take = [&] {
      needed -= next->freed;
      rows.push_back(next->row);
      key.add(std::uint64_t{next->row} << 32U | from.newest_on(next->row));
      ++next;
    };
    while (needed > 0 && next != touched.end()) take();
    if (needed > 0) return false;
    for (std::size_t step = 1;; step *= 2) {
      if (tried.insert(key).second) {
        chosen.clear();
        marked.assign(from.size() / 64 + 1, 0);
        for (const node_row row : rows) {
          from.each_unit_on(row, [&](std::uint32_t i) { marked[i / 64] |= std::uint64_t{1} << (i % 64); });
        }
        for (std::uint32_t w = 0; w < marked.size(); ++w) {
          for (std::uint64_t left = marked[w]; left != 0; left &= left - 1) {
            chosen.units.push_back(w * 64 + static_cast<std::uint32_t>(std::countr_zero(left)));
          }
        }
        from.note_set(chosen.units.size());
        result<bool> ends = attempt(chosen);
        if (!ends || *ends) return ends;
      }
      if (next == touched.end()) return false;
      for (std::size_t i = 0; i < step && next != touched.end(); ++i) take();
    }
  };
  return from.each_state(std::cref(try_state));
}

}  // namespace kaisched::actions
