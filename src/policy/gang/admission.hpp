#pragma once
/// @file
/// The gate in front of the queue: whether a gang may have its pods made at all.
///
/// Source: Volcano's plugin overcommit. What a gang asks for at least is promised to it when it is let in; promises may
/// exceed the cluster by a factor.

#include "policy/resources/resource_list.hpp"

namespace kaisched::policy {

/// What can be promised: the cluster by the factor, without what is in use.
[[nodiscard]] resource_list promisable(const resource_list& total, const resource_list& used, double factor);
/// Of what the gang asks for at least, what would be promised beyond that; none: it may come in.
[[nodiscard]] resource_names overcommitted(const resource_list& promisable, const resource_list& promised,
                                           const resource_list& minimum);

}  // namespace kaisched::policy
