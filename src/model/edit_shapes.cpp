// Deltas of shapes of levels, and of the positions of nodes in them.
#include <algorithm>
#include <map>
#include <string>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

template <class Value>
const Value* find_level(const std::vector<std::pair<std::string, Value>>& all, std::string_view level) {
  const auto at = std::lower_bound(all.begin(), all.end(), level,
                                   [](const auto& one, std::string_view x) { return one.first < x; });
  return at == all.end() || at->first != level ? nullptr : &at->second;
}

/// Where a node is: its domain, and the position there.
struct place_in_domain {
  std::vector<std::string_view> domain;
  std::uint32_t cell = no_cell;
  friend auto operator<=>(const place_in_domain&, const place_in_domain&) = default;
};

std::string text_of(const topology_info& topology, std::size_t level, const place_in_domain& place) {
  std::string domain;
  for (std::size_t i = 0; i <= level; ++i) domain.append(i == 0 ? "" : ".").append(base::shown(place.domain[i]));
  return topology.levels[level] + " '" + domain + "' of topology '" + base::shown(topology.name) + "'";
}

}  // namespace

level_shape topology_info::shape_of(std::string_view level) const {
  const level_shape* shape = find_level(shapes, level);
  return shape == nullptr ? level_shape{} : *shape;
}

const node_position* node_info::position_in(std::string_view level) const { return find_level(positions, level); }

result<void> edit::read_shapes(const table_reader& t, std::uint64_t row, topology_info& info) const {
  const std::string start = "topology '" + base::shown(info.name) + "': ";
  if (t.has(col::topology_shapes)) {
    const result<label_list> shapes = parse_labels(t.text(col::topology_shapes, row));
    if (!shapes) return t.fail(status::argument, row, col::topology_shapes, start + shapes.failure().message);
    info.shapes.clear();
    for (const auto& [level, text] : *shapes) {
      const result<level_shape> shape = parse_shape(text);
      if (!shape) {
        return t.fail(status::argument, row, col::topology_shapes,
                      start + "level '" + base::shown(level) + "': " + shape.failure().message);
      }
      info.shapes.emplace_back(level, *shape);
    }
  }
  for (const auto& [level, shape] : info.shapes) {
    if (std::find(info.levels.begin(), info.levels.end(), level) != info.levels.end()) continue;
    const std::vector<std::string_view> known(info.levels.begin(), info.levels.end());
    const std::string_view nearest = base::nearest_name(level, known);
    return t.fail(status::not_found, row, t.has(col::topology_shapes) ? col::topology_shapes : col::topology_levels,
                  start + "it has no level '" + base::shown(level) + "' for the shape " + shape_text(shape) +
                      (nearest.empty() ? std::string{} : "; did you mean '" + std::string(nearest) + "'?"));
  }
  return {};
}

result<void> edit::read_positions(const table_reader& t, std::uint64_t row, node_info& node) const {
  if (!t.has(col::node_position)) return {};
  const std::string start = "node '" + base::shown(node.name) + "': ";
  const result<label_list> given = parse_labels(t.text(col::node_position, row));
  if (!given) return t.fail(status::argument, row, col::node_position, start + given.failure().message);
  node.positions.clear();
  for (const auto& [level, text] : *given) {
    const result<node_position> position = parse_position(text);
    if (!position) {
      return t.fail(status::argument, row, col::node_position,
                    start + "level '" + base::shown(level) + "': " + position.failure().message);
    }
    node.positions.emplace_back(level, *position);
  }
  return {};
}

/// Nodes that say where they are must fit into the shape, and no two may be in one place. Who was there before stays.
result<void> edit::check_positions() {
  if (shaped_topologies_.empty() && moved_nodes_.empty()) return {};
  if (std::all_of(s_.topologies->begin(), s_.topologies->end(), [](const auto& one) { return one.shapes.empty(); })) {
    return {};
  }
  std::vector<row_place> places(s_.node_row_of_slot->size());
  std::vector<bool> moved(places.size(), false);
  for (const auto& [slot, place] : moved_nodes_) {
    places[slot] = place;
    moved[slot] = true;
  }
  for (const topology_info& topology : *s_.topologies) {
    for (std::size_t level = 0; !topology.shapes.empty() && level < topology.levels.size(); ++level) {
      if (!topology.shape_of(topology.levels[level]).is_given()) continue;
      if (auto done = check_positions_in(topology, level, places, moved); !done) return done;
    }
  }
  return {};
}

result<void> edit::check_positions_in(const topology_info& topology, std::size_t level,
                                      const std::vector<row_place>& places, const std::vector<bool>& moved) {
  const level_shape shape = topology.shape_of(topology.levels[level]);
  // The row of the topology is to blame where no row of the delta moved the node.
  const auto row_of_topology = std::find_if(shaped_topologies_.rbegin(), shaped_topologies_.rend(),
                                            [&](const auto& one) { return one.first == topology.name; });
  const bool changed = row_of_topology != shaped_topologies_.rend();
  std::vector<const node_info*> nodes;
  for (const auto& node : *s_.nodes) {
    if (node->position_in(topology.levels[level]) != nullptr) nodes.push_back(node.get());
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](const node_info* a, const node_info* b) {
    if (moved[a->slot] != moved[b->slot]) return !moved[a->slot];
    return moved[a->slot] && places[a->slot] < places[b->slot];
  });
  std::map<place_in_domain, const node_info*> taken;
  for (const node_info* node : nodes) {
    place_in_domain place;
    for (const std::string& key : topology.levels) {
      const std::string* value = find_label(node->labels, key);
      if (value == nullptr) break;
      place.domain.emplace_back(*value);
    }
    if (place.domain.size() < topology.levels.size()) continue;  // in no domain
    place.domain.resize(level + 1);
    const node_position& position = *node->position_in(topology.levels[level]);
    place.cell = cell_of(shape, position);
    const node_info* other = nullptr;
    if (place.cell != no_cell) {
      const auto [at, fresh] = taken.try_emplace(place, node);
      if (fresh) continue;
      other = at->second;
    }
    if (!moved[node->slot] && !changed) continue;
    std::string what = "node '" + base::shown(node->name) + "': position " + position_text(position);
    what += other != nullptr ? " is taken by node '" + base::shown(other->name) + "'"
                             : " is not in the shape " + shape_text(shape);
    what += " in " + text_of(topology, level, place);
    const row_place& to_blame = moved[node->slot] ? places[node->slot] : row_of_topology->second;
    const entity_id id(entity_kind::node, (*s_.node_generation)[node->slot], node->slot);
    const table_kind kind = moved[node->slot] ? table_kind::node : table_kind::topology;
    const std::uint32_t column = moved[node->slot] ? std::uint32_t{col::node_position} : col::topology_shapes;
    error why = fail_at(to_blame, other != nullptr ? status::duplicate : status::argument, kind, column, what, id);
    if (auto done = blame(to_blame, std::move(why)); !done) return done;
  }
  return {};
}

}  // namespace kaisched::model
