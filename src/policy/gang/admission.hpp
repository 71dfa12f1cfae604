#pragma once
/// @file
/// Gates in front of the queue: whether a gang may have its pods made at all.
///
/// Source: Volcano's plugins overcommit and resourcequota. What a gang asks for at least is promised to it when it is
/// let in; promises may exceed the cluster by a factor, and never the quota of a namespace.

#include <span>
#include <string>
#include <vector>

#include "policy/resources/resource_list.hpp"

namespace kaisched::policy {

/// What can be promised: the cluster by the factor, without what is in use.
[[nodiscard]] resource_list promisable(const resource_list& total, const resource_list& used, double factor);
/// Of what the gang asks for at least, what would be promised beyond that; none: it may come in.
[[nodiscard]] resource_names overcommitted(const resource_list& promisable, const resource_list& promised,
                                           const resource_list& minimum);

/// The quota of a namespace. What it does not name it does not limit.
struct space_limit {
  resource_list hard;
  resource_names limited;
  resource_list used;
};
/// Whether all quotas allow the minimum beside what was promised before.
[[nodiscard]] bool within_quotas(std::span<const space_limit> quotas, const resource_list& promised,
                                 const resource_list& minimum, std::span<const std::string> named);

}  // namespace kaisched::policy
