#pragma once
/// @file
/// The tree of sub-groups of a pod group: who is satisfied, who is ready, who comes first.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/int128.hpp"
#include "framework/session_state.hpp"

namespace kaisched::framework {

/// Number of active pods (pod set) or satisfied children (set).
[[nodiscard]] std::int64_t members_active(const session_state& c, sub_group_row member);
/// How many of these are needed.
[[nodiscard, gnu::always_inline]] inline std::int64_t members_needed(const session_state& c, sub_group_row member) {
  const model::sub_info& info = c.state().subs[member];
  const std::int64_t min = c.access.min_of(member);
  return info.is_set && min == unset ? info.members : min;
}
[[nodiscard]] bool is_satisfied(const session_state& c, sub_group_row member);
/// Enough pods exist and are not gated.
[[nodiscard]] bool is_ready(const session_state& c, sub_group_row member);
/// A member with what it has, active pods or satisfied children, and how many of these it needs.
struct member_state {
  sub_group_row member;
  std::int64_t active;
  std::int64_t needed;
};
/// Members below their threshold first, then by filling. False for equals: the name decides between these.
[[nodiscard]] bool member_before(const session_state& c, const member_state& a, const member_state& b);
using member_list = boost::container::small_vector<sub_group_row, 8>;
/// Children of a set: those below their threshold first, then by filling, then by name.
[[nodiscard]] member_list children_in_order(const session_state& c, sub_group_row set);
/// Some pod set has claims, and without them too few pods: then nobody of the group starts now.
[[nodiscard]] bool must_wait_as_a_whole(const session_state& c, group_row group);
/// Pods of the group in a state of the set.
[[nodiscard, gnu::always_inline]] inline std::uint32_t count_pods(const session_state& c, group_row group,
                                                                  std::uint32_t model::sub_counts::* field) {
  const model::group_core& g = c.state().groups[group];
  std::uint32_t sum = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) sum += c.counts(sub).*field;
  return sum;
}

// ---- units: so many pods of several roles, which come and go together

/// A pod set whose pods beyond its gang come in units with those of its siblings.
[[nodiscard]] inline bool comes_in_units(const session_state& c, sub_group_row member) {
  return !c.state().subs[member].is_set && c.state().subs[member].unit > 0;
}
/// How many pods a role has with its gang and so many units.
[[nodiscard]] inline std::int64_t pods_of_units(const session_state& c, sub_group_row role, std::int64_t units) {
  const model::sub_info& info = c.state().subs[role];
  const base::int128 pods = info.min + base::int128{info.unit} * units;
  return static_cast<std::int64_t>(std::min<base::int128>(pods, std::numeric_limits<std::int64_t>::max()));
}
struct unit_state {
  std::int64_t begun = 0;   ///< units beyond the gangs of which some pod is there
  std::int64_t whole = 0;   ///< of these, units that all roles have
  bool is_broken = false;   ///< some role has fewer pods than the begun ones take
  bool lacks_gang = false;  ///< some role has less than its gang
};
/// Of the members of a set; nothing if none of them comes in units. `count` tells the pods that a role has.
template <class Count>
[[nodiscard]] std::optional<unit_state> units_of(const session_state& c, sub_group_row set, Count count) {
  std::optional<unit_state> found;
  const auto each_role = [&](const auto& act) {
    for (sub_group_row role = c.state().subs[set].first_child; role != no_row;
         role = c.state().subs[role].next_sibling) {
      if (comes_in_units(c, role)) act(role, c.state().subs[role], std::int64_t{count(role)});
    }
  };
  each_role([&](sub_group_row, const model::sub_info& info, std::int64_t pods) {
    const std::int64_t beyond = pods - info.min;
    const std::int64_t whole = std::max<std::int64_t>(0, beyond) / info.unit;
    if (!found) found.emplace().whole = whole;
    found->whole = std::min(found->whole, whole);
    found->lacks_gang = found->lacks_gang || beyond < 0;
    if (beyond > 0) found->begun = std::max(found->begun, (beyond - 1) / info.unit + 1);
  });
  each_role([&](sub_group_row role, const model::sub_info&, std::int64_t pods) {
    found->is_broken = found->is_broken || pods < pods_of_units(c, role, found->begun);
  });
  return found;
}

/// Which pods may be started.
enum class startable : std::uint8_t {
  pending,             ///< those that wait
  pending_or_evicted,  ///< in a simulation: also victims of the open statement, which may find another place
};

/// What the group tries to start next: the missing part of its gangs, one elastic pod, or a unit of several. Appended
/// to `chunk`.
void next_chunk(const session_state& c, group_row group, startable which, pod_list& chunk);
/// A chunk that is so many pods of one class: the first pending ones of the only pod set.
struct equal_chunk {
  class_row kind = no_row;
  std::int64_t count = 0;
};
/// The next chunk as such, with or without victims, if it can be told without looking at pods: the group has one pod
/// set, of one class, none of its pods is leaving, and it is not cut to a part.
[[nodiscard]] std::optional<equal_chunk> equal_chunk_of(const session_state& c, group_row group);
/// An amount so many times.
[[nodiscard]] model::quota_vector times(const model::quota_vector& one, std::int64_t count);

/// What the chunk asks of its queues.
[[nodiscard]] model::quota_vector request_of(const session_state& c, std::span<const pod_row> chunk);
/// What it asks of them wherever its pods go, for limits and quotas.
[[nodiscard]] model::quota_vector least_request_of(const session_state& c, std::span<const pod_row> chunk);

/// The pod is on a node, or has a claim on one, and is not leaving.
[[nodiscard]] inline bool is_active(const session_state& c, pod_row p) {
  return model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated);
}

/// Amounts in KAI's units.
[[nodiscard]] inline policy::kai_amounts in_native(const model::quota_vector& amount) {
  policy::kai_amounts native{};
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) native[r] = to_native(r, amount[r]);
  return native;
}

}  // namespace kaisched::framework
