#include "actions/room_bound.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

constexpr std::int64_t most_places = std::numeric_limits<std::int32_t>::max();  ///< of what asks for nothing

using framework::session_state;

std::int64_t places_on(std::int64_t free, std::int64_t size) { return std::max<std::int64_t>(0, free) / size; }

}  // namespace

room_bound::room_bound(session_state& c, group_row waiting, const victim_rules& rules)
    : c_(c), waiting_(waiting), rules_(rules) {}

std::int64_t room_bound::free(node_row row, dimension d) const {
  if (d == dim_gpu) return free_gpus(c_, row);
  const std::size_t at = static_cast<std::size_t>(row) * c_.state().dims() + d;
  return (*c_.live.idle)[at] + (*c_.live.releasing)[at];
}

void room_bound::open() {
  const model::cluster_state& s = c_.state();
  is_open_ = true;
  // Nodes may hold other amounts than those of their pods.
  counts_gpus_only_ = c_.constraints.has(policy::trait_amounts_not_of_pods);
  for (const pod_row p : c_.chunks.partial.chunk) {
    const class_row of = s.pods[p].pod_class;
    const auto known = std::find_if(kinds_.begin(), kinds_.end(), [of](const kind& one) { return one.of == of; });
    if (known != kinds_.end()) {
      ++known->pods;
      continue;
    }
    kind& made = kinds_.emplace_back();
    made.of = of;
    made.pods = 1;
    made.asked.resize(s.dims());
    for (dimension d = 0; d < s.dims(); ++d) {
      made.asked[d] = d == dim_gpu ? gpus_wanted(c_, p) : counts_gpus_only_ ? 0 : s.class_of(p).requests(d);
    }
  }
  const bool asks_gpus =
      std::any_of(kinds_.begin(), kinds_.end(), [](const kind& one) { return one.asked[dim_gpu] > 0; });
  checked_.push_back(dim_gpu);
  if (!asks_gpus && !counts_gpus_only_) checked_ = {dim_cpu, dim_memory};
  for (const dimension d : checked_) {
    std::vector<std::int64_t>& sizes = chunk_sizes_.emplace_back();
    for (const kind& one : kinds_) {
      if (one.asked[d] > 0) sizes.insert(sizes.end(), static_cast<std::size_t>(one.pods), one.asked[d]);
    }
  }
  std::vector<std::uint8_t> usable(s.node_count(), 0);
  for (node_row row = 0; row < s.node_count(); ++row) {
    if (c_.constraints.closes(waiting_, row)) continue;
    for (kind& one : kinds_) {
      if (!c_.choice.accepts(c_, one.of, row)) continue;
      usable[row] = 1;
      one.places += places_of(one, row, nullptr);
    }
  }
  scopes_.push_back(make_scope(std::move(usable)));
  scope_of_class_.assign(s.class_slots, no_row);
  slot_of_.assign(s.node_count(), no_row);
}

room_bound::scope room_bound::make_scope(std::vector<std::uint8_t> nodes) const {
  scope made;
  made.nodes = std::move(nodes);
  for (const dimension d : checked_) {
    std::int64_t& sum = made.free.emplace_back(0);
    for (node_row row = 0; row < made.nodes.size(); ++row) {
      if (made.nodes[row] != 0) sum += std::max<std::int64_t>(0, free(row, d));
    }
  }
  made.confined.assign(c_.state().class_slots, 0);
  return made;
}

/// How many pods of the kind the node has room for, with what is freed there by dimension.
std::int64_t room_bound::places_of(const kind& one, node_row row, const std::int64_t* freed) const {
  std::int64_t places = most_places;
  for (dimension d = 0; d < one.asked.size(); ++d) {
    if (one.asked[d] <= 0) continue;
    places = std::min(places, places_on(free(row, d) + (freed == nullptr ? 0 : freed[d]), one.asked[d]));
  }
  return places;
}

std::int64_t room_bound::places_before(scope& in, dimension d, std::int64_t size) const {
  for (const base_places& one : in.bases) {
    if (one.d == d && one.size == size) return one.places;
  }
  base_places& made = in.bases.emplace_back(base_places{d, size, 0});
  for (node_row row = 0; row < in.nodes.size(); ++row) {
    if (in.nodes[row] != 0) made.places += places_on(free(row, d), size);
  }
  return made.places;
}

bool room_bound::is_confined(scope& in, class_row of) {
  std::uint8_t& known = in.confined[of];
  if (known == 0) {
    known = 2;
    for (node_row row = 0; row < in.nodes.size() && known == 2; ++row) {
      if (in.nodes[row] == 0 && c_.choice.accepts(c_, of, row)) known = 1;
    }
  }
  return known == 2;
}

std::size_t room_bound::scope_of(class_row of) {
  if (scope_of_class_[of] != no_row) return scope_of_class_[of];
  std::vector<std::uint8_t> nodes = scopes_.front().nodes;
  for (node_row row = 0; row < nodes.size(); ++row)
    nodes[row] = nodes[row] != 0 || c_.choice.accepts(c_, of, row) ? 1 : 0;
  std::size_t at = 0;
  while (at < scopes_.size() && scopes_[at].nodes != nodes) ++at;
  if (at == scopes_.size()) scopes_.push_back(make_scope(std::move(nodes)));
  scope_of_class_[of] = static_cast<std::uint32_t>(at);
  return at;
}

bool room_bound::returns(queue_row leaf) {
  if (!rules_.queue_may_end_with_less) return false;
  const auto known =
      std::find_if(returning_.begin(), returning_.end(), [leaf](const auto& one) { return one.first == leaf; });
  if (known != returning_.end()) return known->second;
  return returning_.emplace_back(leaf, !rules_.queue_may_end_with_less(leaf)).second;
}

void room_bound::begin() {
  if (!is_open_) open();
  for (const node_row row : set_.rows) slot_of_[row] = no_row;
  set_.rows.clear();
  set_.freed.clear();
  set_.back.clear();
}

void room_bound::begin_with(const leaving_pods& known) {
  begin();
  set_ = known;
  for (std::size_t i = 0; i < set_.rows.size(); ++i) slot_of_[set_.rows[i]] = static_cast<std::uint32_t>(i);
}

void room_bound::leave(pod_row p, bool returns) {
  const std::size_t dims = c_.state().dims();
  const node_row row = node_of(c_, p);
  std::uint32_t& slot = slot_of_[row];
  if (slot == no_row) {
    slot = static_cast<std::uint32_t>(set_.rows.size());
    set_.rows.push_back(row);
    set_.freed.resize(set_.freed.size() + dims, 0);
  }
  add_freed(p, {set_.freed.data() + std::size_t{slot} * dims, dims});
  if (returns) set_.back.push_back({p, row, c_.state().pods[p].pod_class});
}

bool room_bound::has_room_for(const kind& one) const {
  std::int64_t places = one.places;
  for (std::size_t i = 0; i < set_.rows.size() && places < one.pods; ++i) {
    if (scopes_.front().nodes[set_.rows[i]] == 0 || !c_.choice.accepts(c_, one.of, set_.rows[i])) continue;
    places +=
        places_of(one, set_.rows[i], set_.freed.data() + i * c_.state().dims()) - places_of(one, set_.rows[i], nullptr);
  }
  return places >= one.pods;
}

/// All pods together, by sums and by numbers of one size.
bool room_bound::has_room_in(scope& in, std::size_t checked) {
  const dimension d = checked_[checked];
  const std::vector<std::int64_t>& chunk = chunk_sizes_[checked];
  const std::size_t dims = c_.state().dims();
  std::int64_t room = in.free[checked];
  for (std::size_t i = 0; i < set_.rows.size(); ++i) {
    if (in.nodes[set_.rows[i]] == 0) continue;
    const std::int64_t before = free(set_.rows[i], d);
    room += std::max<std::int64_t>(0, before + set_.freed[i * dims + d]) - std::max<std::int64_t>(0, before);
  }
  for (const std::int64_t size : chunk) room -= size;
  sizes_.clear();
  for (const leaving_pods::returning_pod& one : set_.back) {
    // Of what an overdrawn node gets back nothing may be left for others.
    if (in.nodes[one.row] == 0 || !is_confined(in, one.of) || free(one.row, d) < 0) continue;
    const std::int64_t size = d == dim_gpu ? std::min(gpus_of(c_, one.pod), gpus_wanted(c_, one.pod))
                                           : c_.state().class_of(one.pod).requests(d);
    if (size <= 0) continue;
    room -= size;
    const auto known = std::find_if(sizes_.begin(), sizes_.end(), [size](const auto& of) { return of.first == size; });
    if (known == sizes_.end())
      sizes_.emplace_back(size, 1);
    else
      ++known->second;
  }
  if (room < 0) return false;
  if (kinds_.size() == 1 && sizes_.empty()) return true;
  const auto holds = [&](std::int64_t r) {
    std::int64_t wanted = 0;
    for (const std::int64_t size : chunk) wanted += size / r;
    for (const auto& [size, pods] : sizes_) wanted += size / r * pods;
    std::int64_t places = places_before(in, d, r);
    for (std::size_t i = 0; i < set_.rows.size() && places < wanted; ++i) {
      if (in.nodes[set_.rows[i]] == 0) continue;
      const std::int64_t before = free(set_.rows[i], d);
      places += places_on(before + set_.freed[i * dims + d], r) - places_on(before, r);
    }
    return places >= wanted;
  };
  for (const kind& one : kinds_) {
    if (one.asked[d] > 0 && !holds(one.asked[d])) return false;
  }
  return std::all_of(sizes_.begin(), sizes_.end(), [&](const auto& of) { return holds(of.first); });
}

bool room_bound::has_room() {
  had_room_for_chunk_ =
      std::all_of(kinds_.begin(), kinds_.end(), [this](const kind& one) { return has_room_for(one); });
  if (!had_room_for_chunk_) return false;
  const auto is_enough = [this](std::size_t at) {
    for (std::size_t i = 0; i < checked_.size(); ++i) {
      if (!has_room_in(scopes_[at], i)) return false;
    }
    return true;
  };
  if (!is_enough(0)) return false;
  scopes_asked_.assign(scopes_.size(), 0);
  for (const leaving_pods::returning_pod& one : set_.back) {
    const std::size_t at = scope_of(one.of);
    if (at >= scopes_asked_.size()) scopes_asked_.resize(at + 1, 0);
    if (at != 0 && std::exchange(scopes_asked_[at], 1) == 0 && !is_enough(at)) return false;
  }
  return true;
}

void room_bound::add_freed(pod_row p, std::span<std::int64_t> freed) const {
  const model::pod_class& ask = c_.state().class_of(p);
  for (dimension d = 0; d < freed.size(); ++d) freed[d] += d == dim_gpu ? gpus_of(c_, p) : ask.requests(d);
}

bool room_bound::opens(node_row row, std::span<const std::int64_t> freed) {
  if (!is_open_) open();
  return scopes_.front().nodes[row] != 0 && std::any_of(kinds_.begin(), kinds_.end(), [&](const kind& one) {
           const std::int64_t before = places_of(one, row, nullptr);
           return c_.choice.accepts(c_, one.of, row) &&
                  (before == most_places || places_of(one, row, freed.data()) > before);
         });
}

void room_bound::leave(group_row group) {
  const model::cluster_state& s = c_.state();
  const model::group_core& g = s.groups[group];
  const bool back = returns(g.queue);
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
      if (framework::is_active(c_, p) && c_.live.pod_node[p] != no_row) leave(p, back);
    }
  }
}

bool room_bound::frees_usable_node(group_row group) {
  if (!is_open_) open();
  return has_pods_among(c_, group, scopes_.front().nodes);
}

bool room_bound::lacks_room() {
  return !c_.constraints.has(policy::trait_pays_gpus) && !has_room();  // a device may be paid for already
}

bool room_bound::lacks_room(std::span<const victim_unit> set) {
  begin();
  for (const victim_unit& one : set) {
    const bool back = returns(c_.state().groups[one.group].queue);
    for (const pod_row p : one.pods) leave(p, back);
  }
  return lacks_room();
}

}  // namespace kaisched::actions
