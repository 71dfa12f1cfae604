#pragma once
/// @file
/// Fair-share division as in the KAI Scheduler (`compat`): floating-point expressions in their order, defects included.
/// Amounts are doubles in KAI's units: devices, milli-cores, bytes. -1 is unlimited.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>

#include "policy/entitlement/share_log.hpp"

namespace kaisched::policy {

/// One queue, one resource.
struct kai_share {
  double deserved = 0;  ///< quota
  double limit = -1;
  double weight = 0;  ///< over-quota weight
  double request = 0;
  double allocated = 0;
  double nonpreemptible = 0;  ///< the part of allocated that non-preemptible groups hold
  double usage = 0;           ///< history, as a part of the cluster's capacity
  double fair_share = 0;      ///< the only field that the division writes

  [[nodiscard]] double requestable() const { return limit == -1 ? request : request < limit ? request : limit; }
  [[nodiscard]] double need() const {
    const double open = requestable() - fair_share;
    return open > 0 ? open : 0;
  }
};

struct kai_queue {
  std::string_view uid;
  std::uint32_t parent = no_row;  ///< index in the array of queues, or no_row
  std::int64_t priority = 100;
  std::int64_t created = 0;
  std::array<kai_share, quota_dimensions> shares{};
};

using kai_share_log = share_log<kai_queue, double>;

/// Divides `total` of one resource among siblings. Returns what nobody got. Steps are added to the log, if there is
/// one.
double kai_divide(std::span<kai_queue* const> siblings, std::uint32_t resource, double total, double k,
                  kai_share_log* log = nullptr);
/// Only the part after quotas: by priority band and weight, then the remainders.
double kai_divide_over_quota(std::span<kai_queue* const> siblings, std::uint32_t resource, double total, double k,
                             kai_share_log* log = nullptr);
/// A whole tree; children of a queue divide its fair share. Fair shares are reset first.
void kai_divide_tree(std::span<kai_queue> queues, const std::array<double, quota_dimensions>& total, double k,
                     kai_share_log* log = nullptr);

}  // namespace kaisched::policy
