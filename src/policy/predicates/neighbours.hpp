#pragma once
/// @file
/// What pods on nodes mean for others, counted by domain: how evenly pods are spread, and which pods are welcome near
/// others. Kubernetes' rules of topology spread constraints and of preferred affinity to pods.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

#include "model/selector.hpp"
#include "policy/predicates/domain_counts.hpp"
#include "policy/predicates/pod_kinds.hpp"

namespace kaisched::policy {

/// What hard constraints say of a node.
enum class spread_verdict : std::uint8_t {
  even,
  uneven,     ///< while others are where they are
  no_domain,  ///< the node lacks the topology key
};

/// Counts pods on nodes as they come and go. A copy counts on for itself.
class neighbour_book {
 public:
  /// Counts what is there. `spread`, `wishes`: what is asked later; where no pod of the state asks for either, nothing
  /// is counted.
  void open(const session_access& a, bool spread, bool wishes);
  [[nodiscard]] bool is_open() const { return !kinds_.empty(); }

  /// Where the pod is in the session may have changed.
  void changed(const session_access& a, pod_row pod);
  /// The pod is on this node and on no other one; no_row: on none.
  void move(pod_row pod, node_row to, bool is_leaving);

  /// Hard constraints have a say in where the pod goes.
  [[nodiscard]] bool must_spread(pod_row pod) const { return is_open() && !kind_of(pod).hard.empty(); }
  /// Wishes have: its own or those of others.
  [[nodiscard]] bool has_wishes(pod_row pod) const {
    return is_open() && (!kind_of(pod).soft.empty() || !kind_of(pod).pulls.empty());
  }

  [[nodiscard]] spread_verdict verdict(pod_row pod, node_row node) const;
  /// By node, 100 where pods like it are spread most evenly with the pod, 0 where they are not or a key is missing.
  /// Empty: the pod has no soft constraints.
  [[nodiscard]] std::vector<std::int64_t> evenness(pod_row pod, std::span<const node_row> nodes) const;
  /// By node, weights of the preferences that pods there fulfil, of the pod and of those pods. A term of required
  /// affinity of a pod there that selects the pod counts `required`. Empty: there are none.
  [[nodiscard]] std::vector<std::int64_t> pull(pod_row pod, std::span<const node_row> nodes,
                                               std::int64_t required) const;
  /// The same from 0 to 100: 0 for the least of these nodes, 100 for the most; all 0 where these are the same.
  [[nodiscard]] std::vector<std::int64_t> welcome(pod_row pod, std::span<const node_row> nodes,
                                                  std::int64_t required) const;

  /// For checks: the same state is counted, and all counts are equal.
  [[nodiscard]] bool counts_alike(const neighbour_book& other) const;

 private:
  using node_flags = std::vector<std::uint8_t>;  ///< by node row
  /// Pods by domain.
  struct tally {
    std::uint32_t topology = 0;
    std::shared_ptr<const node_flags> counts;  ///< pods there count; null: everywhere
    domain_counts in_domain;                   ///< pods
    // Only of hard constraints:
    std::uint32_t domains = 0;        ///< that have a node that counts
    std::vector<std::uint32_t> with;  ///< so many of these domains have so many pods
    std::size_t fewest = 0;           ///< pods that one of these has

    void add(node_row at, std::uint32_t domain, std::int64_t pods);
  };
  struct feed {
    std::uint32_t tally = 0;
    bool only_staying = false;
  };
  struct rule {
    std::uint32_t tally = 0;
    std::int64_t skew = 1;
    std::int64_t min_domains = 1;
    bool by_node = false;     ///< each node is a domain
    std::int64_t itself = 0;  ///< 1: the pod is one of those that are counted
  };
  struct wish {
    std::uint32_t tally = 0;
    std::int64_t weight = 0;
    bool is_required = false;
  };
  /// Pods that ask for the same, with the same labels in the same namespace.
  struct kind {
    std::vector<feed> feeds;
    std::vector<rule> hard;
    std::vector<rule> soft;
    std::vector<wish> pulls;
  };
  class maker;

  [[nodiscard]] const kind& kind_of(pod_row pod) const { return kinds_[kind_of_[pod]]; }
  [[nodiscard]] std::uint32_t domain_of(const tally& of, node_row row) const {
    return topologies_[of.topology].of(row);
  }
  void count(const kind& of, const pod_spots::spot& where, std::int64_t pods);

  std::vector<key_domains> topologies_;
  std::vector<tally> tallies_;
  std::vector<kind> kinds_;
  std::vector<std::uint32_t> kind_of_;  ///< by pod
  pod_spots spots_;
};

}  // namespace kaisched::policy
