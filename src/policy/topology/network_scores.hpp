#pragma once
/// @file
/// Scores by network domains: pack domains before touching empty ones, and stay near to what runs already.
///
/// Source: Volcano's plugin network-topology-aware (pkg/scheduler/plugins/network-topology-aware), in its order of
/// operations. Scores are 0 to 1 before they are scaled, and up to 2 where the share of pods decides between equals.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/resources/resource_list.hpp"
#include "policy/topology/network_domains.hpp"

namespace kaisched::policy {

/// Weights of resources by name; a resource without one is not looked at.
using resource_weights = std::map<std::string, std::int64_t, std::less<>>;

/// Amounts of a domain when something is to be put there.
struct domain_amounts {
  resource_list allocatable;
  resource_list used;
};

/// How full a domain would be, by weight of resources; 0 if the request does not fit, or nothing of it has a weight.
[[nodiscard]] double domain_packing(const resource_list& request, const domain_amounts& domain,
                                    const resource_weights& weights);

/// A node that is scored: what it is in, tier by tier from the lowest. Null: in no domain of the tier.
using domains_by_tier = std::vector<const domain_amounts*>;
/// For pods without wishes about distance: how full the domains around a node would be. Each tier counts `fading` times
/// as much as the one below, and a tier in which the node is in no domain as full, so that such nodes are taken first.
[[nodiscard]] double packing_around(const resource_list& request, const domains_by_tier& around,
                                    const resource_weights& weights, std::int64_t lowest_tier, double fading);

/// A domain or a node for pods that are to be near others.
struct near_candidate {
  double score = 0;            ///< of its own
  std::size_t pods_there = 0;  ///< pods of the sub-group in its domain
};
/// Adds the share of the sub-group's pods to those with the highest score, if there are several.
void prefer_where_pods_are(std::span<near_candidate> candidates, std::size_t pods);

/// How near a domain is to where the sub-group runs, by the tier of what they have in common: 1 in the same domain, 0
/// if there is nothing in common, or nothing runs.
[[nodiscard]] double nearness(const network_domains& domains, std::string_view domain, std::string_view allocated,
                              std::int64_t lowest_tier, std::int64_t highest_tier);

}  // namespace kaisched::policy
