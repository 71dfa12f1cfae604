#pragma once
/// @file
/// Cycles of admission, one after the other until nothing changes any more.
///
/// In every cycle the head of every queue is looked at. Whoever fits is admitted, and the next of its queue is the
/// head. Whoever fits nowhere is put aside with all like it, unless its queue keeps its order. Whoever tells others to
/// leave stays at the head and takes part in every cycle, so that nobody takes what they leave; it is admitted in a
/// later session, when they are gone. A workload that was admitted here and is told to leave has not started: it is as
/// if it had not been admitted, and is not tried again in the session.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <kaisched/result.hpp>

#include "schedulers/kueue/cycle/cluster_view.hpp"
#include "schedulers/kueue/cycle/places.hpp"
#include "schedulers/kueue/rules/cycle.hpp"
#include "schedulers/kueue/rules/scan_memory.hpp"

namespace kaisched::kueue {

/// What a cycle did for one workload.
struct admission_step {
  std::size_t workload = 0;           ///< that waits
  std::vector<quota_victim> victims;  ///< that are told to leave; empty: it is admitted
  flavor_assignment assignment;
  set_places places;
  bool undone = false;
};

class cycle_runner {
 public:
  /// `places` may be null.
  cycle_runner(cluster_view& world, const scheduler_setup& setup, const framework::session_state& c,
               session_places* places);

  [[nodiscard]] result<void> run(framework::session_state& c);

  [[nodiscard]] const std::vector<admission_step>& steps() const { return steps_; }
  /// Why a workload waits that was not admitted, as far as quotas and places are concerned.
  [[nodiscard]] framework::failure reason_of(std::size_t workload) const;
  [[nodiscard]] bool is_admitted(std::size_t workload) const { return lives_[workload].admitted; }

 private:
  /// Workloads of a queue, in its order.
  struct line {
    std::vector<std::size_t> members;
    std::set<std::size_t> active;       ///< places in that list
    std::optional<std::size_t> sticky;  ///< who waits for victims
    std::int64_t generation = 0;        ///< how often more has become free
  };
  /// What is known about a workload that waits.
  struct life {
    std::size_t place = 0;    ///< in its line
    std::size_t running = 0;  ///< workload of the state, once it is admitted
    std::uint32_t shape = 0;
    bool admitted = false;
    bool taken_back = false;
    std::optional<scan_memory> scan;
    std::optional<place_failure> no_places;
  };

  void make_lines();
  [[nodiscard]] std::string shape_of(const waiting_workload& one) const;
  bool run_one();
  void settle(std::size_t number, std::size_t workload, head_result& result);
  void admit(std::size_t number, std::size_t workload, head_result& result);
  void tell(std::size_t workload, head_result& result);
  void take_back(std::size_t running);
  void withdraw(group_row group);
  void wake(node_id root);
  void put_aside(std::size_t workload);
  void remember(std::size_t workload, const head_result& result);
  [[nodiscard]] scan_memory scan_now(std::size_t workload) const;
  [[nodiscard]] cycle_rules rules() const;

  cluster_view& world_;
  const scheduler_setup& setup_;
  const framework::session_state& c_;
  session_places* places_;
  std::vector<line> lines_;
  std::vector<life> lives_;
  std::map<group_row, std::size_t> waiting_of_;  ///< workloads that wait, by group
  std::vector<admission_step> steps_;
  std::size_t first_new_;             ///< workloads of the state from here on were admitted here
  std::vector<std::size_t> step_of_;  ///< by workload of the state, of those
  std::int64_t cycle_ = 0;
  bool moved_ = false;
  bool goes_on_ = false;  ///< a search for flavors has not come to its end
};

}  // namespace kaisched::kueue
