#pragma once
/// @file
/// In which order the heads of the queues are tried in one cycle.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedulers/kueue/rules/quota_tree.hpp"

namespace kaisched::kueue {

/// The head of a queue, with what it would take.
struct cycle_entry {
  node_id queue = no_node;
  bool holds_quota = false;  ///< looked at once more, for places
  bool preemptor = false;    ///< waits for victims of an earlier cycle
  int borrowing = 0;
  std::int64_t priority = 0;
  std::int64_t queued_at = 0;
  std::string name;  ///< breaks ties
  cell_amounts asked;
};

struct entry_rules {
  bool preemptors_first = false;
  bool by_priority = true;
  bool non_borrowing_first = true;  ///< by shares: subtrees that borrow nothing of what is asked for go first
};

/// Less than 0 if `a` is tried before `b`: those that hold quota, preemptors, the nearer quota, priority, time, name.
[[nodiscard]] int compare_entries(const cycle_entry& a, const cycle_entry& b, const entry_rules& rules);

/// Whether `a` goes before `b`, given the shares of the subtrees that they stand for: preemptors, subtrees that do not
/// borrow what is asked for, smaller shares, priority, time. Neither does if all are equal.
[[nodiscard]] bool goes_before(const cycle_entry& a, const borrowed_share& a_share, const cycle_entry& b,
                               const borrowed_share& b_share, const entry_rules& rules);

/// A knock-out tournament over the cohorts: every cohort sends the best of what its children send, compared by the
/// share that each child would have with its entry running. Asked again after every entry, as usage changes. Of several
/// entries of one queue only the last takes part.
/// Source: fair sharing of Kueue (KEP-1714).
class fair_tournament {
 public:
  fair_tournament(const quota_tree& tree, std::vector<cycle_entry> entries, const entry_rules& rules);

  /// The position of the next entry, in the list that was given; none if all have been told. Usage is added to the tree
  /// and taken off again.
  [[nodiscard]] std::optional<std::size_t> next(quota_tree& tree);

 private:
  std::vector<cycle_entry> entries_;
  std::vector<std::optional<std::size_t>> entry_of_queue_;
  entry_rules rules_;
  std::vector<bool> told_;
};

}  // namespace kaisched::kueue
