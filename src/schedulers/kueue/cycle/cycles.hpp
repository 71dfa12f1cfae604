#pragma once
/// @file
/// Cycles of admission, one after the other until nothing changes any more.
///
/// In every cycle the head of every queue is looked at. Whoever fits is admitted, and the next of its queue is the
/// head. Whoever fits nowhere is put aside with all like it, unless its queue keeps its order. Whoever tells others to
/// leave stays at the head and takes part in every cycle, so that nobody takes what they leave; it is admitted in a
/// later session, when they are gone. A workload that was admitted here and is told to leave has not started: it is as
/// if it had not been admitted, and is not tried again in the session.

#include <vector>

#include <kaisched/result.hpp>

#include "schedulers/kueue/cycle/cluster_view.hpp"
#include "schedulers/kueue/cycle/places.hpp"
#include "schedulers/kueue/rules/cycle.hpp"

namespace kaisched::kueue {

/// What a cycle did for one workload.
struct admission_step {
  std::size_t workload = 0;           ///< that waits
  std::vector<quota_victim> victims;  ///< that are told to leave; empty: it is admitted
  flavor_assignment assignment;
  set_places places;
  bool undone = false;
};

/// What the cycles of a session have decided.
struct cycle_decisions {
  std::vector<admission_step> steps;
  /// Why workloads wait that were not admitted, as far as quotas and places are concerned.
  std::vector<framework::failure> reasons;
};
/// `places` may be null.
[[nodiscard]] result<cycle_decisions> run_cycles(cluster_view& world, const scheduler_setup& setup,
                                                 framework::session_state& c, session_places* places);

}  // namespace kaisched::kueue
