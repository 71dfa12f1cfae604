// Deltas of pod groups.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "model/account.hpp"
#include "model/dependencies.hpp"
#include "model/edit.hpp"
#include "model/row_reader.hpp"

namespace kaisched::model {

// ---- pod groups --------------------------------------------------------------------------------------------------

result<void> edit::groups(const table_reader& t) {
  return each_row(t, [&](std::uint64_t row) {
    return t.op() == table_op::add      ? add_group(t, row)
           : t.op() == table_op::change ? change_group(t, row)
                                        : remove_group(t, row);
  });
}

result<void> edit::add_group(const table_reader& t, std::uint64_t row) {
  if (auto good = check_new_name(t, row, col::pod_group_name, names_.groups); !good) return good;
  group_plan plan;
  if (auto done = plan_group(t, row, plan); !done) return done;
  group_row g = s_.group_slots;
  if (w_.free_groups->empty()) {
    ++s_.group_slots;
    s_.groups.grow(s_.group_slots);
    s_.group_extras.grow(s_.group_slots);
    s_.group_names.grow(s_.group_slots);
  } else {
    g = w_.free_groups->back();
    w_.free_groups.write().pop_back();
  }
  const std::uint32_t generation = s_.groups[g].generation;
  s_.groups.write(g) = {};
  s_.groups.write(g).generation = generation;
  s_.groups.write(g).live = true;
  s_.group_extras.write(g) = {};
  s_.group_names.write(g) = s_.names->add(t.text(col::pod_group_name, row));
  ++s_.live_groups;
  add_name(&name_maps::groups, s_.group_names[g], g);
  rebuild_tree(g, {});
  if (mode_ == on_invalid::quarantine) added_groups_.insert_or_assign(g, row_place{t.number(), row});
  put_group(std::move(plan), g);
  return {};
}

result<void> edit::change_group(const table_reader& t, std::uint64_t row) {
  result<std::uint32_t> found = slot_of(t, row, col::pod_group_name, entity_kind::pod_group);
  if (!found) return found.failure();
  const group_row g = *found;
  group_plan plan;
  plan.core = s_.groups[g];
  plan.extra = s_.group_extras[g];
  plan.pod_min = s_.subs[plan.core.first_sub + 1].min;
  plan.root_min = s_.subs[plan.core.first_sub].min;
  plan.together = s_.subs[plan.core.first_sub].together;
  if (auto done = plan_group(t, row, plan); !done) return done;
  const bool moves = t.has(col::pod_group_queue) || t.has(col::pod_group_preemptible) ||
                     t.has(col::pod_group_priority_class) || t.has(col::pod_group_semi_preemptible);
  const std::vector<pod_row> members = moves ? pods_of(g) : std::vector<pod_row>{};
  for (const pod_row p : members) account_pod(s_, s_.live, p, -1);
  put_group(std::move(plan), g);
  for (const pod_row p : members) account_pod(s_, s_.live, p, 1);
  return {};
}

/// Makes a group what the plan says, its tree left alone but for the sizes that belong to the group.
void edit::put_group(group_plan plan, group_row g) {
  count_priority(g, false);
  group_core& group = s_.groups.write(g);
  if (group.queue != plan.core.queue) {
    std::vector<queue_info>& all = s_.queues.write();
    if (group.queue != no_row) --all[group.queue].groups;
    ++all[plan.core.queue].groups;
    group.queue = plan.core.queue;
  }
  group.priority = plan.core.priority;
  group.preemptible = plan.core.preemptible && !plan.core.semi_preemptible;
  if (group.semi_preemptible != plan.core.semi_preemptible) {
    group.semi_preemptible = plan.core.semi_preemptible;
    s_.semi_preemptible_groups += group.semi_preemptible ? 1U : ~std::uint32_t{0};  // wraps around to one less
  }
  group.created = plan.core.created;
  // With sub-groups their own sizes count.
  const bool implied = !s_.group_extras[g].has_sub_groups;
  if (implied) s_.subs.write(group.first_sub + 1).min = plan.pod_min;
  s_.subs.write(group.first_sub).min = plan.root_min;
  set_topology(group.first_sub, std::move(plan.together));
  group_extra& extra = s_.group_extras.write(g);
  const group_extra before = extra;
  extra = plan.extra;
  extra.has_sub_groups = !implied;
  extra.first_stray = before.first_stray;
  if (before.after.empty() != extra.after.empty()) s_.dependent_groups += extra.after.empty() ? ~std::uint32_t{0} : 1U;
  for (const auto text : group_texts) {
    extra.*text = before.*text;
    if (before.*text == plan.extra.*text) continue;
    discard(before.*text);
    extra.*text = s_.names->add(plan.extra.*text);
  }
  count_priority(g, true);
  touch(g);
}

/// Adds a group to what is known of the priorities of its queue, or takes it off.
void edit::count_priority(group_row g, bool add) {
  const group_core& group = s_.groups[g];
  if (group.queue == no_row || (!group.preemptible && !group.semi_preemptible)) return;
  s_.preemptible_priorities.grow(static_cast<std::uint32_t>(s_.queues->size()));
  auto& known = s_.preemptible_priorities.write(group.queue);
  const auto at = std::lower_bound(known.begin(), known.end(), group.priority,
                                   [](const auto& one, std::int64_t priority) { return one.first < priority; });
  const bool is_there = at != known.end() && at->first == group.priority;
  if (add && !is_there)
    known.insert(at, {group.priority, 1});
  else if (add)
    ++at->second;
  else if (--at->second == 0)
    known.erase(at);
}

result<void> edit::remove_group(const table_reader& t, std::uint64_t row) {
  result<std::uint32_t> found = slot_of(t, row, col::pod_group_name, entity_kind::pod_group);
  if (!found) return found.failure();
  const group_row g = *found;
  settle_links();
  const std::vector<pod_row> members = pods_of(g);
  if (!members.empty()) {
    return t.fail(status::state, row, col::pod_group_name,
                  "'" + base::shown(s_.group_names[g]) + "' still has " + std::to_string(members.size()) +
                      " pods; remove them first",
                  id_of_group(s_, g));
  }
  count_priority(g, false);
  group_core& group = s_.groups.write(g);
  --s_.queues.write()[group.queue].groups;
  for (const sub_definition& d : definitions_of(g)) discard(d.name);
  for (const auto text : group_texts) discard(s_.group_extras[g].*text);
  if (!s_.group_extras[g].after.empty()) --s_.dependent_groups;
  free_block(group.first_sub, group.sub_count);
  if (group.semi_preemptible) --s_.semi_preemptible_groups;
  group.live = false;
  group.queue = no_row;
  ++group.generation;
  --s_.live_groups;
  drop_name(&name_maps::groups, s_.group_names[g], g);
  lost_groups_.push_back(s_.group_names[g]);
  w_.free_groups.write().push_back(g);
  touch(g);
  return {};
}

result<void> edit::plan_group(const table_reader& t, std::uint64_t row, group_plan& plan) {
  group_core& group = plan.core;
  if (t.has(col::pod_group_queue)) {
    result<std::uint32_t> queue = slot_of(t, row, col::pod_group_queue, entity_kind::queue);
    if (!queue) return queue.failure();
    group.queue = *queue;
  }
  row_reader from(t, row, {});
  from.number(col::pod_group_priority, -max_amount, max_amount, group.priority);
  from.flag(col::pod_group_preemptible, group.preemptible);
  if (t.has(col::pod_group_priority_class) && !from.failed()) read_priority_class(t, row, from, group);
  from.flag(col::pod_group_semi_preemptible, group.semi_preemptible);
  from.i64(col::pod_group_created, group.created);
  from.number(col::pod_group_min_member, 0, max_amount, plan.pod_min);
  from.amount_or_unset(col::pod_group_min_sub_group, plan.root_min);
  if (auto done = from.done(); !done) return done;
  result<topology_share> together = read_topology(
      t, row, {col::pod_group_topology, col::pod_group_required_level, col::pod_group_preferred_level}, plan.together);
  if (!together) return together.failure();
  plan.together = std::move(*together);
  // Lists are read when they are needed; here they have to be good.
  std::vector<after_entry> entries;
  std::vector<speed_point> points;
  std::vector<named_amount> amounts;
  const auto parse_sums = [](std::string_view list) { return parse_amounts(list, max_sum); };
  group_extra& extra = plan.extra;
  from.text(col::pod_group_namespace, extra.name_space);
  from.i64(col::pod_group_last_start, extra.last_start);
  from.i64(col::pod_group_last_eviction, extra.last_eviction);
  from.i64(col::pod_group_stale_since, extra.stale_since);
  from.i64(col::pod_group_preemption_delay, extra.preemption_delay);
  from.i64(col::pod_group_staleness_grace, extra.staleness_grace);
  from.i64(col::pod_group_runtime_estimate, extra.runtime_estimate);
  from.i64(col::pod_group_deadline, extra.deadline);
  from.i64(col::pod_group_last_checkpoint, extra.last_checkpoint);
  from.text(col::pod_group_user, extra.user);
  from.list(col::pod_group_after, each_of(parse_after), extra.after, entries);
  from.text(col::pod_group_checks, extra.checks);
  from.list(col::pod_group_speedup, parse_speedup, extra.speedup, points);
  from.list(col::pod_group_min_resources, parse_sums, extra.min_resources, amounts);
  from.number(col::pod_group_attained_service, 0, max_amount, extra.attained_service);
  from.number(col::pod_group_evictions, 0, max_amount, extra.evictions);
  from.number(col::pod_group_max_surge, 0, max_amount, extra.max_surge);
  from.number(col::pod_group_searched, 0, max_amount, extra.searched);
  from.number(col::pod_group_restart_cost, 0, max_amount, extra.restart_cost);
  from.number(col::pod_group_traffic, 0, max_amount, extra.traffic);
  from.amount_or_unset(col::pod_group_disruption_budget, extra.disruption_budget);
  from.duration(col::pod_group_max_runtime, extra.max_runtime);
  from.duration(col::pod_group_requeue_delay, extra.requeue_delay);
  return from.done();
}

/// The classes that KAI installs.
void edit::read_priority_class(const table_reader& t, std::uint64_t row, row_reader& from, group_core& group) {
  static constexpr std::array<std::string_view, 4> names{"train", "build-preemptible", "build", "inference"};
  static constexpr std::array<std::int64_t, names.size()> priorities{50, 75, 100, 125};
  constexpr std::int64_t first_kept = 100;
  const std::string_view name = t.text(col::pod_group_priority_class, row);
  if (name.empty()) return;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    from.not_among(col::pod_group_priority_class, names);
    return;
  }
  group.priority = priorities[static_cast<std::size_t>(found - names.begin())];
  group.preemptible = group.priority < first_kept;
}

// ---- blocks of trees ---------------------------------------------------------------------------------------------

sub_group_row edit::new_block(std::uint32_t size) {
  if (size < w_.free_subs->size() && !(*w_.free_subs)[size].empty()) {
    std::vector<std::uint32_t>& vacant = w_.free_subs.write()[size];
    const std::uint32_t first = vacant.back();
    vacant.pop_back();
    return first;
  }
  const sub_group_row first = s_.sub_slots;
  s_.sub_slots += size;
  s_.subs.grow(s_.sub_slots);
  s_.live.counts.grow(s_.sub_slots);
  return first;
}

void edit::free_block(sub_group_row first, std::uint32_t size) {
  for (sub_group_row sub = first; sub < first + size; ++sub) {
    set_topology(sub, nullptr);
    s_.subs.write(sub) = {};
    s_.live.counts.write(sub) = {};
  }
  std::vector<std::vector<std::uint32_t>>& vacant = w_.free_subs.write();
  if (vacant.size() <= size) vacant.resize(size + 1);
  vacant[size].push_back(first);
}

sub_group_row edit::find_sub(group_row g, std::string_view name) const {
  const group_core& group = s_.groups[g];
  sub_group_row low = group.first_sub + 1;
  sub_group_row high = group.first_sub + group.sub_count;
  const sub_group_row end = high;
  while (low < high) {  // they are in the order of names
    const sub_group_row middle = low + (high - low) / 2;
    if (s_.subs[middle].name < name)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && s_.subs[low].name == name ? low : no_row;
}

}  // namespace kaisched::model
