#pragma once
/// @file
/// GPUs that are free while jobs wait that would fit on them, and what kept these jobs waiting.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/policy.hpp>

#include "base/int128.hpp"
#include "model/state.hpp"
#include "simulation/simulation.hpp"

namespace kaisched::simulation {

/// After each session: groups whose pods are fewer than their gangs are looked at by priority, creation time and name.
/// One fits if nodes that accept its pods have all that these ask for free, beside what groups before it that fit would
/// take. Its GPUs count for its first reason until the next session. Costs a look at the groups that wait; reasons are
/// asked for those alone that fit.
class idle_meter {
 public:
  void look(const session& held, std::int64_t now);
  /// Most GPU time first.
  [[nodiscard]] std::vector<idle_refusal> until(std::int64_t end);

 private:
  struct room {
    node_row node = no_row;
    std::int64_t whole = 0;          ///< devices that are free as a whole
    std::vector<std::int64_t> free;  ///< by dimension
  };
  struct place {
    std::size_t room = 0;
    pod_row pod = no_row;
  };
  void find_rooms(const session_access& a);
  [[nodiscard]] bool fits(const session_access& a, std::span<const pod_row> pods);
  void take(const session_access& a, const place& at, int sign);
  void account(std::int64_t now);

  std::vector<room> rooms_;                                          ///< nodes with free GPUs, by row
  std::map<std::pair<constraint, std::string>, std::int64_t> held_;  ///< milli-GPU, since the last session
  std::map<std::pair<constraint, std::string>, base::int128> sums_;  ///< milli-GPU nanoseconds
  std::int64_t since_ = 0;
};

}  // namespace kaisched::simulation
