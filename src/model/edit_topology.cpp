// Deltas of topologies, and the constraints of pod groups and sub-groups that name their levels.
#include <algorithm>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

const topology_info* find_topology(const cluster_state& s, std::string_view name) {
  const auto it =
      std::find_if(s.topologies->begin(), s.topologies->end(), [&](const topology_info& x) { return x.name == name; });
  return it == s.topologies->end() ? nullptr : &*it;
}

bool has_level(const topology_info& topology, std::string_view level) {
  return std::find(topology.levels.begin(), topology.levels.end(), level) != topology.levels.end();
}

std::string no_topology(const cluster_state& s, std::string_view name) {
  std::vector<std::string_view> known;
  for (const topology_info& x : *s.topologies) known.emplace_back(x.name);
  std::string text = "there is no topology '" + base::shown(name) + "'";
  const std::string_view nearest = base::nearest_name(name, known);
  return nearest.empty() ? text : text + "; did you mean '" + std::string(nearest) + "'?";
}

std::string no_level(const topology_info& topology, std::string_view level) {
  const std::vector<std::string_view> known(topology.levels.begin(), topology.levels.end());
  std::string text = "topology '" + topology.name + "' has no level '" + base::shown(level) + "'; ";
  const std::string_view nearest = base::nearest_name(level, known);
  if (!nearest.empty()) return text + "did you mean '" + std::string(nearest) + "'?";
  text += "it has:";
  for (const std::string_view one : known) text.append(" ").append(one);
  return text;
}

}  // namespace

// ---- topologies --------------------------------------------------------------------------------------------------

result<void> edit::topologies(const table_reader& t) {
  if (auto done = each_row(t, [&](std::uint64_t row) { return one_topology(t, row); }); !done) return done;
  std::vector<topology_info>& all = s_.topologies.write();
  std::sort(all.begin(), all.end(), [](const topology_info& a, const topology_info& b) { return a.name < b.name; });
  return check_primary(t);
}

result<void> edit::one_topology(const table_reader& t, std::uint64_t row) {
  const std::string_view name = t.text(col::topology_name, row);
  const topology_info* present = find_topology(s_, name);
  topology_info info = present == nullptr ? topology_info{} : *present;
  if (t.op() == table_op::add) {
    if (auto good = check_name(t, row, col::topology_name); !good) return good;
    if (present != nullptr) {
      return t.fail(status::duplicate, row, col::topology_name, "'" + base::shown(name) + "' exists already");
    }
    info.name = name;
  } else if (present == nullptr) {
    return missing(t, row, col::topology_name, {table_kind::topology, {}, clean_name(name)});
  }
  if (t.has(col::topology_levels) && t.op() != table_op::remove) {
    info.levels.clear();
    for (const std::string_view level : split_list(t.text(col::topology_levels, row))) {
      if (level.empty() || has_level(info, level)) {
        return t.fail(
            status::argument, row, col::topology_levels,
            level.empty() ? "a level must not be empty" : "level '" + base::shown(level) + "' is given twice");
      }
      info.levels.emplace_back(level);
    }
    if (info.levels.empty()) return t.fail(status::argument, row, col::topology_levels, "needs at least one level");
  }
  if (t.has(col::topology_primary) && t.op() != table_op::remove) {
    auto v = flag(t, row, col::topology_primary);
    if (!v) return v.failure();
    info.primary = *v;
  }
  if (t.op() != table_op::remove) {
    if (auto done = read_shapes(t, row, info); !done) return done;
  }
  nodes_unsettled_ = true;
  order_unsettled_ = true;
  if (t.op() != table_op::remove) shaped_topologies_.emplace_back(info.name, row_place{t.number(), row});
  std::vector<topology_info>& all = s_.topologies.write();
  if (t.op() == table_op::add) {
    all.push_back(std::move(info));
    return {};
  }
  changed_topologies_.emplace_back(info.name, row_place{t.number(), row});
  const auto it = std::find_if(all.begin(), all.end(), [&](const topology_info& x) { return x.name == name; });
  if (t.op() == table_op::remove) {
    all.erase(it);
  } else {
    *it = std::move(info);
  }
  return {};
}

result<void> edit::check_primary(const table_reader& t) {
  const std::vector<topology_info>& all = *s_.topologies;
  const auto primaries = std::count_if(all.begin(), all.end(), [](const topology_info& x) { return x.primary; });
  if (primaries <= 1) return {};
  // One that was primary before stays so; else the first row has its way.
  std::vector<std::uint64_t> rows;
  for (std::uint64_t row = 0; t.has(col::topology_primary) && row < t.rows(); ++row) {
    if (is_known_bad(t, row) || t.u8(col::topology_primary, row) == 0) continue;
    const topology_info* info = find_topology(s_, t.text(col::topology_name, row));
    if (info != nullptr && info->primary) rows.push_back(row);
  }
  const bool kept = static_cast<std::size_t>(primaries) > rows.size();
  for (std::size_t i = kept ? 0 : 1; i < rows.size(); ++i) {
    const error why = t.fail(status::argument, rows[i], col::topology_primary, "another topology is primary");
    if (auto done = blame({t.number(), rows[i]}, why); !done) return done;
  }
  return stop_if_blamed();
}

// ---- constraints that name levels --------------------------------------------------------------------------------

result<topology_share> edit::read_topology(const table_reader& t, std::uint64_t row, const topology_columns& columns,
                                           const topology_share& before) {
  if (!t.has(columns.topology) && !t.has(columns.required) && !t.has(columns.preferred)) return before;
  topology_ask ask = before == nullptr ? topology_ask{} : *before;
  if (t.is_id(columns.topology)) {
    if (t.id(columns.topology, row) != 0) {
      return t.fail(status::wrong_kind, row, columns.topology, "topologies have no ids: give the name");
    }
    ask.topology.clear();
  } else if (t.has(columns.topology)) {
    ask.topology = t.text(columns.topology, row);
  }
  if (t.has(columns.required)) ask.required_level = t.text(columns.required, row);
  if (t.has(columns.preferred)) ask.preferred_level = t.text(columns.preferred, row);
  const auto levels = {std::pair{columns.required, &ask.required_level},
                       std::pair{columns.preferred, &ask.preferred_level}};
  if (ask.topology.empty()) {
    for (const auto& [column, level] : levels) {
      if (!level->empty()) {
        return t.fail(status::argument, row, column,
                      "level '" + base::shown(*level) + "' needs a topology that it belongs to");
      }
    }
    return topology_share{};
  }
  const topology_info* topology = find_topology(s_, ask.topology);
  if (topology == nullptr) {
    const quarantine_key key{table_kind::topology, {}, clean_name(ask.topology)};
    if (is_quarantined(key)) return missing(t, row, columns.topology, key);
    return t.fail(status::not_found, row, columns.topology, no_topology(s_, ask.topology));
  }
  for (const auto& [column, level] : levels) {
    if (level->empty() || has_level(*topology, *level)) continue;
    return t.fail(status::not_found, row, column, no_level(*topology, *level));
  }
  return std::make_shared<const topology_ask>(std::move(ask));
}

void edit::set_topology(sub_group_row sub, topology_share together) {
  if (s_.subs[sub].together == together) return;
  s_.topology_asks += together == nullptr ? 0U : 1U;
  s_.topology_asks -= s_.subs[sub].together == nullptr ? 0U : 1U;
  s_.subs.write(sub).together = std::move(together);
}

result<void> edit::check_topology_users() {
  if (changed_topologies_.empty() || s_.topology_asks == 0) return {};
  for (group_row g = 0; g < s_.group_slots; ++g) {
    const group_core& group = s_.groups[g];
    for (sub_group_row sub = group.first_sub; group.live && sub < group.first_sub + group.sub_count; ++sub) {
      const topology_share& ask = s_.subs[sub].together;
      if (ask == nullptr) continue;
      const topology_info* topology = find_topology(s_, ask->topology);
      const bool good = topology != nullptr &&
                        (ask->required_level.empty() || has_level(*topology, ask->required_level)) &&
                        (ask->preferred_level.empty() || has_level(*topology, ask->preferred_level));
      if (good) continue;
      const std::string what = "topology '" + base::shown(ask->topology) + "' cannot lose what pod group '" +
                               base::shown(s_.group_names[g]) +
                               "' names: " + (topology == nullptr ? "the topology" : "a level of it");
      const std::uint32_t column = topology == nullptr ? no_row : std::uint32_t{col::topology_levels};
      const entity_id id = id_of_group(s_, g);
      for (const auto& [name, place] : changed_topologies_) {
        if (name != ask->topology) continue;
        error why = fail_at(place, status::state, table_kind::topology, column, what, id);
        if (auto done = blame(place, std::move(why)); !done) return done;
      }
    }
  }
  return {};
}

}  // namespace kaisched::model
