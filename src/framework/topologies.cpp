#include "framework/topologies.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace kaisched::framework {

namespace {

namespace topology = policy::topology;

/// Names of topologies that some live group or member of it asks for, sorted.
std::vector<std::string_view> topologies_in_use(const model::cluster_state& s) {
  std::vector<std::string_view> names;
  for (group_row g = 0; g < s.group_slots; ++g) {
    const model::group_core& group = s.groups[g];
    for (sub_group_row sub = group.first_sub; group.live && sub < group.first_sub + group.sub_count; ++sub) {
      const model::topology_ask* ask = s.subs[sub].together.get();
      if (ask != nullptr && (names.empty() || names.back() != ask->topology)) names.push_back(ask->topology);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void add_shapes(const model::cluster_state& s, const model::topology_info& info, topology::domain_tree& tree) {
  tree.grids.resize(info.levels.size() + 1);
  for (std::size_t i = 0; i < info.levels.size(); ++i) {
    topology::level_grid& grid = tree.grids[i + 1];
    grid.shape = info.shape_of(info.levels[i]);
    if (!grid.shape.is_given()) continue;
    grid.cell.assign(s.node_count(), model::no_cell);
    for (const node_row row : tree.domains[topology::root_domain].nodes) {
      const model::node_position* position = (*s.nodes)[row]->position_in(info.levels[i]);
      if (position != nullptr) grid.cell[row] = model::cell_of(grid.shape, *position);
    }
  }
}

}  // namespace

topology::domain_tree build_topology(const model::cluster_state& s, const model::topology_info& info, bool compat) {
  topology::tree_builder builder(info.name, info.levels,
                                 compat ? topology::domain_key::joined : topology::domain_key::path);
  std::vector<const std::string*> values(info.levels.size());
  std::vector<node_row> by_name(s.node_count());
  for (node_row row = 0; row < s.node_count(); ++row) by_name[(*s.name_rank)[row]] = row;
  for (const node_row row : by_name) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = model::find_label((*s.nodes)[row]->labels, info.levels[i]);
    }
    builder.add(row, values);
  }
  topology::domain_tree tree = builder.finish(s.node_count());
  if (!compat && !info.shapes.empty()) add_shapes(s, info, tree);
  return tree;
}

std::shared_ptr<const std::vector<topology::domain_tree>> build_topologies(const model::cluster_state& s, bool compat) {
  auto trees = std::make_shared<std::vector<topology::domain_tree>>();
  for (const std::string_view name : topologies_in_use(s)) {
    const auto at = std::find_if(s.topologies->begin(), s.topologies->end(),
                                 [&](const model::topology_info& info) { return info.name == name; });
    if (at != s.topologies->end()) trees->push_back(build_topology(s, *at, compat));
  }
  return trees;
}

}  // namespace kaisched::framework
