#include "schedulers/hived/rules/packing.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace kaisched::hived {

void node_order::set(number node, const node_view& to) {
  if (known_.size() <= node) known_.resize(node + std::size_t{1});
  std::optional<node_view>& known = known_[node];
  if (known == to) return;
  std::set<number>::node_type moved;
  if (known) {
    const auto by_free = by_use_.find({known->used, known->foreign});
    const auto from = by_free->second.find(known->free);
    moved = from->second.extract(node);
    if (from->second.empty()) by_free->second.erase(from);
    if (by_free->second.empty()) by_use_.erase(by_free);
  }
  std::set<number>& there = by_use_[{to.used, to.foreign}][to.free];
  if (moved) {
    there.insert(std::move(moved));
  } else {
    there.insert(node);
  }
  known = to;
}

std::vector<number> by_size(std::span<const std::uint32_t> pods) {
  std::vector<number> order(pods.size());
  std::iota(order.begin(), order.end(), number{0});
  std::ranges::stable_sort(order, {}, [&](number pod) { return pods[pod]; });
  return order;
}

std::optional<std::vector<number>> pick_nodes(std::span<const node_view> nodes, std::span<const std::uint32_t> pods) {
  const auto before = [&](number a, number b) {
    const node_view& x = nodes[a];
    const node_view& y = nodes[b];
    if (x.used != y.used) return x.used > y.used;
    if (x.foreign != y.foreign) return x.foreign < y.foreign;
    return a < b;
  };
  if (pods.size() == 1) {  // the first in order that has room, without an order
    number best = nothing;
    for (number i = 0; i < nodes.size(); ++i) {
      if (nodes[i].free >= pods.front() && (best == nothing || before(i, best))) best = i;
    }
    if (best == nothing) return std::nullopt;
    return std::vector<number>{best};
  }
  std::vector<number> order;
  for (number i = 0; i < nodes.size(); ++i) {
    if (nodes[i].free > 0) order.push_back(i);
  }
  std::ranges::sort(order, before);
  std::vector<number> picked(pods.size(), nothing);
  std::size_t at = 0;
  std::uint32_t here = 0;
  for (const number pod : by_size(pods)) {
    while (at < order.size() && nodes[order[at]].free - here < pods[pod]) ++at, here = 0;
    if (at == order.size()) return std::nullopt;
    picked[pod] = order[at];
    here += pods[pod];
  }
  return picked;
}

std::vector<number> choose_gpus(const chain& of, std::vector<number>& available, std::uint32_t count) {
  number cell = nothing;
  level l = of.level_for(count);
  for (; cell == nothing; ++l) {
    std::map<number, std::uint32_t> have;
    for (const number gpu : available) ++have[gpu / of.size[l]];
    const auto first = std::ranges::find_if(available, [&](number gpu) { return have.at(gpu / of.size[l]) >= count; });
    if (first != available.end()) cell = *first / of.size[l];
    if (cell != nothing) break;
  }
  std::vector<number> chosen;
  std::erase_if(available, [&](number gpu) {
    if (chosen.size() == count || gpu / of.size[l] != cell) return false;
    chosen.push_back(gpu);
    return true;
  });
  return chosen;
}

}  // namespace kaisched::hived
