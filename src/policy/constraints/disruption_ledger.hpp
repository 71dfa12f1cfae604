#pragma once
/// @file
/// What the disruption budgets of a cluster still allow in a session.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>

#include "base/sparse_rows.hpp"
#include "model/state.hpp"

namespace kaisched::policy {

/// A budget that does not let pods go.
struct budget_refusal {
  std::uint32_t budget = no_row;  ///< position among the budgets of the cluster, by name
  std::int64_t need = 0;          ///< pods that would have to go
  std::int64_t have = 0;          ///< pods that may
};

/// Counts pods that have to leave or move. Pods count that held a place when the session opened, each once: who has got
/// a place only since then runs nowhere yet.
class disruption_ledger {
 public:
  /// Without budgets there is nothing to count, and the ledger is not used.
  void open(const model::cluster_state& s);
  [[nodiscard]] bool used() const { return budget_of_ != nullptr; }

  /// A pod has been evicted, or an eviction of it was taken back.
  void charge(pod_row pod) {
    if (used() && (*budget_of_)[pod] != no_row) count(pod, true);
  }
  void restore(pod_row pod) {
    if (used() && (*budget_of_)[pod] != no_row) count(pod, false);
  }

  /// No more pods of any budget have gone than it allows.
  [[nodiscard]] bool holds() const { return overdrawn_ == 0; }
  /// The first budget that more have gone of than it allows. @pre not holds()
  [[nodiscard]] budget_refusal overdraft() const;
  /// The first budget that does not let these pods go as well; none: all do.
  [[nodiscard]] std::optional<budget_refusal> refuses(std::span<const pod_row> pods) const {
    return used() ? refusal_of(pods) : std::nullopt;
  }
  [[nodiscard]] std::optional<budget_refusal> refuses(pod_row pod) const { return refuses(std::span(&pod, 1)); }

  /// What is left of each budget.
  [[nodiscard]] std::span<const std::int64_t> left() const { return left_; }

 private:
  friend class disruption_draft;
  [[nodiscard]] std::optional<budget_refusal> refusal_of(std::span<const pod_row> pods) const;
  void count(pod_row pod, bool goes);
  /// The budget that a pod would be counted in if it went now, or no_row.
  [[nodiscard]] std::uint32_t open_budget(pod_row pod) const;

  std::shared_ptr<const std::vector<std::uint32_t>> budget_of_;  ///< by pod; null: not used
  std::vector<std::int64_t> left_;                               ///< by budget
  base::sparse_rows<std::uint32_t> times_;                       ///< evictions of pods that count
  std::uint32_t overdrawn_ = 0;                                  ///< budgets with less than nothing left
};

/// Pods that are to go together, before anybody is told.
class disruption_draft {
 public:
  explicit disruption_draft(const disruption_ledger& from) : from_(from) {}

  /// False: some budget does not let all of them go beside those that have been taken, and none of them is.
  bool take(std::span<const pod_row> pods);
  /// Why the last ones were not taken.
  [[nodiscard]] const budget_refusal& refusal() const { return refusal_; }

 private:
  const disruption_ledger& from_;
  boost::container::flat_set<pod_row> taken_;
  boost::container::flat_map<std::uint32_t, std::int64_t> gone_;  ///< by budget
  budget_refusal refusal_;
};

}  // namespace kaisched::policy
