#pragma once
/// @file
/// Roles that come and go in units, for actions that place and evict pods one by one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "framework/members.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Some of its roles come in units.
[[nodiscard]] inline bool has_units(const framework::session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    if (framework::comes_in_units(c, sub)) return true;
  }
  return false;
}

/// Active pods of roles beyond the units that all roles of their set have: what a unit has that is not whole. Of each
/// role the last ones.
[[nodiscard]] inline std::vector<pod_row> unit_remains(const framework::session_state& c, group_row group) {
  std::vector<pod_row> remains;
  const model::cluster_state& s = c.state();
  const model::group_core& g = s.groups[group];
  const auto active = [&](sub_group_row role) { return static_cast<std::int64_t>(c.counts(role).active_allocated); };
  for (sub_group_row set = g.first_sub; set < g.first_sub + g.sub_count; ++set) {
    if (!s.subs[set].is_set) continue;
    const std::optional<framework::unit_state> units = framework::units_of(c, set, active);
    if (!units || units->lacks_gang || !units->is_broken) continue;
    for (sub_group_row role = s.subs[set].first_child; role != no_row; role = s.subs[role].next_sibling) {
      if (!framework::comes_in_units(c, role)) continue;
      std::vector<pod_row> pods;
      for (pod_row p = s.subs[role].first_pod; p != no_row; p = s.pods[p].next) {
        if (framework::is_active(c, p)) pods.push_back(p);
      }
      const auto kept =
          std::min(pods.size(), static_cast<std::size_t>(framework::pods_of_units(c, role, units->whole)));
      remains.insert(remains.end(), pods.begin() + static_cast<std::ptrdiff_t>(kept), pods.end());
    }
  }
  return remains;
}

/// Takes from `placed` those that stand in a unit that is not whole, of each role the last ones, and returns them.
/// @param pod_of the pod of one of them
template <class Placed, class PodOf>
[[nodiscard]] std::vector<Placed> take_unit_remains(const framework::session_state& c, group_row group,
                                                    std::vector<Placed>& placed, PodOf pod_of) {
  std::map<sub_group_row, std::size_t> surplus;
  for (const pod_row p : unit_remains(c, group)) ++surplus[c.state().pods[p].sub];
  std::vector<Placed> taken;
  for (std::size_t i = placed.size(); i-- > 0;) {
    std::size_t& left = surplus[c.state().pods[pod_of(placed[i])].sub];
    if (left == 0) continue;
    --left;
    taken.insert(taken.begin(), placed[i]);
    placed.erase(placed.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return taken;
}

/// Who has lost a pod of a unit in the open statement loses the rest of it. `before`: how many pods of the group stood
/// in a broken unit before.
inline void evict_unit_remains(framework::session_state& c, group_row group, std::size_t before) {
  const std::vector<pod_row> remains = unit_remains(c, group);
  if (remains.size() <= before) return;
  for (const pod_row p : remains) c.statement.evict(p);
}

}  // namespace kaisched::actions
