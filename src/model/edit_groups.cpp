// Deltas of pod groups.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "model/account.hpp"
#include "model/dependencies.hpp"
#include "model/edit.hpp"

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
  plan.name_space = plan.extra.name_space;
  plan.user = plan.extra.user;
  plan.after = plan.extra.after;
  plan.checks = plan.extra.checks;
  plan.speedup = plan.extra.speedup;
  plan.min_resources = plan.extra.min_resources;
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
  const auto rename = [&](std::string_view old, std::string_view fresh, std::string_view& kept) {
    kept = old;
    if (old == fresh) return;
    discard(old);
    kept = s_.names->add(fresh);
  };
  rename(before.name_space, plan.name_space, extra.name_space);
  rename(before.user, plan.user, extra.user);
  if (before.after.empty() != plan.after.empty()) s_.dependent_groups += plan.after.empty() ? ~std::uint32_t{0} : 1U;
  rename(before.after, plan.after, extra.after);
  rename(before.checks, plan.checks, extra.checks);
  rename(before.speedup, plan.speedup, extra.speedup);
  rename(before.min_resources, plan.min_resources, extra.min_resources);
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
  discard(s_.group_extras[g].name_space);
  discard(s_.group_extras[g].user);
  discard(s_.group_extras[g].after);
  discard(s_.group_extras[g].checks);
  discard(s_.group_extras[g].speedup);
  discard(s_.group_extras[g].min_resources);
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
  if (t.has(col::pod_group_priority)) {
    auto v = bounded(t, row, col::pod_group_priority, -max_amount, max_amount);
    if (!v) return v.failure();
    group.priority = *v;
  }
  if (t.has(col::pod_group_preemptible)) {
    auto v = flag(t, row, col::pod_group_preemptible);
    if (!v) return v.failure();
    group.preemptible = *v;
  }
  if (t.has(col::pod_group_priority_class)) {
    if (auto done = read_priority_class(t, row, group); !done) return done;
  }
  if (t.has(col::pod_group_semi_preemptible)) {
    auto v = flag(t, row, col::pod_group_semi_preemptible);
    if (!v) return v.failure();
    group.semi_preemptible = *v;
  }
  if (t.has(col::pod_group_created)) group.created = t.i64(col::pod_group_created, row);
  if (t.has(col::pod_group_min_member)) {
    auto v = bounded(t, row, col::pod_group_min_member, 0, max_amount);
    if (!v) return v.failure();
    plan.pod_min = *v;
  }
  if (t.has(col::pod_group_min_sub_group)) {
    if (t.i64(col::pod_group_min_sub_group, row) != unset) {
      auto v = bounded(t, row, col::pod_group_min_sub_group, 0, max_amount);
      if (!v) return v.failure();
    }
    plan.root_min = t.i64(col::pod_group_min_sub_group, row);
  }
  result<topology_share> together = read_topology(
      t, row, {col::pod_group_topology, col::pod_group_required_level, col::pod_group_preferred_level}, plan.together);
  if (!together) return together.failure();
  plan.together = std::move(*together);
  if (t.has(col::pod_group_namespace)) plan.name_space = t.text(col::pod_group_namespace, row);
  group_extra& extra = plan.extra;
  for (const auto& [column, target] :
       {std::pair{std::uint32_t{col::pod_group_last_start}, &extra.last_start},
        std::pair{std::uint32_t{col::pod_group_last_eviction}, &extra.last_eviction},
        std::pair{std::uint32_t{col::pod_group_stale_since}, &extra.stale_since},
        std::pair{std::uint32_t{col::pod_group_preemption_delay}, &extra.preemption_delay},
        std::pair{std::uint32_t{col::pod_group_staleness_grace}, &extra.staleness_grace},
        std::pair{std::uint32_t{col::pod_group_runtime_estimate}, &extra.runtime_estimate},
        std::pair{std::uint32_t{col::pod_group_deadline}, &extra.deadline},
        std::pair{std::uint32_t{col::pod_group_last_checkpoint}, &extra.last_checkpoint}}) {
    if (t.has(column)) *target = t.i64(column, row);
  }
  if (t.has(col::pod_group_user)) plan.user = t.text(col::pod_group_user, row);
  if (t.has(col::pod_group_after)) {
    plan.after = t.text(col::pod_group_after, row);
    for (const std::string_view one : split_list(plan.after)) {
      const result<after_entry> read = parse_after(one);
      if (!read) return t.fail(read.failure().code, row, col::pod_group_after, read.failure().message);
    }
  }
  if (t.has(col::pod_group_checks)) plan.checks = t.text(col::pod_group_checks, row);
  if (t.has(col::pod_group_speedup)) {
    plan.speedup = t.text(col::pod_group_speedup, row);
    const result<std::vector<speed_point>> read = parse_speedup(plan.speedup);
    if (!read) return t.fail(read.failure().code, row, col::pod_group_speedup, read.failure().message);
  }
  if (t.has(col::pod_group_min_resources)) {
    plan.min_resources = t.text(col::pod_group_min_resources, row);
    const result<std::vector<named_amount>> read = parse_amounts(plan.min_resources, max_sum);
    if (!read) return t.fail(read.failure().code, row, col::pod_group_min_resources, read.failure().message);
  }
  for (const auto& [column, target] :
       {std::pair{std::uint32_t{col::pod_group_attained_service}, &extra.attained_service},
        std::pair{std::uint32_t{col::pod_group_evictions}, &extra.evictions},
        std::pair{std::uint32_t{col::pod_group_max_surge}, &extra.max_surge},
        std::pair{std::uint32_t{col::pod_group_searched}, &extra.searched},
        std::pair{std::uint32_t{col::pod_group_restart_cost}, &extra.restart_cost},
        std::pair{std::uint32_t{col::pod_group_traffic}, &extra.traffic}}) {
    if (!t.has(column)) continue;
    auto v = bounded(t, row, column, 0, max_amount);
    if (!v) return v.failure();
    *target = *v;
  }
  if (t.has(col::pod_group_disruption_budget)) {
    const std::int64_t given = t.i64(col::pod_group_disruption_budget, row);
    if (given != unset) {
      auto v = bounded(t, row, col::pod_group_disruption_budget, 0, max_amount);
      if (!v) return v.failure();
    }
    extra.disruption_budget = given;
  }
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::pod_group_max_runtime}, &extra.max_runtime},
                                       std::pair{std::uint32_t{col::pod_group_requeue_delay}, &extra.requeue_delay}}) {
    if (!t.has(column)) continue;
    if (auto done = duration(t, row, column, *target); !done) return done;
  }
  return {};
}

/// The classes that KAI installs.
result<void> edit::read_priority_class(const table_reader& t, std::uint64_t row, group_core& group) const {
  static constexpr std::array<std::string_view, 4> names{"train", "build-preemptible", "build", "inference"};
  static constexpr std::array<std::int64_t, names.size()> priorities{50, 75, 100, 125};
  constexpr std::int64_t first_kept = 100;
  const std::string_view name = t.text(col::pod_group_priority_class, row);
  if (name.empty()) return {};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return not_among(t, row, col::pod_group_priority_class, names);
  group.priority = priorities[static_cast<std::size_t>(found - names.begin())];
  group.preemptible = group.priority < first_kept;
  return {};
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
