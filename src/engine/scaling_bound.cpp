// What sums of amounts prove about sets of nodes. A pod that asks for x takes floor(x / r) pieces of size r, and a node
// with y has floor(y / r): pods that are together on a node take no more pieces than it has.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/int128.hpp"
#include "engine/scaling_parts.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched::engine_detail {

namespace {

using model::cluster_state;

constexpr std::size_t most_sizes = 16;  ///< of pieces, for a dimension of some pods
constexpr std::size_t most_sets = 64;   ///< of types, for which pods are summed up

std::int64_t amount_of(const std::vector<std::int64_t>& amounts, std::uint32_t d) {
  return d < amounts.size() ? std::max<std::int64_t>(amounts[d], 0) : 0;
}

/// What pods may take of a node: devices can offer more than the node counts.
std::int64_t capacity_of(const model::node_info& node, std::uint32_t d) {
  std::int64_t has = amount_of(node.capacity, d);
  if (d != dim_gpu) return has;
  std::int64_t offered = 0;
  for (const model::device_info& one : node.devices) offered += std::max(one.share, whole_device);
  return std::max(has, offered);
}

}  // namespace

/// Pods of a class that wait.
struct amount_bound::pod_kind {
  const model::pod_class* ask = nullptr;
  std::map<std::size_t, std::int64_t> pods;  ///< by wanted group
  std::vector<bool> types;                   ///< that could hold them

  /// What is sure to be taken of a dimension. Of devices that vendors' rules share, the request is only an amount.
  [[nodiscard]] std::int64_t takes(std::uint32_t d) const {
    if (ask->asks_vendors() && d != dim_cpu && d != dim_memory) return 0;
    return std::max<std::int64_t>(ask->requests(d), 0);
  }
};

amount_bound::amount_bound(const scale_subject& of, const std::vector<std::uint32_t>& least) {
  const cluster_state& s = model::state_of(of.waits);
  std::map<class_row, pod_kind> by_class;
  for (std::size_t i = 0; i < of.wanted.size(); ++i) {
    for (const pod_row p : of.wanted[i].waiting) {
      pod_kind& one = by_class[s.pods[p].pod_class];
      one.ask = &s.class_of(p);
      ++one.pods[i];
    }
  }
  std::vector<pod_kind> kinds;
  for (auto& [row, one] : by_class) {
    one.types.assign(of.types.size(), false);
    for (std::size_t t = 0; t < of.types.size(); ++t)
      one.types[t] = of.types[t].offer->most > 0 && could_hold(*one.ask, *of.types[t].like, s.dims());
    kinds.push_back(std::move(one));
  }
  // Sets of types that share no pods: what they cost adds up.
  std::set<std::vector<bool>> sets;
  std::vector<std::vector<bool>> apart;
  for (const pod_kind& one : kinds) {
    if (std::find(one.types.begin(), one.types.end(), true) == one.types.end()) continue;
    if (sets.size() < most_sets) sets.insert(one.types);
    std::vector<bool> joined = one.types;
    std::vector<std::vector<bool>> rest;
    for (std::vector<bool>& other : apart) {
      bool meets = false;
      for (std::size_t t = 0; t < joined.size(); ++t) meets = meets || (joined[t] && other[t]);
      if (!meets) {
        rest.push_back(std::move(other));
        continue;
      }
      for (std::size_t t = 0; t < joined.size(); ++t) joined[t] = joined[t] || other[t];
    }
    rest.push_back(std::move(joined));
    apart = std::move(rest);
  }
  sets.insert(apart.begin(), apart.end());
  for (const std::vector<bool>& one : sets) add_demands(of, kinds, least, one);
  for (const std::vector<bool>& one : apart) {
    std::int64_t most = 0;
    for (const demand& d : demands_) {
      bool inside = true;
      for (std::size_t t = 0; t < one.size(); ++t) inside = inside && (one[t] || d.pieces[t] == 0);
      if (inside) most = std::max(most, cost_of_demand(of, d));
    }
    std::int64_t unit = 0;  // what all prices are multiples of, and so is what nodes cost
    for (std::size_t t = 0; t < one.size(); ++t) {
      if (one[t]) unit = std::gcd(unit, of.types[t].offer->price);
    }
    cost_ += unit == 0 ? most : (most + unit - 1) / unit * unit;
  }
}

/// Of the pods that can be on these types alone.
void amount_bound::add_demands(const scale_subject& of, const std::vector<pod_kind>& kinds,
                               const std::vector<std::uint32_t>& least, const std::vector<bool>& types) {
  const cluster_state& s = model::state_of(of.waits);
  std::vector<const pod_kind*> pods;
  std::vector<std::int64_t> elsewhere(of.wanted.size(), 0);  ///< pods of the groups that may be on others
  for (const pod_kind& one : kinds) {
    bool inside = true;
    for (std::size_t t = 0; t < types.size(); ++t) inside = inside && (types[t] || !one.types[t]);
    if (std::find(one.types.begin(), one.types.end(), true) == one.types.end()) inside = false;
    if (inside) pods.push_back(&one);
    for (const auto& [group, count] : one.pods) elsewhere[group] += inside ? 0 : count;
  }
  // Nodes that are there and have room for one of them.
  std::vector<std::vector<std::int64_t>> room;
  for (node_row row = 0; row < s.node_count(); ++row) {
    const model::node_info& node = *(*s.nodes)[row];
    if (!node.open()) continue;
    std::vector<std::int64_t> free(s.dims());
    for (std::uint32_t d = 0; d < s.dims(); ++d) {
      const std::size_t at = static_cast<std::size_t>(row) * s.dims() + d;
      free[d] = std::max<std::int64_t>((*s.live.idle)[at], 0) + std::max<std::int64_t>((*s.live.releasing)[at], 0);
      if (d == dim_gpu && capacity_of(node, d) > amount_of(node.capacity, d)) free[d] = capacity_of(node, d);
    }
    const bool takes = std::any_of(pods.begin(), pods.end(), [&](const pod_kind* one) {
      for (std::uint32_t d = 0; d < s.dims(); ++d) {
        if (one->takes(d) > free[d]) return false;
      }
      return one->ask->matches_labels(node.labels) && one->ask->tolerates(node.taints);
    });
    if (takes) room.push_back(std::move(free));
  }
  for (std::uint32_t d = 0; d < s.dims(); ++d) {
    std::set<std::int64_t, std::greater<>> sizes;
    for (const pod_kind* one : pods) sizes.insert(one->takes(d));
    sizes.erase(0);
    if (sizes.empty()) continue;
    if (sizes.size() > most_sizes) sizes.erase(std::next(sizes.begin(), most_sizes), sizes.end());
    sizes.insert(1);
    for (const std::int64_t size : sizes) {
      demand made{std::vector<std::int64_t>(types.size(), 0), 0};
      // Of each group the pods that take least, if not all of them have to be placed.
      for (std::size_t group = 0; group < of.wanted.size(); ++group) {
        std::int64_t more = static_cast<std::int64_t>(least[group]) - elsewhere[group];
        std::map<std::int64_t, std::int64_t> by_pieces;
        for (const pod_kind* one : pods) {
          if (const auto found = one->pods.find(group); found != one->pods.end())
            by_pieces[one->takes(d) / size] += found->second;
        }
        for (const auto& [pieces, count] : by_pieces) {
          if (more <= 0) break;
          made.need += pieces * std::min(more, count);  // at most the sum of what pods ask for
          more -= count;
        }
      }
      for (const std::vector<std::int64_t>& free : room) made.need -= free[d] / size;
      for (std::size_t t = 0; t < types.size(); ++t) {
        if (types[t]) made.pieces[t] = capacity_of(*of.types[t].like, d) / size;
      }
      if (made.need > 0) demands_.push_back(std::move(made));
    }
  }
}

/// Parts of nodes may be bought, those first that have most pieces for their price.
std::int64_t amount_bound::cost_of_demand(const scale_subject& of, const demand& one) const {
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < one.pieces.size(); ++t) {
    if (one.pieces[t] > 0) order.push_back(t);
  }
  const auto price = [&](std::size_t t) { return static_cast<base::int128>(of.types[t].offer->price); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const base::int128 left = price(a) * one.pieces[b];
    const base::int128 right = price(b) * one.pieces[a];
    return left != right ? left < right : a < b;
  });
  base::int128 cost = 0;
  base::int128 need = one.need;
  for (const std::size_t t : order) {
    const base::int128 all = static_cast<base::int128>(one.pieces[t]) * of.types[t].offer->most;
    if (need > all) {
      cost += price(t) * of.types[t].offer->most;
      need -= all;
      continue;
    }
    cost += (price(t) * need + one.pieces[t] - 1) / one.pieces[t];
    break;
  }
  return static_cast<std::int64_t>(cost);
}

bool amount_bound::refutes(const node_counts& counts) const {
  return std::any_of(demands_.begin(), demands_.end(), [&](const demand& one) {
    base::int128 has = 0;
    for (std::size_t t = 0; t < counts.size(); ++t) has += static_cast<base::int128>(one.pieces[t]) * counts[t];
    return has < one.need;
  });
}

}  // namespace kaisched::engine_detail
