#pragma once
/// @file
/// Workloads that hold quota, and what is counted while some of them are thought away.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedulers/kueue/rules/quota_tree.hpp"

namespace kaisched::kueue {

/// One of several workloads that stand for the same job, each with one flavor; one of them is to run.
struct variant {
  std::string job;                  ///< empty for a workload that stands for itself
  std::optional<std::size_t> rank;  ///< of its flavor among those of the queue, the best first; none if it has none

  /// Whether both stand for the same job and have a flavor to be compared by.
  [[nodiscard]] bool is_sibling_of(const variant& other) const {
    return !job.empty() && job == other.job && rank && other.rank;
  }
};

struct running_workload {
  node_id queue = no_node;
  std::int64_t priority = 0;
  std::int64_t queued_at = 0;               ///< by which queues order it: when it was made or last came back
  std::optional<std::int64_t> reserved_at;  ///< since when it holds quota; without it, since now
  bool evicted = false;                     ///< asked to leave already
  std::optional<double> local_usage;        ///< past usage of its local queue, where such usage counts
  std::uint32_t local_queue = 0;
  std::string id;  ///< breaks ties
  std::string name;
  cell_amounts usage;
  std::vector<cell_id> cells;  ///< that it has a flavor of, ascending, also where it asks for nothing
  variant as_variant{};        ///< once it is admitted
};

/// Counts usage beyond quotas, such as places in a topology, when workloads are thought away and put back.
class usage_listener {
 public:
  usage_listener() = default;
  usage_listener(const usage_listener&) = delete;
  usage_listener& operator=(const usage_listener&) = delete;
  virtual ~usage_listener() = default;

  virtual void removed(std::size_t workload) = 0;
  virtual void restored(std::size_t workload) = 0;
};

/// The tree and who holds what of it.
struct quota_state {
  quota_tree tree;
  std::vector<running_workload> running;
  std::vector<bool> hidden{};          ///< by workload: no candidate; shorter lists end with candidates
  usage_listener* listener = nullptr;  ///< may be null

  void remove(std::size_t workload) {
    tree.remove_usage(running[workload].queue, running[workload].usage);
    if (listener != nullptr) listener->removed(workload);
  }
  void restore(std::size_t workload) {
    tree.add_usage(running[workload].queue, running[workload].usage);
    if (listener != nullptr) listener->restored(workload);
  }
  [[nodiscard]] bool is_hidden(std::size_t workload) const { return workload < hidden.size() && hidden[workload]; }
};

}  // namespace kaisched::kueue
