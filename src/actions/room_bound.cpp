#include "actions/room_bound.hpp"

#include <algorithm>
#include <utility>

#include "framework/members.hpp"

namespace kaisched::actions {

using framework::session_state;

void leaving_pods::clear() {
  rows.clear();
  freed.clear();
  back.clear();
  counts = 0;
  class_places.clear();
}

room_bound::room_bound(session_state& c, room_table& table, group_row waiting, const victim_rules& rules)
    : c_(c), table_(table), waiting_(waiting), rules_(rules) {}

void room_bound::open() {
  const model::cluster_state& s = c_.state();
  is_open_ = true;
  table_.refresh();
  for (const pod_row p : c_.chunks.partial.chunk) {
    const class_row of = s.pods[p].pod_class;
    const auto known = std::find_if(kinds_.begin(), kinds_.end(), [of](const kind& one) { return one.of == of; });
    if (known != kinds_.end()) {
      ++known->pods;
      continue;
    }
    const room_table::class_room& room = table_.of_class(p);
    kinds_.push_back({of, 1, room.asked, room.places});
  }
  const bool asks_gpus =
      std::any_of(kinds_.begin(), kinds_.end(), [](const kind& one) { return one.asked[dim_gpu] > 0; });
  checked_.push_back(dim_gpu);
  if (!asks_gpus) checked_ = {dim_cpu, dim_memory};
  for (const dimension d : checked_) {
    std::vector<std::int64_t>& sizes = chunk_sizes_.emplace_back();
    for (const kind& one : kinds_) {
      if (one.asked[d] > 0) sizes.insert(sizes.end(), static_cast<std::size_t>(one.pods), one.asked[d]);
    }
  }
  find_scope();
  slot_of_.assign(s.node_count(), no_row);
}

/// Where constraints close nodes to the group these are left out.
void room_bound::find_scope() {
  scope_ = table_.scope_of(c_.chunks.partial.chunk);
  if (!c_.constraints.has(policy::trait_closes_nodes)) return;
  framework::node_set nodes = table_.at(scope_).nodes;
  for (kind& one : kinds_) one.places = 0;
  for (node_row row = 0; row < nodes.size(); ++row) {
    if (nodes[row] == 0) continue;
    nodes[row] = c_.constraints.closes(waiting_, row) ? 0 : 1;
    for (kind& one : kinds_) {
      if (nodes[row] != 0 && c_.choice.accepts(c_, one.of, row))
        one.places += table_.places_of(one.asked, row, nullptr);
    }
  }
  scope_ = table_.scope_of(std::move(nodes));
}

bool room_bound::returns(queue_row leaf) {
  if (!rules_.queue_may_end_with_less) return false;
  const auto known =
      std::find_if(returning_.begin(), returning_.end(), [leaf](const auto& one) { return one.first == leaf; });
  if (known != returning_.end()) return known->second;
  return returning_.emplace_back(leaf, !rules_.queue_may_end_with_less(leaf)).second;
}

void room_bound::begin(leaving_pods& set) {
  if (!is_open_) open();
  for (const node_row row : set_->rows) slot_of_[row] = no_row;
  set_ = &set;
  set_->clear();
}

void room_bound::ask_again(leaving_pods& told) {
  if (!is_open_) open();
  for (const node_row row : set_->rows) slot_of_[row] = no_row;
  set_ = &told;
}

void room_bound::leave(pod_row p, bool returns) {
  const std::size_t dims = c_.state().dims();
  const node_row row = node_of(c_, p);
  std::uint32_t& slot = slot_of_[row];
  if (slot == no_row) {
    slot = static_cast<std::uint32_t>(set_->rows.size());
    set_->rows.push_back(row);
    set_->freed.resize(set_->freed.size() + dims, 0);
  }
  add_freed(p, {set_->freed.data() + std::size_t{slot} * dims, dims});
  if (returns) set_->back.push_back({p, row, c_.state().pods[p].pod_class});
}

bool room_bound::has_room_for(const kind& one) {
  if (one.places >= one.pods) return true;
  const auto known = std::find_if(set_->class_places.begin(), set_->class_places.end(),
                                  [&](const auto& of) { return of.first == one.of; });
  if (known != set_->class_places.end()) return one.places + known->second >= one.pods;
  const room_table::scope& usable = table_.at(scope_);
  std::int64_t more = 0;
  for (std::size_t i = 0; i < set_->rows.size(); ++i) {
    const node_row row = set_->rows[i];
    if (usable.nodes[row] == 0 || !c_.choice.accepts(c_, one.of, row)) continue;
    more += table_.places_of(one.asked, row, set_->freed.data() + i * c_.state().dims()) -
            table_.places_of(one.asked, row, nullptr);
  }
  set_->class_places.emplace_back(one.of, more);
  return one.places + more >= one.pods;
}

leaving_pods::totals& room_bound::totals_of(std::uint32_t scope, dimension d) {
  for (std::size_t i = 0; i < set_->counts; ++i) {
    if (set_->counted[i].scope == scope && set_->counted[i].d == d) return set_->counted[i];
  }
  if (set_->counts == set_->counted.size()) set_->counted.emplace_back();
  leaving_pods::totals& made = set_->counted[set_->counts++];
  room_table::scope& in = table_.at(scope);
  made.scope = scope;
  made.d = d;
  made.room = in.free[d];
  made.sizes.clear();
  made.places.clear();
  const std::size_t dims = c_.state().dims();
  for (std::size_t i = 0; i < set_->rows.size(); ++i) {
    if (in.nodes[set_->rows[i]] == 0) continue;
    const std::int64_t before = table_.free(set_->rows[i], d);
    made.room += std::max<std::int64_t>(0, before + set_->freed[i * dims + d]) - std::max<std::int64_t>(0, before);
  }
  for (const leaving_pods::returning_pod& one : set_->back) {
    // Of what an overdrawn node gets back nothing may be left for others.
    if (in.nodes[one.row] == 0 || !table_.is_confined(in, one.of) || table_.free(one.row, d) < 0) continue;
    const std::int64_t size = d != dim_gpu ? c_.state().class_of(one.pod).requests(d)
                              : table_.may_be_paid_for(one.pod)
                                  ? 0
                                  : std::min(gpus_of(c_, one.pod), gpus_wanted(c_, one.pod));
    if (size <= 0) continue;
    made.room -= size;
    const auto known =
        std::find_if(made.sizes.begin(), made.sizes.end(), [size](const auto& of) { return of.first == size; });
    if (known == made.sizes.end())
      made.sizes.emplace_back(size, 1);
    else
      ++known->second;
  }
  return made;
}

std::int64_t room_bound::places_after(leaving_pods::totals& of, std::int64_t size) const {
  for (const size_places& one : of.places) {
    if (one.size == size) return one.places;
  }
  room_table::scope& in = table_.at(of.scope);
  const std::size_t dims = c_.state().dims();
  std::int64_t places = table_.places_before(in, of.d, size);
  for (std::size_t i = 0; i < set_->rows.size(); ++i) {
    if (in.nodes[set_->rows[i]] == 0) continue;
    const std::int64_t before = table_.free(set_->rows[i], of.d);
    places += places_on(before + set_->freed[i * dims + of.d], size) - places_on(before, size);
  }
  of.places.push_back({size, places});
  return places;
}

/// All pods together, by sums and by numbers of one size.
bool room_bound::has_room_in(std::uint32_t scope, std::size_t checked) {
  leaving_pods::totals& all = totals_of(scope, checked_[checked]);
  const std::vector<std::int64_t>& chunk = chunk_sizes_[checked];
  std::int64_t room = all.room;
  for (const std::int64_t size : chunk) room -= size;
  if (room < 0) return false;
  if (kinds_.size() == 1 && all.sizes.empty()) return true;
  const auto holds = [&](std::int64_t r) {
    std::int64_t wanted = 0;
    for (const std::int64_t size : chunk) wanted += size / r;
    for (const auto& [size, pods] : all.sizes) wanted += size / r * pods;
    return places_after(all, r) >= wanted;
  };
  for (const kind& one : kinds_) {
    if (one.asked[all.d] > 0 && !holds(one.asked[all.d])) return false;
  }
  return std::all_of(all.sizes.begin(), all.sizes.end(), [&](const auto& of) { return holds(of.first); });
}

bool room_bound::has_room() {
  had_room_for_chunk_ =
      std::all_of(kinds_.begin(), kinds_.end(), [this](const kind& one) { return has_room_for(one); });
  if (!had_room_for_chunk_) return false;
  const auto is_enough = [this](std::uint32_t scope) {
    for (std::size_t i = 0; i < checked_.size(); ++i) {
      if (!has_room_in(scope, i)) return false;
    }
    return true;
  };
  if (!is_enough(scope_)) return false;
  scopes_asked_.clear();
  class_row last = no_row;
  for (const leaving_pods::returning_pod& one : set_->back) {
    if (std::exchange(last, one.of) == one.of) continue;
    const std::uint32_t with = table_.with_class(scope_, one.of);
    if (with >= scopes_asked_.size()) scopes_asked_.resize(std::size_t{with} + 1, 0);
    if (with != scope_ && std::exchange(scopes_asked_[with], 1) == 0 && !is_enough(with)) return false;
  }
  return true;
}

void room_bound::add_freed(pod_row p, std::span<std::int64_t> freed) const {
  const model::pod_class& ask = c_.state().class_of(p);
  for (dimension d = 0; d < freed.size(); ++d) freed[d] += d == dim_gpu ? gpus_of(c_, p) : ask.requests(d);
}

bool room_bound::opens(node_row row, std::span<const std::int64_t> freed) {
  if (!is_open_) open();
  return table_.at(scope_).nodes[row] != 0 && std::any_of(kinds_.begin(), kinds_.end(), [&](const kind& one) {
           const std::int64_t before = table_.places_of(one.asked, row, nullptr);
           return c_.choice.accepts(c_, one.of, row) &&
                  (before == most_places || table_.places_of(one.asked, row, freed.data()) > before);
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
  return table_.is_reached(table_.at(scope_), group);
}

bool room_bound::lacks_room() { return !has_room(); }

void room_bound::begin_with(std::span<const victim_unit> set) {
  begin(own_);
  for (const victim_unit& one : set) {
    const bool back = returns(c_.state().groups[one.group].queue);
    for (const pod_row p : one.pods) leave(p, back);
  }
}

bool room_bound::lacks_room(std::span<const victim_unit> set) {
  begin_with(set);
  return lacks_room();
}

room_bound::checked_amounts room_bound::surplus(std::span<const victim_unit> set) {
  checked_amounts more{};
  begin_with(set);
  for (std::size_t i = 0; i < checked_.size(); ++i) {
    more[i] = totals_of(scope_, checked_[i]).room;
    for (const std::int64_t size : chunk_sizes_[i]) more[i] -= size;
  }
  return more;
}

template <class Counts>
room_bound::checked_amounts room_bound::freed_by(std::span<const victim_unit> units, Counts counts) {
  if (!is_open_) open();
  checked_amounts freed{};
  for (const victim_unit& one : units) {
    for (const pod_row p : one.pods) {
      for (std::size_t i = 0; i < checked_.size(); ++i) {
        if (counts(one, node_of(c_, p), checked_[i]))
          freed[i] += checked_[i] == dim_gpu ? gpus_of(c_, p) : c_.state().class_of(p).requests(checked_[i]);
      }
    }
  }
  return freed;
}

room_bound::checked_amounts room_bound::most_freed(std::span<const victim_unit> units) {
  if (!is_open_) open();
  const framework::node_set& usable = table_.at(scope_).nodes;
  return freed_by(units, [&](const victim_unit&, node_row row, dimension) { return usable[row] != 0; });
}

/// What comes back takes what it has freed, and of an overdrawn node nothing may be free.
room_bound::checked_amounts room_bound::least_freed(std::span<const victim_unit> units) {
  if (!is_open_) open();
  const framework::node_set& usable = table_.at(scope_).nodes;
  return freed_by(units, [&](const victim_unit& unit, node_row row, dimension d) {
    return usable[row] != 0 && table_.free(row, d) >= 0 && !returns(c_.state().groups[unit.group].queue);
  });
}

std::uint32_t room_bound::usable_nodes() {
  if (!is_open_) open();
  return scope_;
}

}  // namespace kaisched::actions
