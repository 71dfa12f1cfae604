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

/// Pods of the group that hold a place or have a claim.
[[nodiscard]] std::int64_t pods_with_places(const session_access& a, group_row group);
/// The pods are worth so much: milli-GPU that they ask for; of one without GPUs as much as one GPU.
[[nodiscard]] std::int64_t worth_of(const session_access& a, pod_row pod);

}  // namespace kaisched::policy
