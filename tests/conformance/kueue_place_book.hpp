#pragma once
/// @file
/// Topologies of a recorded cycle: which flavors have one, who is where, and where heads would go.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "conformance/kueue_objects.hpp"
#include "conformance/kueue_places.hpp"
#include "schedulers/kueue/rules/cycle.hpp"

namespace kaisched::conformance::kueue {

class recorded_places final : public kaisched::kueue::place_book {
 public:
  recorded_places(const cluster& all, const nlohmann::json& input);

  /// Counts the places of a workload that holds quota; in the order of the state's workloads.
  void add_running(const nlohmann::json& workload);
  void add_head(const queue_object& queue, const nlohmann::json& workload);
  [[nodiscard]] bool empty() const { return domains_.empty(); }
  [[nodiscard]] const std::vector<std::uint8_t>& has_topology() const { return has_topology_; }
  [[nodiscard]] bool only_topologies(const queue_object& queue) const;
  /// Why a pod set does not go with a flavor.
  [[nodiscard]] std::optional<std::string> mismatch(const queue_object& queue, const std::string& flavor,
                                                    const nlohmann::json& pod_set) const;
  [[nodiscard]] const std::string& reason(std::size_t number) const { return reasons_[number]; }
  /// Whether the places of a pod set are left to a later pass or to another cluster.
  [[nodiscard]] bool come_later(std::size_t head, const kaisched::kueue::flavor_assignment& assignment,
                                std::size_t pod_set) const;

  void removed(std::size_t workload) override { change(running_[workload], false); }
  void restored(std::size_t workload) override { change(running_[workload], true); }
  answer look(std::size_t head, const kaisched::kueue::flavor_assignment& assignment, bool as_if_empty) override;
  bool has_room(std::size_t head, const kaisched::kueue::flavor_assignment& assignment,
                const kaisched::kueue::set_places& places) override;
  void add(std::size_t head, const kaisched::kueue::flavor_assignment& assignment,
           const kaisched::kueue::set_places& places) override;

 private:
  struct usage {
    std::string flavor;
    kaisched::kueue::domain_assignment places;
    kaisched::kueue::resource_vector per_pod;
  };
  struct head {
    const queue_object* queue = nullptr;
    nlohmann::json workload;
  };
  void change(const std::vector<usage>& list, bool add);
  [[nodiscard]] bool asks(const head& of, const nlohmann::json& pod_set, std::int64_t count) const;
  /// Places that the pod set holds, if all of them are still there.
  [[nodiscard]] std::optional<kaisched::kueue::domain_assignment> kept(const head& of,
                                                                       const nlohmann::json& pod_set) const;
  [[nodiscard]] std::vector<usage> usages_of(std::size_t head, const kaisched::kueue::flavor_assignment& assignment,
                                             const kaisched::kueue::set_places& places) const;
  [[nodiscard]] std::string flavor_of(const kaisched::kueue::pod_set_assignment& set) const;

  const cluster& all_;
  const nlohmann::json& input_;
  std::map<std::string, node_domains> domains_;  ///< by flavor
  std::vector<std::uint8_t> has_topology_;
  std::vector<std::vector<usage>> running_;
  std::vector<head> heads_;
  std::vector<std::string> reasons_;
};

}  // namespace kaisched::conformance::kueue
