#pragma once
/// @file
/// What the NUMA zones of all nodes have left, as a session changes it.

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include <kaisched/options.hpp>

#include "model/state.hpp"
#include "policy/numa/alignment.hpp"

namespace kaisched::policy {

/// Zones count a pod from when it gets a place until it is evicted; a pod that leaves is still there, so `strict` keeps
/// a second count of what it holds. Placements are numbered, 0 is the empty one, and equal ones have one number.
class zone_ledger {
 public:
  using placement_number = std::uint32_t;
  enum class amount : std::uint8_t { free_now, free_or_releasing };

  /// Counts where pods are at the start of a session. Without nodes that have zones nothing is kept.
  void open(const model::cluster_state& s, const policy_options& options);
  [[nodiscard]] bool used() const { return used_; }

  /// The kubelet refuses pods of the class here if they do not fit into zones.
  [[nodiscard]] bool may_refuse(const model::cluster_state& s, const model::pod_class& c, node_row row) const;
  /// The zones of the node count pods of the class.
  [[nodiscard]] bool counts(const model::cluster_state& s, const model::pod_class& c, node_row row) const;
  [[nodiscard]] pod_alignment ask(const model::cluster_state& s, const model::pod_class& c, node_row row,
                                  amount which) const;
  /// The pod would not be refused.
  [[nodiscard]] bool accepts(const model::cluster_state& s, const model::pod_class& c, node_row row,
                             amount which) const {
    return !may_refuse(s, c, row) || ask(s, c, row, which).fits;
  }

  /// Where the pod would be.
  [[nodiscard]] placement_number place(const model::cluster_state& s, const model::pod_class& c, node_row row,
                                       amount which);
  [[nodiscard]] placement_number number_of(pod_row pod) const { return used_ ? of_pod_[pod] : 0; }
  [[nodiscard]] const zone_placement& placement_at(pod_row pod) const { return placements_[number_of(pod)]; }
  [[nodiscard]] zone_mask zones_at(placement_number n) const { return n == 0 ? 0 : zones_of(placements_[n]); }
  [[nodiscard]] zone_mask zones_of_pod(pod_row pod) const { return zones_at(number_of(pod)); }
  /// Rows of pods; 0 where nothing is kept.
  [[nodiscard]] std::size_t pod_count() const { return of_pod_.size(); }
  void set(pod_row pod, placement_number n) { of_pod_[pod] = n; }
  /// The pod leaves (`sign` -1) or comes (1): what others can count on.
  void charge(pod_row pod, node_row row, std::int64_t sign);
  /// The pod stops (-1) or starts (1) to be there.
  void occupy(pod_row pod, node_row row, std::int64_t sign);
  /// The zones have room for a placement once more.
  [[nodiscard]] bool has_room(node_row row, placement_number n) const;

  /// For recounts: an amount of all zones with what a placement on the node gives back, or without what it takes.
  void add_to(std::vector<std::int64_t>& amounts, const zone_placement& placement, node_row row) const;
  void take_from(std::vector<std::int64_t>& amounts, const zone_placement& placement, node_row row) const;

  /// All amounts, by zone and dimension.
  [[nodiscard]] const std::vector<std::int64_t>& available() const { return available_; }
  [[nodiscard]] const std::vector<std::int64_t>& idle() const { return idle_; }
  [[nodiscard]] std::span<const std::int64_t> available_of(node_row row) const;
  /// Largest number of zones of a node.
  [[nodiscard]] std::uint32_t most_zones() const { return most_zones_; }
  /// Zones count pods of the class somewhere.
  [[nodiscard]] bool counts_anywhere(const model::cluster_state& s, const model::pod_class& c) const;

 private:
  [[nodiscard]] bool wants_device(const model::pod_class& c, node_row row) const;
  [[nodiscard]] zone_amounts amounts_of(const model::cluster_state& s, node_row row) const;
  [[nodiscard]] alignment_rule rule_of(const model::cluster_state& s, node_row row) const;
  [[nodiscard]] aligned_requests requests_of(const model::cluster_state& s, const model::pod_class& c,
                                             node_row row) const;
  [[nodiscard]] placement_number number(zone_placement placement);
  void seed(const model::cluster_state& s, bool reconstruct);
  void seed_pod(const model::cluster_state& s, pod_row pod, bool reconstruct);

  bool used_ = false;
  bool compat_ = false;
  std::uint32_t dims_ = 0;
  std::uint32_t most_zones_ = 0;
  std::vector<std::string_view> names_;     ///< of dimensions; owned by the cluster
  std::vector<std::uint8_t> device_;        ///< by dimension
  std::vector<std::uint8_t> aware_;         ///< [nodes x dimensions]
  std::vector<std::uint32_t> first_;        ///< zone, by node row, plus one past the end
  std::vector<std::int64_t> capacity_;      ///< [zones x dimensions]
  std::vector<std::int64_t> available_;     ///< what is free or coming free, claims taken off
  std::vector<std::int64_t> idle_;          ///< what nobody sits on
  std::vector<placement_number> of_pod_;    ///< by slot
  std::vector<zone_placement> placements_;  ///< by number
  std::map<zone_placement, placement_number> numbers_;
};

}  // namespace kaisched::policy
