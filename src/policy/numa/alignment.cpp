// The four policies of Kubernetes' topology manager, as the kubelet applies them and as KAI does.
#include "policy/numa/alignment.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>

namespace kaisched::policy {

namespace {

constexpr std::int64_t milli_cores_per_core = 1000;
constexpr std::uint32_t most_merged_zones = 8;  ///< as many as the kubelet itself is ready to merge
constexpr std::uint32_t most_steps = 100'000;   ///< of a search for a set of zones

constexpr zone_mask bit_of(std::uint32_t zone) { return zone_mask{1} << zone; }

std::vector<dimension> asked_dimensions(const zone_request& asked) {
  std::vector<dimension> dims;
  for (dimension d = 0; d < asked.size(); ++d) {
    if (asked[d] > 0) dims.push_back(d);
  }
  return dims;
}

bool covers(const zone_amounts& node, zone_mask zones, const zone_request& asked, dimension d) {
  std::int64_t sum = 0;
  for (zone_mask left = zones; left != 0; left &= left - 1) {
    sum += node.available_of(static_cast<std::uint32_t>(std::countr_zero(left)), d);
  }
  return sum >= asked[d];
}

/// Fewest zones that could hold the amount if they were empty; 0: there are not enough.
std::uint32_t width_of(const zone_amounts& node, dimension d, std::int64_t amount) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(node.zones);
  for (std::uint32_t z = 0; z < node.zones; ++z) sizes.push_back(node.capacity_of(z, d));
  std::sort(sizes.rbegin(), sizes.rend());
  std::int64_t sum = 0;
  for (std::uint32_t z = 0; z < sizes.size(); ++z) {
    sum += sizes[z];
    if (sum >= amount) return z + 1;
  }
  return 0;
}

/// The first set of a given size that has enough of everything: in lexicographic order, or the one of the smallest
/// value as a binary number.
class set_search {
 public:
  set_search(const zone_amounts& node, const zone_request& asked, bool by_value)
      : node_(node), asked_(asked), dims_(asked_dimensions(asked)), by_value_(by_value) {}

  std::optional<zone_mask> find(std::uint32_t width) {
    if (width > node_.zones) return std::nullopt;
    // The first zone to be chosen is the lowest in one order and the highest in the other.
    for (const dimension d : dims_) {
      std::vector<std::int64_t>& best = best_[d];
      best.assign(node_.zones + 1, 0);
      for (std::uint32_t i = 0; i < node_.zones; ++i) {
        const std::uint32_t z = by_value_ ? i : node_.zones - 1 - i;
        best[i + 1] = std::max(best[i], node_.available_of(z, d));
      }
    }
    std::vector<std::int64_t> missing(asked_);
    if (!extend(node_.zones, width, 0, missing)) return std::nullopt;
    return found_;
  }

 private:
  /// Chooses `count` of the `left` zones that are still to come.
  bool extend(std::uint32_t left, std::uint32_t count, zone_mask chosen, const std::vector<std::int64_t>& missing) {
    if (++steps_ > most_steps) return false;
    for (const dimension d : dims_) {
      if (missing[d] > 0 && (count == 0 || best_[d][left] <= 0 || (missing[d] - 1) / best_[d][left] + 1 > count)) {
        return false;
      }
    }
    if (count == 0) {
      found_ = chosen;
      return true;
    }
    std::vector<std::int64_t> rest(missing);
    for (std::uint32_t i = 0; i + count <= left; ++i) {
      const std::uint32_t zone = by_value_ ? count - 1 + i : node_.zones - left + i;
      for (const dimension d : dims_) rest[d] = missing[d] - node_.available_of(zone, d);
      if (extend(by_value_ ? zone : left - 1 - i, count - 1, chosen | bit_of(zone), rest)) return true;
    }
    return false;
  }

  const zone_amounts& node_;
  const zone_request& asked_;
  std::vector<dimension> dims_;
  bool by_value_;
  std::map<dimension, std::vector<std::int64_t>> best_;  ///< most that one of the zones still to come has
  std::uint32_t steps_ = 0;
  zone_mask found_ = 0;
};

std::optional<zone_mask> one_zone(const zone_amounts& node, const zone_request& asked) {
  const std::vector<dimension> dims = asked_dimensions(asked);
  for (std::uint32_t z = 0; z < node.zones; ++z) {
    if (std::all_of(dims.begin(), dims.end(), [&](dimension d) { return node.available_of(z, d) >= asked[d]; })) {
      return bit_of(z);
    }
  }
  return std::nullopt;
}

/// All resources must need equally many zones; then the first set of that size.
std::optional<zone_mask> preferred_set(const zone_amounts& node, const zone_request& asked, bool by_value) {
  std::uint32_t width = 0;
  for (const dimension d : asked_dimensions(asked)) {
    const std::uint32_t own = width_of(node, d, asked[d]);
    if (own == 0 || (width != 0 && own != width)) return std::nullopt;
    width = own;
  }
  if (width == 0) return zone_mask{0};
  return set_search(node, asked, by_value).find(width);
}

/// Again and again the zone that covers most of what is still missing.
std::optional<zone_list> greedy_list(const zone_amounts& node, const zone_request& asked) {
  const std::vector<dimension> dims = asked_dimensions(asked);
  zone_request missing = asked;
  zone_list chosen;
  while (std::any_of(dims.begin(), dims.end(), [&](dimension d) { return missing[d] > 0; })) {
    std::uint32_t best = node.zones;
    std::int64_t most = 0;
    for (std::uint32_t z = 0; z < node.zones; ++z) {
      if (std::find(chosen.begin(), chosen.end(), z) != chosen.end()) continue;
      std::int64_t cover = 0;
      for (const dimension d : dims) {
        if (missing[d] > 0) cover += std::min(missing[d], node.available_of(z, d));
      }
      if (cover <= most) continue;
      best = z;
      most = cover;
    }
    if (best == node.zones) return std::nullopt;
    chosen.push_back(best);
    for (const dimension d : dims) missing[d] -= node.available_of(best, d);
  }
  return chosen;
}

/// The kubelet takes a preferred set if there is one. Otherwise it intersects one set of every resource, in all
/// combinations, and takes the intersection whose size is nearest to what the widest resource needs: exactly that, else
/// less, else more.
std::optional<zone_mask> merged_set(const zone_amounts& node, const zone_request& asked) {
  if (const auto preferred = preferred_set(node, asked, true)) return preferred;
  const zone_mask all = bit_of(node.zones) - 1;
  std::vector<std::uint8_t> reached(all + 1, 0);
  reached[all] = 1;
  int needed = 0;
  for (const dimension d : asked_dimensions(asked)) {
    std::vector<std::uint8_t> next(all + 1, 0);
    int least = 0;
    for (zone_mask set = 1; set <= all; ++set) {
      if (!covers(node, set, asked, d)) continue;
      const int count = std::popcount(set);
      least = least == 0 ? count : std::min(least, count);
      for (zone_mask with = 1; with <= all; ++with) {
        if (reached[with] != 0) next[with & set] = 1;
      }
    }
    if (least == 0) return std::nullopt;
    needed = std::max(needed, least);
    reached = std::move(next);
  }
  const auto rank = [&](zone_mask set) {
    const int count = std::popcount(set);
    return count <= needed ? needed - count : static_cast<int>(node.zones) + count;
  };
  zone_mask best = 0;
  for (zone_mask set = 1; set <= all; ++set) {
    if (reached[set] != 0 && (best == 0 || rank(set) < rank(best))) best = set;
  }
  return best == 0 ? all : best;
}

/// A draw takes what the chosen zones have and, where intersections are too small, the rest from other zones.
zone_placement draw_all(const zone_amounts& node, std::span<const std::int64_t> from, zone_list zones,
                        const zone_request& asked) {
  for (std::uint32_t z = 0; z < node.zones; ++z) {
    if (std::find(zones.begin(), zones.end(), z) == zones.end()) zones.push_back(z);
  }
  return draw(node, from, zones, asked);
}

void add(zone_placement& to, const zone_placement& more) {
  for (const zone_share& one : more) {
    const auto at = std::lower_bound(to.begin(), to.end(), one, [](const zone_share& a, const zone_share& b) {
      return a.zone != b.zone ? a.zone < b.zone : a.dim < b.dim;
    });
    if (at != to.end() && at->zone == one.zone && at->dim == one.dim)
      at->amount += one.amount;
    else
      to.insert(at, one);
  }
}

/// Only whole cores are a container's own.
zone_request aligned_part(const model::container_ask& container, std::span<const std::string_view> names,
                          const aligned_resources& which) {
  zone_request asked(names.size(), 0);
  for (const auto& [name, amount] : container.request) {
    const auto d = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (d == names.size() || which.aware[d] == 0 || (which.only_devices && which.device[d] == 0)) continue;
    asked[d] = d == dim_cpu && amount % milli_cores_per_core != 0 ? 0 : amount;
  }
  return asked;
}

void add(zone_request& to, const zone_request& more) {
  for (std::size_t d = 0; d < to.size(); ++d) to[d] += more[d];
}

void raise(zone_request& to, const zone_request& least) {
  for (std::size_t d = 0; d < to.size(); ++d) to[d] = std::max(to[d], least[d]);
}

/// A pod that tells nothing of its containers has one.
model::container_ask only_container(const model::pod_class& c, std::span<const std::string_view> names) {
  model::container_ask one;
  for (std::size_t d = 0; d < std::min(names.size(), c.ask.request.size()); ++d) {
    if (c.ask.request[d] != 0) one.request.emplace_back(names[d], c.ask.request[d]);
  }
  return one;
}

/// The most that runs at one time: all that stays, or an init container beside the sidecars that start before it.
zone_request whole_pod(std::span<const model::container_ask> containers, std::span<const std::string_view> names,
                       const aligned_resources& which) {
  zone_request stays(names.size(), 0);
  zone_request sidecars(names.size(), 0);
  zone_request peak(names.size(), 0);
  for (const model::container_ask& one : containers) {
    const zone_request asked = aligned_part(one, names, which);
    if (one.kind == model::container_kind::init) {
      zone_request beside = sidecars;
      add(beside, asked);
      raise(peak, beside);
      continue;
    }
    if (one.kind == model::container_kind::sidecar) add(sidecars, asked);
    add(stays, asked);
  }
  raise(stays, peak);
  return stays;
}

}  // namespace

zone_mask zones_of(const zone_placement& placement) {
  zone_mask zones = 0;
  for (const zone_share& one : placement) zones |= bit_of(one.zone);
  return zones;
}

zone_list list_of(zone_mask zones) {
  zone_list list;
  for (; zones != 0; zones &= zones - 1) list.push_back(static_cast<std::uint32_t>(std::countr_zero(zones)));
  return list;
}

std::optional<zone_list> choose_zones(const alignment_rule& rule, const zone_amounts& node, const zone_request& asked) {
  std::optional<zone_mask> set;
  switch (rule.policy) {
    case model::numa_policy::single_numa_node:
      set = one_zone(node, asked);
      break;
    case model::numa_policy::restricted:
      set = preferred_set(node, asked, rule.as_kubelet);
      break;
    case model::numa_policy::best_effort:
      if (!rule.as_kubelet || node.zones > most_merged_zones || node.zones == 0) return greedy_list(node, asked);
      set = merged_set(node, asked);
      break;
    default:
      return zone_list{};
  }
  return set ? std::optional(list_of(*set)) : std::nullopt;
}

zone_placement draw(const zone_amounts& node, std::span<const std::int64_t> from, const zone_list& zones,
                    const zone_request& asked) {
  zone_placement placement;
  for (const dimension d : asked_dimensions(asked)) {
    std::int64_t missing = asked[d];
    for (const std::uint32_t z : zones) {
      if (z >= node.zones) continue;
      const std::int64_t taken = std::min(missing, from[static_cast<std::size_t>(z) * node.dims + d]);
      if (taken <= 0) continue;
      placement.push_back({z, d, taken});
      missing -= taken;
    }
  }
  std::sort(placement.begin(), placement.end());
  return placement;
}

aligned_requests requests_to_align(const model::pod_class& c, std::span<const std::string_view> names,
                                   const aligned_resources& which) {
  std::vector<model::container_ask> containers = c.containers;
  if (containers.empty()) containers.push_back(only_container(c, names));
  aligned_requests requests;
  if (which.whole_pod) {
    requests.together.push_back(whole_pod(containers, names, which));
    return requests;
  }
  for (const bool sidecars : {true, false}) {
    for (const model::container_ask& one : containers) {
      if (one.kind == (sidecars ? model::container_kind::sidecar : model::container_kind::container)) {
        requests.together.push_back(aligned_part(one, names, which));
      }
      if (!sidecars && one.kind == model::container_kind::init) {
        requests.before.push_back(aligned_part(one, names, which));
      }
    }
  }
  return requests;
}

pod_alignment align(const alignment_rule& rule, const zone_amounts& node, const aligned_requests& requests) {
  pod_alignment found;
  zone_mask chosen = 0;
  const auto note = [&](const zone_list& zones) {
    for (const std::uint32_t z : zones) chosen |= bit_of(z);
  };
  for (const zone_request& asked : requests.before) {
    const auto zones = choose_zones(rule, node, asked);
    if (!zones) return {};
    note(*zones);
  }
  std::vector<std::int64_t> left(node.available.begin(), node.available.end());
  zone_amounts rest = node;
  rest.available = left;
  for (const zone_request& asked : requests.together) {
    const auto zones = choose_zones(rule, rest, asked);
    if (!zones) return {};
    note(*zones);
    const zone_placement drawn = rule.as_kubelet && rule.policy == model::numa_policy::best_effort
                                     ? draw_all(rest, left, *zones, asked)
                                     : draw(rest, left, *zones, asked);
    for (const zone_share& one : drawn) left[static_cast<std::size_t>(one.zone) * node.dims + one.dim] -= one.amount;
    add(found.placement, drawn);
  }
  found.fits = true;
  found.span = static_cast<std::uint32_t>(std::popcount(chosen));
  return found;
}

}  // namespace kaisched::policy
