#pragma once
/// @file
/// Which devices of nodes may be divided anew, as the planner of divisions takes them.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "framework/session_state.hpp"
#include "policy/devices/partition/division_problem.hpp"

namespace kaisched::actions {

/// Where a device of the planner is, and who would have to leave its instances.
struct known_device {
  std::uint32_t device = 0;
  std::vector<model::mig_instance> instances;  ///< as the planner numbers them
  std::vector<pod_row> users;                  ///< of these; no_row: nobody, or it is leaving
  std::vector<bool> coming;                    ///< it is coming free: who holds it leaves, or it is yet to be made
};
struct known_node {
  node_row row = no_row;
  std::vector<known_device> devices;
};

/// All nodes with devices that may be divided anew, or with instances, as they are now.
struct divided_nodes {
  devices::division_problem problem;  ///< without classes and pods
  std::vector<known_node> nodes;      ///< those of the problem: by name
};

/// Reads nodes once, and those again on which something has changed.
class divided_nodes_reader {
 public:
  /// `may_drain`: pods that may have to leave their instances; null: nobody.
  divided_nodes_reader(const framework::session_state& c, const std::vector<bool>* may_drain)
      : c_(c), may_drain_(may_drain) {}
  /// All nodes as they are now. What is not part of the cluster, such as classes of pods, is the caller's to change.
  [[nodiscard]] divided_nodes& read();
  /// The statement, which is about to be committed, changes these nodes and pods: they are read again.
  void note_changes();
  /// Whether the pod may be drained has changed.
  void note_change_of(pod_row pod);

 private:
  /// What pods do to the instances of a node.
  struct users_of_node {
    std::map<std::pair<std::uint32_t, std::int64_t>, pod_row> known;  ///< by device and start
    std::vector<dimension> unknown;  ///< instances of these are held, and nobody says which
    bool unknown_devices = false;    ///< whole devices or shares are held, and nobody says which
  };
  void read_all();
  void find_pods();
  void find_users(node_row row);
  void add_user(pod_row pod, node_row row, bool is_there);
  [[nodiscard]] bool read_node(node_row row, known_node& known, devices::plannable_node& as);
  [[nodiscard]] std::vector<model::mig_instance> layout_of(node_row row, std::uint32_t device) const;
  /// A division of this session makes it.
  [[nodiscard]] bool is_made_here(node_row row, std::uint32_t device, const model::mig_instance& one) const;
  [[nodiscard]] bool says_all(const model::node_info& node) const;
  [[nodiscard]] bool is_leaving(pod_row pod, node_row row) const;
  [[nodiscard]] std::size_t model_of(const model::node_info& node, std::uint32_t device);
  void add_device(known_node& to, devices::plannable_node& as, std::uint32_t device, bool instances_known);
  void add_divided(known_node& to, devices::plannable_node& as, std::uint32_t device, std::size_t table);

  const framework::session_state& c_;
  const std::vector<bool>* may_drain_;
  divided_nodes made_;
  std::map<const devices::divided_model*, std::size_t> models_;
  std::vector<users_of_node> users_;        ///< by row
  std::vector<std::vector<pod_row>> pods_;  ///< by row: those that have been there and matter, ascending
  std::vector<std::uint8_t> matters_;       ///< by class of pods: they ask for GPUs or instances
  std::vector<std::uint32_t> place_;        ///< by row: position among the nodes, or no_row
  std::vector<node_row> changed_;
  bool is_read_ = false;
};

}  // namespace kaisched::actions
