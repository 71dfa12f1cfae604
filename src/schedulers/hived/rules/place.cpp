// Where groups go: in the cells of their virtual cluster first, then these in the cluster.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/unwinding.hpp"
#include "schedulers/hived/rules/packing.hpp"
#include "schedulers/hived/rules/virtual_clusters.hpp"

namespace kaisched::hived {

namespace {

/// What pods pick from: nodes, or those in one cell of a level.
using node_list = std::vector<number>;

/// Those of equal keys beside each other, the ones with the least that is free first.
template <class Key>
std::vector<node_list> lists_by(const std::vector<node_view>& nodes, const Key& key_of) {
  std::map<decltype(key_of(number{})), node_list> by_key;
  for (number i = 0; i < nodes.size(); ++i) by_key[key_of(i)].push_back(i);
  std::vector<node_list> lists;
  for (auto& [key, list] : by_key) lists.push_back(std::move(list));
  const auto free_of = [&](const node_list& list) {
    std::uint64_t free = 0;
    for (const number i : list) free += nodes[i].free;
    return free;
  };
  std::ranges::stable_sort(lists, {}, free_of);
  return lists;
}

/// A node for each pod, all in one cell of the level that is asked for, if one is. `cell_of`: a node's at a level.
template <class CellOf>
std::optional<std::vector<number>> pick_within(const chain& of, const request& asked,
                                               const std::vector<node_view>& nodes, const CellOf& cell_of) {
  if (asked.within.empty()) return pick_nodes(nodes, asked.pods);
  const level wide = of.level_named(asked.within);
  if (wide == nothing) return std::nullopt;
  for (const node_list& list : lists_by(nodes, [&](number i) { return cell_of(i, wide); })) {
    std::vector<node_view> here;
    for (const number i : list) here.push_back(nodes[i]);
    auto picked = pick_nodes(here, asked.pods);
    if (!picked) continue;
    for (number& one : *picked) one = list[one];
    return picked;
  }
  return std::nullopt;
}

}  // namespace

/// Finds where virtual GPUs are to be. Free cells are taken meanwhile, and given back at the end.
class virtual_clusters::matcher {
 public:
  matcher(virtual_clusters& all, const request& asked, number chain)
      : all_(all),
        asked_(asked),
        chain_(chain),
        of_(all.chains_[chain]),
        in_(all.physical_[chain]),
        mine_(all.virtual_of(asked.cluster, chain)),
        free_(all.physical_[chain].free_cells),
        reserved_(in_.reserved) {}
  matcher(const matcher&) = delete;
  matcher& operator=(const matcher&) = delete;
  ~matcher() noexcept(false) {
    if (unwinding_.is_under_way()) return;
    for (std::size_t i = taken_.size(); i-- > 0;) free_.give_back(taken_[i].first, taken_[i].second);
  }

  /// For GPUs of one owned cell, rising.
  bool find(number owner, std::span<const number> gpus) {
    const owned_cell& cell = mine_.cells[owner];
    const number virtual_cell = cell.first / of_.size[cell.at];
    const number place = mine_.bound[cell.at][virtual_cell];
    if (place != nothing) return match(cell.at, virtual_cell, place, gpus, true);
    for (level l = cell.at; l <= of_.top(); ++l) {
      const bool splits = l > cell.at;
      const std::set<number>& free = free_.free_at(l);
      if (free.empty()) continue;
      const number first = first_of(l, free, splits);
      if (allocate(l, first, cell.at, virtual_cell, gpus)) return true;
      for (const number one : in_order(l, {free.begin(), free.end()}, splits)) {
        if (one != first && allocate(l, one, cell.at, virtual_cell, gpus)) return true;
      }
    }
    return false;
  }

  [[nodiscard]] number place_of(number virtual_gpu) const { return places_.at(virtual_gpu); }

 private:
  /// Cells with fewer GPUs that have failed first, then those that fewer would have to leave. Of cells that are to be
  /// split those with more that have failed: healthy ones stay whole.
  [[nodiscard]] std::vector<number> in_order(level l, std::vector<number> cells, bool splits) const {
    std::ranges::sort(cells, {}, [&](number cell) { return rank_of(l, cell, splits); });
    return cells;
  }
  [[nodiscard]] std::tuple<std::int64_t, std::uint32_t, number> rank_of(level l, number cell, bool splits) const {
    const auto bad = static_cast<std::int64_t>(in_.bad[l][cell]);
    return {splits ? -bad : bad, in_.occupied[l][cell], cell};
  }
  /// Where nothing has failed and nobody would have to leave, no other comes before.
  [[nodiscard]] number first_of(level l, const std::set<number>& cells, bool splits) const {
    number first = *cells.begin();
    for (const number cell : cells) {
      if (rank_of(l, cell, splits) < rank_of(l, first, splits)) first = cell;
      const bool is_least_bad = splits ? in_.bad_gpus == 0 : in_.bad[l][cell] == 0;
      if (is_least_bad && in_.occupied[l][cell] == 0) return first;
    }
    return first;
  }
  [[nodiscard]] std::vector<number> parts_of(level l, number cell, bool splits) const {
    std::vector<number> parts;
    for (number part = cell * of_.fan[l]; part < (cell + 1) * of_.fan[l]; ++part) parts.push_back(part);
    return in_order(l - 1, std::move(parts), splits);
  }

  /// Takes a cell of a level out of a free one, if the others still get theirs.
  bool allocate(level l, number cell, level at, number virtual_cell, std::span<const number> gpus) {
    if (l > at) {
      return std::ranges::any_of(parts_of(l, cell, l - 1 > at),
                                 [&](number part) { return allocate(l - 1, part, at, virtual_cell, gpus); });
    }
    if (!match(at, virtual_cell, cell, gpus, false)) return false;
    free_.take(at, cell);
    --reserved_[at];
    if (free_.holds(reserved_)) {
      taken_.emplace_back(at, cell);
      return match(at, virtual_cell, cell, gpus, true);
    }
    ++reserved_[at];
    free_.give_back(at, cell);
    return false;
  }

  /// The GPUs of a virtual cell have places in a cell. @param keeps remembers them.
  bool match(level l, number virtual_cell, number cell, std::span<const number> gpus, bool keeps) {
    const bool is_bound = mine_.bound[l][virtual_cell] != nothing;
    if (!keeps && !is_bound && in_.bad[l][cell] == 0 && asked_.nodes == nullptr) return true;
    if (l <= of_.node && !all_.may_use(asked_, chain_, l, cell)) return false;
    if (l == 0) {
      if (in_.gpus[cell].bad) return false;
      if (keeps) places_.emplace(virtual_cell, cell);
      return true;
    }
    struct child {
      number virtual_cell;
      std::span<const number> gpus;
    };
    std::vector<child> open;
    for (std::size_t begin = 0; begin < gpus.size();) {
      const number part = gpus[begin] / of_.size[l - 1];
      std::size_t end = begin;
      while (end < gpus.size() && gpus[end] / of_.size[l - 1] == part) ++end;
      const std::span<const number> inside = gpus.subspan(begin, end - begin);
      const number known = mine_.bound[l - 1][part];
      if (known == nothing) {
        open.push_back({part, inside});
      } else if (!match(l - 1, part, known, inside, keeps)) {
        return false;
      }
      begin = end;
    }
    std::vector<number> parts = parts_of(l, cell, false);
    std::erase_if(parts, [&](number part) { return in_.bound[l - 1][part].cell != nothing; });
    if (parts.size() < open.size()) return false;
    // Maximum matching by augmenting paths; the first part that is free, before others have to move.
    std::vector<std::size_t> taken_by(parts.size(), open.size());
    std::vector<std::uint8_t> seen;
    const auto augment = [&](const auto& self, std::size_t i) -> bool {
      const auto fits = [&](std::size_t p) {
        return match(l - 1, open[i].virtual_cell, parts[p], open[i].gpus, false);
      };
      for (std::size_t p = 0; p < parts.size(); ++p) {
        if (taken_by[p] != open.size() || !fits(p)) continue;
        taken_by[p] = i;
        return true;
      }
      for (std::size_t p = 0; p < parts.size(); ++p) {
        if (seen[p] != 0 || !fits(p)) continue;
        seen[p] = 1;
        if (!self(self, taken_by[p])) continue;
        taken_by[p] = i;
        return true;
      }
      return false;
    };
    for (std::size_t i = 0; i < open.size(); ++i) {
      seen.assign(parts.size(), 0);
      if (!augment(augment, i)) return false;
    }
    for (std::size_t p = 0; keeps && p < parts.size(); ++p) {
      if (taken_by[p] == open.size()) continue;
      const child& one = open[taken_by[p]];
      if (!match(l - 1, one.virtual_cell, parts[p], one.gpus, true)) return false;
    }
    return true;
  }

  const virtual_clusters& all_;
  const request& asked_;
  number chain_;
  const chain& of_;
  const physical_chain& in_;
  const virtual_chain& mine_;
  buddies& free_;
  std::vector<std::uint32_t> reserved_;
  std::vector<std::pair<level, number>> taken_;  ///< level, cell
  std::map<number, number> places_;
  base::unwinding unwinding_;
};

/// The node of a cell that is one, or less.
bool virtual_clusters::may_use(const request& asked, number chain, level at, number cell) const {
  const struct chain& of = chains_[chain];
  return asked.nodes == nullptr || (*asked.nodes)[of.gpus[cell * of.size[at]].node] != 0;
}

/// A node of the view, or a cell that is less than one, for each pod. @param takes GPUs of groups of lower priority
/// count as well.
std::optional<std::vector<number>> virtual_clusters::pick(const request& asked, number chain, bool takes) const {
  const struct chain& of = chains_[chain];
  const virtual_chain& mine = virtual_of(asked.cluster, chain);
  if (!takes && asked.pods.size() == 1 && asked.within.empty()) {
    const number first = mine.order.first(asked.pods.front(), [&](number i) {
      const view_cell& seen = mine.view[i];
      const number place = asked.nodes == nullptr ? nothing : mine.bound[seen.at][seen.cell];
      return place == nothing || may_use(asked, chain, seen.at, place);
    });
    if (first == nothing) return std::nullopt;
    return std::vector<number>{first};
  }
  std::vector<node_view> nodes(mine.view.size());
  for (number i = 0; i < nodes.size(); ++i) {
    const view_cell& seen = mine.view[i];
    nodes[i] = {seen.free, seen.used, 0};
    const number place = asked.nodes == nullptr ? nothing : mine.bound[seen.at][seen.cell];
    if (place != nothing && !may_use(asked, chain, seen.at, place)) nodes[i].free = 0;
    if (!takes || (place != nothing && nodes[i].free == 0 && !may_use(asked, chain, seen.at, place))) continue;
    for (number gpu = seen.cell * of.size[seen.at]; gpu < (seen.cell + 1) * of.size[seen.at]; ++gpu) {
      if (mine.holder[gpu] != nothing && mine.bad[gpu] == 0 && gives_way(mine.holder[gpu], asked.priority))
        ++nodes[i].free;
    }
  }
  return pick_within(of, asked, nodes, [&](number i, level wide) {
    const view_cell& seen = mine.view[i];
    const bool is_in = wide < mine.cells[seen.owner].at;
    return std::pair(seen.owner, is_in ? seen.cell * of.size[seen.at] / of.size[wide] : number{0});
  });
}

/// Virtual GPUs for each pod. @param takes those of groups of lower priority as well.
std::optional<std::vector<std::vector<number>>> virtual_clusters::pack(const request& asked, number chain,
                                                                       bool takes) const {
  const struct chain& of = chains_[chain];
  const virtual_chain& mine = virtual_of(asked.cluster, chain);
  const auto picked = pick(asked, chain, takes);
  if (!picked) return std::nullopt;
  std::map<number, std::vector<number>> available;
  for (const number node : *picked) {
    const auto [at, is_new] = available.try_emplace(node);
    if (!is_new) continue;
    const view_cell& seen = mine.view[node];
    std::vector<number> taken;
    for (number gpu = seen.cell * of.size[seen.at]; gpu < (seen.cell + 1) * of.size[seen.at]; ++gpu) {
      if (mine.bad[gpu] != 0) continue;
      if (mine.holder[gpu] == nothing) {
        at->second.push_back(gpu);
      } else if (takes && gives_way(mine.holder[gpu], asked.priority)) {
        taken.push_back(gpu);
      }
    }
    at->second.insert(at->second.end(), taken.begin(), taken.end());
  }
  // As nodes were picked: small pods first.
  std::vector<std::vector<number>> chosen(asked.pods.size());
  for (const number pod : by_size(asked.pods))
    chosen[pod] = choose_gpus(of, available.at((*picked)[pod]), asked.pods[pod]);
  return chosen;
}

std::optional<placement> virtual_clusters::place_guaranteed(const request& asked, number chain, refusal& why) {
  const virtual_chain& mine = virtual_of(asked.cluster, chain);
  if (mine.cells.empty()) return std::nullopt;
  show_doomed(asked.cluster, chain);
  auto chosen = pack(asked, chain, false);
  if (!chosen) chosen = pack(asked, chain, true);
  if (!chosen) return std::nullopt;
  why = refusal::nodes;
  std::map<number, std::vector<number>> by_owner;
  for (const auto& gpus : *chosen) {
    for (const number gpu : gpus) by_owner[mine.owner[gpu]].push_back(gpu);
  }
  matcher where(*this, asked, chain);
  for (auto& [owner, gpus] : by_owner) {
    std::ranges::sort(gpus);
    if (!where.find(owner, gpus)) return std::nullopt;
  }
  placement made;
  made.chain = chain;
  for (auto& gpus : *chosen) {
    pod_gpus& pod = made.pods.emplace_back();
    for (const number gpu : gpus) pod.gpus.push_back(where.place_of(gpu));
    pod.virtual_gpus = std::move(gpus);
  }
  return made;
}

std::optional<std::vector<number>> virtual_clusters::pick_outside(const request& asked, number chain) const {
  const struct chain& of = chains_[chain];
  const physical_chain& in = physical_[chain];
  if (asked.pods.size() == 1 && asked.within.empty()) {
    const number first =
        in.order.first(asked.pods.front(), [&](number i) { return may_use(asked, chain, of.node, i); });
    if (first == nothing) return std::nullopt;
    return std::vector<number>{first};
  }
  std::vector<node_view> nodes(of.cells_at(of.node));
  for (number i = 0; i < nodes.size(); ++i) {
    nodes[i] = {in.free[i], in.occupied[of.node][i], in.guaranteed[i]};
    if (!may_use(asked, chain, of.node, i)) nodes[i].free = 0;
  }
  return pick_within(of, asked, nodes, [&](number i, level wide) { return i * of.size[of.node] / of.size[wide]; });
}

/// On GPUs that nobody uses: near others of their kind, away from groups that may want more.
std::optional<placement> virtual_clusters::place_outside(const request& asked, number chain) const {
  const struct chain& of = chains_[chain];
  const physical_chain& in = physical_[chain];
  const auto picked = pick_outside(asked, chain);
  if (!picked) return std::nullopt;
  placement made;
  made.chain = chain;
  made.pods.resize(asked.pods.size());
  std::map<number, std::vector<number>> available;
  for (const number pod : by_size(asked.pods)) {
    const number node = (*picked)[pod];
    const auto [at, is_new] = available.try_emplace(node);
    for (number gpu = node * of.size[of.node]; is_new && gpu < (node + 1) * of.size[of.node]; ++gpu) {
      if (in.gpus[gpu].is_free()) at->second.push_back(gpu);
    }
    made.pods[pod].gpus = choose_gpus(of, at->second, asked.pods[pod]);
  }
  return made;
}

std::optional<placement> virtual_clusters::place(const request& asked, refusal& why) {
  why = asked.guaranteed ? refusal::cells : refusal::nodes;
  for (number chain = 0; chain < chains_.size(); ++chain) {
    auto found = asked.guaranteed ? place_guaranteed(asked, chain, why) : place_outside(asked, chain);
    if (!found) continue;
    why = refusal::none;
    return found;
  }
  return std::nullopt;
}

cell_shortage virtual_clusters::shortage_of(const request& asked) const {
  const std::uint32_t largest = *std::ranges::max_element(asked.pods);
  cell_shortage found;
  for (number chain = 0; chain < chains_.size(); ++chain) {
    const struct chain& of = chains_[chain];
    const bool is_wide = !asked.within.empty();
    const level at = is_wide ? of.level_named(asked.within) : of.level_for(largest);
    if (at == nothing || (!is_wide && at > of.node)) continue;
    if (found.level.empty()) {
      found.level = of.levels[at];
      found.need = is_wide ? 1 : static_cast<std::uint32_t>(std::ranges::count_if(asked.pods, [&](std::uint32_t gpus) {
        return of.level_for(gpus) == at;
      }));
    }
    if (found.level != of.levels[at]) continue;
    const virtual_chain& mine = virtual_of(asked.cluster, chain);
    for (const owned_cell& one : mine.cells) {
      for (number cell = one.first / of.size[at]; at <= one.at && cell < (one.first + of.size[one.at]) / of.size[at];
           ++cell) {
        bool is_free = true;
        for (number gpu = cell * of.size[at]; gpu < (cell + 1) * of.size[at]; ++gpu)
          is_free = is_free && mine.holder[gpu] == nothing && mine.bad[gpu] == 0;
        if (is_free) ++found.have;
      }
    }
  }
  if (found.level.empty()) found = {asked.within.empty() ? std::string(node_level) : std::string(asked.within), 1, 0};
  return found;
}

}  // namespace kaisched::hived
