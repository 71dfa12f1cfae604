// Deltas of pod groups and their trees of sub-groups.
#include <algorithm>

#include "model/account.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

constexpr std::uint32_t most_sub_groups = 65534;

entity_id id_of_group(const cluster_state& s, group_row g) {
  return {entity_kind::pod_group, s.groups[g].generation, g};
}

}  // namespace

// ---- pod groups --------------------------------------------------------------------------------------------------

result<void> edit::groups(const table_reader& t) {
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    auto done = t.op() == table_op::add      ? add_group(t, row)
                : t.op() == table_op::change ? change_group(t, row)
                                             : remove_group(t, row);
    if (!done) return done;
  }
  return {};
}

result<void> edit::add_group(const table_reader& t, std::uint64_t row) {
  result<std::string_view> name = new_name(t, row, col::pod_group_name, &name_maps::groups);
  if (!name) return name.failure();
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
  s_.group_names.write(g) = *name;
  ++s_.live_groups;
  add_name(&name_maps::groups, *name, g);
  if (auto done = rebuild_tree(g, {{implied_pod_set, {}, 1, unset, nullptr}}); !done) return done;
  s_.group_extras.write(g).has_sub_groups = false;
  return read_group(t, row, g);
}

result<void> edit::change_group(const table_reader& t, std::uint64_t row) {
  result<std::uint32_t> found = slot_of(t, row, col::pod_group_name, entity_kind::pod_group);
  if (!found) return found.failure();
  const bool moves = t.has(col::pod_group_queue) || t.has(col::pod_group_preemptible);
  const std::vector<pod_row> members = moves ? pods_of(*found) : std::vector<pod_row>{};
  for (const pod_row p : members) account_pod(s_, s_.live, p, -1);
  auto done = read_group(t, row, *found);
  if (!done) return done;
  for (const pod_row p : members) account_pod(s_, s_.live, p, 1);
  return {};
}

result<void> edit::remove_group(const table_reader& t, std::uint64_t row) {
  result<std::uint32_t> found = slot_of(t, row, col::pod_group_name, entity_kind::pod_group);
  if (!found) return found.failure();
  const group_row g = *found;
  settle_links();
  const std::vector<pod_row> members = pods_of(g);
  if (!members.empty()) {
    return t.fail(status::state, row, col::pod_group_name,
                  "'" + std::string(s_.group_names[g]) + "' still has " + std::to_string(members.size()) +
                      " pods; remove them first",
                  id_of_group(s_, g));
  }
  group_core& group = s_.groups.write(g);
  --s_.queues.write()[group.queue].groups;
  for (const sub_definition& d : definitions_of(g)) discard(d.name);
  discard(s_.group_extras[g].name_space);
  free_block(group.first_sub, group.sub_count);
  group.live = false;
  group.queue = no_row;
  ++group.generation;
  --s_.live_groups;
  drop_name(&name_maps::groups, s_.group_names[g], g);
  w_.free_groups.write().push_back(g);
  touch(g);
  return {};
}

result<void> edit::read_group(const table_reader& t, std::uint64_t row, group_row g) {
  group_core& group = s_.groups.write(g);
  touch(g);
  if (t.has(col::pod_group_queue)) {
    result<std::uint32_t> queue = slot_of(t, row, col::pod_group_queue, entity_kind::queue);
    if (!queue) return queue.failure();
    std::vector<queue_info>& all = s_.queues.write();
    if (group.queue != no_row) --all[group.queue].groups;
    ++all[*queue].groups;
    group.queue = *queue;
  }
  if (t.has(col::pod_group_priority)) {
    auto v = bounded(t, row, col::pod_group_priority, -max_amount, max_amount);
    if (!v) return v.failure();
    group.priority = *v;
  }
  if (t.has(col::pod_group_preemptible)) {
    if (t.u8(col::pod_group_preemptible, row) > 1)
      return t.fail(status::argument, row, col::pod_group_preemptible, "must be 0 or 1");
    group.preemptible = t.u8(col::pod_group_preemptible, row) != 0;
  }
  if (t.has(col::pod_group_created)) group.created = t.i64(col::pod_group_created, row);
  if (t.has(col::pod_group_min_member)) {
    auto v = bounded(t, row, col::pod_group_min_member, 0, max_amount);
    if (!v) return v.failure();
    // With sub-groups their own sizes count.
    if (!s_.group_extras[g].has_sub_groups) s_.subs.write(group.first_sub + 1).min = *v;
  }
  if (t.has(col::pod_group_min_sub_group)) {
    if (t.i64(col::pod_group_min_sub_group, row) != unset) {
      auto v = bounded(t, row, col::pod_group_min_sub_group, 0, max_amount);
      if (!v) return v.failure();
    }
    s_.subs.write(group.first_sub).min = t.i64(col::pod_group_min_sub_group, row);
  }
  result<topology_share> together =
      read_topology(t, row, {col::pod_group_topology, col::pod_group_required_level, col::pod_group_preferred_level},
                    s_.subs[group.first_sub].together);
  if (!together) return together.failure();
  set_topology(group.first_sub, std::move(*together));
  group_extra& extra = s_.group_extras.write(g);
  if (t.has(col::pod_group_namespace)) {
    discard(extra.name_space);
    extra.name_space = s_.names->add(t.text(col::pod_group_namespace, row));
  }
  for (const auto& [column, target] :
       {std::pair{std::uint32_t{col::pod_group_last_start}, &extra.last_start},
        std::pair{std::uint32_t{col::pod_group_last_eviction}, &extra.last_eviction},
        std::pair{std::uint32_t{col::pod_group_stale_since}, &extra.stale_since},
        std::pair{std::uint32_t{col::pod_group_preemption_delay}, &extra.preemption_delay},
        std::pair{std::uint32_t{col::pod_group_staleness_grace}, &extra.staleness_grace},
        std::pair{std::uint32_t{col::pod_group_runtime_estimate}, &extra.runtime_estimate}}) {
    if (t.has(column)) *target = t.i64(column, row);
  }
  return {};
}

// ---- trees of sub-groups -----------------------------------------------------------------------------------------

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
  for (sub_group_row sub = group.first_sub + 1; sub < group.first_sub + group.sub_count; ++sub) {
    if (s_.subs[sub].name == name) return sub;
  }
  return no_row;
}

std::vector<edit::sub_definition> edit::definitions_of(group_row g) const {
  std::vector<sub_definition> all;
  if (!s_.group_extras[g].has_sub_groups) return all;
  const group_core& group = s_.groups[g];
  for (sub_group_row sub = group.first_sub + 1; sub < group.first_sub + group.sub_count; ++sub) {
    const sub_info& info = s_.subs[sub];
    const std::string_view parent = info.parent == group.first_sub ? std::string_view{} : s_.subs[info.parent].name;
    all.push_back({info.name, parent, info.is_set ? 0 : info.min, info.is_set ? info.min : unset, info.together});
  }
  return all;
}

result<void> edit::rebuild_tree(group_row g, const std::vector<sub_definition>& definitions) {
  settle_links();
  const std::vector<pod_row> members = s_.groups[g].first_sub == no_row ? std::vector<pod_row>{} : pods_of(g);
  for (const pod_row p : members) account_pod(s_, s_.live, p, -1);
  sub_info root;
  root.min = unset;
  if (s_.groups[g].first_sub != no_row) root = s_.subs[s_.groups[g].first_sub];
  if (s_.groups[g].first_sub != no_row) free_block(s_.groups[g].first_sub, s_.groups[g].sub_count);
  const auto size = static_cast<std::uint32_t>(definitions.size() + 1);
  const sub_group_row first = new_block(size);
  group_core& group = s_.groups.write(g);
  group.first_sub = first;
  group.sub_count = static_cast<std::uint16_t>(size);
  s_.subs.write(first) = {};
  s_.subs.write(first).group = g;
  s_.subs.write(first).is_set = true;
  s_.subs.write(first).min = root.min;
  set_topology(first, root.together);
  std::vector<sub_definition> sorted = definitions;  // rows in name order, so that siblings link in name order
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (std::uint32_t i = 0; i < sorted.size(); ++i) {
    sub_info info;
    info.name = sorted[i].name;
    info.group = g;
    info.is_set = sorted[i].min_sub_group != unset;
    info.min = info.is_set ? sorted[i].min_sub_group : sorted[i].min_member;
    s_.subs.write(first + 1 + i) = info;
    set_topology(first + 1 + i, sorted[i].together);
  }
  for (std::uint32_t i = size; i-- > 1;) {  // backwards, so that prepending gives name order
    const std::string_view parent_name = sorted[i - 1].parent;
    const sub_group_row parent = parent_name.empty() ? first : find_sub(g, parent_name);
    if (parent == no_row || parent == first + i) {
      return error{status::not_found,
                   "pod group '" + std::string(s_.group_names[g]) + "', sub-group '" + std::string(sorted[i - 1].name) +
                       "': there is no parent '" + std::string(parent_name) + "'",
                   id_of_group(s_, g)};
    }
    sub_info& above = s_.subs.write(parent);
    if (!above.is_set) {
      above.is_set = true;
      above.min = unset;
    }
    ++above.members;
    s_.subs.write(first + i).next_sibling = above.first_child;
    s_.subs.write(parent).first_child = first + i;
    s_.subs.write(first + i).parent = parent;
  }
  for (sub_group_row sub = first + 1; sub < first + size; ++sub) {
    std::uint32_t steps = 0;
    for (sub_group_row up = sub; up != first && steps <= size; up = s_.subs[up].parent) ++steps;
    if (steps <= max_tree_depth && steps <= size) continue;
    const bool cycle = steps > size;
    return error{cycle ? status::argument : status::limit,
                 "pod group '" + std::string(s_.group_names[g]) + "': the parents of its sub-groups form " +
                     (cycle ? "a cycle" : "more than " + std::to_string(max_tree_depth) + " levels"),
                 id_of_group(s_, g)};
  }
  s_.group_extras.write(g).first_stray = no_row;
  for (const pod_row p : members) {
    const sub_group_row sub = find_sub(g, s_.pod_extras[p].sub_name);
    s_.pods.write(p).sub = sub != no_row && !s_.subs[sub].is_set ? sub : no_row;
    s_.pods.write(p).next = no_row;
    account_pod(s_, s_.live, p, 1);
    relink(no_row, p);
  }
  touch(g);
  return {};
}

result<void> edit::sub_groups(const table_reader& t) {
  if (!t.has(col::sub_group_group) || !t.has(col::sub_group_name)) {
    return error{status::argument, "sub_group tables need the columns group and name", {}};
  }
  std::vector<std::pair<group_row, std::uint64_t>> rows;
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    result<std::uint32_t> g = slot_of(t, row, col::sub_group_group, entity_kind::pod_group);
    if (!g) return g.failure();
    rows.emplace_back(*g, row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < rows.size();) {
    const group_row g = rows[i].first;
    std::vector<sub_definition> all = definitions_of(g);
    for (; i < rows.size() && rows[i].first == g; ++i) {
      const std::uint64_t row = rows[i].second;
      const std::string_view name = t.text(col::sub_group_name, row);
      if (name.empty()) return t.fail(status::argument, row, col::sub_group_name, "a name must not be empty");
      auto it = std::find_if(all.begin(), all.end(), [&](const sub_definition& d) { return d.name == name; });
      if ((t.op() == table_op::add) == (it != all.end())) {
        return t.fail(it == all.end() ? status::not_found : status::duplicate, row, col::sub_group_name,
                      "pod group '" + std::string(s_.group_names[g]) + "' has " + (it == all.end() ? "no" : "a") +
                          " sub-group '" + std::string(name) + "'",
                      id_of_group(s_, g));
      }
      if (t.op() == table_op::remove) {
        discard(it->name);
        all.erase(it);
        continue;
      }
      if (it == all.end()) it = all.insert(all.end(), {s_.names->add(name), {}, 0, unset, nullptr});
      if (t.has(col::sub_group_parent))
        it->parent = t.text(col::sub_group_parent, row);  // only read while the tree is built
      if (t.has(col::sub_group_min_member)) {
        auto v = bounded(t, row, col::sub_group_min_member, 0, max_amount);
        if (!v) return v.failure();
        it->min_member = *v;
      }
      if (t.has(col::sub_group_min_sub_group)) {
        if (t.i64(col::sub_group_min_sub_group, row) != unset) {
          auto v = bounded(t, row, col::sub_group_min_sub_group, 0, max_amount);
          if (!v) return v.failure();
        }
        it->min_sub_group = t.i64(col::sub_group_min_sub_group, row);
      }
      result<topology_share> together = read_topology(
          t, row, {col::sub_group_topology, col::sub_group_required_level, col::sub_group_preferred_level},
          it->together);
      if (!together) return together.failure();
      it->together = std::move(*together);
    }
    if (all.size() > most_sub_groups) return error{status::limit, "more than 65534 sub-groups in one pod group", {}};
    const bool implied = all.empty();
    if (implied) all.push_back({implied_pod_set, {}, 1, unset, nullptr});
    if (auto done = rebuild_tree(g, all); !done) return done;
    s_.group_extras.write(g).has_sub_groups = !implied;
  }
  return {};
}

}  // namespace kaisched::model
