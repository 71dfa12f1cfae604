#pragma once
/// @file
/// Order of sibling queues in exact arithmetic (`strict`): KAI's rules as a total order.

#include <array>
#include <span>

#include "policy/entitlement/divisor_division.hpp"

namespace kaisched::policy {

using exact_amounts = std::array<std::int64_t, quota_dimensions>;

struct exact_side {
  const exact_queue* queue;
  exact_amounts job{};
  exact_amounts victims{};  ///< what they hold, all together
};

/// True if left is served first. Repairs: fractions are compared by cross multiplication; a resource that the queue has
/// no share of counts as infinite instead of a thousand times its raw amount; entitlements are compared resource by
/// resource (a partial order can form cycles); the last word is the name, so two queues are never both first.
[[nodiscard]] bool exact_serves_before(const exact_side& left, const exact_side& right, const exact_amounts& total);

[[nodiscard]] std::int64_t exact_allocatable(const exact_share& share);
[[nodiscard]] std::uint32_t exact_over_limit(const exact_queue& queue, const exact_amounts& requested);
[[nodiscard]] std::uint32_t exact_over_quota(const exact_queue& queue, const exact_amounts& requested);

}  // namespace kaisched::policy
