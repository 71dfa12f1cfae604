// What groups try to start: chunks, and parts of groups.
#include <algorithm>
#include <optional>
#include <utility>

#include "framework/members.hpp"
#include "framework/session_state.hpp"

namespace kaisched::framework {

using model::group_core;
using model::quota_vector;

void chunk_store::keep_chunks() { keeps_ = true; }

pod_list chunk_store::chunk_of(group_row group, bool simulated) {
  if (group == partial.group || (c_->compat() && keeps_)) return kept_chunk_of(group, simulated);
  pod_list chunk;
  next_chunk(*c_, group, simulated ? startable::pending_or_evicted : startable::pending, chunk);
  return chunk;
}

/// Of the part that a group was cut to, or of a group in `compat` while chunks are kept.
const pod_list& chunk_store::kept_chunk_of(group_row group, bool simulated) {
  if (group == partial.group) return partial.chunk;
  chunk_memory& kept = kept_.at(group);
  if (!kept.has_chunk) {
    kept.chunk.clear();
    next_chunk(*c_, group, simulated ? startable::pending_or_evicted : startable::pending, kept.chunk);
    kept.has_chunk = true;
  }
  return kept.chunk;
}

bool chunk_store::has_old_chunk(group_row group) const {
  const chunk_memory* const kept = c_->compat() && keeps_ ? kept_.find(group) : nullptr;
  if (kept == nullptr || !kept->has_chunk) return false;
  const pod_list& chunk = kept->chunk;
  return std::any_of(chunk.begin(), chunk.end(),
                     [&](pod_row p) { return static_cast<pod_status>(c_->live.pod_state[p]) != pod_status::pending; });
}

quota_vector chunk_store::chunk_request(group_row group) {
  const bool is_part = group == partial.group;
  if (is_part && partial.asked) return partial.request;
  if (const std::optional<equal_chunk> equal = equal_chunk_of(*c_, group); equal && !c_->adds_parts_up()) {
    return times(c_->queues.asked(*c_->state().classes[equal->kind]), equal->count);
  }
  if (!is_part && (!c_->compat() || !keeps_)) {
    pod_list chunk;
    next_chunk(*c_, group, startable::pending_or_evicted, chunk);
    return request_of(*c_, chunk);
  }
  if (!is_part && kept_.at(group).has_request) return kept_.at(group).request;
  quota_vector request{};
  double gpus = 0;
  for (const pod_row p : kept_chunk_of(group, true)) {
    // A chunk that was kept may name pods that cannot be started any more. Of a part nothing is left once it has been
    // placed: KAI then lets it reclaim as if it asked for nothing, and remembers that.
    const auto status = static_cast<pod_status>(c_->live.pod_state[p]);
    const bool waits =
        status == pod_status::pending || (status == pod_status::releasing && c_->statement.is_evicted_here(p));
    if (c_->compat() && !waits) continue;
    const quota_vector one = c_->queues.asked(c_->state().class_of(p));
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) request[r] += one[r];
    if (c_->adds_parts_up()) gpus += c_->queues.parts_asked(c_->state().class_of(p));
  }
  if (c_->adds_parts_up()) (is_part ? partial.gpus : kept_.at(group).gpus) = gpus;
  (is_part ? partial.request : kept_.at(group).request) = request;
  (is_part ? partial.asked : kept_.at(group).has_request) = true;
  return request;
}

policy::kai_amounts chunk_store::chunk_ask(group_row group) {
  policy::kai_amounts asked = in_native(chunk_request(group));
  if (!c_->adds_parts_up()) return asked;
  if (group == partial.group || keeps_) {
    asked[dim_gpu] = group == partial.group ? partial.gpus : kept_.at(group).gpus;
  } else {
    pod_list chunk;
    next_chunk(*c_, group, startable::pending_or_evicted, chunk);
    asked[dim_gpu] = c_->queues.parts_asked(chunk);
  }
  return asked;
}

void chunk_store::take_part(group_row group, std::span<const pod_row> pods) {
  drop_part();
  const group_core& g = c_->state().groups[group];
  partial.group = group;
  partial.pods.assign(pods.begin(), pods.end());
  std::sort(partial.pods.begin(), partial.pods.end());
  partial.min.assign(g.sub_count, 0);
  boost::container::small_vector<std::int64_t, 8> own(g.sub_count, 0);
  for (const pod_row p : pods) ++own[c_->state().pods[p].sub - g.first_sub];
  fill_part(g.first_sub, own);
  c_->access.part_first = g.first_sub;
  c_->access.part_min = partial.min;
  next_chunk(*c_, group, startable::pending_or_evicted, partial.chunk);
}

/// Sets the thresholds of a member and of all below it; true if it contains pods.
bool chunk_store::fill_part(sub_group_row member, std::span<const std::int64_t> own) {
  const model::sub_info& info = c_->state().subs[member];
  const std::uint32_t i = member - c_->state().groups[partial.group].first_sub;
  std::int64_t filled = 0;
  if (info.is_set) {
    for (sub_group_row child = info.first_child; child != no_row; child = c_->state().subs[child].next_sibling) {
      // The reference takes a member that needs no pods for one that the part does not have.
      filled += fill_part(child, own) || (!c_->compat() && is_satisfied(*c_, child)) ? 1 : 0;
    }
  } else {
    filled = own[i] + c_->live.counts[member].active_allocated;
  }
  const bool reduces = info.is_set ? info.min != unset : filled > 0;
  partial.min[i] = reduces ? std::min(info.min, filled) : info.min;
  return filled > 0;
}

void chunk_store::drop_part() {
  partial.group = no_row;  // its lists keep their memory for the next part
  partial.min.clear();
  partial.pods.clear();
  partial.chunk.clear();
  partial.asked = false;
  partial.request = {};
  partial.gpus = 0;
  c_->access.part_first = no_row;
  c_->access.part_min = {};
}

partial_group chunk_store::set_part_aside() {
  partial_group part = std::move(partial);
  drop_part();
  return part;
}

void chunk_store::resume_part(partial_group part) {
  partial = std::move(part);
  c_->access.part_first = partial.group == no_row ? no_row : c_->state().groups[partial.group].first_sub;
  c_->access.part_min = partial.min;
}

void chunk_store::forget(pod_row pod) {
  const group_row group = c_->state().pods[pod].group;
  if (!keeps_ || group == no_row) return;
  chunk_memory& kept = kept_.at(group);
  kept.has_chunk = false;
  kept.has_request = false;
  ++kept.changes;
  ++changes_;
}

}  // namespace kaisched::framework
