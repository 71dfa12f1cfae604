#include "conformance/rules/node_sampling.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace kaisched::policy {

std::int64_t nodes_to_find(std::int64_t all_nodes, const sampling_settings& settings) {
  constexpr std::int64_t base_percentage = 50;
  constexpr std::int64_t nodes_per_percent = 125;
  if (all_nodes <= settings.least_nodes || settings.percentage >= 100) return all_nodes;
  std::int64_t percentage = settings.percentage;
  if (percentage <= 0)
    percentage = std::max(base_percentage - all_nodes / nodes_per_percent, settings.least_percentage);
  return std::max(all_nodes * percentage / 100, settings.least_nodes);
}

shard_split split_by_shard(shard_mode mode, std::span<const std::uint8_t> in_shard) {
  shard_split split;
  for (std::uint32_t node = 0; node < in_shard.size(); ++node) {
    (mode == shard_mode::soft && in_shard[node] == 0 ? split.then : split.first).push_back(node);
  }
  return split;
}

std::uint32_t best_node(std::span<const scored_node> nodes) {
  const auto best = std::max_element(nodes.begin(), nodes.end(),
                                     [](const scored_node& a, const scored_node& b) { return a.score < b.score; });
  return static_cast<std::uint32_t>(best - nodes.begin());
}

std::vector<std::uint32_t> best_nodes(std::span<const scored_node> nodes, std::size_t count) {
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  const bool choosy = nodes.size() > count;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const bool a_last = choosy && nodes[a].binding;
    const bool b_last = choosy && nodes[b].binding;
    return a_last != b_last ? b_last : nodes[a].score > nodes[b].score;
  });
  order.resize(std::min(order.size(), count));
  return order;
}

}  // namespace kaisched::policy
