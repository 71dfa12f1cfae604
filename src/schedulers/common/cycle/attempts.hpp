#pragma once
/// @file
/// How decisions about a group of pods are carried out in a session: others leave, pods get places, what stands in a
/// unit that is not whole waits. The statement of the session is open from the first change to the commit.

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "actions/unit_remains.hpp"
#include "framework/session_state.hpp"

namespace kaisched::schedulers {

/// Counts an attempt to start pods of a group. True: the group held something before.
[[nodiscard]] bool begin_attempt(framework::session_state& c, group_row group);
/// Notes why a group waits: `pod` finds no node, or `what` is in the way.
void note_failure(framework::session_state& c, group_row group, pod_row pod = no_row,
                  constraint what = constraint::none);
/// All pods of the group that are active leave.
void evict_group(framework::session_state& c, group_row group);

/// Pods that leave one by one, and with them the rest of units that they break.
class unit_losses {
 public:
  explicit unit_losses(framework::session_state& c) : c_(c) {}

  /// The pod will leave. All of them are told before the first one does.
  void expect(pod_row pod);
  /// It leaves, unless it has gone with its unit.
  void evict(pod_row pod);
  void evict_rest();

 private:
  framework::session_state& c_;
  std::map<group_row, std::size_t> broken_;  ///< by group: its pods that stood in broken units before
};

/// What became of places once units were looked at.
enum class unit_outcome : std::uint8_t {
  placed,   ///< all stand, or all but what was left out
  refused,  ///< units are broken, nothing may be left out, and nothing stands
  waits     ///< the rest would break units as well, or has no place: nothing stands
};
/// Leaves out of `placed`, all of which stands, what is in units of the group that are not whole, if there are more
/// such pods than `broken`; then the rest is placed anew.
/// @param may_leave_out else broken units are refused. @param pod_of the pod of one of `placed`. @param put places one.
/// @param left_out gets what was left out.
template <class Placed, class PodOf, class Put>
[[nodiscard]] unit_outcome keep_whole_units(framework::session_state& c, group_row group, std::size_t broken,
                                            bool may_leave_out, std::vector<Placed>& placed, const PodOf& pod_of,
                                            const Put& put, std::vector<Placed>& left_out) {
  if (actions::unit_remains(c, group).size() <= broken) return unit_outcome::placed;
  if (may_leave_out) left_out = actions::take_unit_remains(c, group, placed, pod_of);
  c.statement.rollback(0);
  if (left_out.empty()) return unit_outcome::refused;
  const bool fits = std::ranges::all_of(placed, put);
  if (!placed.empty() && fits && actions::unit_remains(c, group).size() <= broken) return unit_outcome::placed;
  c.statement.rollback(0);
  return unit_outcome::waits;
}

}  // namespace kaisched::schedulers
