#include "schedulers/hived/rules/virtual_clusters.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace kaisched::hived {

// ---- what there is -------------------------------------------------------------------------------------------------

virtual_clusters::virtual_clusters(std::vector<chain> chains, const std::vector<cell_counts>& owned)
    : chains_(std::move(chains)) {
  for (number k = 0; k < chains_.size(); ++k) {
    const chain& of = chains_[k];
    physical_chain made{{}, {}, {}, {}, {}, {}, {}, buddies(of), 0, {}};
    made.gpus.resize(of.gpus.size());
    for (level l = 0; l <= of.top(); ++l) {
      made.bound.emplace_back(of.cells_at(l));
      made.bad.emplace_back(of.cells_at(l));
      made.occupied.emplace_back(of.cells_at(l));
    }
    made.free.assign(of.cells_at(of.node), of.size[of.node]);
    made.guaranteed.assign(of.cells_at(of.node), 0);
    made.reserved.assign(of.levels.size(), 0);
    for (number gpu = 0; gpu < of.gpus.size(); ++gpu)
      places_.emplace(std::pair(of.gpus[gpu].node, of.gpus[gpu].device), gpu_ref{k, gpu});
    for (number node = 0; node < of.cells_at(of.node); ++node) made.order.set(node, {of.size[of.node], 0, 0});
    physical_.push_back(std::move(made));
  }
  for (const cell_counts& counts : owned) {
    std::vector<virtual_chain>& cluster = clusters_.emplace_back(chains_.size());
    for (number k = 0; k < chains_.size(); ++k) {
      const chain& of = chains_[k];
      virtual_chain& made = cluster[k];
      for (level l = of.top() + 1; l-- > 0;) {
        physical_[k].reserved[l] += counts[k][l];
        for (number i = 0; i < counts[k][l]; ++i) {
          const auto first = static_cast<number>(made.owner.size());
          const auto at = static_cast<number>(made.cells.size());
          made.cells.push_back({l, first, i});
          const level seen = std::min(l, of.node);
          for (number gpu = first; gpu < first + of.size[l]; ++gpu) {
            if (gpu % of.size[seen] == 0) made.view.push_back({seen, gpu / of.size[seen], at, of.size[seen], 0});
            made.owner.push_back(at);
            made.view_of.push_back(static_cast<number>(made.view.size() - 1));
          }
        }
      }
      for (number i = 0; i < made.view.size(); ++i) made.change_view(i, 0, 0);
      for (level l = 0; l <= of.top(); ++l) made.bound.emplace_back(made.owner.size() / of.size[l] + 1, nothing);
      made.holder.assign(made.owner.size(), nothing);
      made.bad.assign(made.owner.size(), 0);
    }
  }
}

void virtual_clusters::virtual_chain::change_view(number i, std::int32_t free, std::int32_t used) {
  view_cell& seen = view[i];
  seen.free += static_cast<std::uint32_t>(free);
  seen.used += static_cast<std::uint32_t>(used);
  order.set(i, {seen.free, seen.used, 0});
}

std::optional<gpu_ref> virtual_clusters::find(node_row node, std::uint32_t device) const {
  const auto found = places_.find({node, device});
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

void virtual_clusters::count_occupied(number chain, number gpu, bool more) {
  for (level l = 0; l <= chains_[chain].top(); ++l) {
    std::uint32_t& count = physical_[chain].occupied[l][gpu / chains_[chain].size[l]];
    if (more) {
      ++count;
    } else {
      --count;
    }
  }
}

/// The node of a GPU that has changed gets its place among the others.
void virtual_clusters::show_node(number chain, number gpu) {
  physical_chain& in = physical_[chain];
  const struct chain& of = chains_[chain];
  const number node = gpu / of.size[of.node];
  in.order.set(node, {in.free[node], in.occupied[of.node][node], in.guaranteed[node]});
}

void virtual_clusters::spoil(gpu_ref gpu) {
  physical_chain& in = physical_[gpu.chain];
  const chain& of = chains_[gpu.chain];
  gpu_state& state = in.gpus[gpu.gpu];
  if (state.bad) return;
  if (state.is_free()) --in.free[gpu.gpu / of.size[of.node]];
  state.bad = true;
  ++in.bad_gpus;
  for (level l = 0; l <= of.top(); ++l) ++in.bad[l][gpu.gpu / of.size[l]];
  show_node(gpu.chain, gpu.gpu);
}

void virtual_clusters::vacate(gpu_ref gpu) {
  physical_chain& in = physical_[gpu.chain];
  const chain& of = chains_[gpu.chain];
  gpu_state& state = in.gpus[gpu.gpu];
  if (state.leaving || state.group != nothing) return;
  if (state.is_free()) --in.free[gpu.gpu / of.size[of.node]];
  state.leaving = true;
  count_occupied(gpu.chain, gpu.gpu, true);
  show_node(gpu.chain, gpu.gpu);
}

void virtual_clusters::charge(number chain, number gpu, number group, bool guaranteed) {
  physical_chain& in = physical_[chain];
  const number node = gpu / chains_[chain].size[chains_[chain].node];
  gpu_state& state = in.gpus[gpu];
  if (state.is_free()) --in.free[node];
  if (state.leaving) count_occupied(chain, gpu, false);  // it is promised to the group now
  state.group = group;
  if (guaranteed) {
    ++in.guaranteed[node];
  } else {
    count_occupied(chain, gpu, true);
  }
  show_node(chain, gpu);
}

void virtual_clusters::discharge(number chain, number gpu, bool leaves) {
  physical_chain& in = physical_[chain];
  const number node = gpu / chains_[chain].size[chains_[chain].node];
  gpu_state& state = in.gpus[gpu];
  if (groups_.at(state.group).guaranteed) {
    --in.guaranteed[node];
  } else {
    count_occupied(chain, gpu, false);
  }
  state.group = nothing;
  state.leaving = state.leaving || leaves;
  if (state.leaving) count_occupied(chain, gpu, true);
  if (state.is_free()) ++in.free[node];
  show_node(chain, gpu);
}

void virtual_clusters::charge_virtual(number cluster, const held_gpu& gpu, number group) {
  virtual_chain& in = virtual_of(cluster, gpu.at.chain);
  in.holder[gpu.virtual_gpu] = group;
  const std::int32_t more = group == nothing ? -1 : 1;
  in.change_view(in.view_of[gpu.virtual_gpu], in.bad[gpu.virtual_gpu] == 0 ? -more : 0, more);
}

// ---- bindings ------------------------------------------------------------------------------------------------------

/// The virtual GPU is that one, and its cells are those above. False, and nothing has changed, where something else is
/// bound, or if somebody might not get his cells then.
bool virtual_clusters::bind(number cluster, number chain, number virtual_gpu, number gpu) {
  virtual_chain& mine = virtual_of(cluster, chain);
  physical_chain& in = physical_[chain];
  const auto& size = chains_[chain].size;
  const level top = mine.cells[mine.owner[virtual_gpu]].at;
  level end = 0;  // of what is not bound
  while (end <= top && mine.bound[end][virtual_gpu / size[end]] == nothing) {
    if (in.bound[end][gpu / size[end]].cell != nothing) return false;
    ++end;
  }
  if (end <= top) {
    if (mine.bound[end][virtual_gpu / size[end]] != gpu / size[end]) return false;
    const virtual_ref& back = in.bound[end][gpu / size[end]];
    if (back.cluster != cluster || back.cell != virtual_gpu / size[end]) return false;
  } else {
    const number cell = gpu / size[top];
    if (!in.free_cells.is_free(top, cell)) return false;
    in.free_cells.take(top, cell);
    --in.reserved[top];
    if (!in.free_cells.holds(in.reserved)) {
      ++in.reserved[top];
      in.free_cells.give_back(top, cell);
      return false;
    }
  }
  for (level l = 0; l < end; ++l) {
    mine.bound[l][virtual_gpu / size[l]] = gpu / size[l];
    in.bound[l][gpu / size[l]] = {cluster, virtual_gpu / size[l]};
  }
  return true;
}

number virtual_clusters::first_unbound(number cluster, number chain, level at) const {
  const virtual_chain& mine = virtual_of(cluster, chain);
  for (const owned_cell& one : mine.cells) {
    const number cell = one.first / chains_[chain].size[at];
    if (one.at == at && mine.bound[at][cell] == nothing) return cell;
  }
  return nothing;
}

/// The virtual GPU for one in a bound cell: down from what is bound, by the first cells that are not.
number virtual_clusters::virtual_below(number cluster, number chain, level top, number gpu) const {
  const virtual_chain& mine = virtual_of(cluster, chain);
  const physical_chain& in = physical_[chain];
  const struct chain& of = chains_[chain];
  number at = in.bound[top][gpu / of.size[top]].cell;
  for (level l = top; l-- > 0;) {
    const virtual_ref& known = in.bound[l][gpu / of.size[l]];
    if (known.cell != nothing) {
      at = known.cell;
      continue;
    }
    number child = at * of.fan[l + 1];
    while (mine.bound[l][child] != nothing) ++child;
    at = child;
  }
  return at;
}

/// The owned cell that a pod was told, or `nothing`.
number virtual_clusters::told_owner(number cluster, const held_pod& pod) const {
  const number chain = pod.gpus.front().chain;
  const virtual_chain& mine = virtual_of(cluster, chain);
  const level at = chains_[chain].level_named(pod.told->level);
  const auto cell = std::ranges::find_if(
      mine.cells, [&](const owned_cell& one) { return one.at == at && one.serial == pod.told->cell; });
  return cell == mine.cells.end() ? nothing : static_cast<number>(cell - mine.cells.begin());
}

/// Exactly as the pod was told.
bool virtual_clusters::bind_told(number cluster, const held_pod& pod, std::vector<held_gpu>& to) {
  const number chain = pod.gpus.front().chain;
  const virtual_chain& mine = virtual_of(cluster, chain);
  const number owner = told_owner(cluster, pod);
  if (owner == nothing || pod.told->positions.size() != pod.gpus.size()) return false;
  for (std::size_t i = 0; i < pod.gpus.size(); ++i) {
    if (pod.told->positions[i] >= chains_[chain].size[mine.cells[owner].at]) return false;
    const number virtual_gpu = mine.cells[owner].first + pod.told->positions[i];
    if (mine.holder[virtual_gpu] != nothing || !bind(cluster, chain, virtual_gpu, pod.gpus[i].gpu)) return false;
    to.push_back({pod.gpus[i], virtual_gpu});
  }
  return true;
}

/// Somewhere in an owned cell, which is around the GPUs or has no place yet.
bool virtual_clusters::bind_in(number cluster, const held_pod& pod, number owner, std::vector<held_gpu>& to) {
  const number chain = pod.gpus.front().chain;
  const virtual_chain& mine = virtual_of(cluster, chain);
  const owned_cell& cell = mine.cells[owner];
  const std::uint32_t size = chains_[chain].size[cell.at];
  const number place = pod.gpus.front().gpu / size;
  const number known = mine.bound[cell.at][cell.first / size];
  const bool in_one = std::ranges::all_of(pod.gpus, [&](const gpu_ref& gpu) { return gpu.gpu / size == place; });
  if (!in_one || (known != nothing && known != place)) return false;
  for (const gpu_ref& gpu : pod.gpus) {
    const bool has_place = mine.bound[cell.at][cell.first / size] != nothing;
    const number virtual_gpu =
        has_place ? virtual_below(cluster, chain, cell.at, gpu.gpu) : cell.first + gpu.gpu % size;
    if (mine.holder[virtual_gpu] != nothing || !bind(cluster, chain, virtual_gpu, gpu.gpu)) return false;
    to.push_back({gpu, virtual_gpu});
  }
  return true;
}

/// In the cell that the pod was told, else in one that is around the GPUs already, else in the smallest that can be.
bool virtual_clusters::bind_near(number cluster, const held_pod& pod, std::vector<held_gpu>& to) {
  const number chain = pod.gpus.front().chain;
  const virtual_chain& mine = virtual_of(cluster, chain);
  const physical_chain& in = physical_[chain];
  const auto& size = chains_[chain].size;
  const number first = pod.gpus.front().gpu;
  if (const number owner = pod.told ? told_owner(cluster, pod) : nothing; owner != nothing) {
    const std::size_t before = to.size();
    if (bind_in(cluster, pod, owner, to)) return true;
    if (to.size() != before) return false;
  }
  for (level l = chains_[chain].top() + 1; l-- > 0;) {
    const virtual_ref& known = in.bound[l][first / size[l]];
    if (known.cell == nothing) continue;
    return known.cluster == cluster && bind_in(cluster, pod, mine.owner[known.cell * size[l]], to);
  }
  for (level l = 0; l <= chains_[chain].top(); ++l) {
    const number cell = in.free_cells.is_free(l, first / size[l]) ? first_unbound(cluster, chain, l) : nothing;
    const std::size_t before = to.size();
    if (cell != nothing && bind_in(cluster, pod, mine.owner[cell * size[l]], to)) return true;
    if (to.size() != before) return false;
  }
  return false;
}

/// What of an owned cell is bound is what its groups use and what has failed; nothing if no group uses it.
void virtual_clusters::rebuild(number cluster, number chain, number owner) {
  virtual_chain& mine = virtual_of(cluster, chain);
  physical_chain& in = physical_[chain];
  const auto& size = chains_[chain].size;
  const owned_cell& cell = mine.cells[owner];
  const number place = mine.bound[cell.at][cell.first / size[cell.at]];
  if (place == nothing) return;
  std::vector<std::pair<number, number>> held;
  for (number gpu = cell.first; gpu < cell.first + size[cell.at]; ++gpu) {
    if (mine.holder[gpu] != nothing) held.emplace_back(gpu, mine.bound[0][gpu]);
    if (mine.bad[gpu] != 0 && mine.holder[gpu] == nothing) mine.change_view(mine.view_of[gpu], 1, 0);
    mine.bad[gpu] = 0;
  }
  for (level l = 0; l <= cell.at; ++l) {
    const number count = size[cell.at] / size[l];
    for (number i = cell.first / size[l]; i < cell.first / size[l] + count; ++i) {
      if (mine.bound[l][i] != nothing) in.bound[l][mine.bound[l][i]] = {};
      mine.bound[l][i] = nothing;
    }
  }
  in.free_cells.give_back(cell.at, place);
  ++in.reserved[cell.at];
  for (const auto& [virtual_gpu, gpu] : held) (void)bind(cluster, chain, virtual_gpu, gpu);  // as it was
  if (!held.empty()) show_bad(cluster, chain, cell.at, cell.first / size[cell.at], place);
}

/// Parts of a bound cell that have failed are bound to parts that are not in use.
void virtual_clusters::show_bad(number cluster, number chain, level at, number virtual_cell, number cell) {
  virtual_chain& mine = virtual_of(cluster, chain);
  physical_chain& in = physical_[chain];
  const struct chain& of = chains_[chain];
  if (in.bad[at][cell] == 0) return;
  if (at == 0) {
    if (mine.bad[virtual_cell] == 0 && mine.holder[virtual_cell] == nothing)
      mine.change_view(mine.view_of[virtual_cell], -1, 0);
    mine.bad[virtual_cell] = 1;
    return;
  }
  for (number part = cell * of.fan[at]; part < (cell + 1) * of.fan[at]; ++part) {
    if (in.bad[at - 1][part] == 0) continue;
    if (in.bound[at - 1][part].cell == nothing) {
      number child = virtual_cell * of.fan[at];
      while (mine.bound[at - 1][child] != nothing) ++child;
      mine.bound[at - 1][child] = part;
      in.bound[at - 1][part] = {cluster, child};
    }
    show_bad(cluster, chain, at - 1, in.bound[at - 1][part].cell, part);
  }
}

/// Where fewer healthy cells are free than the virtual cluster may ask for, some of its cells are bad ones, whatever is
/// done: the least bad.
void virtual_clusters::show_doomed(number cluster, number chain) {
  physical_chain& in = physical_[chain];
  const struct chain& of = chains_[chain];
  if (in.bad_gpus == 0) return;
  for (level l = of.top() + 1; l-- > 0;) {
    for (number cell = first_unbound(cluster, chain, l); cell != nothing; cell = first_unbound(cluster, chain, l)) {
      std::uint32_t healthy = 0;
      std::vector<number> bad;
      for (number i = 0; i < of.cells_at(l); ++i) {
        if (!in.free_cells.is_free(l, i)) continue;
        if (in.bad[l][i] == 0) {
          ++healthy;
        } else {
          bad.push_back(i);
        }
      }
      if (unused(cluster, chain, l) <= healthy) break;
      std::ranges::stable_sort(bad, {}, [&](number i) { return in.bad[l][i]; });
      const auto doomed =
          std::ranges::find_if(bad, [&](number i) { return bind(cluster, chain, cell * of.size[l], i * of.size[l]); });
      if (doomed == bad.end()) break;
      // Only the cell is bound so far, not its first GPU.
      for (level below = 0; below < l; ++below) {
        in.bound[below][*doomed * of.size[l] / of.size[below]] = {};
        virtual_of(cluster, chain).bound[below][cell * of.size[l] / of.size[below]] = nothing;
      }
      show_bad(cluster, chain, l, cell, *doomed);
    }
  }
}

std::uint32_t virtual_clusters::unused(number cluster, number chain, level l) const {
  const virtual_chain& mine = virtual_of(cluster, chain);
  return static_cast<std::uint32_t>(std::ranges::count_if(mine.cells, [&](const owned_cell& one) {
    return one.at == l && mine.bound[l][one.first / chains_[chain].size[l]] == nothing;
  }));
}

bool virtual_clusters::is_safe() const {
  return std::ranges::all_of(physical_, [](const physical_chain& in) { return in.free_cells.holds(in.reserved); });
}

// ---- groups --------------------------------------------------------------------------------------------------------

void virtual_clusters::put(number group, const group_facts& facts, bool guaranteed, std::vector<held_gpu> gpus) {
  group_state& state = groups_[group];
  state.facts = facts;
  state.guaranteed = guaranteed;
  if (yields_.size() <= group) yields_.resize(group + std::size_t{1}, never_yields);
  yields_[group] = facts.fixed ? never_yields : facts.priority;
  for (const held_gpu& gpu : gpus) {
    charge(gpu.at.chain, gpu.at.gpu, group, guaranteed);
    if (guaranteed) charge_virtual(facts.cluster, gpu, group);
  }
  state.gpus.insert(state.gpus.end(), gpus.begin(), gpus.end());
}

bool virtual_clusters::hold(number group, const group_facts& facts, std::span<const held_pod> pods) {
  for (const bool exactly : {true, false}) {
    std::vector<held_gpu> bound;
    const bool good = std::ranges::all_of(pods, [&](const held_pod& pod) {
      const bool in_one =
          std::ranges::all_of(pod.gpus, [&](const gpu_ref& gpu) { return gpu.chain == pod.gpus.front().chain; });
      if (pod.gpus.empty() || !in_one) return in_one;
      return pod.told && exactly ? bind_told(facts.cluster, pod, bound) : bind_near(facts.cluster, pod, bound);
    });
    if (good) {
      put(group, facts, true, std::move(bound));
      return true;
    }
    std::set<std::pair<number, number>> touched;
    for (const held_gpu& gpu : bound)
      touched.emplace(gpu.at.chain, virtual_of(facts.cluster, gpu.at.chain).owner[gpu.virtual_gpu]);
    for (const auto& [chain, owner] : touched) rebuild(facts.cluster, chain, owner);
  }
  return false;
}

void virtual_clusters::hold_anyway(number group, const group_facts& facts, std::span<const held_pod> pods) {
  std::vector<held_gpu> gpus;
  for (const held_pod& pod : pods) {
    for (const gpu_ref& gpu : pod.gpus) gpus.push_back({gpu, nothing});
  }
  put(group, facts, false, std::move(gpus));
  if (!facts.fixed) return;
  for (const held_pod& pod : pods) {
    for (const gpu_ref& gpu : pod.gpus) spoil(gpu);
  }
}

bool virtual_clusters::is_guest(number group) const {
  const auto known = groups_.find(group);
  return known != groups_.end() && !known->second.guaranteed;
}

void virtual_clusters::settle() {
  for (number cluster = 0; cluster < clusters_.size(); ++cluster) {
    for (number k = 0; k < chains_.size(); ++k) {
      const virtual_chain& mine = virtual_of(cluster, k);
      for (const owned_cell& one : mine.cells) {
        const number cell = one.first / chains_[k].size[one.at];
        if (mine.bound[one.at][cell] != nothing) show_bad(cluster, k, one.at, cell, mine.bound[one.at][cell]);
      }
    }
  }
}

/// Its cells are free for its virtual cluster.
void virtual_clusters::leave_cells(group_state& of) {
  std::set<std::pair<number, number>> touched;
  for (held_gpu& gpu : of.gpus) {
    if (gpu.virtual_gpu == nothing) continue;
    charge_virtual(of.facts.cluster, gpu, nothing);
    touched.emplace(gpu.at.chain, virtual_of(of.facts.cluster, gpu.at.chain).owner[gpu.virtual_gpu]);
    gpu.virtual_gpu = nothing;
  }
  for (const auto& [chain, owner] : touched) rebuild(of.facts.cluster, chain, owner);
}

void virtual_clusters::release(number group) {
  const auto known = groups_.find(group);
  if (known == groups_.end()) return;
  leave_cells(known->second);
  for (const held_gpu& gpu : known->second.gpus) discharge(gpu.at.chain, gpu.at.gpu, true);
  groups_.erase(known);
}

void virtual_clusters::downgrade(number group) {
  group_state& of = groups_.at(group);
  if (!of.guaranteed) return;
  leave_cells(of);
  for (const held_gpu& gpu : of.gpus) discharge(gpu.at.chain, gpu.at.gpu, false);
  of.guaranteed = false;
  for (const held_gpu& gpu : of.gpus) charge(gpu.at.chain, gpu.at.gpu, group, false);
}

void virtual_clusters::take(number group, const group_facts& facts, const placement& at) {
  std::vector<held_gpu> gpus;
  std::set<number> fresh;  // owned cells that get a place now
  for (const pod_gpus& pod : at.pods) {
    for (std::size_t i = 0; i < pod.gpus.size(); ++i) {
      const number virtual_gpu = pod.virtual_gpus.empty() ? nothing : pod.virtual_gpus[i];
      gpus.push_back({{at.chain, pod.gpus[i]}, virtual_gpu});
      if (virtual_gpu == nothing) continue;
      const virtual_chain& mine = virtual_of(facts.cluster, at.chain);
      const owned_cell& cell = mine.cells[mine.owner[virtual_gpu]];
      if (mine.bound[cell.at][cell.first / chains_[at.chain].size[cell.at]] == nothing)
        fresh.insert(mine.owner[virtual_gpu]);
      (void)bind(facts.cluster, at.chain, virtual_gpu, pod.gpus[i]);  // there is room: it was found
    }
  }
  const bool guaranteed = !at.pods.empty() && !at.pods.front().virtual_gpus.empty();
  put(group, facts, guaranteed, std::move(gpus));
  for (const number owner : fresh) {
    const virtual_chain& mine = virtual_of(facts.cluster, at.chain);
    const number cell = mine.cells[owner].first / chains_[at.chain].size[mine.cells[owner].at];
    show_bad(facts.cluster, at.chain, mine.cells[owner].at, cell, mine.bound[mine.cells[owner].at][cell]);
  }
}

std::vector<number> virtual_clusters::victims(const placement& at) const {
  std::set<number> found;
  for (const pod_gpus& pod : at.pods) {
    for (const number gpu : pod.gpus) {
      const number group = physical_[at.chain].gpus[gpu].group;
      if (group != nothing) found.insert(group);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<number> virtual_clusters::own_victims(const placement& at, number cluster) const {
  std::vector<number> found = victims(at);
  std::erase_if(found, [&](number group) {
    const group_state& of = groups_.at(group);
    return !of.guaranteed || of.facts.cluster != cluster;
  });
  return found;
}

bool virtual_clusters::must_wait(const placement& at) const {
  return std::ranges::any_of(at.pods, [&](const pod_gpus& pod) {
    return std::ranges::any_of(pod.gpus, [&](number gpu) { return !physical_[at.chain].gpus[gpu].is_free(); });
  });
}

std::optional<cell_place> virtual_clusters::told(const placement& at, std::size_t pod, number cluster) const {
  const pod_gpus& of = at.pods[pod];
  if (of.virtual_gpus.empty()) return std::nullopt;
  const virtual_chain& mine = virtual_of(cluster, at.chain);
  const owned_cell& cell = mine.cells[mine.owner[of.virtual_gpus.front()]];
  std::vector<std::pair<number, number>> pairs;  // by device, as hosts name them
  for (std::size_t i = 0; i < of.gpus.size(); ++i)
    pairs.emplace_back(chains_[at.chain].gpus[of.gpus[i]].device, of.virtual_gpus[i] - cell.first);
  std::ranges::sort(pairs);
  cell_place made{chains_[at.chain].levels[cell.at], cell.serial, {}};
  for (const auto& [device, position] : pairs) made.positions.push_back(position);
  return made;
}

}  // namespace kaisched::hived
