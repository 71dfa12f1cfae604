#pragma once
/// @file
/// How much of the free GPUs of a node the pods that usually come cannot use: the measure of Weng et al., "Beware of
/// Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023).

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kaisched/result.hpp>

#include "policy/access.hpp"

namespace kaisched::policy {

/// A class of pods that are expected, as the option `fgd.pods` names it.
struct typical_pod {
  std::int64_t cpu = 0;    ///< milli-cores
  std::int64_t gpus = 0;   ///< devices
  std::int64_t share = 0;  ///< milli-GPU of each
  double weight = 1;       ///< against that of other classes
  std::string label;       ///< of nodes that it may use; empty: all
  std::vector<std::string> values;
};

/// `cpu=3152:gpus=1:share=810:where=gpu.model=A|B:weight=1099`; what is left out is 0 for cpu and gpus, 1000 for the
/// share, 1 for the weight.
[[nodiscard]] result<typical_pod> parse_typical_pod(std::string_view text);

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
  /// Takes the classes of the option, or else those of the pods of the snapshot: the most frequent ones that come to
  /// 95 % of all pods together.
  void open(const session_access& a);
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
  struct weighed;

  [[nodiscard]] std::vector<weighed> from_option(const session_access& a);
  [[nodiscard]] static std::vector<weighed> from_pods(const session_access& a);
  [[nodiscard]] static node_type type_for(const std::vector<weighed>& classes, const std::vector<bool>& may_use);
  [[nodiscard]] static double lost_to_others(node_type& type, std::int64_t total);

  std::vector<typical_pod> named_;  ///< of the option
  std::vector<node_type> types_;
  std::vector<std::uint32_t> type_of_;  ///< by node row
  std::vector<double> below_;           ///< of `amount`, by size: what devices with less than that have
  std::vector<std::int64_t> enough_;    ///< the same: how many have as much
};

}  // namespace kaisched::policy
