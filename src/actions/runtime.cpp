#include "actions/runtime.hpp"

#include <limits>

#include "actions/actions.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

using framework::session_state;

/// The time since, within what an integer can hold.
std::int64_t time_since(const session_state& c, std::int64_t then) {
  if (then >= c.now) return 0;
  const bool fits = then >= 0 || c.now <= std::numeric_limits<std::int64_t>::max() + then;
  return fits ? c.now - then : std::numeric_limits<std::int64_t>::max();
}

void evict_group(session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
      if (model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated)) c.statement.evict(p);
    }
  }
}

/// The longest time for which a group may run: the smallest of its own and those of its queues, or `unset`.
std::int64_t max_runtime_of(const session_state& c, group_row group) {
  std::int64_t most = c.state().group_extras[group].max_runtime;
  for (queue_row q = c.state().groups[group].queue; q != no_row; q = (*c.state().queues)[q].parent) {
    const std::int64_t theirs = (*c.state().queues)[q].max_runtime;
    if (theirs != unset) most = most == unset ? theirs : std::min(most, theirs);
  }
  return most;
}

}  // namespace

std::int64_t time_until(const session_state& c, std::int64_t then) {
  if (then <= c.now) return 0;
  const bool fits = c.now >= 0 || then <= std::numeric_limits<std::int64_t>::max() + c.now;
  return fits ? then - c.now : std::numeric_limits<std::int64_t>::max();
}

std::int64_t expected_end(const session_state& c, group_row group, std::int64_t started) {
  const std::int64_t estimate = c.state().group_extras[group].runtime_estimate;
  if (estimate < 0 || started == unset) return unset;
  return std::max(c.now, later_by(started, estimate));
}

std::int64_t expected_end(const session_state& c, group_row group) {
  const bool runs = framework::count_pods(c, group, &model::sub_counts::holding) > 0;
  return expected_end(c, group, runs ? c.groups.last_start(group) : c.now);
}

requeue_delay requeue_delay_of(const session_state& c, group_row group) {
  const std::int64_t evicted = c.groups.last_eviction(group);
  if (evicted == unset) return {};
  const std::int64_t own = c.state().group_extras[group].requeue_delay;
  return {own == unset ? c.options.requeue_delay : own, time_since(c, evicted)};
}

result<void> limit_runtime(session_state& c) {
  for (const group_row group : c.groups.in_order()) {
    const std::int64_t most = max_runtime_of(c, group);
    const std::int64_t started = c.groups.last_start(group);
    if (most == unset || started == unset || time_since(c, started) < most) continue;
    // The last start of a group that only has claims was that of an earlier run.
    if (framework::count_pods(c, group, &model::sub_counts::holding) == 0) continue;
    evict_group(c, group);
    if (!c.statement.keeps_budgets()) continue;
    c.statement.commit();
    if (auto sound = c.verify(); !sound) return sound;
  }
  return {};
}

}  // namespace kaisched::actions
