#pragma once
/// @file
/// What `reclaim` asks about one pending group: may it take at all, from whom, and is a set of victims accepted.

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

#include "actions/victim_units.hpp"
#include "base/block_pool.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

/// The verdicts of `reclaim` for one pending group, whatever the arithmetic.
class reclaim_verdicts {
 public:
  reclaim_verdicts() = default;
  reclaim_verdicts(const reclaim_verdicts&) = delete;
  reclaim_verdicts& operator=(const reclaim_verdicts&) = delete;
  virtual ~reclaim_verdicts() = default;
  [[nodiscard]] virtual bool may_give(queue_row leaf) const = 0;
  [[nodiscard]] virtual bool may_end_with_less(queue_row leaf) const = 0;
  [[nodiscard]] virtual bool may_take(const scenario& what) const = 0;
  /// A single unit of a leaf queue.
  [[nodiscard]] virtual bool may_take_alone(queue_row leaf, const model::quota_vector& amount) const = 0;
};

/// Queues as they were before a search, kept until something has been decided.
template <class Queue>
class queues_before {
 public:
  [[nodiscard]] std::shared_ptr<const std::vector<Queue>> of(const framework::session_state& c,
                                                             const std::vector<Queue>& now) {
    if (kept_ == nullptr || (changes_ != c.changes() && kept_.use_count() > 1))
      kept_ = std::make_shared<std::vector<Queue>>(now);
    else if (changes_ != c.changes())
      *kept_ = now;
    changes_ = c.changes();
    return kept_;
  }

 private:
  std::shared_ptr<std::vector<Queue>> kept_;
  std::uint64_t changes_ = 0;
};

/// What `reclaim` keeps from one group to the next.
struct reclaim_memory {
  base::block_pool verdicts;
  queues_before<policy::kai_queue> native;
  queues_before<policy::exact_queue> exact;
};

/// The group has a right to its next chunk as its queues are now: the first of the verdicts alone.
[[nodiscard]] bool may_reclaim(framework::session_state& c, group_row group);

/// The verdicts for a group as its queues are now.
[[nodiscard]] std::shared_ptr<const reclaim_verdicts> verdicts_for(framework::session_state& c, group_row group,
                                                                   reclaim_memory& memory);

}  // namespace kaisched::actions
