#pragma once
/// @file
/// Pods by domain, as required affinity, required anti-affinity and host ports ask for them: whether a pod may go to a
/// node is a lookup by term, not a look at all pods. Kubernetes' plugins InterPodAffinity and NodePorts count alike.

#include <cstdint>
#include <span>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>

#include "policy/predicates/domain_counts.hpp"
#include "policy/predicates/pod_kinds.hpp"

namespace kaisched::policy {

/// Counts pods on nodes as they come and go; pods that are leaving are still there. A copy counts on for itself.
class affinity_counts {
 public:
  /// Counts what is there. Where no pod of the state has required affinity, anti-affinity or host ports, nothing is.
  void open(const session_access& a);
  [[nodiscard]] bool is_open() const { return !kinds_.empty(); }

  /// Where the pod is in the session may have changed.
  void changed(const session_access& a, pod_row pod);

  /// Some term or port has a say in where the pod goes: its own, or that of another pod.
  [[nodiscard]] bool concerns(pod_row pod) const;
  /// One verdict per node that has none: host_port, pod_affinity or pod_anti_affinity, in this order.
  void judge(pod_row pod, std::span<const node_row> nodes, std::span<constraint> verdicts) const;
  /// For checks: the same state is counted, and all counts are equal.
  [[nodiscard]] bool counts_alike(const affinity_counts& other) const;

 private:
  /// The pods of some kinds.
  struct tally {
    std::uint32_t topology = 0;
    std::int64_t everywhere = 0;  ///< on nodes without the key, too
    domain_counts by_domain;
  };
  struct affinity_rule {
    std::uint32_t tally = 0;
    bool selects_itself = false;
  };
  struct kind {
    std::vector<std::uint32_t> feeds;     ///< tallies that count pods of the kind
    std::vector<std::uint32_t> ports;     ///< those of pods with a port in conflict
    std::vector<affinity_rule> affinity;  ///< those of pods that have to be there
    std::vector<std::uint32_t> apart;     ///< those of pods that must not be there
  };
  class maker;

  [[nodiscard]] const kind& kind_of(pod_row pod) const { return kinds_[kind_of_[pod]]; }
  [[nodiscard]] std::int64_t pods_near(const tally& of, node_row row) const;
  [[nodiscard]] constraint verdict(const kind& of, node_row row) const;

  std::vector<key_domains> topologies_;
  std::vector<tally> tallies_;
  std::vector<kind> kinds_;
  std::vector<std::uint32_t> kind_of_;  ///< by pod
  pod_spots spots_;
};

}  // namespace kaisched::policy
