#pragma once
/// @file
/// Which share of its GPUs' time each job should get: the policies of the table. All GPUs are alike, so most of their
/// programs have solutions in closed form.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaisched::bench::shockwave {

/// A job that is there, by arrival.
struct asking_job {
  std::size_t number = 0;
  double gpus = 0;
  double speed = 0;       ///< steps in a second
  double steps_left = 0;  ///< with the present batch size
  double arrival = 0;     ///< seconds
  [[nodiscard]] double time_left() const { return steps_left / speed; }
};

/// A rule may remember what it said; it is asked by one run only.
class share_rule {
 public:
  share_rule() = default;
  share_rule(const share_rule&) = delete;
  share_rule& operator=(const share_rule&) = delete;
  virtual ~share_rule() = default;
  /// One share for each job, 0 to 1: the part of the time in which it has its GPUs.
  [[nodiscard]] virtual std::vector<double> divide(std::span<const asking_job> jobs, double gpus, double now) = 0;
};

/// A policy of the table, and the part that does the same.
struct policy_name {
  std::string_view published;
  std::string part;  ///< of this benchmark if there is a rule, else any part of the library that orders groups
  std::unique_ptr<share_rule> (*rule)() = nullptr;
};
[[nodiscard]] const std::vector<policy_name>& policies();

}  // namespace kaisched::bench::shockwave
