#pragma once
/// @file
/// How fast groups are with so many pods, by their curves (column `speedup`).

#include <cstdint>
#include <map>
#include <vector>

#include <kaisched/ids.hpp>
#include <kaisched/policy.hpp>

#include "model/figures.hpp"
#include "policy/access.hpp"

namespace kaisched::policy {

/// Reads the curve of each group once.
class speed_curves {
 public:
  /// The group says how fast it is.
  [[nodiscard]] bool are_told(const session_access& a, group_row group) { return !curve_of(a, group).empty(); }
  /// Thousandths with so many pods. Without a curve each pod brings 1.
  [[nodiscard]] std::int64_t of(const session_access& a, group_row group, std::int64_t pods);

 private:
  [[nodiscard]] const std::vector<model::speed_point>& curve_of(const session_access& a, group_row group);
  std::map<group_row, std::vector<model::speed_point>> known_;
};

/// What changing the pods of a group costs it: it stops, forms its process group anew and reads its state. Times are at
/// most 30 days.
struct size_change {
  /// Nanoseconds for which it does nothing: `restart_cost`. 0 where it did not run when the session opened, or has
  /// other pods by now than it had then: it stops anyway.
  std::int64_t pause = 0;
  /// For so long its new speed is expected to last: what is left of its run time by its estimate, with so many pods;
  /// without one, or past it, as long as it has run so far, since jobs that have run long mostly go on for long
  /// (Harchol-Balter and Downey, SIGMETRICS 1996). `unset`: nobody knows.
  std::int64_t lasts = unset;
};
/// @param pods that it would have
/// @param just_placed of these, whom the statement has placed
[[nodiscard]] size_change change_of(const session_access& a, speed_curves& curves, group_row group, std::int64_t pods,
                                    std::int64_t just_placed = 0);

/// Pods of the group that hold a place or have a claim.
[[nodiscard]] std::int64_t pods_with_places(const session_access& a, group_row group);
/// The pods are worth so much: milli-GPU that they ask for; of one without GPUs as much as one GPU.
[[nodiscard]] std::int64_t worth_of(const session_access& a, pod_row pod);

}  // namespace kaisched::policy
