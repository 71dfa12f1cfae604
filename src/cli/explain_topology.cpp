// A topology as a tree: what every domain and device has free, and how much of that is in one piece.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/chart.hpp"
#include "cli/explain.hpp"
#include "framework/topologies.hpp"
#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "policy/topology/pieces.hpp"

namespace kaisched::cli {

namespace {

using policy::topology::domain_tree;
using policy::topology::level_grid;

/// GPUs of a node or of all nodes of a domain, in milli-GPU.
struct room {
  std::int64_t nodes = 0;
  std::int64_t total = 0;
  std::int64_t free = 0;
  std::int64_t coming_free = 0;
  std::int64_t whole = 0;          ///< of what is free, in devices that are free as a whole
  std::int64_t whole_on_node = 0;  ///< the most of that on one node
  std::string devices;             ///< of a node: one character each

  void add(const room& other) {
    nodes += other.nodes;
    total += other.total;
    free += other.free;
    coming_free += other.coming_free;
    whole += other.whole;
    whole_on_node = std::max(whole_on_node, other.whole_on_node);
  }
};

/// What pods hold of every device, in milli-GPU, by node; what leaves counts as held.
std::vector<std::vector<std::int64_t>> held_devices(const session& over) {
  const model::cluster_state& s = model::state_of(over.base());
  std::vector<std::vector<std::int64_t>> held(s.node_count());
  for (node_row row = 0; row < s.node_count(); ++row) held[row].resize((*s.nodes)[row]->device_count(), 0);
  const table placed = over.to_table(table_kind::placement).value();
  const table_view rows = placed.view();
  const auto pods = rows.find(col::placement_pod)->values<std::uint64_t>(rows.rows);
  const auto states = rows.find(col::placement_status)->values<std::uint8_t>(rows.rows);
  for (std::uint64_t i = 0; i < rows.rows; ++i) {
    if (!model::is_in(static_cast<pod_status>(states[i]), model::active_used)) continue;
    const pod_row pod = entity_id(pods[i]).slot();
    const node_row row = over.view().node_of(pod);
    std::uint64_t mask = 0;
    for (const std::int64_t device : rows.find(col::placement_devices)->list(i)) mask |= std::uint64_t{1} << device;
    if (row == no_row) continue;
    const std::int64_t share = model::devices_of(s, s.class_of(pod), row, mask).share;
    for (std::size_t d = 0; d < held[row].size(); ++d) {
      if ((mask >> d & 1U) != 0) held[row][d] += share;
    }
  }
  return held;
}

room room_of(const session& over, node_row row, const std::vector<std::int64_t>& held) {
  const session_view view = over.view();
  const model::node_info& node = *(*model::state_of(over.base()).nodes)[row];
  const std::size_t at = row * view.dimension_count() + dim_gpu;
  room made;
  made.nodes = 1;
  made.total = view.node_capacity()[at];
  made.free = std::max<std::int64_t>(0, view.node_idle()[at]);
  made.coming_free = std::max<std::int64_t>(0, view.node_releasing()[at]);
  for (std::uint32_t d = 0; d < held.size(); ++d) {
    const std::int64_t offer = node.devices.empty() ? whole_device : node.device_offer(d);
    const bool is_free = held[d] == 0 && offer > 0 && node.open();
    made.whole += is_free ? whole_device : 0;
    made.devices += offer == 0 ? "×" : held[d] == 0 ? "·" : held[d] >= whole_device ? "█" : "▒";
  }
  made.whole = std::min(made.whole, made.free);  // what is not known to be on a device is held somewhere
  made.whole_on_node = made.whole;
  return made;
}

/// Draws one tree, and describes it.
class picture {
 public:
  picture(const explanation& of, domain_tree tree) : of_(of), tree_(std::move(tree)), rooms_(tree_.domains.size()) {
    const session& over = of.ran.over;
    const auto held = held_devices(over);
    nodes_.resize(held.size());
    for (const node_row row : tree_.domains[policy::topology::root_domain].nodes) {
      nodes_[row] = room_of(over, row, held[row]);
      for (std::uint32_t up = tree_.leaf[row]; up != no_row; up = tree_.domains[up].parent) rooms_[up].add(nodes_[row]);
    }
  }

  void print() const {
    const terminal& out = of_.to.out();
    out.line();
    out.line(out.paint(style::dim, fmt::format("  {}{}{}{}{}{}", pad_right("", name_width + bar_cells + 2),
                                               pad_left("GPUs", 9), pad_left("free", 9), pad_left("whole", 9),
                                               pad_left("on a node", 11), pad_left("coming", 9))));
    if (rooms_[policy::topology::root_domain].nodes == 0) return;
    line("all", rooms_[policy::topology::root_domain]);
    below(policy::topology::root_domain, "");
    out.line();
    out.line(out.paint(style::dim,
                       "  █ held  ▒ in part  · free  × not offered; whole: GPUs that are free as a whole, and the most "
                       "of them on one node"));
  }

  [[nodiscard]] json described() const {
    json list = json::array();
    for (std::uint32_t one = 0; one < tree_.domains.size(); ++one) {
      const policy::topology::domain& domain = tree_.domains[one];
      json entry = {{"id", domain.id},
                    {"level", domain.level == 0 ? std::string() : tree_.levels[domain.level - 1]},
                    {"parent", domain.parent == no_row ? std::string() : tree_.domains[domain.parent].id},
                    {"nodes", rooms_[one].nodes},
                    {"gpus", rooms_[one].total},
                    {"free", rooms_[one].free},
                    {"coming_free", rooms_[one].coming_free},
                    {"whole", rooms_[one].whole},
                    {"whole_on_one_node", rooms_[one].whole_on_node}};
      if (const level_grid* grid = tree_.grid_of(domain.level); grid != nullptr) {
        const std::vector<node_row> at = positions_of(one);
        json nodes = json::array();
        for (const node_row row : at) nodes.push_back(row == no_row ? std::string() : name_of(row));
        entry["shape"] = model::shape_text(grid->shape);
        entry["positions"] = std::move(nodes);
        entry["nodes_of_largest_free_piece"] = largest_free_piece(one, at);
        entry["nodes_without_position"] = nodes_without_position(one);
      }
      list.push_back(std::move(entry));
    }
    return list;
  }

 private:
  static constexpr std::size_t name_width = 28;
  static constexpr std::size_t bar_cells = 16;

  void line(const std::string& name, const room& of) const {
    const terminal& out = of_.to.out();
    std::string drawn;
    if (!of.devices.empty() && columns_of(of.devices) <= bar_cells) {
      drawn = of.devices;
    } else {
      bar used(bar_cells, std::max<std::int64_t>(1, of.total));
      used.fill(0, of.total, glyph::free, style::dim);
      if (of.total > of.free) used.fill(0, of.total - of.free, glyph::held, style::blue);
      drawn = used.drawn(out);
    }
    out.line(fmt::format("  {}{}  {}{}{}{}{}", pad_right(cut(name, name_width - 1), name_width),
                         pad_right(drawn, bar_cells), pad_left(gpus(of.total), 9), pad_left(gpus(of.free), 9),
                         pad_left(gpus(of.whole), 9), pad_left(gpus(of.whole_on_node), 11),
                         of.coming_free == 0 ? "" : pad_left(gpus(of.coming_free), 9)));
  }

  [[nodiscard]] const std::string& name_of(node_row row) const {
    return (*model::state_of(of_.ran.over.base()).nodes)[row]->name;
  }

  /// Nodes of a domain whose level has a shape, by position; no_row where there is none.
  [[nodiscard]] std::vector<node_row> positions_of(std::uint32_t domain) const {
    const level_grid& grid = *tree_.grid_of(tree_.domains[domain].level);
    std::vector<node_row> at;
    if (grid.shape.kind != model::shape_kind::block) at.assign(grid.shape.positions(), no_row);
    for (const node_row row : tree_.domains[domain].nodes) {
      const std::uint32_t cell = grid.cell[row];
      if (cell == model::no_cell) continue;
      if (cell >= at.size()) at.resize(cell + 1, no_row);
      at[cell] = row;
    }
    return at;
  }

  [[nodiscard]] std::size_t nodes_without_position(std::uint32_t domain) const {
    const level_grid& grid = *tree_.grid_of(tree_.domains[domain].level);
    const std::vector<node_row>& rows = tree_.domains[domain].nodes;
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](node_row row) { return grid.cell[row] == model::no_cell; }));
  }

  [[nodiscard]] bool is_all_free(node_row row) const {
    return row != no_row && nodes_[row].total > 0 && nodes_[row].whole == nodes_[row].total &&
           (*model::state_of(of_.ran.over.base()).nodes)[row]->open();
  }

  /// Nodes of the largest piece all of whose nodes are free.
  [[nodiscard]] std::int64_t largest_free_piece(std::uint32_t domain, const std::vector<node_row>& at) const {
    policy::topology::piece_domain in{domain, 0, {}, {}};
    for (const node_row row : at) {
      in.cells.push_back({row, is_all_free(row), false});
      in.room.push_back(is_all_free(row) ? 1 : 0);
    }
    if (at.empty()) return 0;
    const auto all = static_cast<std::int64_t>(at.size());
    const policy::topology::piece_search search(tree_.grid_of(tree_.domains[domain].level)->shape, {std::move(in)},
                                                {{all}, all, 0}, placement_strategy::binpack);
    return search.most_in(0);
  }

  [[nodiscard]] std::string sign_of(node_row row) const {
    if (row == no_row) return " ";
    if (!(*model::state_of(of_.ran.over.base()).nodes)[row]->open() || nodes_[row].total == 0) return "×";
    if (is_all_free(row)) return "·";
    return nodes_[row].whole == 0 ? "█" : "▒";
  }

  /// One character for each position: rows of the last axis, planes of three axes beside each other.
  void grid(std::uint32_t domain, const std::string& before) const {
    const terminal& out = of_.to.out();
    const model::level_shape& shape = tree_.grid_of(tree_.domains[domain].level)->shape;
    const std::vector<node_row> at = positions_of(domain);
    constexpr std::size_t row_width = 64;
    const bool is_block = shape.kind == model::shape_kind::block;
    const bool is_row = shape.axes == 1;
    const std::size_t run = is_block ? shape.size[0] : is_row ? 8 : shape.size[shape.axes - 1];
    // Where rows start, and how far apart the runs of a row are.
    const std::size_t planes = shape.axes >= 3 ? shape.size[shape.axes - 3] : 1;
    const std::size_t height = shape.axes >= 2 ? shape.size[shape.axes - 2] : 1;
    const std::size_t solids = shape.axes == 4 ? shape.size[0] : 1;
    const auto write = [&](const std::string& text) { out.line("  " + before + "  " + out.paint(style::dim, text)); };
    write(fmt::format("{}, largest free piece: {}{}", model::shape_text(shape),
                      counted(largest_free_piece(domain, at), "node"),
                      nodes_without_position(domain) == 0
                          ? std::string()
                          : fmt::format(", {} without a position",
                                        counted(static_cast<std::int64_t>(nodes_without_position(domain)), "node"))));
    if (is_row) {
      const std::size_t per_line = std::max<std::size_t>(1, row_width / run) * run;
      for (std::size_t from = 0; from < at.size(); from += per_line) {
        std::string text;
        for (std::size_t i = from; i < std::min(from + per_line, at.size()); ++i) {
          text += (i > from && i % run == 0 ? " " : "") + sign_of(at[i]);
        }
        write(text);
      }
      return;
    }
    for (std::size_t solid = 0; solid < solids; ++solid) {
      for (std::size_t line = 0; line < height; ++line) {
        std::string text;
        for (std::size_t plane = 0; plane < planes; ++plane) {
          text += plane > 0 ? "  " : "";
          const std::size_t first = ((solid * planes + plane) * height + line) * run;
          for (std::size_t i = 0; i < run; ++i) text += sign_of(at[first + i]);
        }
        write(text);
      }
    }
  }

  /// Domains by name, nodes with the most whole GPUs first.
  void below(std::uint32_t from, const std::string& before) const {
    const terminal& out = of_.to.out();
    std::vector<std::uint32_t> domains = tree_.children[from];
    std::sort(domains.begin(), domains.end(),
              [&](std::uint32_t a, std::uint32_t b) { return tree_.name_rank[a] < tree_.name_rank[b]; });
    for (std::size_t i = 0; i < domains.size(); ++i) {
      const bool last = i + 1 == domains.size();
      const std::string& id = tree_.domains[domains[i]].id;
      const std::string& above = tree_.domains[from].id;
      const bool is_below = from != policy::topology::root_domain && id.starts_with(above + ".");
      line(before + (last ? "└ " : "├ ") + (is_below ? id.substr(above.size() + 1) : id), rooms_[domains[i]]);
      if (tree_.grid_of(tree_.domains[domains[i]].level) != nullptr) grid(domains[i], before + (last ? "  " : "│ "));
      below(domains[i], before + (last ? "  " : "│ "));
    }
    if (!domains.empty()) return;
    std::vector<node_row> rows = tree_.domains[from].nodes;
    std::stable_sort(rows.begin(), rows.end(),
                     [&](node_row a, node_row b) { return nodes_[a].whole > nodes_[b].whole; });
    const std::size_t shown = of_.most_nodes == 0 ? rows.size() : std::min(of_.most_nodes, rows.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const model::node_info& node = *(*model::state_of(of_.ran.over.base()).nodes)[rows[i]];
      const std::string_view state = !node.ready ? " (not ready)" : node.unschedulable ? " (cordoned)" : "";
      line(before + (i + 1 == rows.size() ? "└ " : "├ ") + node.name + std::string(state), nodes_[rows[i]]);
    }
    if (shown == rows.size()) return;
    room rest;
    for (std::size_t i = shown; i < rows.size(); ++i) rest.add(nodes_[rows[i]]);
    out.line(
        out.paint(style::dim, fmt::format("  {}└ and {} more, {} GPUs free, at most {} whole on one", before,
                                          counted(rest.nodes, "node"), gpus(rest.free), gpus(rest.whole_on_node))));
  }

  const explanation& of_;
  domain_tree tree_;
  std::vector<room> rooms_;  ///< by domain
  std::vector<room> nodes_;
};

}  // namespace

json explain_topology(const explanation& of, std::uint32_t topology) {
  const model::cluster_state& s = model::state_of(of.ran.over.base());
  const model::topology_info& info = (*s.topologies)[topology];
  const picture made(of, framework::build_topology(s, info, false));
  if (of.to.shows_report()) {
    const terminal& out = of.to.out();
    std::string levels;
    for (const std::string& level : info.levels) levels += (levels.empty() ? "" : " › ") + level;
    out.line(fmt::format("{}  {}{}", out.paint(style::bold, "topology " + info.name), levels,
                         info.primary ? "; the primary one" : ""));
    made.print();
  }
  return {{"kind", "topology"},
          {"name", info.name},
          {"levels", info.levels},
          {"primary", info.primary},
          {"domains", made.described()}};
}

}  // namespace kaisched::cli
