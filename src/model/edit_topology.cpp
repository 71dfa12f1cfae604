// Topology constraints of pod groups and sub-groups: names of levels, checked against the topologies.
#include <algorithm>

#include "base/nearest.hpp"
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
  std::string text = "there is no topology '" + std::string(name) + "'";
  const std::string_view nearest = base::nearest_name(name, known);
  return nearest.empty() ? text : text + "; did you mean '" + std::string(nearest) + "'?";
}

std::string no_level(const topology_info& topology, std::string_view level) {
  const std::vector<std::string_view> known(topology.levels.begin(), topology.levels.end());
  std::string text = "topology '" + topology.name + "' has no level '" + std::string(level) + "'; ";
  const std::string_view nearest = base::nearest_name(level, known);
  if (!nearest.empty()) return text + "did you mean '" + std::string(nearest) + "'?";
  text += "it has:";
  for (const std::string_view one : known) text.append(" ").append(one);
  return text;
}

}  // namespace

result<edit::topology_share> edit::read_topology(const table_reader& t, std::uint64_t row,
                                                 const topology_columns& columns, const topology_share& before) const {
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
        return t.fail(status::argument, row, column, "level '" + *level + "' needs a topology that it belongs to");
      }
    }
    return topology_share{};
  }
  const topology_info* topology = find_topology(s_, ask.topology);
  if (topology == nullptr) return t.fail(status::not_found, row, columns.topology, no_topology(s_, ask.topology));
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

result<void> edit::check_topology_users() const {
  if (!topologies_changed_ || s_.topology_asks == 0) return {};
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
      return error{status::state,
                   "topology '" + ask->topology + "' cannot lose what pod group '" + std::string(s_.group_names[g]) +
                       "' names: " + (topology == nullptr ? "the topology" : "a level of it"),
                   entity_id(entity_kind::pod_group, group.generation, g)};
    }
  }
  return {};
}

}  // namespace kaisched::model
