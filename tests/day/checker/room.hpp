#pragma once
/// @file
/// What is free on nodes, and how many pods of a job it takes: by counting, since the pods of a job are equal.

#include <algorithm>
#include <vector>

#include "checker/state.hpp"

namespace day_check {

class room {
 public:
  /// What is free now. Claims take what comes free first, then what is free.
  explicit room(const state& of);

  /// A pod leaves: what it holds is free. One that is coming free already gives nothing.
  void leave(pod_name which);
  /// What a pod held is coming free, and is not free yet.
  void leaving(const job_plan& row, pod_now pod);
  /// A pod that has no place gets one, or the claim of one.
  void claim(const job_plan& row, std::size_t node, const std::vector<std::int64_t>& devices);

  /// Pods of the job that the node takes now.
  [[nodiscard]] std::int64_t takes(std::size_t node, const job_plan& row) const;
  /// Whether so many more pods of the job have room now, in one rack if the job wants that.
  [[nodiscard]] bool takes(std::size_t job, std::int64_t pods) const;
  /// Whether pods hold more of the node, or of one of its devices, than there is.
  [[nodiscard]] bool overdrawn(std::size_t node) const;

 private:
  struct node_room {
    amounts idle{};       ///< not held
    amounts releasing{};  ///< held, and coming free
    amounts claimed{};
    std::int64_t slots = 0;
    std::int64_t slots_releasing = 0;
    std::int64_t slots_claimed = 0;
    std::vector<std::int64_t> devices;  ///< free thousandths of each
    std::vector<std::int64_t> devices_releasing;
    std::vector<std::int64_t> devices_claimed;
    std::int64_t whole_claims = 0;  ///< devices of claims that do not say which
  };

  void hold(const job_plan& row, const pod_now& pod, std::int64_t sign);
  [[nodiscard]] static std::int64_t usable(std::int64_t idle, std::int64_t releasing, std::int64_t claimed) {
    return std::min(idle, idle + releasing - claimed);
  }
  [[nodiscard]] std::int64_t takes_devices(const node_room& at, std::int64_t ask) const;

  const state& of_;
  std::vector<node_room> nodes_;
};

}  // namespace day_check
