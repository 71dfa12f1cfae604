#pragma once
/// @file
/// Fair-share division in exact arithmetic (`strict`): quotas first, then whole units one by one by the divisor method
/// of Webster / Sainte-Laguë, which has no paradoxes: more capacity never takes a unit from anybody.
///
/// Repairs of the KAI Scheduler's division: quotas never promise more than there is; a priority band keeps its
/// remainders; nobody passes request or limit; history never leaves everything undivided; a parent asks only for what
/// its children may hold. Source of the method: M. Balinski, H. P. Young, Fair Representation, 1982.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>

#include "policy/entitlement/share_log.hpp"

namespace kaisched::policy {

/// One queue, one resource, in fixed units.
struct exact_share {
  std::int64_t deserved = 0;
  std::int64_t limit = unlimited;
  std::int64_t weight = 0;  ///< thousandths
  std::int64_t request = 0;
  std::int64_t allocated = 0;
  std::int64_t nonpreemptible = 0;
  std::int64_t usage = 0;  ///< millionths of the cluster's capacity
  std::int64_t fair_share = 0;

  [[nodiscard]] std::int64_t requestable() const { return limit == unlimited || request < limit ? request : limit; }
};

struct exact_queue {
  std::string_view uid;
  std::uint32_t parent = no_row;
  std::int64_t priority = 100;
  std::int64_t created = 0;
  std::array<exact_share, quota_dimensions> shares{};
};

using exact_share_log = share_log<exact_queue, std::int64_t>;

/// Divides `total` of one resource among siblings in units of `unit`; `k` in thousandths. Returns what nobody got.
/// Steps are added to the log, if there is one: all units of a round are one step for each queue.
std::int64_t divide_exactly(std::span<exact_queue* const> siblings, std::uint32_t resource, std::int64_t total,
                            std::int64_t unit, std::int64_t k, exact_share_log* log = nullptr);
/// A whole tree. Requests of inner queues are replaced by what their children could use.
void divide_tree_exactly(std::span<exact_queue> queues, const std::array<std::int64_t, quota_dimensions>& total,
                         std::int64_t k, exact_share_log* log = nullptr);

}  // namespace kaisched::policy
