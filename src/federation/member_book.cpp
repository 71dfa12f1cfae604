#include "federation/member_book.hpp"

#include <algorithm>
#include <limits>

#include "base/int128.hpp"
#include "base/saturating.hpp"
#include "model/mig_profile.hpp"

namespace kaisched::federation_detail {

namespace {

constexpr std::int64_t parts_of_node = 4;
constexpr std::int64_t most_of_node = std::numeric_limits<std::int32_t>::max();

/// A sum over nodes that a summary tells of: how many these are, and in how many rows, the other side says.
void add_nodes(std::int64_t& sum, std::int64_t nodes, std::int64_t each) {
  sum = base::saturating_add(sum, base::saturating_multiply(nodes, each));
}

using device_counts = std::map<std::int64_t, std::int64_t>;  ///< pods by GPUs as a whole

/// Pods that the set cannot start without, the smallest it may choose; of members none if it may choose among them.
void add_needed(const set_demand& one, const class_pool& pool, device_counts& to) {
  if (one.is_set) {
    if (one.need != unset && one.need < std::ssize(one.members)) return;
    for (const set_demand& member : one.members) add_needed(member, pool, to);
    return;
  }
  device_counts mine;
  for (const auto& [number, count] : one.pods) mine[whole_devices_of(pool[number])] += count;
  std::int64_t rest = std::max<std::int64_t>(one.need, 0);
  for (const auto& [devices, count] : mine) {
    const std::int64_t taken = std::min(rest, count);
    if (taken > 0) to[devices] += taken;
    rest -= taken;
  }
}

}  // namespace

member_book::member_book(cluster_summary of, const std::vector<std::string>& dimensions) : summary_(std::move(of)) {
  for (const std::string& name : dimensions) {
    const auto at = std::find(summary_.dimensions.begin(), summary_.dimensions.end(), name);
    dimension_.push_back(
        at == summary_.dimensions.end() ? no_row : static_cast<std::uint32_t>(at - summary_.dimensions.begin()));
    is_judged_.push_back(dimension_.back() != no_row && !model::is_mig_resource(name));  // devices can be divided anew
  }
  for (const node_kind& kind : summary_.kinds) {
    parsed_kind& one = kinds_.emplace_back();
    one.labels = kind.labels;
    for (const std::string& text : kind.taints) {
      if (result<model::taint> read = model::parse_taint(text)) one.taints.push_back(std::move(*read));
    }
  }
  for (const free_nodes& one : summary_.free) put(left_, one);
  left_in_domains_ = summary_.domains;
}

member_book::free_key member_book::key_of(const free_nodes& one) const {
  const node_kind& kind = summary_.kinds[one.kind];
  const auto part = [&](dimension d) {
    const std::int64_t all = std::max<std::int64_t>(kind.capacity[d], 1);
    return static_cast<std::int64_t>(base::int128{std::min(one.most[d], all)} * parts_of_node / all);
  };
  return {one.kind, one.devices, part(dim_cpu), part(dim_memory)};
}

void member_book::put(free_map& into, const free_nodes& one) const {
  const auto [at, is_new] = into.emplace(key_of(one), one);
  if (is_new) return;
  free_nodes& there = at->second;
  there.nodes = base::saturating_add(there.nodes, one.nodes);
  for (std::size_t d = 0; d < there.most.size(); ++d) there.most[d] = std::max(there.most[d], one.most[d]);
}

bool member_book::has_dimensions(const group_demand& one, const class_pool& pool) const {
  return std::all_of(one.pods.begin(), one.pods.end(), [&](const auto& pods) {
    const model::pod_class& ask = pool[pods.first];
    for (std::uint32_t d = 0; d < dimension_.size(); ++d) {
      if (ask.requests(d) > 0 && dimension_[d] == no_row) return false;
    }
    return true;
  });
}

const queue_summary* member_book::queue(std::string_view name) const {
  const auto at = std::lower_bound(summary_.queues.begin(), summary_.queues.end(), name,
                                   [](const queue_summary& q, std::string_view n) { return q.name < n; });
  return at != summary_.queues.end() && at->name == name ? &*at : nullptr;
}

/// By labels and taints; a label that the summary does not tell may be anything.
bool member_book::may_hold(const model::pod_class& ask, const parsed_kind& kind) const {
  if (!summary_.rules.labels) return true;
  const auto is_unknown = [&](const std::string& key) {
    return std::binary_search(summary_.unknown_labels.begin(), summary_.unknown_labels.end(), key);
  };
  for (const auto& [key, value] : ask.node_selector) {
    if (is_unknown(key)) continue;
    const std::string* has = model::find_label(kind.labels, key);
    if (has == nullptr || *has != value) return false;
  }
  const auto may_match = [&](const model::selector& term) {
    return std::all_of(term.requirements.begin(), term.requirements.end(), [&](const model::requirement& one) {
      return is_unknown(one.key) || model::selector{{one}}.matches(kind.labels);
    });
  };
  if (!ask.node_affinity.empty() && std::none_of(ask.node_affinity.begin(), ask.node_affinity.end(), may_match))
    return false;
  return ask.tolerates(kind.taints);
}

/// Pods of the class on one node with so much.
std::int64_t member_book::fit_on(const model::pod_class& ask, std::int64_t devices,
                                 const std::vector<std::int64_t>& amounts) const {
  std::int64_t fit = most_of_node;
  const bool counts_gpu = ask.claimed_devices == 0 && ask.memory_devices == 0 && !ask.asks_vendors() &&
                          (summary_.rules.shares || ask.shared_devices == 0);
  for (std::uint32_t d = 0; d < dimension_.size(); ++d) {
    const std::int64_t asked = ask.requests(d);
    if (asked <= 0 || !is_judged_[d] || (d == dim_gpu && !counts_gpu)) continue;
    fit = std::min(fit, amounts[dimension_[d]] / asked);
  }
  const std::int64_t whole = whole_devices_of(ask);
  return whole > 0 ? std::min(fit, devices / whole) : fit;
}

member_book::class_slots& member_book::slots_of(std::uint32_t number, const class_pool& pool) {
  if (pool_version_ != pool.version()) slots_.clear();
  pool_version_ = pool.version();
  if (slots_.size() < pool.size()) slots_.resize(pool.size());
  class_slots& made = slots_[number];
  if (made.free >= 0) return made;
  const model::pod_class& ask = pool[number];
  for (const parsed_kind& kind : kinds_) made.kinds.push_back(may_hold(ask, kind));
  made.free = 0;
  for (const free_nodes& one : summary_.free) {
    if (made.kinds[one.kind]) add_nodes(made.free, one.nodes, fit_on(ask, one.devices, one.most));
  }
  made.empty = 0;
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    const node_kind& kind = summary_.kinds[k];
    if (made.kinds[k]) add_nodes(made.empty, kind.nodes, fit_on(ask, kind.devices, kind.capacity));
  }
  return made;
}

std::int64_t member_book::slots(std::uint32_t number, const class_pool& pool, room in) {
  class_slots& known = slots_of(number, pool);
  if (in == room::free) return known.free;
  if (in == room::empty) return known.empty;
  if (known.charge != charges_) {
    known.charge = charges_;
    known.left = 0;
    const model::pod_class& ask = pool[number];
    for (const auto& [key, one] : left_) {
      if (known.kinds[one.kind]) add_nodes(known.left, one.nodes, fit_on(ask, one.devices, one.most));
    }
  }
  return known.left;
}

/// Some domain of the level has room for all that the set cannot do without, by GPUs as a whole.
bool member_book::has_domain(const set_demand& one, const class_pool& pool, room in) const {
  device_counts needed;
  add_needed(one, pool, needed);
  std::int64_t devices = 0;
  for (const auto& [each, count] : needed) devices += each * count;
  const std::vector<domain_room>& all = in == room::left ? left_in_domains_ : summary_.domains;
  for (const domain_room& domains : all) {
    if (domains.topology != one.topology || domains.level != one.level) continue;
    const auto& rooms = in == room::empty ? domains.empty : domains.free;
    const std::int64_t most = rooms.empty() ? 0 : rooms.back().first;
    std::int64_t pods = 0;
    for (const auto& [each, count] : needed) pods += each >= domains.devices ? count : 0;
    if (pods > most || (domains.devices == 1 && devices > most)) return false;
  }
  return true;
}

bool member_book::could_start(const set_demand& one, const class_pool& pool, room in) {
  if (summary_.rules.domains && !one.level.empty() && !has_domain(one, pool, in)) return false;
  if (one.is_set) {
    const std::int64_t all = std::ssize(one.members);
    const std::int64_t need = one.need == unset ? all : std::min(one.need, all);
    std::int64_t can = 0;
    for (const set_demand& member : one.members) can += could_start(member, pool, in) ? 1 : 0;
    return can >= need;
  }
  std::int64_t all = 0;
  std::int64_t have = 0;
  for (const auto& [number, count] : one.pods) {
    all += count;
    have += std::min(count, slots(number, pool, in));
  }
  const std::int64_t need = std::min(one.need, all);
  if (have < need) return false;
  return std::all_of(one.pods.begin(), one.pods.end(),
                     [&](const auto& pods) { return slots(pods.first, pool, in) >= need - (all - pods.second); });
}

bool member_book::could_start(const group_demand& one, const class_pool& pool, room in) {
  if (std::none_of(one.pods.begin(), one.pods.end(), [&](const auto& pods) { return slots(pods.first, pool, in) > 0; }))
    return false;
  if (!summary_.rules.whole_gangs) return true;
  device_counts needed;
  add_needed(one.root, pool, needed);
  std::int64_t devices = 0;
  for (const auto& [each, count] : needed) devices += each * count;
  return devices <= all_devices(in) && could_start(one.root, pool, in);
}

/// GPUs as a whole of all nodes.
std::int64_t member_book::all_devices(room in) const {
  std::int64_t all = 0;
  if (in == room::empty) {
    for (const node_kind& one : summary_.kinds) add_nodes(all, one.nodes, std::min(one.devices, most_of_node));
  } else if (in == room::free) {
    for (const free_nodes& one : summary_.free) add_nodes(all, one.nodes, std::min(one.devices, most_of_node));
  } else {
    for (const auto& [key, one] : left_) add_nodes(all, one.nodes, std::min(one.devices, most_of_node));
  }
  return all;
}

std::int64_t member_book::room_besides(const group_demand& one, const class_pool& pool) {
  const auto larger = [&](const auto& a, const auto& b) {
    const auto key = [&](const auto& pods) {
      return std::pair(pool[pods.first].requests(dim_gpu), pool[pods.first].requests(dim_cpu));
    };
    return key(a) < key(b);
  };
  if (one.pods.empty()) return 0;
  const auto& largest = *std::max_element(one.pods.begin(), one.pods.end(), larger);
  return slots(largest.first, pool, room::left) - largest.second;
}

bool member_book::is_entitled(const queue_summary& queue, const group_demand& one) const {
  const auto sent = charged_queues_.find(queue.name);
  for (std::uint32_t d = 0; d < quota_dimensions; ++d) {
    const std::int64_t held =
        base::saturating_add(queue.allocated[d], sent == charged_queues_.end() ? 0 : sent->second[d]);
    if (queue.quota[d] != unlimited && one.amounts[d] > 0 &&
        base::saturating_add(held, one.amounts[d]) > queue.quota[d])
      return false;
  }
  return true;
}

std::int64_t member_book::expected_start(const group_demand& one) const {
  const std::int64_t wanted =
      base::saturating_add(base::saturating_add(summary_.waiting_gpu, charged_gpu_), one.amounts[dim_gpu]);
  std::int64_t free = summary_.free_gpu;
  if (free >= wanted) return summary_.taken;
  for (const expected_release& end : summary_.ends) {
    free = base::saturating_add(free, end.gpu);
    if (free >= wanted) return std::max(end.at, summary_.taken);
  }
  return -1;
}

void member_book::charge_class(const model::pod_class& ask, const std::vector<bool>& kinds, std::int64_t count) {
  std::vector<free_nodes> changed;
  const std::int64_t whole = whole_devices_of(ask);
  // The fewest GPUs first, as packing would; rows are by kind before that.
  std::vector<std::pair<std::int64_t, free_key>> order;
  for (const auto& [key, one] : left_) {
    if (kinds[one.kind] && fit_on(ask, one.devices, one.most) > 0) order.emplace_back(one.devices, key);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [devices, key] : order) {
    if (count == 0) break;
    const auto at = left_.find(key);
    free_nodes& one = at->second;
    const std::int64_t each = fit_on(ask, one.devices, one.most);
    const auto take = [&](std::int64_t nodes, std::int64_t pods) {
      if (nodes == 0 || pods == 0) return;
      free_nodes used = one;
      used.nodes = nodes;
      used.devices = std::max<std::int64_t>(used.devices - pods * whole, 0);
      for (std::uint32_t d = 0; d < dimension_.size(); ++d) {
        if (dimension_[d] == no_row) continue;
        std::int64_t& amount = used.most[dimension_[d]];
        amount = std::max<std::int64_t>(amount - pods * ask.requests(d), 0);
      }
      changed.push_back(std::move(used));
      one.nodes -= nodes;
      count -= nodes * pods;
    };
    take(std::min(one.nodes, count / each), each);
    if (one.nodes > 0 && count < each) take(1, count);
    if (one.nodes == 0) left_.erase(at);
  }
  for (const free_nodes& one : changed) put(left_, one);
}

void member_book::charge_domain(const set_demand& one, const class_pool& pool) {
  for (const set_demand& member : one.members) charge_domain(member, pool);
  if (one.level.empty()) return;
  device_counts needed;
  add_needed(one, pool, needed);
  for (domain_room& domains : left_in_domains_) {
    if (domains.topology != one.topology || domains.level != one.level) continue;
    std::int64_t pods = 0;
    for (const auto& [each, count] : needed) {
      if (each > 0) pods += std::max<std::int64_t>((each * count + domains.devices - 1) / domains.devices, 1);
    }
    auto& rooms = domains.free;
    const auto at = std::find_if(rooms.begin(), rooms.end(), [&](const auto& r) { return r.first >= pods; });
    if (pods == 0 || at == rooms.end()) continue;
    const std::int64_t rest = at->first - pods;
    if (--at->second == 0) rooms.erase(at);
    if (rest == 0) continue;
    const auto where = std::lower_bound(rooms.begin(), rooms.end(), std::pair(rest, std::int64_t{0}));
    if (where != rooms.end() && where->first == rest) {
      ++where->second;
    } else {
      rooms.insert(where, {rest, 1});
    }
  }
}

void member_book::charge(const group_demand& one, const class_pool& pool, std::string_view queue) {
  for (const auto& [number, count] : one.pods) charge_class(pool[number], slots_of(number, pool).kinds, count);
  if (summary_.rules.domains) charge_domain(one.root, pool);
  model::quota_vector& sent = charged_queues_[std::string(queue)];
  for (std::uint32_t d = 0; d < quota_dimensions; ++d) sent[d] = base::saturating_add(sent[d], one.amounts[d]);
  charged_gpu_ = base::saturating_add(charged_gpu_, one.amounts[dim_gpu]);
  ++charges_;
}

}  // namespace kaisched::federation_detail
