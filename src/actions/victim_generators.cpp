#include "actions/victim_generators.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "actions/set_hash.hpp"

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

void sort_and_join(std::vector<std::uint32_t>& positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

}  // namespace

std::vector<victim_unit> victim_set::made(const victim_builder& from) const {
  std::vector<victim_unit> all = again;
  for (const std::uint32_t i : units) all.push_back(from.unit_at(i));
  return by_group ? joined(std::move(all)) : all;
}

result<bool> node_local(const core& c, victim_builder& from, const victim_attempt& attempt) {
  const auto try_node = [&](node_row row, std::vector<std::vector<pod_row>>* seen) -> result<bool> {
    if (from.node_is_too_small(row)) return false;
    std::set<group_row> groups;
    victim_set chosen;
    chosen.by_group = true;
    from.each_unit_on(row, [&](std::uint32_t i) {
      if (!groups.insert(from.group_of(i)).second) return;
      from.each_unit_of(from.group_of(i), [&](std::uint32_t own) { chosen.units.push_back(own); });
    });
    sort_and_join(chosen.units);
    // In `compat` recorded units of these groups come along again, so that their pods are victims twice.
    if (c.compat() && !groups.empty()) {
      for (const victim_unit& one : from.recorded()) {
        if (groups.contains(one.group)) chosen.again.push_back(one);
      }
    }
    if (chosen.units.empty() && chosen.again.empty()) return false;
    if (seen != nullptr) {
      std::vector<pod_row> pods = pods_in(chosen.made(from));
      std::sort(pods.begin(), pods.end());
      if (std::find(seen->begin(), seen->end(), pods) != seen->end()) return false;
      seen->push_back(std::move(pods));
    }
    return attempt(chosen);
  };
  if (from.knows_nodes()) return from.each_large_node([&](node_row row) { return try_node(row, nullptr); });
  return from.each_state([&]() -> result<bool> {
    if (from.size() == 0) {
      if (from.recorded().empty()) return false;
      return attempt({});
    }
    const auto newest = static_cast<std::uint32_t>(from.size() - 1);
    const node_row only = from.only_node_of(newest);
    if (only != no_row) return try_node(only, nullptr);
    std::vector<std::vector<pod_row>> seen;
    for (const node_row row : nodes_of_group(c, from.group_of(newest))) {
      result<bool> ends = try_node(row, &seen);
      if (!ends || *ends) return ends;
    }
    return false;
  });
}

result<bool> multi_node(victim_builder& from, const victim_attempt& attempt) {
  from.keep_nodes_in_order();
  std::set<set_hash> tried;  // nodes with what was offered on them
  std::vector<node_row> rows;
  std::vector<std::uint64_t> marked;  // units, as bits
  return from.each_state([&]() -> result<bool> {
    if (from.size() == 0) return attempt({});
    std::int64_t needed = from.needed();
    if (needed > std::max<std::int64_t>(0, from.freed_of_touched())) return false;
    const std::set<victim_builder::touched_node>& touched = from.touched();
    auto next = from.smallest_request() > 0 ? touched.lower_bound({from.smallest_request(), 0, 0}) : touched.begin();
    set_hash key;
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
        victim_set chosen;
        marked.assign(from.size() / 64 + 1, 0);
        for (const node_row row : rows) {
          from.each_unit_on(row, [&](std::uint32_t i) { marked[i / 64] |= std::uint64_t{1} << (i % 64); });
        }
        for (std::uint32_t w = 0; w < marked.size(); ++w) {
          for (std::uint64_t left = marked[w]; left != 0; left &= left - 1) {
            chosen.units.push_back(w * 64 + static_cast<std::uint32_t>(std::countr_zero(left)));
          }
        }
        result<bool> ends = attempt(chosen);
        if (!ends || *ends) return ends;
      }
      if (next == touched.end()) return false;
      for (std::size_t i = 0; i < step && next != touched.end(); ++i) take();
    }
  });
}

}  // namespace kaisched::actions
