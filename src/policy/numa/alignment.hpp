#pragma once
/// @file
/// NUMA zones of one node: which zones a pod gets under the policy of its node. Pure functions of amounts.

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kaisched/quantity.hpp>

#include "model/state.hpp"

namespace kaisched::policy {

/// An amount that a pod has in a zone.
struct zone_share {
  std::uint32_t zone = 0;
  dimension dim = 0;
  std::int64_t amount = 0;
  friend auto operator<=>(const zone_share&, const zone_share&) = default;
};
/// Where a pod is on its node: by zone, then dimension. Empty: zones do not count it.
using zone_placement = std::vector<zone_share>;
/// A set of zones: bit by number.
using zone_mask = std::uint64_t;
/// Amounts per dimension that belong together.
using zone_request = std::vector<std::int64_t>;

[[nodiscard]] zone_mask zones_of(const zone_placement& placement);

/// Amounts of the zones of a node, [zones x dims].
struct zone_amounts {
  std::uint32_t zones = 0;
  std::uint32_t dims = 0;
  std::span<const std::int64_t> capacity;
  std::span<const std::int64_t> available;

  [[nodiscard]] std::int64_t capacity_of(std::uint32_t zone, dimension d) const {
    return capacity[static_cast<std::size_t>(zone) * dims + d];
  }
  [[nodiscard]] std::int64_t available_of(std::uint32_t zone, dimension d) const {
    return available[static_cast<std::size_t>(zone) * dims + d];
  }
};

/// How zones are chosen. `as_kubelet`: of sets of one size the one whose highest zone is lowest, and best-effort merges
/// the sets of all resources. Otherwise as in KAI: sets in lexicographic order, and best-effort takes zones greedily.
struct alignment_rule {
  model::numa_policy policy = model::numa_policy::none;
  bool as_kubelet = true;
};

/// Zones in the order in which a request takes from them.
using zone_list = std::vector<std::uint32_t>;

/// The zones for one request, none if it asks for nothing; nullopt: the policy finds no zones.
[[nodiscard]] std::optional<zone_list> choose_zones(const alignment_rule& rule, const zone_amounts& node,
                                                    const zone_request& asked);

/// Takes a request from zones, one after the other as much as each has.
[[nodiscard]] zone_placement draw(const zone_amounts& node, std::span<const std::int64_t> from, const zone_list& zones,
                                  const zone_request& asked);
/// The zones of a set, lowest first.
[[nodiscard]] zone_list list_of(zone_mask zones);

/// What a pod asks for, container by container.
struct aligned_requests {
  std::vector<zone_request> together;  ///< of containers that run at the same time, in order
  std::vector<zone_request> before;    ///< of init containers: they end before the others start
};

/// What of it the node aligns: bytes by dimension.
struct aligned_resources {
  std::span<const std::uint8_t> aware;   ///< zones of the node report it
  std::span<const std::uint8_t> device;  ///< neither CPU nor memory nor huge pages
  bool only_devices = false;             ///< the pod has no CPU or memory of its own
  bool whole_pod = false;                ///< all containers together
};
[[nodiscard]] aligned_requests requests_to_align(const model::pod_class& c, std::span<const std::string_view> names,
                                                 const aligned_resources& which);

/// What a whole pod would get.
struct pod_alignment {
  bool fits = false;
  zone_placement placement;
  std::uint32_t span = 0;  ///< number of zones that were chosen
};
[[nodiscard]] pod_alignment align(const alignment_rule& rule, const zone_amounts& node,
                                  const aligned_requests& requests);

}  // namespace kaisched::policy
