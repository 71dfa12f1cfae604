#include "session/certificate_bounds.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "framework/members.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched::session_detail {

namespace {

using framework::session_state;
using model::cluster_state;
using model::pod_class;

// ---- what the group needs ------------------------------------------------------------------------------------------

class need_collector {
 public:
  need_collector(const session_state& c, waiting_need& all) : c_(c), s_(c.state()), all_(all) {}

  void collect(group_row group) {
    const sub_group_row root = s_.groups[group].first_sub;
    if (!framework::is_satisfied(c_, root)) {
      all_.root = member(root);
      return;
    }
    // The gangs are complete: the least that can start is any one pod.
    all_.root.sub = root;
    for (sub_group_row sub = root; sub < root + s_.groups[group].sub_count; ++sub) add_pods(sub, all_.root);
    all_.root.needed = std::min<std::int64_t>(1, pods_of(all_.root));
  }

 private:
  static std::int64_t pods_of(const pod_need& need) {
    std::int64_t sum = 0;
    for (const auto& [kind, count] : need.pods) sum += count;
    return sum;
  }

  pod_need member(sub_group_row sub) {
    pod_need need;
    need.sub = sub;
    need.is_set = s_.subs[sub].is_set;
    const std::int64_t missing = framework::members_needed(c_, sub) - framework::members_active(c_, sub);
    if (!need.is_set) {
      add_pods(sub, need);
      need.needed = std::min(missing, pods_of(need));  // whether there are enough is another question
      return need;
    }
    for (sub_group_row child = s_.subs[sub].first_child; child != no_row; child = s_.subs[child].next_sibling) {
      if (!framework::is_satisfied(c_, child)) need.members.push_back(member(child));
    }
    const auto members = static_cast<std::int64_t>(need.members.size());
    need.needs_all = missing >= members;
    need.needed = std::min(missing, members);
    return need;
  }

  void add_pods(sub_group_row sub, pod_need& to) {
    const model::sub_info& info = s_.subs[sub];
    if (info.is_set || c_.counts(sub).pending == 0) return;
    for (pod_row p = info.first_pod; p != no_row; p = s_.pods[p].next) {
      if (static_cast<pod_status>(c_.live.pod_state[p]) != pod_status::pending) continue;
      const std::uint32_t kind = kind_of(p);
      ++all_.kinds[kind].count;
      if (to.pods.empty() || to.pods.back().first != kind) {
        const auto known =
            std::find_if(to.pods.begin(), to.pods.end(), [&](const auto& one) { return one.first == kind; });
        if (known != to.pods.end()) {
          ++known->second;
          continue;
        }
        to.pods.emplace_back(kind, 0);
      }
      ++to.pods.back().second;
    }
  }

  std::uint32_t kind_of(pod_row p) {
    const class_row wanted = s_.pods[p].pod_class;
    if (wanted == last_class_) return last_kind_;
    last_class_ = wanted;
    const auto known = std::find(classes_.begin(), classes_.end(), wanted);
    last_kind_ = static_cast<std::uint32_t>(known - classes_.begin());
    if (known != classes_.end()) return last_kind_;
    classes_.push_back(wanted);
    all_.kinds.push_back(make_kind(s_, wanted, p));
    return last_kind_;
  }

  const session_state& c_;
  const cluster_state& s_;
  waiting_need& all_;
  std::vector<class_row> classes_;
  class_row last_class_ = no_row;
  std::uint32_t last_kind_ = 0;
};

std::int64_t sum_of_smallest(std::vector<std::int64_t> values, std::int64_t count) {
  const auto end = std::min<std::size_t>(values.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
  std::sort(values.begin(), values.end());
  return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{0});
}

}  // namespace

bool is_beyond_amounts(const cluster_state& s, const pod_class& ask) {
  if (ask.memory_devices + ask.claimed_devices + ask.mig_slices > 0 || !ask.ask.claims.empty() || ask.asks_vendors())
    return true;
  for (dimension d = built_in_dimensions; d < s.dims(); ++d) {
    if (ask.requests(d) > 0 && model::is_mig_resource((*s.dimensions)[d].name)) return true;
  }
  return false;
}

pod_kind make_kind(const cluster_state& s, class_row of, pod_row example) {
  const pod_class& ask = *s.classes[of];
  pod_kind kind{&ask, example, 0, std::vector<std::int64_t>(s.dims(), 0), 0};
  const bool beyond = is_beyond_amounts(s, ask);
  for (dimension d = 0; d < s.dims(); ++d) {
    const bool counts = d == dim_gpu ? !beyond : !model::is_mig_resource((*s.dimensions)[d].name);
    if (counts) kind.request[d] = ask.requests(d);
  }
  if (!beyond) kind.whole_devices = ask.whole_devices;
  return kind;
}

waiting_need need_of(const session_state& c, group_row group) {
  waiting_need all;
  need_collector(c, all).collect(group);
  return all;
}

std::int64_t least_pods(const pod_need& need, const kind_set& kinds) {
  if (!need.is_set) {
    std::int64_t others = 0;
    for (const auto& [kind, count] : need.pods) others += kinds[kind] ? 0 : count;
    return std::max<std::int64_t>(0, need.needed - others);
  }
  std::vector<std::int64_t> each;
  for (const pod_need& member : need.members) each.push_back(least_pods(member, kinds));
  return sum_of_smallest(std::move(each), need.needed);
}

std::int64_t least_amount(const waiting_need& all, const pod_need& need, dimension d) {
  if (need.is_set) {
    std::vector<std::int64_t> each;
    for (const pod_need& member : need.members) each.push_back(least_amount(all, member, d));
    return sum_of_smallest(std::move(each), need.needed);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> requests;  // amount, pods
  for (const auto& [kind, count] : need.pods) requests.emplace_back(all.kinds[kind].request[d], count);
  std::sort(requests.begin(), requests.end());
  std::int64_t left = need.needed;
  std::int64_t sum = 0;
  for (const auto& [amount, count] : requests) {
    sum += amount * std::min(left, count);
    left -= std::min(left, count);
  }
  return sum;
}

// ---- what nodes have -----------------------------------------------------------------------------------------------

bool is_opaque(const model::node_info& node) {
  return node.is_shared_by_vendors() || !node.claimable.empty() || !node.device_settings_text.empty() ||
         std::any_of(node.devices.begin(), node.devices.end(), [](const model::device_info& d) {
           return !d.instances.empty() || d.sharing == model::sharing_mode::mig;
         });
}

bool has_whole_devices(const model::node_info& node) {
  return node.device_count() > 0 && std::all_of(node.devices.begin(), node.devices.end(), [](const auto& d) {
           return !d.is_offered() || d.share == whole_device;
         });
}

std::uint64_t whole_devices_of(const model::node_info& node) {
  std::uint64_t mask = 0;
  for (std::uint32_t d = 0; d < node.device_count(); ++d) {
    if (node.devices.empty() || node.devices[d].is_offered()) mask |= std::uint64_t{1} << d;
  }
  return mask;
}

namespace {

class node_accounts {
 public:
  node_accounts(const session_state& c, group_row group, certificate_assumption assumed)
      : c_(c), s_(c.state()), group_(group), assumed_(assumed) {
    open_.free = *s_.capacity;
    opaque_.resize(s_.node_count());
    taken_.resize(s_.node_count());
    for (node_row row = 0; row < s_.node_count(); ++row) opaque_[row] = is_opaque(*(*s_.nodes)[row]);
  }

  open_amounts take() {
    const bool from_sums = assumed_ == certificate_assumption::as_is && sums_tell();
    if (from_sums) {
      open_.free = *c_.live.idle;
    } else if (assumed_ != certificate_assumption::empty) {
      for (pod_row p = 0; p < s_.pod_slots; ++p) {
        if (s_.pods[p].live) charge_pod(p);
      }
    }
    open_.whole_devices.resize(s_.node_count());
    for (node_row row = 0; row < s_.node_count(); ++row) {
      const std::size_t gpu = static_cast<std::size_t>(row) * s_.dims() + dim_gpu;
      const model::node_info& node = *(*s_.nodes)[row];
      const bool known = !opaque_[row] && has_whole_devices(node);
      if (opaque_[row]) open_.free[gpu] = (*s_.capacity)[gpu];
      open_.whole_devices[row] = !known      ? -1
                                 : from_sums ? untouched_devices(row)
                                             : std::popcount(whole_devices_of(node) & ~taken_[row]);
    }
    return std::move(open_);
  }

 private:
  /// What nodes have idle is their capacity less what pods ask for that are there.
  [[nodiscard]] bool sums_tell() const {
    return s_.pods_with_shares + s_.pods_with_gpu_memory + s_.pods_with_mig + s_.pods_with_claims +
                   s_.pods_asking_vendors ==
               0 &&
           std::all_of(c_.results.decisions.begin(), c_.results.decisions.end(),
                       [](const decision& d) { return d.kind == decision_kind::bind; });
  }

  [[nodiscard]] std::int64_t untouched_devices(node_row row) const {
    std::int64_t count = 0;
    for (device_row d = (*s_.first_device)[row]; d < (*s_.first_device)[row + 1]; ++d)
      count += (*c_.live.device_free)[d] == (*s_.device_units)[d] ? 1 : 0;
    return count;
  }

  void charge_pod(pod_row p) {
    constexpr std::uint32_t on_node = model::active_used & ~model::bit(pod_status::pipelined);
    const auto now = static_cast<pod_status>(c_.live.pod_state[p]);
    if (assumed_ == certificate_assumption::without_preemptible) {
      if (stays(p) && model::is_in(now, model::holding)) charge(p, c_.live.pod_node[p], c_.live.pod_devices[p]);
      return;
    }
    // A pod that moves in this session is on its old node until it has gone.
    const model::live_state& before = model::state_of(c_.base).live;
    const bool was_there = model::is_in(static_cast<pod_status>(before.pod_state[p]), on_node);
    if (was_there) charge(p, before.pod_node[p], before.pod_devices[p]);
    if (model::is_in(now, on_node) && (!was_there || c_.live.pod_node[p] != before.pod_node[p]))
      charge(p, c_.live.pod_node[p], c_.live.pod_devices[p]);
  }

  /// The pod is not preemptible. Pods of the group itself count as gone: they need a place no less than those that
  /// wait.
  [[nodiscard]] bool stays(pod_row p) const {
    const group_row g = s_.pods[p].group;
    return g != group_ && (g == no_row || (!s_.groups[g].preemptible && !s_.groups[g].semi_preemptible));
  }

  void charge(pod_row p, std::uint32_t slot, const device_set& devices) {
    if (slot == no_row) return;
    const node_row row = (*s_.node_row_of_slot)[slot];
    const pod_class& ask = s_.class_of(p);
    const std::size_t at = static_cast<std::size_t>(row) * s_.dims();
    for (dimension d = 0; d < s_.dims(); ++d) {
      if ((*s_.capacity)[at + d] != 0) open_.free[at + d] -= ask.requests(d);
    }
    if (is_beyond_amounts(s_, ask)) opaque_[row] = true;
    taken_[row] |= devices.mask;
  }

  const session_state& c_;
  const cluster_state& s_;
  group_row group_;
  certificate_assumption assumed_;
  open_amounts open_;
  std::vector<bool> opaque_;
  std::vector<std::uint64_t> taken_;
};

}  // namespace

open_amounts amounts_under(const session_state& c, group_row group, certificate_assumption assumed) {
  return node_accounts(c, group, assumed).take();
}

// ---- bounds --------------------------------------------------------------------------------------------------------

constraint verdict_of(const session_state& c, const pod_class& ask, const model::node_info& node) {
  if (!c.has_predicates) return constraint::none;
  if (!ask.ask.obstacle.empty()) return constraint::obstacle;
  if (node.unschedulable) return constraint::node_unschedulable;
  if (!node.ready) return constraint::node_not_ready;
  if (!node.taints.empty() && !ask.tolerates(node.taints)) return constraint::taint;
  if (!ask.matches_labels(node.labels)) return constraint::node_selector;
  return constraint::none;
}

namespace {

constexpr std::int64_t at_least_zero(std::int64_t amount) { return std::max<std::int64_t>(0, amount); }

class bound_list {
 public:
  void add(const std::tuple<constraint, dimension, std::int64_t>& key, node_row row) { nodes_[key].push_back(row); }
  [[nodiscard]] std::vector<node_bound> take() {
    std::vector<node_bound> all;
    for (auto& [key, rows] : nodes_)
      all.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::move(rows)});
    return all;
  }

 private:
  std::map<std::tuple<constraint, dimension, std::int64_t>, std::vector<node_row>> nodes_;
};

}  // namespace

bound_search::bound_search(const session_state& c, const waiting_need& all) : c_(c), all_(all) {
  const cluster_state& s = c.state();
  verdicts_.reserve(s.node_count() * all.kinds.size());
  for (node_row row = 0; row < s.node_count(); ++row) {
    for (const pod_kind& kind : all.kinds) verdicts_.push_back(verdict_of(c, *kind.ask, *(*s.nodes)[row]));
  }
}

/// Most pods of one kind that the node takes if it takes no others.
std::int64_t bound_search::takes(const open_amounts& open, std::uint32_t kind, node_row row) const {
  if (verdict(kind, row) != constraint::none) return 0;
  const pod_kind& one = all_.kinds[kind];
  const std::size_t at = static_cast<std::size_t>(row) * one.request.size();
  std::int64_t most = one.count;
  for (dimension d = 0; d < one.request.size(); ++d) {
    if (one.request[d] > 0) most = std::min(most, at_least_zero(open.free[at + d]) / one.request[d]);
  }
  if (one.whole_devices > 0 && open.whole_devices[row] >= 0)
    most = std::min(most, open.whole_devices[row] / one.whole_devices);
  return most;
}

/// Why and how many pods of some kinds the node takes at most.
bound_search::bound_key bound_search::bound_of(const open_amounts& open, const kind_set& kinds, node_row row) const {
  std::int64_t sum = 0;
  std::vector<std::uint32_t> admitted;
  std::vector<std::uint32_t> fitting;
  constraint common = constraint::none;
  bool is_common = true;
  for (std::uint32_t kind = 0; kind < kinds.size(); ++kind) {
    if (!kinds[kind]) continue;
    const constraint why = verdict(kind, row);
    if (why != constraint::none) {
      is_common = is_common && (common == constraint::none || common == why);
      common = why;
      continue;
    }
    admitted.push_back(kind);
    const std::int64_t most = takes(open, kind, row);
    sum += most;
    if (most > 0) fitting.push_back(kind);
  }
  if (admitted.empty()) return {is_common ? common : constraint::none, no_row, 0};
  bound_key best{constraint::none, no_row, sum};
  const std::vector<std::uint32_t>& among = fitting.empty() ? admitted : fitting;
  const auto least = [&](auto amount) {
    std::int64_t found = amount(all_.kinds[among.front()]);
    for (const std::uint32_t kind : among) found = std::min(found, amount(all_.kinds[kind]));
    return found;
  };
  const std::size_t dims = c_.state().dims();
  const auto offer = [&](const bound_key& other) {
    const bool is_named = std::get<0>(best) != constraint::none;
    const std::int64_t most = std::get<2>(other);
    if (most < std::get<2>(best) || (most == std::get<2>(best) && !is_named)) best = other;
  };
  const auto ask = [&](dimension d) {
    const std::int64_t request = least([&](const pod_kind& kind) { return kind.request[d]; });
    if (request > 0) {
      offer({constraint::resource, d, at_least_zero(open.free[static_cast<std::size_t>(row) * dims + d]) / request});
    }
  };
  ask(dim_gpu);  // a full node lacks GPUs, not a bit of CPU
  for (dimension d = 0; d < dims; ++d) {
    if (d != dim_gpu) ask(d);
  }
  const std::int64_t devices = least([](const pod_kind& kind) { return kind.whole_devices; });
  if (devices > 0 && open.whole_devices[row] >= 0)
    offer({constraint::resource_busy, no_row, open.whole_devices[row] / devices});
  return best;
}

std::vector<pod_row> bound_search::examples(const kind_set& kinds) const {
  std::vector<pod_row> pods;
  for (std::uint32_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind]) pods.push_back(all_.kinds[kind].example);
  }
  return pods;
}

std::optional<placement_bound> bound_search::count(const open_amounts& open, const pod_need& need,
                                                   const kind_set& kinds, std::span<const node_row> nodes,
                                                   certificate_kind what) const {
  placement_bound found;
  found.need = least_pods(need, kinds);
  bound_list list;
  for (const node_row row : nodes) {
    const bound_key key = bound_of(open, kinds, row);
    found.have += std::get<2>(key);
    if (found.have >= found.need) return std::nullopt;
    list.add(key, row);
  }
  if (found.have >= found.need) return std::nullopt;
  found.kind = what;
  found.pods = examples(kinds);
  found.nodes = list.take();
  return found;
}

std::optional<placement_bound> bound_search::sum(const open_amounts& open, const pod_need& need,
                                                 std::span<const node_row> nodes) const {
  const std::size_t dims = c_.state().dims();
  const kind_set every(all_.kinds.size(), true);
  std::vector<bound_key> bounds;
  for (const node_row row : nodes) bounds.push_back(bound_of(open, every, row));
  for (dimension d = 0; d < dims; ++d) {
    placement_bound found;
    found.need = least_amount(all_, need, d);
    if (found.need == 0) continue;
    bound_list list;
    for (std::size_t i = 0; i < nodes.size() && found.have < found.need; ++i) {
      if (std::get<2>(bounds[i]) == 0) {
        list.add(bounds[i], nodes[i]);
        continue;
      }
      const std::int64_t free = at_least_zero(open.free[nodes[i] * dims + d]);
      found.have += free;
      list.add({constraint::resource, d, free}, nodes[i]);
    }
    if (found.have >= found.need) continue;
    found.kind = certificate_kind::sum_bound;
    found.pods = examples(every);
    found.dim = d;
    found.nodes = list.take();
    return found;
  }
  return std::nullopt;
}

namespace {

/// Pod sets that have to start whatever is chosen elsewhere.
void add_demands(const pod_need& need, std::vector<flow_demand>& to) {
  if (!need.is_set) {
    if (need.needed > 0) to.push_back({need.needed, need.pods});
    return;
  }
  if (!need.needs_all) return;
  for (const pod_need& member : need.members) add_demands(member, to);
}

}  // namespace

std::optional<placement_bound> bound_search::cut(const open_amounts& open, const pod_need& need,
                                                 std::span<const node_row> nodes) const {
  if (all_.kinds.size() < 2) return std::nullopt;
  std::vector<flow_demand> demands;
  add_demands(need, demands);
  const auto kinds = static_cast<std::uint32_t>(all_.kinds.size());
  const kind_set every(kinds, true);
  std::map<std::vector<std::int64_t>, std::int64_t> equal;  // what a node takes of each kind and in all: nodes
  for (const node_row row : nodes) {
    std::vector<std::int64_t> takes_each;
    for (std::uint32_t kind = 0; kind < kinds; ++kind) takes_each.push_back(takes(open, kind, row));
    takes_each.push_back(std::get<2>(bound_of(open, every, row)));
    ++equal[std::move(takes_each)];
  }
  std::vector<flow_supply> supplies;
  for (const auto& [each, number] : equal) supplies.push_back({number, {each.begin(), each.end() - 1}, each.back()});
  const std::optional<kind_set> short_ones = violating_kinds(demands, supplies, kinds);
  if (!short_ones) return std::nullopt;
  return count(open, need, *short_ones, nodes, certificate_kind::matching_cut);
}

std::optional<placement_bound> bound_search::find(const open_amounts& open, const pod_need& need,
                                                  std::span<const node_row> nodes) const {
  const kind_set every(all_.kinds.size(), true);
  if (least_pods(need, every) == 0) return std::nullopt;
  if (auto found = count(open, need, every, nodes, certificate_kind::counting_bound)) return found;
  if (auto found = sum(open, need, nodes)) return found;
  return cut(open, need, nodes);
}

}  // namespace kaisched::session_detail
