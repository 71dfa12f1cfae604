// Deltas of sub-groups: the tree of a group changes as a whole.
#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "model/account.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

constexpr std::uint32_t most_sub_groups = 65534;

std::string group_text(const cluster_state& s, group_row g) {
  return "pod group '" + base::shown(s.group_names[g]) + "'";
}

}  // namespace

result<void> edit::sub_groups(const table_reader& t) {
  if (!t.has(col::sub_group_group) || !t.has(col::sub_group_name)) {
    return error{status::argument, "sub_group tables need the columns group and name", {}};
  }
  std::vector<std::pair<group_row, std::uint64_t>> rows;
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    result<void> done = start_row(t, row);
    result<std::uint32_t> g = done ? slot_of(t, row, col::sub_group_group, entity_kind::pod_group) : no_row;
    if (done && !g) done = g.failure();
    if (done) {
      rows.emplace_back(*g, row);
    } else if (auto noted = refuse_sub_group(t, row, done.take_failure()); !noted) {
      return noted;
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < rows.size();) {
    const group_row g = rows[i].first;
    std::vector<std::uint64_t> mine;
    for (; i < rows.size() && rows[i].first == g; ++i) mine.push_back(rows[i].second);
    if (auto done = change_tree(t, g, std::move(mine)); !done) return done;
  }
  return stop_if_blamed();
}

/// A group whose tree has a hole must not start in part: it is left out as a whole, unless it was there before.
result<void> edit::refuse_sub_group(const table_reader& t, std::uint64_t row, error why) {
  const status code = why.code;
  if (auto noted = refuse(t, row, std::move(why)); !noted) return noted;
  if (t.op() != table_op::add || added_groups_.empty()) return {};
  const quarantine_key key = key_of(t, row);
  const auto group = added_groups_.find(names_.groups.find(key.owner));
  if (group == added_groups_.end() || exists(key)) return {};
  return blame(group->second, {code, "sub-group '" + base::shown(key.name) + "' is in quarantine", {}}, text_of(key));
}

/// Applies the rows that one group has in a table, without those that keep the others from forming a tree.
result<void> edit::change_tree(const table_reader& t, group_row g, std::vector<std::uint64_t> rows) {
  std::vector<std::string_view> bad;  // names whose entries are new
  for (;;) {
    std::vector<sub_definition> all = definitions_of(g);
    std::vector<sub_defect> defects;
    for (const std::uint64_t row : rows) {
      because_of_.clear();
      result<void> done = read_sub_group(t, row, g, all);
      if (!done) defects.push_back({row, done.take_failure(), because_of_});
    }
    if (defects.empty()) defects = tree_defects(t, g, all, rows);
    if (defects.empty()) {
      rebuild_tree(g, std::move(all));
      for (const std::uint64_t row : rows) {
        const std::string_view name = t.text(col::sub_group_name, row);
        if (t.op() == table_op::remove) discard(name);
        const bool fresh_entry = std::find(bad.begin(), bad.end(), name) != bad.end();
        if (!s_.quarantine->empty() && !fresh_entry) settle_entry(t, row);
      }
      return {};
    }
    for (sub_defect& defect : defects) {
      because_of_ = std::move(defect.because_of);
      bad.push_back(t.text(col::sub_group_name, defect.row));
      if (auto noted = refuse_sub_group(t, defect.row, std::move(defect.why)); !noted) return noted;
      std::erase(rows, defect.row);
    }
  }
}

result<void> edit::read_sub_group(const table_reader& t, std::uint64_t row, group_row g,
                                  std::vector<sub_definition>& all) {
  const std::string_view name = t.text(col::sub_group_name, row);
  auto it = std::find_if(all.begin(), all.end(), [&](const sub_definition& d) { return d.name == name; });
  if (t.op() == table_op::add) {
    if (auto first = check_first(t, row); !first) return first;
    if (auto good = check_name(t, row, col::sub_group_name); !good) return good;
  }
  if ((t.op() == table_op::add) == (it != all.end())) {
    return t.fail(
        it == all.end() ? status::not_found : status::duplicate, row, col::sub_group_name,
        group_text(s_, g) + " has " + (it == all.end() ? "no" : "a") + " sub-group '" + base::shown(name) + "'",
        id_of_group(s_, g));
  }
  if (t.op() == table_op::remove) {
    all.erase(it);
    return {};
  }
  sub_definition d = it == all.end() ? sub_definition{} : *it;
  if (t.has(col::sub_group_parent)) {
    d.parent = t.text(col::sub_group_parent, row);  // only read while the tree is built
    d.row = row;
  }
  if (t.op() == table_op::add) {
    d.name = name;
    d.row = row;
    d.fresh = true;
  }
  if (t.has(col::sub_group_min_member)) {
    auto v = bounded(t, row, col::sub_group_min_member, 0, max_amount);
    if (!v) return v.failure();
    d.min_member = *v;
  }
  if (t.has(col::sub_group_min_sub_group)) {
    if (t.i64(col::sub_group_min_sub_group, row) != unset) {
      auto v = bounded(t, row, col::sub_group_min_sub_group, 0, max_amount);
      if (!v) return v.failure();
    }
    d.min_sub_group = t.i64(col::sub_group_min_sub_group, row);
  }
  if (t.has(col::sub_group_unit)) {
    auto v = bounded(t, row, col::sub_group_unit, 0, max_amount);
    if (!v) return v.failure();
    d.unit = *v;
  }
  result<topology_share> together = read_topology(
      t, row, {col::sub_group_topology, col::sub_group_required_level, col::sub_group_preferred_level}, d.together);
  if (!together) return together.failure();
  d.together = std::move(*together);
  if (it != all.end()) {
    *it = std::move(d);
  } else if (all.size() >= most_sub_groups) {
    return t.fail(status::limit, row, col::sub_group_name,
                  group_text(s_, g) + ": more than " + std::to_string(most_sub_groups) + " sub-groups");
  } else {
    all.push_back(std::move(d));
  }
  return {};
}

/// Rows because of which the definitions form no tree: parents that do not exist, cycles, too many levels.
std::vector<sub_defect> edit::tree_defects(const table_reader& t, group_row g, const std::vector<sub_definition>& all,
                                           const std::vector<std::uint64_t>& rows) {
  std::vector<std::uint32_t> by_name(all.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(), [&](auto a, auto b) { return all[a].name < all[b].name; });
  std::vector<std::uint32_t> parent(all.size(), no_row);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].parent.empty()) continue;
    const auto it = std::lower_bound(by_name.begin(), by_name.end(), all[i].parent,
                                     [&](std::uint32_t k, std::string_view n) { return all[k].name < n; });
    if (it != by_name.end() && all[*it].name == all[i].parent) parent[i] = *it;
  }
  std::vector<sub_defect> defects;
  find_loose_parts(t, g, all, rows, parent, defects);
  if (!defects.empty()) return defects;
  const auto add = [&](std::uint64_t row, status code, const std::string& what) {
    if (row == no_place) return;
    const entity_id id = id_of_group(s_, g);
    defects.push_back({row,
                       t.fail(code, row, col::sub_group_parent,
                              group_text(s_, g) + ": the parents of its sub-groups form " + what, id),
                       {}});
  };
  constexpr std::uint32_t unknown = 0;
  constexpr std::uint32_t on_path = no_row;
  std::vector<std::uint32_t> depth(all.size(), unknown);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    std::vector<std::uint32_t> path;
    std::uint32_t up = i;
    for (; up != no_row && depth[up] == unknown; up = parent[up]) {
      depth[up] = on_path;
      path.push_back(up);
    }
    if (up != no_row && depth[up] == on_path) {
      const auto first = std::find(path.begin(), path.end(), up);
      for (auto it = first; it != path.end(); ++it) {
        add(all[*it].row, status::argument, "a cycle");
        depth[*it] = 1;
      }
      path.erase(first, path.end());
    }
    std::uint32_t level = path.empty() || parent[path.back()] == no_row ? 1 : depth[parent[path.back()]];
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      depth[*it] = ++level;  // the root of the group is level 1
      if (level != max_tree_depth + 2) continue;
      std::uint32_t named = *it;  // or what it hangs on, if that has moved
      while (all[named].row == no_place && parent[named] != no_row) named = parent[named];
      add(all[named].row, status::limit, "more than " + std::to_string(max_tree_depth) + " levels");
    }
    if (mode_ == on_invalid::reject && !defects.empty()) break;
  }
  return defects;
}

/// Members whose parent does not exist, and what hangs on them.
void edit::find_loose_parts(const table_reader& t, group_row g, const std::vector<sub_definition>& all,
                            const std::vector<std::uint64_t>& rows, const std::vector<std::uint32_t>& parent,
                            std::vector<sub_defect>& defects) {
  std::vector<std::uint32_t> loose;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].parent.empty() || parent[i] != no_row) continue;
    std::uint64_t row = all[i].row;
    if (row == no_place) {  // no row moved it: its parent goes
      const auto at = std::find_if(rows.begin(), rows.end(), [&](std::uint64_t one) {
        return t.text(col::sub_group_name, one) == all[i].parent;
      });
      if (at != rows.end()) row = *at;
    }
    because_of_.clear();
    error why = missing(t, row, col::sub_group_parent,
                        {table_kind::sub_group, std::string(s_.group_names[g]), clean_name(all[i].parent)});
    if (because_of_.empty()) {
      why = t.fail(status::not_found, row, col::sub_group_parent,
                   group_text(s_, g) + ", sub-group '" + base::shown(all[i].name) + "': there is no parent '" +
                       base::shown(all[i].parent) + "'",
                   id_of_group(s_, g));
    }
    defects.push_back({row, std::move(why), because_of_});
    if (all[i].row != no_place) loose.push_back(i);
  }
  if (loose.empty()) return;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> children;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (parent[i] != no_row && all[i].row != no_place) children.emplace_back(parent[i], i);
  }
  std::sort(children.begin(), children.end());
  for (std::size_t i = 0; i < loose.size(); ++i) {
    if (!all[loose[i]].fresh) continue;  // it stays where it was
    const quarantine_key key{table_kind::sub_group, std::string(s_.group_names[g]), std::string(all[loose[i]].name)};
    for (auto it = std::lower_bound(children.begin(), children.end(), std::pair(loose[i], 0U));
         it != children.end() && it->first == loose[i]; ++it) {
      const std::uint64_t row = all[it->second].row;
      defects.push_back({row,
                         t.fail(status::not_found, row, col::sub_group_parent,
                                "sub_group '" + base::shown(key.name) + "' is in quarantine"),
                         text_of(key)});
      loose.push_back(it->second);
    }
  }
}

std::vector<sub_definition> edit::definitions_of(group_row g) const {
  std::vector<sub_definition> all;
  if (!s_.group_extras[g].has_sub_groups) return all;
  const group_core& group = s_.groups[g];
  for (sub_group_row sub = group.first_sub + 1; sub < group.first_sub + group.sub_count; ++sub) {
    const sub_info& info = s_.subs[sub];
    const std::string_view parent = info.parent == group.first_sub ? std::string_view{} : s_.subs[info.parent].name;
    all.push_back(
        {info.name, parent, info.is_set ? 0 : info.min, info.is_set ? info.min : unset, info.together, info.unit});
  }
  return all;
}

/// Builds the tree of a group from definitions that form one; from none the implied pod set.
void edit::rebuild_tree(group_row g, std::vector<sub_definition> definitions) {
  settle_links();
  const bool fresh = s_.groups[g].first_sub == no_row;
  const std::vector<pod_row> members = fresh ? std::vector<pod_row>{} : pods_of(g);
  for (const pod_row p : members) account_pod(s_, s_.live, p, -1);
  sub_info root;
  root.min = unset;
  if (!fresh) root = s_.subs[s_.groups[g].first_sub];
  const bool implied = definitions.empty();
  if (implied) definitions.push_back({implied_pod_set, {}, 1, unset, nullptr});
  // Rows in name order, so that siblings link in name order.
  std::sort(definitions.begin(), definitions.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (sub_definition& d : definitions) {
    if (d.fresh) d.name = s_.names->add(d.name);
  }
  if (!fresh) free_block(s_.groups[g].first_sub, s_.groups[g].sub_count);
  const auto size = static_cast<std::uint32_t>(definitions.size() + 1);
  const sub_group_row first = new_block(size);
  group_core& group = s_.groups.write(g);
  group.first_sub = first;
  group.sub_count = static_cast<std::uint16_t>(size);
  s_.group_extras.write(g).has_sub_groups = !implied;
  s_.subs.write(first) = {};
  s_.subs.write(first).group = g;
  s_.subs.write(first).is_set = true;
  s_.subs.write(first).min = root.min;
  set_topology(first, root.together);
  for (std::uint32_t i = 0; i < definitions.size(); ++i) {
    const sub_definition& d = definitions[i];
    sub_info info;
    info.name = d.name;
    info.group = g;
    info.is_set = d.min_sub_group != unset;
    info.min = info.is_set ? d.min_sub_group : d.min_member;
    info.unit = d.unit;
    s_.subs.write(first + 1 + i) = info;
    set_topology(first + 1 + i, d.together);
  }
  for (std::uint32_t i = size; i-- > 1;) {  // backwards, so that prepending gives name order
    const std::string_view parent_name = definitions[i - 1].parent;
    const sub_group_row parent = parent_name.empty() ? first : find_sub(g, parent_name);
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
  const sub_info& last = s_.subs[first + size - 1];
  s_.groups.write(g).has_one_pod_set = size == 2 && !last.is_set && last.unit == 0;
  s_.group_extras.write(g).first_stray = no_row;
  for (const pod_row p : members) {
    const sub_group_row sub = find_sub(g, s_.pod_extras[p].sub_name);
    s_.pods.write(p).sub = sub != no_row && !s_.subs[sub].is_set ? sub : no_row;
    s_.pods.write(p).next = no_row;
    account_pod(s_, s_.live, p, 1);
    note_class(p);
    relink(no_row, p);
  }
  touch(g);
}

}  // namespace kaisched::model
