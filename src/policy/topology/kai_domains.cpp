#include "policy/topology/kai_domains.hpp"

#include <algorithm>
#include <cmath>

#include "policy/parts.hpp"

namespace kaisched::policy::topology {

namespace {

constexpr double ratio_without_any = 1000;
constexpr double score_steps = 10;

bool is_extended(std::size_t d) { return d != dim_cpu && d != dim_memory && d != dim_gpu; }

double at_or_zero(std::span<const double> of, std::size_t d) { return d < of.size() ? of[d] : 0; }

/// The node of a lowest domain that has one, as most have; such domains are added up without a call for each.
node_row lone_node(const domain_tree& tree, std::uint32_t domain) {
  const std::vector<node_row>& nodes = tree.domains[domain].nodes;
  return nodes.size() == 1 && tree.children[domain].empty() ? nodes.front() : no_row;
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

void sort_domains(const domain_tree& tree, child_lists& children, std::uint32_t from, const amounts& total,
                  std::uint32_t deepest_level, const domain_counts& counts) {
  if (deepest_level == no_row) return;
  std::vector<std::uint32_t>& own = children[from];
  std::vector<std::pair<double, std::uint32_t>> keys;
  keys.reserve(own.size());
  for (const std::uint32_t child : own) keys.emplace_back(fill_ratio(counts, child, total), child);
  std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : tree.name_rank[a.second] < tree.name_rank[b.second];
  });
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = keys[i].second;
  if (tree.domains[from].level == deepest_level) return;
  for (const std::uint32_t child : own) sort_domains(tree, children, child, total, deepest_level, counts);
}

std::vector<scored_domain> domain_scores(const domain_tree& tree, const child_lists& children, std::uint32_t from,
                                         std::uint32_t preferred) {
  std::vector<scored_domain> scores;
  const std::vector<std::uint32_t> domains = domains_of_level(tree, children, from, preferred);
  const auto count = static_cast<double>(domains.size());
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const double step = std::floor(static_cast<double>(i + 1) / count * score_steps);
    scores.push_back({domains[i], step * topology_band});
  }
  return scores;
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
  std::vector<bool> open(tree.domains.size(), !sticks);
  if (sticks) {
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
      if (!open[one]) continue;
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
  // The order below the deepest level decides nothing.
  child_lists children(tree.children.size());
  for (std::uint32_t one = 0; one < children.size(); ++one) {
    if (tree.domains[one].level < deepest) children[one] = tree.children[one];
  }
  sort_domains(tree, children, common, pods.total(), deepest, counts);
  if (asked.preferred != no_row) made.scores = domain_scores(tree, children, common, asked.preferred);
  if (levels_to_try(tree.levels.size(), asked).empty()) {
    made.is_wrong = true;
    return made;
  }
  found_domains found = domains_that_hold(tree, asked, pods.total(), pods.count(), in_use, counts);
  if (found.domains.size() > 1) {
    std::vector<std::size_t> rank(tree.domains.size(), tree.domains.size());
    const std::vector<std::uint32_t> order = bottom_up_order(children, root_domain);
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    std::stable_sort(found.domains.begin(), found.domains.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
  }
  made.domains = std::move(found.domains);
  made.too_small = std::move(found.too_small);
  for (const std::uint32_t one : made.too_small) made.room.push_back(counts.pods[one]);
  return made;
}

}  // namespace kaisched::policy::topology
