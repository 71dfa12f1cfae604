#pragma once
/// @file
/// Order of sibling queues and the two rules that block an allocation, as in the KAI Scheduler (`compat`).

#include <array>
#include <span>

#include "policy/entitlement/kai_division.hpp"

namespace kaisched::policy {

using kai_amounts = std::array<double, quota_dimensions>;

/// One side of a comparison: a queue and what its best pending group would take next, or what its victims hold.
struct kai_side {
  const kai_queue* queue = nullptr;
  kai_amounts job{};
  std::span<const kai_amounts> victims{};
};

/// What of a side decides comparisons.
struct kai_standing {
  bool over = false;      ///< holds more than its fair share of everything
  bool starved = false;   ///< stays within its quota with the job
  bool violates = false;  ///< would hold something that it has no share of
  std::int64_t priority = 0;
  double with_job = 0;  ///< dominant saturation
  double alone = 0;
  kai_amounts allocatable{};
  std::int64_t created = 0;
};
[[nodiscard]] kai_standing kai_standing_of(const kai_side& side, const kai_amounts& total);

/// -1: left first, 1: right first. Never equal: of queues of the same age the right one is first, as in KAI.
[[nodiscard]] int kai_compare_standings(const kai_standing& left, const kai_standing& right);
[[nodiscard]] inline int kai_compare_queues(const kai_side& left, const kai_side& right, const kai_amounts& total) {
  return kai_compare_standings(kai_standing_of(left, total), kai_standing_of(right, total));
}

/// What a queue may hold without owing it back: fair share or quota, within the limit.
[[nodiscard]] double kai_allocatable(const kai_share& share);

/// First resource (cpu, memory, gpu) whose limit an additional request would pass, or no_row.
[[nodiscard]] std::uint32_t kai_over_limit(const kai_queue& queue, const kai_amounts& requested);
/// The same for the quota that non-preemptible groups must stay within.
[[nodiscard]] std::uint32_t kai_over_quota(const kai_queue& queue, const kai_amounts& requested);

}  // namespace kaisched::policy
