#pragma once
/// @file
/// Domains of the topology that the flavors of a session have: who is where, and where heads would go.

#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/session_state.hpp"
#include "schedulers/common/cycle/session_reader.hpp"
#include "schedulers/kueue/cycle/cluster_view.hpp"
#include "schedulers/kueue/rules/cycle.hpp"

namespace kaisched::kueue {

/// Nodes that take pods are leaves, together with all others of the same values of the lowest level.
class session_places final : public place_book, schedulers::session_reader {
 public:
  /// Both have to outlive this; workloads of the world that run are counted where they are.
  session_places(const framework::session_state& c, const cluster_view& world);

  /// The heads of the next cycle.
  void start(std::vector<const waiting_workload*> heads);
  /// Keeps of the cycle the places of one head, which runs from now on, as the next workload of the state.
  void keep(std::size_t head, const flavor_assignment& assignment, const set_places& places);
  /// What was assumed for heads of the cycle that do not run is free again.
  void finish();
  /// No workload that runs.
  void forget(std::size_t workload);

  /// Nodes of a place.
  [[nodiscard]] std::span<const node_row> nodes_of(std::uint32_t flavor, const placed_pods& place) const;
  /// Why a head found no places: how many pods were asked for, and how many fit into one domain.
  [[nodiscard]] const place_failure& failure(std::size_t reason) const { return failures_[reason]; }
  [[nodiscard]] const std::vector<std::uint8_t>& has_topology() const { return has_topology_; }
  /// Levels that the pod set asks for exist.
  [[nodiscard]] bool has_levels(const waiting_set& set) const;

  void removed(std::size_t workload) override { change(running_[workload], false); }
  void restored(std::size_t workload) override { change(running_[workload], true); }
  answer look(std::size_t head, const flavor_assignment& assignment, bool as_if_empty) override;
  bool has_room(std::size_t head, const flavor_assignment& assignment, const set_places& places) override;
  void add(std::size_t head, const flavor_assignment& assignment, const set_places& places) override;

 private:
  struct usage {
    std::uint32_t flavor = 0;
    domain_assignment places;
    resource_vector per_pod;
  };
  using usages = std::vector<usage>;
  struct flavor_domains {
    domain_ledger ledger;
    std::vector<std::vector<node_row>> nodes;  ///< by leaf
  };

  void add_nodes();
  void add_running();
  void change(const usages& list, bool add);
  [[nodiscard]] resource_vector vector_of(class_row kind) const;
  [[nodiscard]] std::optional<std::uint32_t> flavor_of(const pod_set_assignment& set) const;
  [[nodiscard]] usages usages_of(std::size_t head, const flavor_assignment& assignment, const set_places& places) const;
  [[nodiscard]] const std::vector<std::int64_t>& excluded_for(class_row kind, group_row group, std::uint32_t flavor);
  [[nodiscard]] pod_set_places places_asked(const waiting_workload& of, std::size_t set, std::int64_t count,
                                            std::uint32_t flavor);

  const cluster_view& world_;
  std::vector<std::string> levels_;
  std::uint32_t pods_resource_ = 0;  ///< behind the dimensions
  std::vector<flavor_domains> flavors_;
  std::vector<std::uint8_t> has_topology_;
  std::vector<std::uint32_t> leaf_of_node_;  ///< by row
  std::vector<usages> running_;              ///< by workload
  std::vector<const waiting_workload*> heads_;
  std::vector<std::pair<std::size_t, usages>> assumed_;  ///< by head of the cycle
  std::vector<place_failure> failures_;
  std::map<std::tuple<class_row, std::uint32_t, std::uint32_t>, std::vector<std::int64_t>> excluded_;
};

}  // namespace kaisched::kueue
