#pragma once
/// @file
/// Which workloads give way so that another one finds quota: by priority and position in the tree, or by fair shares.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/kueue/rules/flavor_assignment.hpp"
#include "schedulers/kueue/rules/running.hpp"

namespace kaisched::kueue {

/// Whom a workload may ask to leave.
enum class victim_policy : std::uint8_t { never, lower_priority, lower_or_newer_equal_priority, any };

/// Whether victims may be asked to leave while the queue borrows.
struct borrowing_preemption {
  std::optional<std::int64_t> highest_priority;  ///< of victims; without it, all of lower priority
};

struct preemption_rules {
  victim_policy within_queue = victim_policy::never;
  victim_policy reclaim_within_cohort = victim_policy::never;
  std::optional<borrowing_preemption> borrow_within_cohort;
};

enum class victim_reason : std::uint8_t { in_queue, reclamation, fair_sharing, reclamation_while_borrowing };

/// When the share of the preemptor allows that a victim leaves: at most the share that the victim's queue is left
/// with (S2-a of KEP-1714), or less than the one that it has now (S2-b).
enum class share_strategy : std::uint8_t { at_most_final_share, below_initial_share };

struct quota_victim {
  std::size_t workload = 0;
  victim_reason why = victim_reason::in_queue;

  friend bool operator==(const quota_victim&, const quota_victim&) = default;
};

/// How candidates are compared.
struct candidate_rules {
  node_id queue = no_node;   ///< of the preemptor: its own candidates come last
  std::int64_t now = 0;      ///< when a workload without a time of reservation has reserved
  bool local_usage = false;  ///< the larger past usage of the local queue comes first, within a queue
};

/// Less than 0 if `a` leaves before `b`: those that leave anyway, those of other queues, more usage of the local queue,
/// lower priority, later reservation, id. Equal ones stay as they were found: nearer subtrees first, within a queue in
/// the order of the state.
[[nodiscard]] int compare_candidates(const running_workload& a, const running_workload& b,
                                     const candidate_rules& rules);

struct victim_query {
  node_id queue = no_node;
  std::int64_t priority = 0;
  std::int64_t queued_at = 0;
  cell_amounts asked;
  std::vector<cell_id> cells;  ///< that lack quota, ascending
  preemption_rules rules;
  candidate_rules order;
  /// Whether the pods find places once quota is there; without it they do.
  std::function<bool()> finds_places;
};

/// Victims by priority and position in the tree, in the order in which the search leaves them; none if there is no way.
/// The state is as before afterwards.
///
/// Candidates are taken until the workload fits: those of subtrees over which it has an advantage because its own
/// subtree has the quota, those of others by priority, those of its own queue. Then, from the last but one to the
/// first, each is put back if the workload still fits; the last one takes the place of one that was put back. Source:
/// preemption of Kueue, classical and hierarchical.
[[nodiscard]] std::vector<quota_victim> find_victims(quota_state& state, const victim_query& query);

struct fair_rules {
  std::vector<share_strategy> strategies{share_strategy::at_most_final_share, share_strategy::below_initial_share};
  /// A queue within its own quota, the new workload included, takes victims whatever the shares are.
  bool within_nominal_is_free = true;
};

/// Victims by shares: from the root down the child with the largest share gives one, if a strategy allows it.
/// Source: fair sharing of Kueue (KEP-1714).
[[nodiscard]] std::vector<quota_victim> find_fair_victims(quota_state& state, const victim_query& query,
                                                          const fair_rules& fair);

/// What the search for victims would find for one cell: the grade, and how far the queue borrows after they are gone.
[[nodiscard]] victim_forecast forecast_victims(quota_state& state, victim_query query, const fair_rules* fair,
                                               cell_id cell, amount value);

}  // namespace kaisched::kueue
