#pragma once
/// @file
/// What owners lose with a set of victims, so that sets can be compared. `strict` only.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "actions/victim_units.hpp"
#include "base/int128.hpp"

namespace kaisched::actions {

/// Before this session. What has a place since loses nothing if that is taken back.
[[nodiscard]] bool had_begun(const framework::session_state& c, pod_row p);

/// How losses are counted.
struct loss_measure {
  /// GPUs times the time since the last checkpoint of the group, and not GPUs alone: if every candidate has one.
  bool by_time = false;
  /// Of equal losses the one of younger groups is less: if no part but `priority` and `elastic` orders groups. Else
  /// the order of victims, which the policy has made, decides.
  bool by_age = true;
};
/// `all_saved`: there are candidates, and all of them have a checkpoint.
[[nodiscard]] loss_measure measure_of(const framework::session_state& c, bool all_saved);

/// Loss of the highest priority counts first: its work, then its cores, then its pods. Pods that this session has
/// placed lose nothing.
class victim_cost {
 public:
  /// All pods of the units.
  [[nodiscard]] static victim_cost of_all(const framework::session_state& c, std::span<const victim_unit> units,
                                          loss_measure how);
  /// Of the units only those of which a pod was evicted in the statement and has found no place again.
  [[nodiscard]] static victim_cost of_lost(const framework::session_state& c, std::span<const victim_unit> units,
                                           loss_measure how);

  [[nodiscard]] bool is_nothing() const { return by_priority_.empty(); }
  [[nodiscard]] bool is_less_than(const victim_cost& other) const;

 private:
  struct loss {
    base::int128 work = 0;  ///< milli-GPU, or milli-GPU nanoseconds
    std::int64_t cpu = 0;   ///< milli-cores
    std::int64_t pods = 0;
  };

  void add(const framework::session_state& c, const victim_unit& unit, loss_measure how);
  void sort_starts();

  std::map<std::int64_t, loss, std::greater<>> by_priority_;
  std::vector<std::int64_t> starts_;  ///< of the pods that are lost, the oldest first
};

}  // namespace kaisched::actions
