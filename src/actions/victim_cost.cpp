#include "actions/victim_cost.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <functional>

namespace kaisched::actions {

namespace {

using framework::session_state;

/// When the group started, as far as that is known.
std::int64_t start_of(const session_state& c, group_row group) {
  const std::int64_t started = c.groups.last_start(group);
  return started == unset ? c.state().groups[group].created : started;
}

}  // namespace

bool had_begun(const session_state& c, pod_row p) {
  return model::is_in(static_cast<pod_status>(c.state().live.pod_state[p]),
                      model::active_used & ~model::bit(pod_status::pipelined));
}

loss_measure measure_of(const session_state& c, bool all_saved) {
  const bool plain_order = std::none_of(c.parts.begin(), c.parts.end(), [](const auto& part) {
    return (part->capabilities() & part_orders_groups) != 0 && part->name() != "priority" && part->name() != "elastic";
  });
  return {all_saved, plain_order};
}

void victim_cost::add(const session_state& c, const victim_unit& unit, loss_measure how) {
  if (std::none_of(unit.pods.begin(), unit.pods.end(), [&](pod_row p) { return had_begun(c, p); })) return;
  loss& to = by_priority_[c.state().groups[unit.group].priority];
  const std::int64_t saved = c.state().group_extras[unit.group].last_checkpoint;
  const std::int64_t since = !how.by_time ? 1 : std::max<std::int64_t>(0, c.now - saved);
  for (const pod_row p : unit.pods) {
    if (!had_begun(c, p)) continue;
    to.work += base::int128{gpus_of(c, p)} * since;
    to.cpu += c.state().class_of(p).requests(dim_cpu);
    ++to.pods;
    if (how.by_age) starts_.push_back(start_of(c, unit.group));
  }
}

void victim_cost::sort_starts() { std::sort(starts_.begin(), starts_.end()); }

victim_cost victim_cost::of_all(const session_state& c, std::span<const victim_unit> units, loss_measure how) {
  victim_cost made;
  for (const victim_unit& one : units) made.add(c, one, how);
  made.sort_starts();
  return made;
}

victim_cost victim_cost::of_lost(const session_state& c, std::span<const victim_unit> units, loss_measure how) {
  victim_cost made;
  for (const victim_unit& one : units) {
    if (is_lost(c, one)) made.add(c, one, how);
  }
  made.sort_starts();
  return made;
}

bool victim_cost::is_less_than(const victim_cost& other) const {
  auto a = by_priority_.begin();
  auto b = other.by_priority_.begin();
  for (; a != by_priority_.end() && b != other.by_priority_.end(); ++a, ++b) {
    if (a->first != b->first) return a->first < b->first;
    if (a->second.work != b->second.work) return a->second.work < b->second.work;
    if (a->second.cpu != b->second.cpu) return a->second.cpu < b->second.cpu;
    if (a->second.pods != b->second.pods) return a->second.pods < b->second.pods;
  }
  if (a != by_priority_.end() || b != other.by_priority_.end()) return a == by_priority_.end();
  return std::lexicographical_compare(other.starts_.begin(), other.starts_.end(), starts_.begin(), starts_.end());
}

}  // namespace kaisched::actions
