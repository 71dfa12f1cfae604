#pragma once
/// @file
/// Many nodes and many pods: answers about a node are kept until it changes, so that a pod like an earlier one asks
/// again only where something has happened. For a benchmark and for tests of devices: sessions have books of their own.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/devices/allocation/config.hpp"
#include "policy/devices/allocation/place.hpp"
#include "policy/devices/allocation/solve.hpp"

namespace kaisched::devices {

/// True if a node with the first score is chosen rather than one with the second.
[[nodiscard]] bool is_better(std::string_view policy, float score, float than);

/// Adds the grants of a placement to a node.
void apply(const vendor_catalog& vendors, node& where, const pod& asking, const node_placement& placed);

/// Which node was chosen, and what the pod gets there.
struct fleet_choice {
  std::size_t node = 0;
  node_placement placed;
};

class fleet {
 public:
  /// `in_order`: decides as HAMi does, container by container and by the use before the pod; else every pod is solved
  /// as a whole and nodes are compared by the use with it.
  fleet(vendor_catalog vendors, std::vector<node> nodes, policy_levels levels, bool in_order);

  /// The best node for a pod: by the policy of nodes, among equals the first. Nothing if it fits nowhere.
  [[nodiscard]] std::optional<fleet_choice> choose(const pod& asking);
  /// Adds what was chosen to its node and to the quota of the namespace.
  void commit(const pod& asking, const fleet_choice& chosen);

  /// The nodes, each with its devices as they are now.
  [[nodiscard]] const std::vector<node>& nodes() const { return nodes_; }
  /// A node for writing; what is known about it is forgotten.
  [[nodiscard]] node& change(std::size_t which);
  void set_quotas(space_quotas quotas);
  [[nodiscard]] const space_quotas& quotas() const { return quotas_; }
  /// Why a pod fits nowhere: "2 nodes 1/4 CardInsufficientMemory", ... by the number of nodes, then by text.
  [[nodiscard]] std::vector<std::string> reasons(const pod& asking);
  /// How often a node was asked, and not what was known of it.
  [[nodiscard]] std::size_t questions() const { return questions_; }

 private:
  /// What is known of a node for one class of pods.
  struct answer {
    std::uint64_t version = 0;  ///< of the node; 0: nothing is known
    node_placement placed;
    std::int64_t use_after = 0;
  };
  /// Pods that ask for the same.
  struct pod_class {
    pod like;
    std::uint64_t quota_version = 0;
    std::vector<answer> answers;
  };

  [[nodiscard]] pod_class& class_of(const pod& asking);
  void ask(pod_class& of, std::size_t which);
  void refresh(pod_class& of);
  [[nodiscard]] bool is_better(const answer& one, const answer& than, std::string_view policy) const;

  vendor_catalog vendors_;
  std::vector<node> nodes_;
  std::vector<std::uint64_t> versions_;
  policy_levels levels_;
  bool in_order_;
  space_quotas quotas_{};
  std::uint64_t quota_version_ = 1;
  std::vector<pod_class> classes_{};
  std::size_t questions_ = 0;
};

}  // namespace kaisched::devices
