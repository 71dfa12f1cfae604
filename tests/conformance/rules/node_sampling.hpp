#pragma once
/// @file
/// Which nodes are looked at and which of those that fit are taken: sampling, shards, the best few.
///
/// Source: Volcano (pkg/scheduler/util/scheduler_helper.go, predicate_helper.go); the sampling is that of
/// kube-scheduler. Where Volcano takes any of several nodes at random, the first one in the order given is taken here.

#include <cstdint>
#include <span>
#include <vector>

namespace kaisched::policy {

struct sampling_settings {
  std::int64_t least_nodes = 100;     ///< clusters of at most as many nodes are searched whole
  std::int64_t percentage = 0;        ///< of the nodes; 0: by size of the cluster
  std::int64_t least_percentage = 5;  ///< of the one by size
};
/// After how many nodes that fit the search ends.
[[nodiscard]] std::int64_t nodes_to_find(std::int64_t all_nodes, const sampling_settings& settings);

/// Nodes that are one scheduler's own: `hard` leaves others alone, `soft` takes them last.
enum class shard_mode : std::uint8_t { none, soft, hard };

/// Positions of nodes, those to be tried first and those to be tried after them.
struct shard_split {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> then;
};
/// Splits nodes that fit. `in_shard[i]`: node i is in the shard.
[[nodiscard]] shard_split split_by_shard(shard_mode mode, std::span<const std::uint8_t> in_shard);
/// Whether a node may be looked at at all.
[[nodiscard]] inline bool may_try(shard_mode mode, bool in_shard) { return mode != shard_mode::hard || in_shard; }

/// A node that fits.
struct scored_node {
  double score = 0;
  bool binding = false;  ///< an earlier decision for it is still under way
};
/// The position of the highest score, the first of equal ones; the number of nodes if there is none.
[[nodiscard]] std::uint32_t best_node(std::span<const scored_node> nodes);
/// Positions of the best `count`, best first. If there are more to choose from, nodes with decisions under way are
/// taken only after all others: a second decision for them may be refused.
[[nodiscard]] std::vector<std::uint32_t> best_nodes(std::span<const scored_node> nodes, std::size_t count);

}  // namespace kaisched::policy
