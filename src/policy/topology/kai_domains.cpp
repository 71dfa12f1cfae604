#include "policy/topology/kai_domains.hpp"

#include <algorithm>
#include <cmath>

#include "base/stable_sort.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy::topology {

namespace {

/// The domains of a level in the order of the tree.
struct level_order {
  std::vector<std::uint32_t> domains;
  std::vector<std::uint8_t> is_inside;  ///< the domain whose children are sorted, or below it
};

constexpr double ratio_without_any = 1000;
constexpr double score_steps = 10;

bool is_extended(std::size_t d) { return d != dim_cpu && d != dim_memory && d != dim_gpu; }

double at_or_zero(std::span<const double> of, std::size_t d) { return d < of.size() ? of[d] : 0; }

/// The node of a lowest domain that has one, as most have; such domains are added up without a call for each.
node_row lone_node(const domain_tree& tree, std::uint32_t domain) {
  const std::vector<node_row>& nodes = tree.domains[domain].nodes;
  return nodes.size() == 1 && tree.children[domain].empty() ? nodes.front() : no_row;
}

/// Narrowest level first, within a level in the order of the tree; domains that it does not have last.
void sort_by_place(const domain_tree& tree, std::span<const level_order> levels, std::vector<std::uint32_t>& domains) {
  std::vector<std::vector<std::uint32_t>> rank(levels.size());
  const auto key_of = [&](std::uint32_t domain) {
    const std::uint32_t level = tree.domains[domain].level;
    if (level >= levels.size()) return std::uint64_t{no_row} << 32U;
    if (rank[level].empty()) {
      rank[level].assign(tree.by_level[level].size(), no_row);
      for (std::uint32_t i = 0; i < levels[level].domains.size(); ++i)
        rank[level].at(tree.place[levels[level].domains[i]]) = i;
    }
    const std::uint32_t own = rank[level].at(tree.place[domain]);
    return own == no_row ? std::uint64_t{no_row} << 32U : (levels.size() - level) << 32U | own;
  };
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
  keys.reserve(domains.size());
  for (const std::uint32_t one : domains) keys.emplace_back(key_of(one), one);
  base::stable_sort(keys, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < domains.size(); ++i) domains[i] = keys[i].second;
}

/// The largest part of what a domain has free that the pods ask for together; a resource without counts as a thousand.
double fill_ratio(const domain_counts& counts, std::uint32_t domain, const amounts& total) {
  const std::span<const double> free = counts.free_of(domain);
  double largest = 0;
  for (std::size_t d = 0; d < total.size(); ++d) {
    if (total[d] <= 0 || d == dim_pods) continue;
    largest = std::max(largest, free[d] > 0 ? total[d] / free[d] : ratio_without_any);
  }
  return largest;
}

bool can_hold(const domain_counts& counts, std::uint32_t domain, const amounts& total, std::size_t pods) {
  if (counts.pods[domain] != not_counted) return counts.pods[domain] >= static_cast<std::int64_t>(pods);
  return fill_ratio(counts, domain, total) <= 1;
}

/// Levels from the root's down to another one, after the children of a domain and of all below it have been sorted.
std::vector<level_order> sorted_levels(const domain_tree& tree, std::uint32_t from, const amounts& total,
                                       std::uint32_t deepest_level, const domain_counts& counts) {
  std::vector<level_order> made(std::min<std::size_t>(deepest_level, tree.levels.size()) + 1);
  for (std::size_t level = 0; level < made.size(); ++level) {
    made[level].domains.reserve(tree.by_level[level].size());
    made[level].is_inside.reserve(tree.by_level[level].size());
  }
  const auto add = [&](std::uint32_t domain, bool is_inside) {
    const std::uint32_t level = tree.domains[domain].level;
    if (level >= made.size()) return;
    made[level].domains.push_back(domain);
    made[level].is_inside.push_back(is_inside || domain == from ? 1 : 0);
  };
  add(root_domain, false);
  std::vector<std::uint32_t> children;
  for (std::size_t level = 0; level + 1 < made.size(); ++level) {
    for (std::size_t i = 0; i < made[level].domains.size(); ++i) {
      const bool is_inside = made[level].is_inside[i] != 0;
      children = tree.children[made[level].domains[i]];
      if (is_inside) sort_children(tree, children, total, counts);
      for (const std::uint32_t child : children) add(child, is_inside);
    }
  }
  return made;
}

}  // namespace

pods_ask::pods_ask(std::span<const pod_ask> pods, std::size_t dimensions)
    : largest_(dimensions, 0), total_(dimensions, 0) {
  std::size_t users = 0;
  for (const pod_ask& one : pods) {
    count_ += one.count;
    users += one.gpus > 0 ? one.count : 0;
  }
  homogeneous_ = users == 0 || users == count_;
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::size_t asking = 0;
    for (const pod_ask& one : pods) {
      const double amount = at_or_zero(one.request, d);
      largest_[d] = std::max(largest_[d], amount);
      for (std::size_t i = 0; amount != 0 && i < one.count; ++i) total_[d] += amount;  // as KAI rounds
      asking += amount > 0 ? one.count : 0;
    }
    homogeneous_ = homogeneous_ && (!is_extended(d) || asking == 0 || asking == count_);
    asks_for_slots_only_ = asks_for_slots_only_ && largest_[d] <= (d == dim_pods ? 1 : 0);
  }
}

std::int64_t pods_ask::pods_on(const node_room& node) const {
  auto most = static_cast<std::int64_t>(count_);
  if (asks_for_slots_only_) return most;
  const auto room_of = [&](std::size_t d) {
    const bool shares = d == dim_gpu && largest_[d] > 0 && largest_[d] < 1;
    return at_or_zero(node.free, d) + (shares ? node.shared_room : 0);
  };
  for (std::size_t d = 0; d < largest_.size(); ++d) {  // first what costs no division
    if (largest_[d] > room_of(d)) return 0;
  }
  bool bounded = false;
  for (std::size_t d = 0; d < largest_.size(); ++d) {
    if (largest_[d] <= 0) continue;
    const auto here = static_cast<std::int64_t>(room_of(d) / largest_[d]);
    most = bounded ? std::min(most, here) : here;
    bounded = true;
  }
  return most;
}

void domain_counts::reset(std::size_t domains, std::size_t dims) {
  dimensions = dims;
  pods.assign(domains, not_counted);
  free.assign(domains * dims, 0);
}

void sum_free(const domain_tree& tree, std::uint32_t from, std::span<const node_room> nodes, domain_counts& counts) {
  const std::size_t dims = counts.dimensions;
  double* const own = counts.free.data() + from * dims;
  std::fill_n(own, dims, 0.0);
  if (tree.children[from].empty()) {
    for (const node_row node : tree.domains[from].nodes) {
      const double* const free = nodes[node].free.data();
      const std::size_t known = std::min(dims, nodes[node].free.size());
      for (std::size_t d = 0; d < known; ++d) own[d] += free[d];
    }
  }
  for (const std::uint32_t child : tree.children[from]) {
    double* const below = counts.free.data() + child * dims;
    if (const node_row alone = lone_node(tree, child); alone != no_row) {
      for (std::size_t d = 0; d < dims; ++d) below[d] = at_or_zero(nodes[alone].free, d);
    } else {
      sum_free(tree, child, nodes, counts);
    }
    for (std::size_t d = 0; d < dims; ++d) own[d] += below[d];
  }
}

void count_pods(const domain_tree& tree, std::uint32_t from, std::span<const node_room> nodes, const pods_ask& pods,
                domain_counts& counts) {
  std::int64_t sum = 0;
  // Many nodes in a row are equally full or equally free.
  const node_room* last = nullptr;
  std::int64_t on_last = 0;
  const auto on = [&](node_row row) {
    const node_room& node = nodes[row];
    if (last == nullptr || last->shared_room != node.shared_room || !std::ranges::equal(last->free, node.free)) {
      on_last = pods.pods_on(node);
      last = &node;
    }
    return on_last;
  };
  if (tree.children[from].empty()) {
    for (const node_row node : tree.domains[from].nodes) sum += on(node);
  }
  for (const std::uint32_t child : tree.children[from]) {
    if (const node_row alone = lone_node(tree, child); alone != no_row) {
      counts.pods[child] = on(alone);
    } else {
      count_pods(tree, child, nodes, pods, counts);
    }
    sum += counts.pods[child];
  }
  counts.pods[from] = sum;
}

void sort_children(const domain_tree& tree, std::vector<std::uint32_t>& children, const amounts& total,
                   const domain_counts& counts) {
  if (children.size() < 2) return;
  std::vector<std::pair<double, std::uint32_t>> keys;
  keys.reserve(children.size());
  for (const std::uint32_t child : children) keys.emplace_back(fill_ratio(counts, child, total), child);
  std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : tree.name_rank[a.second] < tree.name_rank[b.second];
  });
  for (std::size_t i = 0; i < children.size(); ++i) children[i] = keys[i].second;
}

std::vector<scored_domain> domain_scores(std::span<const std::uint32_t> domains) {
  std::vector<scored_domain> scores;
  scores.reserve(domains.size());
  const auto count = static_cast<double>(domains.size());
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const double step = std::floor(static_cast<double>(i + 1) / count * score_steps);
    scores.push_back({domains[i], step * topology_band});
  }
  return scores;
}

preferred_domains::preferred_domains(const domain_tree& tree, std::vector<scored_domain> domains)
    : tree_(&tree), level_(tree.domains[domains.front().domain].level), domains_(std::move(domains)) {
  by_place_.assign(tree.by_level[level_].size(), no_score);
  for (const scored_domain& one : domains_) {
    by_place_[tree.place[one.domain]] = one.score;
    node_count_ += tree.domains[one.domain].nodes.size();
  }
}

double preferred_domains::score_of(node_row node) const {
  return tree_->leaf[node] == no_row ? no_score : by_place_[tree_->place[tree_->domain_of(node, level_)]];
}

std::span<const scored_domain> preferred_domains::band_before(std::size_t end) const {
  std::size_t first = end;
  while (first > 0 && domains_[first - 1].score == domains_[end - 1].score) --first;
  return std::span(domains_).subspan(first, end - first);
}

std::vector<std::uint32_t> levels_to_try(std::size_t levels, const level_constraint& asked) {
  const std::uint32_t widest = asked.required == no_row ? root_level : asked.required;
  const std::uint32_t narrowest = asked.preferred == no_row ? asked.required : asked.preferred;
  std::vector<std::uint32_t> found;
  // A preferred level that is wider than the required one is never met on the way up.
  if (narrowest == no_row || narrowest > levels || widest > narrowest) return found;
  for (std::uint32_t level = narrowest + 1; level-- > widest;) found.push_back(level);
  return found;
}

found_domains domains_that_hold(const domain_tree& tree, const level_constraint& asked, const amounts& total,
                                std::size_t pods, std::span<const node_row> in_use, const domain_counts& counts) {
  const std::vector<std::uint32_t> levels = levels_to_try(tree.levels.size(), asked);
  const bool sticks = asked.required != no_row && !in_use.empty();
  std::vector<bool> open;
  if (sticks) {
    open.assign(tree.domains.size(), false);
    for (const std::uint32_t top : tree.by_level[asked.required]) {
      const std::vector<node_row>& nodes = tree.domains[top].nodes;
      const bool used = std::any_of(in_use.begin(), in_use.end(), [&](node_row node) {
        return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
      });
      if (!used) continue;
      for (const std::uint32_t below : bottom_up_order(tree.children, top)) open[below] = true;
    }
  }
  found_domains found;
  for (const std::uint32_t level : levels) {
    for (const std::uint32_t one : tree.by_level[level]) {
      if (sticks && !open[one]) continue;
      if (can_hold(counts, one, total, pods))
        found.domains.push_back(one);
      else if (level == levels.back())
        found.too_small.push_back(one);
    }
  }
  if (!found.domains.empty()) found.too_small.clear();
  return found;
}

domain_choice choose_domains(const domain_tree& tree, std::uint32_t common, const level_constraint& asked,
                             const pods_ask& pods, std::span<const node_row> in_use, std::span<const node_room> nodes) {
  domain_counts counts;
  counts.reset(tree.domains.size(), pods.total().size());
  sum_free(tree, common, nodes, counts);
  if (pods.homogeneous()) count_pods(tree, common, nodes, pods, counts);
  return choose_domains(tree, common, asked, pods, in_use, counts);
}

domain_choice choose_domains(const domain_tree& tree, std::uint32_t common, const level_constraint& asked,
                             const pods_ask& pods, std::span<const node_row> in_use, const domain_counts& counts) {
  domain_choice made;
  if (!can_hold(counts, common, pods.total(), pods.count())) {
    made.common_is_full = true;
    made.room.push_back(counts.pods[common]);
    return made;
  }
  const std::uint32_t deepest = asked.preferred == no_row ? asked.required : asked.preferred;
  const std::vector<level_order> levels =
      sorted_levels(tree, common, pods.total(), deepest == no_row ? root_level : deepest, counts);
  if (asked.preferred < levels.size()) {
    const level_order& preferred = levels[asked.preferred];
    std::vector<std::uint32_t> inside;
    for (std::size_t i = 0; i < preferred.domains.size(); ++i) {
      if (preferred.is_inside[i] != 0) inside.push_back(preferred.domains[i]);
    }
    made.scores = domain_scores(inside);
  }
  if (levels_to_try(tree.levels.size(), asked).empty()) {
    made.is_wrong = true;
    return made;
  }
  found_domains found = domains_that_hold(tree, asked, pods.total(), pods.count(), in_use, counts);
  if (found.domains.size() > 1) sort_by_place(tree, levels, found.domains);
  made.domains = std::move(found.domains);
  made.too_small = std::move(found.too_small);
  for (const std::uint32_t one : made.too_small) made.room.push_back(counts.pods[one]);
  return made;
}

}  // namespace kaisched::policy::topology
