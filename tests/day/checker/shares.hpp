#pragma once
/// @file
/// Fair shares of queues, divided once more: quotas first, what is left by priority and weight, unit by unit to the
/// largest weight / (2 units + 1); no queue gets more than its request or limit (mode strict).

#include <vector>

#include "checker/state.hpp"

namespace day_check {

/// Shares by queue, of what the ready nodes have.
[[nodiscard]] std::vector<amounts> divide(const state& of, const std::vector<queue_now>& held);

/// The queues that divide a total, for the tests.
struct wish {
  std::int64_t weight = 0;
  std::int64_t wanted = 0;
};
/// What each gets of a total that comes in units; equal ones in their order.
[[nodiscard]] std::vector<std::int64_t> by_units(const std::vector<wish>& all, std::int64_t total, std::int64_t unit);

}  // namespace day_check
