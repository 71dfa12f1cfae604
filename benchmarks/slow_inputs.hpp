#pragma once
/// @file
/// A search for clusters that are slow to decide for their size. It measures; no test depends on it.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/engine.hpp>

namespace kaisched::bench {

/// What a cluster is described by, one number each.
enum gene : std::uint8_t {
  gene_node_gpus,
  gene_node_cores,
  gene_closed_nodes,
  gene_running,
  gene_running_size,
  gene_running_gpu,
  gene_running_cores,
  gene_running_memory,
  gene_running_elastic,
  gene_running_priorities,
  gene_fixed,
  gene_recent,
  gene_leaving,
  gene_waiting,
  gene_waiting_size,
  gene_waiting_gpu,
  gene_waiting_cores,
  gene_waiting_memory,
  gene_waiting_elastic,
  gene_waiting_priority,
  gene_variety,
  gene_queues,
  gene_queue_depth,
  gene_waiting_queues,
  gene_shared_queues,
  gene_running_quota,
  gene_waiting_quota,
  gene_limit,
  gene_min_runtime,
  gene_selectors,
  gene_pools,
  gene_taints,
  gene_tolerations,
  gene_level,
  gene_rack,
  gene_sub_groups,
  gene_anti_affinity,
  gene_claims,
  gene_claim_requests,
  gene_budgets,
  gene_count,
};

struct gene_info {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
  bool is_size = false;  ///< drawn evenly by magnitude
};
[[nodiscard]] const gene_info& info_of(std::size_t which) noexcept;

using genes = std::array<std::int64_t, gene_count>;
/// As `name=value` with commas. Reading it takes the least value for genes that are not there.
[[nodiscard]] std::string text_of(const genes& of);
[[nodiscard]] genes genes_of(std::string_view text);

/// What one session over such a cluster costs.
struct slow_cost {
  genes from{};
  std::int64_t nodes = 0;
  std::int64_t groups = 0;
  std::int64_t pods = 0;
  double open = 0;                  ///< processor seconds of this thread
  std::vector<double> seconds;      ///< of the actions
  std::vector<std::uint64_t> sets;  ///< sets of victims that were tried, by action
  std::vector<std::uint64_t> steps;

  [[nodiscard]] double total() const;
  /// Seconds per node and group: what the search makes large.
  [[nodiscard]] double score() const;
};
inline constexpr std::array<std::string_view, 5> slow_actions{"allocate", "consolidation", "reclaim", "preempt",
                                                              "stalegangeviction"};

/// Makes the cluster of these genes and decides it once with all five actions.
[[nodiscard]] slow_cost measure(const engine& with, const genes& from, std::int64_t nodes);
/// Writes that cluster as a file that `kaisched run` reads.
void write_slow(const genes& from, std::int64_t nodes, const std::string& path);

struct slow_search {
  std::uint64_t seed = 1;
  int tries = 200;
  std::int64_t nodes = 100;
  std::size_t kept = 5;  ///< of the worst inputs
  double seconds = 1e9;  ///< processor time of the sessions after which the search ends
};
/// Climbs from the best of ten draws by small changes and begins anew after 20 tries without gain. The worst comes
/// first; each is the end of one climb. `seen` is told of each try.
[[nodiscard]] std::vector<slow_cost> find_slow(const engine& with, const slow_search& how,
                                               const std::function<void(const slow_cost&)>& seen);

}  // namespace kaisched::bench
