#pragma once
/// @file
/// Pods that are alike to selectors, and the domains of topology keys: what counts of pods by domain are made of.

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/selector.hpp"
#include "policy/access.hpp"

namespace kaisched::policy {

/// Pods that ask for the same, in one namespace, with the same values of the labels that selectors of the cluster name.
/// Kinds are numbered in the order in which their first pods come. Valid as long as the state.
class pod_kinds {
 public:
  struct kind {
    class_row of_class = 0;
    std::string_view name_space;  ///< that of its group; pods without a group are in the empty one
    model::label_list labels;     ///< those that a selector names
    std::uint32_t pods = 0;
  };
  using owner = std::pair<class_row, std::string_view>;  ///< class and namespace: its pods have the same terms

  explicit pod_kinds(const model::cluster_state& s);
  pod_kinds(const pod_kinds&) = delete;  // its index refers to its labels
  pod_kinds& operator=(const pod_kinds&) = delete;

  [[nodiscard]] const std::vector<kind>& all() const { return kinds_; }
  /// By pod; 0 for rows without a pod.
  [[nodiscard]] const std::vector<std::uint32_t>& by_pod() const { return kind_of_; }
  [[nodiscard]] const std::map<owner, std::vector<std::uint32_t>>& by_owner() const { return owners_; }

  /// Kinds that a term of pods in a namespace selects, ascending.
  /// Cost: the kinds that the most selective requirement leaves, not all of them.
  [[nodiscard]] std::vector<std::uint32_t> selected_by(const model::affinity_term& term,
                                                       std::string_view name_space) const;
  /// Those that a selector matches in a namespace.
  [[nodiscard]] std::vector<std::uint32_t> selected_by(const model::selector& pods, std::string_view name_space) const;
  /// Pods of these kinds.
  [[nodiscard]] std::uint64_t pods_of(const std::vector<std::uint32_t>& kinds) const;

 private:
  using kind_list = std::vector<std::uint32_t>;

  void find_keys(const model::cluster_state& s);
  [[nodiscard]] model::label_list named_labels(std::string_view labels) const;
  void index_labels();
  [[nodiscard]] std::size_t matches_at_most(const model::requirement& of) const;
  [[nodiscard]] kind_list candidates(const model::selector& pods) const;

  std::vector<std::string_view> keys_;  ///< that selectors name, sorted
  std::vector<kind> kinds_;
  std::vector<std::uint32_t> kind_of_;
  std::map<owner, kind_list> owners_;
  std::map<std::string_view, kind_list> with_key_;
  std::map<std::pair<std::string_view, std::string_view>, kind_list> with_label_;
};

/// The domains of a topology key.
struct key_domains {
  std::vector<std::uint32_t> by_node;  ///< by node row; no_row: it lacks the key. Empty: all nodes lack it
  std::uint32_t count = 0;

  [[nodiscard]] std::uint32_t of(node_row row) const { return by_node.empty() ? no_row : by_node[row]; }
};
/// Numbered in the order of nodes.
[[nodiscard]] key_domains domains_of_key(const model::cluster_state& s, std::string_view key);
/// Each node is a domain.
[[nodiscard]] key_domains nodes_as_domains(const model::cluster_state& s);

/// Where each pod is, and what has changed about that. A pod that holds a claim on another node than the one that it is
/// leaving is on both.
class pod_spots {
 public:
  struct spot {
    node_row at = no_row;
    bool is_leaving = false;
    friend bool operator==(const spot&, const spot&) = default;
  };

  explicit pod_spots(std::uint32_t pods = 0) : spots_(pods) {}

  /// The pod is on this node and on no other one; no_row: on none. Calls `count(spot, pods)` with -1 for where it was
  /// and 1 for where it is, if that differs.
  template <class Count>
  void move(pod_row pod, spot now, Count count) {
    spot& known = spots_[pod];
    if (known == now) return;
    if (known.at != no_row) count(known, -1);
    if (now.at != no_row) count(now, 1);
    known = now;
  }
  /// Where the pod is in the session may have changed.
  template <class Count>
  void changed(const session_access& a, pod_row pod, Count count) {
    const model::cluster_state& s = *a.state;
    const auto status = static_cast<pod_status>(a.live->pod_state[pod]);
    const std::uint32_t slot = a.live->pod_node[pod];
    const bool is_there = s.pods[pod].live && slot != no_row && model::is_in(status, model::active_used);
    move(pod, {is_there ? (*s.node_row_of_slot)[slot] : no_row, !model::is_in(status, model::active_allocated)}, count);
    std::erase_if(leaving_, [&](const auto& one) {
      if (one.first != pod) return false;
      count({one.second, true}, -1);
      return true;
    });
    for (const leaving_pod& one : *a.leaving) {
      if (one.pod != pod) continue;
      leaving_.emplace_back(pod, (*s.node_row_of_slot)[one.node]);
      count({leaving_.back().second, true}, 1);
    }
  }

 private:
  std::vector<spot> spots_;                            ///< by pod
  std::vector<std::pair<pod_row, node_row>> leaving_;  ///< where pods are that hold a claim on another node
};

}  // namespace kaisched::policy
