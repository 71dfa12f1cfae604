#pragma once
/// @file
/// Whether what is asked for stays within a limit: the quota of a namespace, the part of a group of nodes that a queue
/// may hold, what is reserved for scarce resources.
///
/// Source: Volcano's plugins resourcequota, nodegroup and resource-strategy-fit (*proportional*: pods without GPUs
/// leave something on nodes with them).

#include <functional>
#include <map>
#include <span>
#include <string>

#include "policy/resources/resource_list.hpp"

namespace kaisched::policy {

/// The quota of a namespace. What it does not name it does not limit.
struct space_limit {
  resource_list hard;
  resource_names limited;
  resource_list used;
};
/// Whether all quotas allow the minimum beside what was promised before.
[[nodiscard]] bool within_quotas(std::span<const space_limit> quotas, const resource_list& promised,
                                 const resource_list& minimum, std::span<const std::string> named);

/// Whether a queue that holds so much of a group may have this as well. Resources that the limit does not name have
/// none.
[[nodiscard]] bool within_group_limit(const resource_list& held, const resource_list& asked, const resource_list& limit,
                                      std::span<const std::string> named);

/// CPUs and megabytes that stay free per unit of a scarce resource.
struct reserved_share {
  double cpu = 1;
  double memory = 1;
};
/// Whether a pod leaves what is reserved for the idle units of scarce resources; one that asks for any of them may take
/// it.
[[nodiscard]] bool leaves_proportion(const resource_list& request, const resource_list& idle,
                                     const std::map<std::string, reserved_share, std::less<>>& reserved);

}  // namespace kaisched::policy
