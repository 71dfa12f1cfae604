#pragma once
/// @file
/// How much of the free GPUs of a node the pods that usually come cannot use: the measure of Weng et al., "Beware of
/// Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023).

#include <cstdint>
#include <vector>

#include "policy/access.hpp"
#include "policy/placement/expected_pods.hpp"

namespace kaisched::policy {

/// What is free on a node.
struct free_gpus {
  std::int64_t cpu = 0;               ///< milli-cores
  std::int64_t total = 0;             ///< milli-GPU
  std::vector<std::int64_t> devices;  ///< milli-GPU of each, ascending; empty where they are not tracked

  /// A device has less than before.
  void lower(std::int64_t from, std::int64_t to);
};

/// The measure for the nodes of a session.
class fragmentation {
 public:
  void open(const session_access& a);
  void open(const std::vector<expected_class>& classes, const node_types& types);
  [[nodiscard]] bool is_open() const { return !type_of_.empty(); }

  /// Milli-GPU of a node in this state that cannot be used, as the mean over the classes.
  [[nodiscard]] double amount(node_row row, const free_gpus& state);

 private:
  /// GPUs of a class, where it may use a node.
  struct gpu_class {
    double weight;
    std::int64_t cpu;
    std::int64_t gpus;
    std::uint32_t size;  ///< position of its share in `node_type::sizes`
  };
  struct cpu_class {
    double weight;
    std::int64_t cpu;
  };
  /// Nodes that the same classes may use.
  struct node_type {
    std::vector<gpu_class> gpus;  ///< all in the order of the classes
    std::vector<cpu_class> cpus;
    std::vector<double> others;       ///< weights of classes that may not use it
    std::vector<std::int64_t> sizes;  ///< shares, ascending
    std::vector<double> closed_to;    ///< by milli-GPU: what is lost to these; negative: not computed yet
  };

  [[nodiscard]] static node_type type_for(const std::vector<expected_class>& classes, const std::vector<bool>& may_use);
  [[nodiscard]] static double lost_to_others(node_type& type, std::int64_t total);

  std::vector<node_type> types_;
  std::vector<std::uint32_t> type_of_;  ///< by node row
  std::vector<double> below_;           ///< of `amount`, by size: what devices with less than that have
  std::vector<std::int64_t> enough_;    ///< the same: how many have as much
};

}  // namespace kaisched::policy
