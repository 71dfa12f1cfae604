// A cluster without its nodes: kinds of nodes, what they have free, room in domains, queues, ends of groups.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "actions/runtime.hpp"
#include "federation/summary_maker.hpp"
#include "framework/topologies.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched::federation_detail {

namespace {

using model::cluster_state;

constexpr std::array<std::string_view, 11> plain_actions{
    "allocate",    "backfill", "consolidation", "overlimit",         "preempt", "reclaim",
    "repartition", "resize",   "runtimelimit",  "stalegangeviction", "vacate"};
/// Of these, they start groups on what is free alone.
constexpr std::array<std::string_view, 2> patient_actions{"allocate", "backfill"};

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_part(const policy_options& o, std::string_view name) {
  return std::find(o.parts.begin(), o.parts.end(), name) != o.parts.end();
}

summary_rules rules_of(const policy_options& o) {
  summary_rules rules;
  const bool is_plain = std::all_of(o.actions.begin(), o.actions.end(),
                                    [](const std::string& name) { return is_one_of(plain_actions, name); });
  rules.whole_gangs = is_plain;
  rules.labels = is_plain && has_part(o, "predicates");
  rules.domains = is_plain && has_part(o, "topology");
  rules.shares = o.mode == decision_mode::strict;
  rules.makes_room = !std::all_of(o.actions.begin(), o.actions.end(),
                                  [](const std::string& name) { return is_one_of(patient_actions, name); });
  return rules;
}

/// GPUs of which nobody has, or keeps, a part.
std::int64_t whole_devices_free(const cluster_state& s, node_row row, std::int64_t free_gpu, bool counts_devices) {
  const std::int64_t by_amount = std::max<std::int64_t>(free_gpu, 0) / whole_device;
  const device_row first = (*s.first_device)[row];
  const device_row last = (*s.first_device)[row + 1];
  if (!counts_devices || first == last || (*s.nodes)[row]->is_shared_by_vendors()) return by_amount;
  std::int64_t whole = 0;
  for (device_row d = first; d < last; ++d)
    whole += (*s.live.device_free)[d] + (*s.live.device_releasing)[d] >= (*s.device_units)[d] ? 1 : 0;
  return std::min(by_amount, whole);
}

using histogram = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// How many pods of so many devices have room in each domain.
histogram room_in(const std::vector<std::uint32_t>& of_node, std::uint32_t domains,
                  const std::vector<std::int64_t>& devices, const std::vector<std::uint32_t>& kind_of,
                  std::int64_t each) {
  std::vector<std::int64_t> room(domains, 0);
  for (std::size_t row = 0; row < of_node.size(); ++row) {
    if (of_node[row] != no_row && kind_of[row] != no_row) room[of_node[row]] += devices[row] / each;
  }
  std::map<std::int64_t, std::int64_t> counts;
  for (const std::int64_t one : room) {
    if (one > 0) ++counts[one];
  }
  return {counts.begin(), counts.end()};
}

std::vector<expected_release> ends_of(const cluster_state& s, std::uint32_t most) {
  std::map<std::int64_t, std::int64_t> by_time;
  for (group_row g = 0; g < s.group_slots; ++g) {
    const model::group_core& group = s.groups[g];
    const model::group_extra& extra = s.group_extras[g];
    if (!group.live || extra.runtime_estimate < 0 || extra.last_start == unset) continue;
    std::int64_t gpu = 0;
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      if (s.subs[sub].is_set || s.live.counts[sub].holding == 0) continue;
      for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
        if (model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::holding))
          gpu += s.class_of(p).requests(dim_gpu);
      }
    }
    if (gpu > 0) by_time[actions::later_by(extra.last_start, extra.runtime_estimate)] += gpu;
  }
  std::vector<expected_release> ends;
  const std::size_t each = (by_time.size() + most - 1) / most;  // so many ends are told at the last of them
  std::size_t n = 0;
  for (const auto& [at, gpu] : by_time) {
    if (n++ % each == 0) ends.emplace_back();
    ends.back().at = at;
    ends.back().gpu += gpu;
  }
  return ends;
}

void add_waiting(const cluster_state& s, cluster_summary& to) {
  for (const group_row g : *s.pending_groups) {
    const model::group_core& group = s.groups[g];
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      if (s.subs[sub].is_set || s.live.counts[sub].pending == 0) continue;
      for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
        if (static_cast<pod_status>(s.live.pod_state[p]) != pod_status::pending) continue;
        ++to.waiting_pods;
        to.waiting_gpu += s.class_of(p).requests(dim_gpu);
      }
    }
  }
}

void add_queues(const cluster_state& s, const session_view& view, cluster_summary& to) {
  for (queue_row q = 0; q < s.queues->size(); ++q) {
    const model::queue_info& info = (*s.queues)[q];
    if (!info.live) continue;
    queue_summary& one = to.queues.emplace_back();
    one.name = info.name;
    if (info.parent != no_row) one.parent = (*s.queues)[info.parent].name;
    const std::span<const std::int64_t> share = view.queue_fair_share(q);
    for (std::uint32_t d = 0; d < quota_dimensions; ++d) {
      one.quota[d] = info.quota[d];
      one.limit[d] = info.limit[d];
      one.allocated[d] = (*s.live.queue_allocated)[q][d];
      one.request[d] = (*s.live.queue_request)[q][d];
      one.fair_share[d] = d < share.size() ? share[d] : 0;
    }
  }
  std::sort(to.queues.begin(), to.queues.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
}

}  // namespace

void summary_maker::add_kinds(const cluster_state& s) {
  node_layout& l = *layout_;
  const std::uint32_t dims = s.dims();
  std::map<std::string, std::set<std::string>, std::less<>> values;
  for (const auto& node : *s.nodes) {
    for (const auto& [key, value] : node->labels) {
      std::set<std::string>& of = values[key];
      if (of.size() <= l.limits.label_values) of.insert(value);
    }
  }
  std::vector<std::pair<std::size_t, std::string>> known;  // fewest values first
  for (const auto& [key, of] : values) {
    if (of.size() <= l.limits.label_values) known.emplace_back(of.size(), key);
  }
  std::sort(known.begin(), known.end());
  for (;; known.pop_back()) {
    std::set<std::string, std::less<>> keys;
    for (const auto& [count, key] : known) keys.insert(key);
    std::map<std::tuple<model::label_list, std::string, std::int64_t>, std::uint32_t> found;
    l.kinds.clear();
    l.kind_of.assign(s.node_count(), no_row);
    for (node_row row = 0; row < s.node_count(); ++row) {
      const model::node_info& node = *(*s.nodes)[row];
      if (l.judges_labels && !node.open()) continue;
      model::label_list labels;
      for (const auto& one : node.labels) {
        if (keys.contains(one.first)) labels.push_back(one);
      }
      const auto [at, is_new] = found.emplace(std::tuple(labels, node.taints_text, l.devices[row]),
                                              static_cast<std::uint32_t>(l.kinds.size()));
      if (is_new) {
        node_kind& kind = l.kinds.emplace_back();
        kind.labels = labels;
        for (const std::string_view one : split_list(node.taints_text)) kind.taints.emplace_back(one);
        kind.capacity.assign(dims, 0);
        kind.devices = l.devices[row];
        if (l.kinds.size() > l.limits.kinds && !known.empty()) break;
      }
      node_kind& kind = l.kinds[at->second];
      l.kind_of[row] = at->second;
      ++kind.nodes;
      for (std::uint32_t d = 0; d < dims; ++d)
        kind.capacity[d] = std::max(kind.capacity[d], (*s.capacity)[std::size_t{row} * dims + d]);
    }
    if (l.kinds.size() > l.limits.kinds && !known.empty()) continue;
    for (const auto& [key, of] : values) {
      if (!keys.contains(key)) l.unknown_labels.push_back(key);
    }
    // Rows are in the order of a topology, names or deltas; kinds in that of what they are.
    std::vector<std::uint32_t> order(l.kinds.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const node_kind& x = l.kinds[a];
      const node_kind& y = l.kinds[b];
      return std::tie(x.labels, x.taints, x.devices) < std::tie(y.labels, y.taints, y.devices);
    });
    std::vector<node_kind> sorted;
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(std::move(l.kinds[order[i]]));
    }
    l.kinds = std::move(sorted);
    for (std::uint32_t& one : l.kind_of) one = one == no_row ? no_row : place[one];
    return;
  }
}

void summary_maker::add_levels(const cluster_state& s, bool compat) {
  node_layout& l = *layout_;
  for (const model::topology_info& info : *s.topologies) {
    const policy::topology::domain_tree tree = framework::build_topology(s, info, compat);
    for (std::uint32_t level = 1; level <= info.levels.size(); ++level) {
      level_domains& one = l.levels.emplace_back();
      one.topology = info.name;
      one.level = info.levels[level - 1];
      one.count = static_cast<std::uint32_t>(tree.domains.size());
      one.of_node.assign(s.node_count(), no_row);
      for (node_row row = 0; row < s.node_count(); ++row) {
        if (tree.leaf[row] != no_row) one.of_node[row] = tree.domain_of(row, level);
      }
    }
  }
  std::sort(l.levels.begin(), l.levels.end(), [](const level_domains& a, const level_domains& b) {
    return std::tie(a.topology, a.level) < std::tie(b.topology, b.level);
  });
  for (const level_domains& one : l.levels) {
    for (std::int64_t each = 1; each <= l.largest_node_devices; each *= 2)
      l.domains.push_back(
          {one.topology, one.level, each, {}, room_in(one.of_node, one.count, l.devices, l.kind_of, each)});
  }
}

void summary_maker::lay_out(const snapshot& of, const summary_rules& rules, bool counts_devices,
                            const summary_limits& limits) {
  const cluster_state& s = model::state_of(of);
  if (layout_ && &*layout_->nodes == &*s.nodes && &*layout_->topologies == &*s.topologies &&
      layout_->dims == s.dims() && layout_->judges_labels == rules.labels &&
      layout_->counts_devices == counts_devices && layout_->limits.kinds == limits.kinds &&
      layout_->limits.label_values == limits.label_values)
    return;
  layout_.emplace();
  node_layout& l = *layout_;
  l.nodes = s.nodes;
  l.topologies = s.topologies;
  l.dims = s.dims();
  l.judges_labels = rules.labels;
  l.counts_devices = counts_devices;
  l.limits = limits;
  l.devices.resize(s.node_count());
  for (node_row row = 0; row < s.node_count(); ++row)
    l.devices[row] = (*s.capacity)[std::size_t{row} * s.dims() + dim_gpu] / whole_device;
  add_kinds(s);
  for (node_row row = 0; row < s.node_count(); ++row) {
    if (l.kind_of[row] == no_row) continue;
    ++l.nodes_counted;
    l.gpu += (*s.capacity)[std::size_t{row} * s.dims() + dim_gpu];
    l.largest_node_devices = std::max(l.largest_node_devices, l.devices[row]);
  }
  add_levels(s, !counts_devices);
}

void summary_maker::add_free(const cluster_state& s, cluster_summary& to) const {
  const node_layout& l = *layout_;
  const std::uint32_t dims = s.dims();
  std::vector<std::int64_t> whole(s.node_count(), 0);
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>, free_nodes> found;
  std::vector<std::int64_t> free(dims);
  for (node_row row = 0; row < s.node_count(); ++row) {
    const std::uint32_t kind = l.kind_of[row];
    if (kind == no_row) continue;
    const std::size_t at = std::size_t{row} * dims;
    for (std::uint32_t d = 0; d < dims; ++d)
      free[d] = std::max<std::int64_t>((*s.live.idle)[at + d] + (*s.live.releasing)[at + d], 0);
    to.free_gpu += free[dim_gpu];
    whole[row] = whole_devices_free(s, row, free[dim_gpu], l.counts_devices);
    const auto part = [&](dimension d) {
      const std::int64_t all = std::max<std::int64_t>(l.kinds[kind].capacity[d], 1);
      return std::min(free[d], all) * std::int64_t{l.limits.parts} / all;  // amounts leave room for that
    };
    free_nodes& one = found[{kind, whole[row], part(dim_cpu), part(dim_memory)}];
    if (one.nodes++ == 0) one = {kind, 1, whole[row], std::vector<std::int64_t>(dims, 0)};
    for (std::uint32_t d = 0; d < dims; ++d) one.most[d] = std::max(one.most[d], free[d]);
  }
  for (auto& [key, one] : found) to.free.push_back(std::move(one));
  std::size_t next = 0;
  for (const level_domains& one : l.levels) {
    for (std::int64_t each = 1; each <= l.largest_node_devices; each *= 2)
      to.domains[next++].free = room_in(one.of_node, one.count, whole, l.kind_of, each);
  }
}

result<cluster_summary> summary_maker::make(const engine& with, const snapshot& of, std::int64_t now,
                                            const summary_limits& limits) {
  if (limits.label_values == 0 || limits.kinds == 0 || limits.parts == 0 || limits.ends == 0)
    return error{status::argument, "limits of a summary: each has to be at least 1", {}};
  if (limits.parts > 64) return error{status::argument, "limits of a summary: parts: at most 64", {}};
  const cluster_state& s = model::state_of(of);
  const result<session> opened = with.open(of, now);
  if (!opened) return opened.failure();
  cluster_summary made;
  made.version = of.version();
  made.taken = now;
  made.preset = with.options().preset;
  made.rules = rules_of(with.options());
  lay_out(of, made.rules, with.options().mode == decision_mode::strict, limits);
  layout_->limits = limits;
  for (const model::dimension_info& one : *s.dimensions) made.dimensions.push_back(one.name);
  made.unknown_labels = layout_->unknown_labels;
  made.kinds = layout_->kinds;
  made.domains = layout_->domains;
  made.nodes = layout_->nodes_counted;
  made.gpu = layout_->gpu;
  made.largest_node_devices = layout_->largest_node_devices;
  add_free(s, made);
  add_queues(s, opened->view(), made);
  add_waiting(s, made);
  made.ends = ends_of(s, limits.ends);
  return made;
}

}  // namespace kaisched::federation_detail

namespace kaisched {

result<cluster_summary> summarise(const engine& with, const snapshot& of, std::int64_t now,
                                  const summary_limits& limits) {
  return federation_detail::summary_maker().make(with, of, now, limits);
}

}  // namespace kaisched
