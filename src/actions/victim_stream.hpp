#pragma once
/// @file
/// The victims of a waiting group in victim order.

#include <functional>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/job_queue.hpp"
#include "actions/victim_search_state.hpp"
#include "actions/victim_units.hpp"

namespace kaisched::actions {

/// Fills an empty queue with the groups that may lose pods to the waiting one, of the leaf queues that are accepted;
/// where `helps` is given only with those that it accepts.
result<void> offer_victims(job_queue& to, victim_search_state& kept, const victim_rules& rules, group_row waiting,
                           const std::function<bool(queue_row)>& from_queue,
                           const std::function<bool(group_row)>& helps = {});

/// The pods without those of the unit; empty if no active one is left.
[[nodiscard]] std::vector<pod_row> left_without(const framework::session_state& c, std::span<const pod_row> pods,
                                                std::span<const pod_row> unit);

/// All victims, unit by unit.
class victim_stream {
 public:
  explicit victim_stream(victim_search_state& kept) : c_(kept.c), queue_(kept.c, 0, serving::victims) {}

  /// Begins with the groups that `offer_victims` gives.
  result<void> open(victim_search_state& kept, const victim_rules& rules, group_row waiting,
                    const std::function<bool(queue_row)>& from_queue,
                    const std::function<bool(group_row)>& helps = {}) {
    rules_ = &rules;
    return offer_victims(queue_, kept, rules, waiting, from_queue, helps);
  }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  /// Without pods where a group has nothing more that it could lose.
  [[nodiscard]] result<victim_unit> next();

 private:
  framework::session_state& c_;
  const victim_rules* rules_ = nullptr;
  job_queue queue_;
};

}  // namespace kaisched::actions
