// What groups try to start: chunks, and parts of groups.
#include <algorithm>
#include <optional>
#include <utility>

#include "session/core.hpp"
#include "session/members.hpp"

namespace kaisched::work {

using model::group_core;
using model::quota_vector;

void core::keep_chunks() { keeps_chunks = true; }

pod_list core::chunk_of(group_row group, bool simulated) {
  if (group == partial.group || (compat() && keeps_chunks)) return kept_chunk_of(group, simulated);
  pod_list chunk;
  next_chunk(*this, group, simulated ? startable::pending_or_evicted : startable::pending, chunk);
  return chunk;
}

/// Of the part that a group was cut to, or of a group in `compat` while chunks are kept.
const pod_list& core::kept_chunk_of(group_row group, bool simulated) {
  if (group == partial.group) return partial.chunk;
  chunk_memory& kept = chunks.at(group);
  if (!kept.has_chunk) {
    kept.chunk.clear();
    next_chunk(*this, group, simulated ? startable::pending_or_evicted : startable::pending, kept.chunk);
    kept.has_chunk = true;
  }
  return kept.chunk;
}

bool core::has_old_chunk(group_row group) const {
  const chunk_memory* const kept = compat() && keeps_chunks ? chunks.find(group) : nullptr;
  if (kept == nullptr || !kept->has_chunk) return false;
  const pod_list& chunk = kept->chunk;
  return std::any_of(chunk.begin(), chunk.end(),
                     [&](pod_row p) { return static_cast<pod_status>(live.pod_state[p]) != pod_status::pending; });
}

quota_vector core::chunk_request(group_row group) {
  const bool is_part = group == partial.group;
  if (is_part && partial.asked) return partial.request;
  if (const std::optional<equal_chunk> equal = equal_chunk_of(*this, group); equal && !adds_parts_up()) {
    return times(asked(*state().classes[equal->kind]), equal->count);
  }
  if (!is_part && (!compat() || !keeps_chunks)) {
    pod_list chunk;
    next_chunk(*this, group, startable::pending_or_evicted, chunk);
    return request_of(*this, chunk);
  }
  if (!is_part && chunks.at(group).has_request) return chunks.at(group).request;
  quota_vector request{};
  double gpus = 0;
  for (const pod_row p : kept_chunk_of(group, true)) {
    // A chunk that was kept may name pods that cannot be started any more. Of a part nothing is left once it has been
    // placed: KAI then lets it reclaim as if it asked for nothing, and remembers that.
    const auto status = static_cast<pod_status>(live.pod_state[p]);
    const bool waits = status == pod_status::pending || (status == pod_status::releasing && is_evicted_here(p));
    if (compat() && !waits) continue;
    const quota_vector one = asked(state().class_of(p));
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) request[r] += one[r];
    if (adds_parts_up()) gpus += parts_asked(state().class_of(p));
  }
  if (adds_parts_up()) (is_part ? partial.gpus : chunks.at(group).gpus) = gpus;
  (is_part ? partial.request : chunks.at(group).request) = request;
  (is_part ? partial.asked : chunks.at(group).has_request) = true;
  return request;
}

policy::kai_amounts core::chunk_ask(group_row group) {
  policy::kai_amounts asked = in_native(chunk_request(group));
  if (!adds_parts_up()) return asked;
  if (group == partial.group || keeps_chunks) {
    asked[dim_gpu] = group == partial.group ? partial.gpus : chunks.at(group).gpus;
  } else {
    pod_list chunk;
    next_chunk(*this, group, startable::pending_or_evicted, chunk);
    asked[dim_gpu] = parts_asked(chunk);
  }
  return asked;
}

void core::take_part(group_row group, std::span<const pod_row> pods) {
  drop_part();
  const group_core& g = state().groups[group];
  partial.group = group;
  partial.pods.assign(pods.begin(), pods.end());
  std::sort(partial.pods.begin(), partial.pods.end());
  partial.min.assign(g.sub_count, 0);
  boost::container::small_vector<std::int64_t, 8> own(g.sub_count, 0);
  for (const pod_row p : pods) ++own[state().pods[p].sub - g.first_sub];
  fill_part(g.first_sub, own);
  access.part_first = g.first_sub;
  access.part_min = partial.min;
  next_chunk(*this, group, startable::pending_or_evicted, partial.chunk);
}

/// Sets the thresholds of a member and of all below it; true if it contains pods.
bool core::fill_part(sub_group_row member, std::span<const std::int64_t> own) {
  const model::sub_info& info = state().subs[member];
  const std::uint32_t i = member - state().groups[partial.group].first_sub;
  std::int64_t filled = 0;
  if (info.is_set) {
    for (sub_group_row child = info.first_child; child != no_row; child = state().subs[child].next_sibling) {
      // The reference takes a member that needs no pods for one that the part does not have.
      filled += fill_part(child, own) || (!compat() && is_satisfied(*this, child)) ? 1 : 0;
    }
  } else {
    filled = own[i] + live.counts[member].active_allocated;
  }
  const bool reduces = info.is_set ? info.min != unset : filled > 0;
  partial.min[i] = reduces ? std::min(info.min, filled) : info.min;
  return filled > 0;
}

void core::drop_part() {
  partial.group = no_row;  // its lists keep their memory for the next part
  partial.min.clear();
  partial.pods.clear();
  partial.chunk.clear();
  partial.asked = false;
  partial.request = {};
  partial.gpus = 0;
  access.part_first = no_row;
  access.part_min = {};
}

partial_group core::set_part_aside() {
  partial_group part = std::move(partial);
  drop_part();
  return part;
}

void core::resume_part(partial_group part) {
  partial = std::move(part);
  access.part_first = partial.group == no_row ? no_row : state().groups[partial.group].first_sub;
  access.part_min = partial.min;
}

}  // namespace kaisched::work
