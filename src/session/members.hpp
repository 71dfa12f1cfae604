#pragma once
/// @file
/// The tree of sub-groups of a pod group: who is satisfied, who is ready, who comes first.

#include <optional>
#include <vector>

#include "session/core.hpp"

namespace kaisched::work {

/// Number of active pods (pod set) or satisfied children (set).
[[nodiscard]] std::int64_t members_active(const core& c, sub_group_row member);
/// How many of these are needed.
[[nodiscard]] inline std::int64_t members_needed(const core& c, sub_group_row member) {
  const model::sub_info& info = c.state().subs[member];
  const std::int64_t min = c.access.min_of(member);
  return info.is_set && min == unset ? info.members : min;
}
[[nodiscard]] bool is_satisfied(const core& c, sub_group_row member);
/// Enough pods exist and are not gated.
[[nodiscard]] bool is_ready(const core& c, sub_group_row member);
/// A member with what it has, active pods or satisfied children, and how many of these it needs.
struct member_state {
  sub_group_row member;
  std::int64_t active;
  std::int64_t needed;
};
/// Members below their threshold first, then by filling. False for equals: the name decides between these.
[[nodiscard]] bool member_before(const core& c, const member_state& a, const member_state& b);
using member_list = boost::container::small_vector<sub_group_row, 8>;
/// Children of a set: those below their threshold first, then by filling, then by name.
[[nodiscard]] member_list children_in_order(const core& c, sub_group_row set);
/// Some pod set has claims, and without them too few pods: then nobody of the group starts now.
[[nodiscard]] bool must_wait_as_a_whole(const core& c, group_row group);
/// Pods of the group in a state of the set.
[[nodiscard]] inline std::uint32_t count_pods(const core& c, group_row group,
                                              std::uint32_t model::sub_counts::* field) {
  const model::group_core& g = c.state().groups[group];
  std::uint32_t sum = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) sum += c.counts(sub).*field;
  return sum;
}

/// Which pods may be started.
enum class startable : std::uint8_t {
  pending,             ///< those that wait
  pending_or_evicted,  ///< in a simulation: also victims of the open statement, which may find another place
};

/// What the group tries to start next: the missing part of its gangs, or one elastic pod. Appended to `chunk`.
void next_chunk(const core& c, group_row group, startable which, pod_list& chunk);
/// A chunk that is so many pods of one class: the first pending ones of the only pod set.
struct equal_chunk {
  class_row kind = no_row;
  std::int64_t count = 0;
};
/// The next chunk as such, with or without victims, if it can be told without looking at pods: the group has one pod
/// set, of one class, none of its pods is leaving, and it is not cut to a part.
[[nodiscard]] std::optional<equal_chunk> equal_chunk_of(const core& c, group_row group);
/// An amount so many times.
[[nodiscard]] model::quota_vector times(const model::quota_vector& one, std::int64_t count);

/// What the chunk asks of its queues.
[[nodiscard]] model::quota_vector request_of(const core& c, std::span<const pod_row> chunk);
/// What it asks of them wherever its pods go, for limits and quotas.
[[nodiscard]] model::quota_vector least_request_of(const core& c, std::span<const pod_row> chunk);

/// The pod is on a node, or has a claim on one, and is not leaving.
[[nodiscard]] inline bool is_active(const core& c, pod_row p) {
  return model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated);
}

/// Amounts in KAI's units.
[[nodiscard]] inline policy::kai_amounts in_native(const model::quota_vector& amount) {
  policy::kai_amounts native{};
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) native[r] = to_native(r, amount[r]);
  return native;
}

}  // namespace kaisched::work
