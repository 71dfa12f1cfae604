#pragma once
/// @file
/// Dominant shares (Ghodsi et al., NSDI 2011) as sort keys that compare exactly.

#include <kaisched/policy.hpp>

#include "model/state.hpp"

namespace kaisched::policy {

/// Cpu, memory and GPUs of the nodes that are ready and not cordoned.
[[nodiscard]] model::quota_vector open_capacity(const session_view& view);

/// What the active pods of a group hold.
[[nodiscard]] model::quota_vector held_by_group(const session_view& view, group_row group);

/// The largest part that the amounts are of the totals. Two keys are equal where the fractions are, and in their order
/// otherwise; a resource that is held although there is none is the largest of all.
[[nodiscard]] order_key dominant_share(const model::quota_vector& held, const model::quota_vector& total);

}  // namespace kaisched::policy
