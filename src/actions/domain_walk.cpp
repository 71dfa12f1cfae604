#include "actions/domain_walk.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/stable_sort.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

using framework::node_band;
using framework::node_set;
using framework::session_state;
namespace topology = policy::topology;

/// Trees with more members are only gone down: going back is a recursion over all of them.
constexpr std::uint16_t most_members = 1000;
constexpr std::int64_t not_counted = -1;

/// How many pods with a request fit on a node, by amounts. `more`: null, or what nodes have beside what is free.
std::int64_t places_on(const session_state& c, node_row row, std::span<const std::int64_t> request,
                       const std::vector<std::int64_t>* more) {
  const std::size_t at = static_cast<std::size_t>(row) * c.state().dims();
  const auto free = [&](std::size_t d) {
    const std::int64_t now = (*c.live.idle)[at + d] + (*c.live.releasing)[at + d];
    return more == nullptr ? now : now + (*more)[at + d];
  };
  // Most nodes of a full cluster have too little of something, and divisions are slow.
  for (std::size_t d = 0; d < request.size(); ++d) {
    if (request[d] > 0 && free(d) < request[d]) return 0;
  }
  std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (std::size_t d = 0; d < request.size(); ++d) {
    if (request[d] > 0) most = std::min(most, free(d) / request[d]);
  }
  return most;
}

/// By an anti-affinity that matches the pod itself, between pods of one node.
bool keeps_its_like_away(const session_state& c, pod_row pod, node_row row) {
  const std::vector<model::affinity_term>& terms = c.state().class_of(pod).anti_affinity;
  if (terms.empty()) return false;
  const result<model::label_list> labels = model::parse_labels(c.state().pod_extras[pod].labels);
  const model::label_list& of_node = (*c.state().nodes)[row]->labels;
  return labels && std::any_of(terms.begin(), terms.end(), [&](const model::affinity_term& term) {
           return model::find_label(of_node, term.topology_key) != nullptr && term.pods.matches(*labels);
         });
}

std::vector<std::int64_t> request_of_class(const session_state& c, class_row kind) {
  std::vector<std::int64_t> request = c.state().classes[kind]->ask.request;
  request.resize(c.state().dims(), 0);
  return request;
}

}  // namespace

domain_walk::domain_walk(session_state& c, group_row group, const placing& how, framework::failure& why)
    : c_(c),
      group_(group),
      how_(how),
      why_(why),
      placer_(c, group, how, why),
      looks_back_(c.state().groups[group].sub_count <= most_members),
      own_steps_(domain_steps(c.options)),
      steps_left_(how.plan == nullptr ? own_steps_ : how.plan->steps_left) {}

result<bool> domain_walk::run(std::span<const pod_row> chunk) {
  chunk_ = chunk_members(c_, chunk);
  nodes_offered everything;
  if (how_.among != nullptr) everything.among = *how_.among;
  const agenda all{c_.state().groups[group_].first_sub, &everything, nullptr};
  return place(&all);
}

result<bool> domain_walk::place(const agenda* todo) {
  while (todo != nullptr && !chunk_.has_pods(todo->member)) todo = todo->next;
  if (todo == nullptr) return true;
  const std::optional<level_ask> ask = ask_of(todo->member);
  if (!ask) return place_on(*todo, *todo->offered);
  if (has_shape(*ask)) return place_in_pieces(*todo, *ask);
  result<bool> placed = place_as_planned(*todo);
  if (!placed || *placed || (plans(*todo) && steps_left_ <= 0)) return placed;
  domain_choices choices = choices_of(todo->member, *ask, *todo->offered);
  const std::uint32_t start = c_.statement.depth();
  bool is_first = true;
  while (is_first || steps_left_ > 0) {
    const std::optional<nodes_offered> nodes = next_of(choices);
    if (!nodes) break;
    is_first = false;
    --steps_left_;
    placed = place_on(*todo, *nodes);
    if (placed && *placed) remember(todo->member, *nodes);
    if (!placed || *placed) return placed;
    c_.statement.rollback(start);
  }
  return false;
}

/// The plan names nodes for the member, and all of them are offered.
bool domain_walk::plans(const agenda& todo) const {
  if (how_.plan == nullptr) return false;
  const auto at = how_.plan->first.find(todo.member);
  if (at == how_.plan->first.end()) return false;
  const node_set& among = todo.offered->among;
  return among.empty() ||
         std::all_of(at->second.rows.begin(), at->second.rows.end(), [&](node_row row) { return among[row] != 0; });
}

result<bool> domain_walk::place_as_planned(const agenda& todo) {
  if (!plans(todo)) return false;
  nodes_offered nodes = how_.plan->first.at(todo.member);
  const std::uint32_t start = c_.statement.depth();
  result<bool> placed = place_on(todo, nodes);
  if (!placed || *placed) return placed;
  c_.statement.rollback(start);
  if (nodes.bands.empty()) return false;
  nodes.bands.clear();  // the order of positions may be a bad one for pods of several kinds
  placed = place_on(todo, nodes);
  if (placed && *placed) remember(todo.member, nodes);
  if (placed && !*placed) c_.statement.rollback(start);
  return placed;
}

void domain_walk::remember(sub_group_row member, const nodes_offered& nodes) const {
  if (how_.plan != nullptr) how_.plan->first.insert_or_assign(member, nodes);
}

result<bool> domain_walk::place_on(const agenda& todo, const nodes_offered& nodes) {
  if (c_.state().subs[todo.member].is_set) return place_children(todo, nodes);
  result<bool> placed = place_pods(todo.member, nodes);
  return placed && *placed ? place(todo.next) : placed;
}

result<bool> domain_walk::place_children(const agenda& todo, const nodes_offered& nodes) {
  framework::member_list children = framework::children_in_order(c_, todo.member);
  // Who may go to few nodes chooses before those who may go to many.
  base::stable_sort(children,
                    [&](sub_group_row a, sub_group_row b) { return narrowest_below(a) > narrowest_below(b); });
  std::vector<agenda> items(children.size());
  for (std::size_t i = children.size(); i-- > 0;) {
    const agenda* next = i + 1 < children.size() ? &items[i + 1] : todo.next;
    items[i] = {children[i], &nodes, looks_back_ ? next : nullptr};
  }
  if (looks_back_) return place(items.empty() ? todo.next : items.data());
  for (const agenda& one : items) {
    result<bool> placed = place(&one);
    if (!placed || !*placed) return placed;
  }
  return place(todo.next);
}

result<bool> domain_walk::place_pods(sub_group_row pod_set, const nodes_offered& nodes) {
  framework::node_scope scope;
  if (!nodes.among.empty()) scope.among = &nodes.among;
  const std::span<const pod_row> pods = chunk_.of(pod_set);
  const bool is_part = pods.size() < chunk_.size();
  if (nodes.bands.empty() && nodes.rows.empty()) return placer_.place(pods, is_part, scope);
  framework::node_bands bands =
      nodes.bands.empty() ? framework::node_bands(nodes.rows) : framework::node_bands(nodes.bands);
  scope.bands = &bands;
  return placer_.place(pods, is_part, scope);
}

// ---- domains -----------------------------------------------------------------------------------------------------

std::optional<domain_walk::level_ask> domain_walk::ask_of(sub_group_row member) const {
  const model::topology_ask* ask = c_.state().subs[member].together.get();
  if (ask == nullptr) return std::nullopt;
  const auto tree = std::find_if(c_.topologies->begin(), c_.topologies->end(),
                                 [&](const topology::domain_tree& one) { return one.name == ask->topology; });
  if (tree == c_.topologies->end()) return std::nullopt;
  level_ask made{&*tree, {}};
  if (!ask->required_level.empty()) made.levels.required = tree->level_named(ask->required_level);
  if (!ask->preferred_level.empty()) made.levels.preferred = tree->level_named(ask->preferred_level);
  // Whoever must be in one domain is in one of every wider level.
  if (made.levels.preferred <= made.levels.required) made.levels.preferred = no_row;
  if (made.levels.narrowest() == topology::root_level) return std::nullopt;
  return made;
}

/// The narrowest level that a member or one below it requires.
std::uint32_t domain_walk::narrowest_below(sub_group_row member) const {
  const std::optional<level_ask> ask = ask_of(member);
  std::uint32_t narrowest = ask ? ask->levels.required : topology::root_level;
  const model::sub_info& info = c_.state().subs[member];
  for (sub_group_row child = info.is_set ? info.first_child : no_row; child != no_row;
       child = c_.state().subs[child].next_sibling) {
    narrowest = std::max(narrowest, narrowest_below(child));
  }
  return narrowest;
}

domain_walk::measured domain_walk::measure(sub_group_row member, const topology::domain_tree& tree,
                                           std::span<const pod_row> pods, const nodes_offered& offered) {
  const model::cluster_state& s = c_.state();
  measured made;
  for (const pod_row p : pods) made.kinds.push_back(s.pods[p].pod_class);
  std::sort(made.kinds.begin(), made.kinds.end());
  made.kinds.erase(std::unique(made.kinds.begin(), made.kinds.end()), made.kinds.end());
  std::vector<std::vector<std::int64_t>> requests;
  std::vector<std::int64_t> largest(s.dims(), 0);
  bool gpus = false;
  for (const class_row kind : made.kinds) {
    requests.push_back(request_of_class(c_, kind));
    for (dimension d = 0; d < s.dims(); ++d) largest[d] = std::max(largest[d], requests.back()[d]);
    gpus = gpus || s.classes[kind]->wants_gpu();
  }
  const dimension d = gpus ? dim_gpu : dim_cpu;
  made.need.pods.assign(made.kinds.size(), 0);
  made.first.assign(made.kinds.size(), no_row);
  made.need.count = static_cast<std::int64_t>(pods.size());
  for (const pod_row p : pods) {
    const auto kind = std::lower_bound(made.kinds.begin(), made.kinds.end(), s.pods[p].pod_class);
    const auto k = static_cast<std::size_t>(kind - made.kinds.begin());
    if (made.need.pods[k]++ == 0) made.first[k] = p;
    made.need.amount += s.class_of(p).requests(d);
  }
  made.rooms.resize(tree.domains.size());
  for (topology::domain_room& one : made.rooms) one.pods.assign(made.kinds.size(), 0);
  const std::vector<node_row>& rows = offered.rows.empty() ? tree.domains[topology::root_domain].nodes : offered.rows;
  for (const node_row row : rows) {
    if (tree.leaf[row] == no_row || (!offered.among.empty() && offered.among[row] == 0)) continue;
    if (c_.constraints.closes(group_, row)) continue;
    topology::domain_room& room = made.rooms[tree.leaf[row]];
    std::size_t accepted = 0;
    std::int64_t places = 0;
    for (std::size_t kind = 0; kind < made.kinds.size(); ++kind) {
      if (!c_.choice.accepts(c_, made.kinds[kind], row)) continue;
      places = places_on(c_, row, requests[kind], more_);
      room.pods[kind] += places;
      ++accepted;
    }
    if (accepted == 0) continue;
    if (accepted == made.kinds.size()) room.largest += accepted == 1 ? places : places_on(c_, row, largest, more_);
    const std::size_t at = static_cast<std::size_t>(row) * s.dims() + d;
    const std::int64_t more = more_ == nullptr ? 0 : (*more_)[at];
    room.free += std::max<std::int64_t>(0, (*c_.live.idle)[at] + (*c_.live.releasing)[at] + more);
  }
  for_pod_sets_below(c_, member, [&](sub_group_row sub) {
    for (pod_row p = c_.counts(sub).active_allocated == 0 ? no_row : s.subs[sub].first_pod; p != no_row;
         p = s.pods[p].next) {
      if (!framework::is_active(c_, p) || c_.live.pod_node[p] == no_row) continue;
      const std::uint32_t leaf = tree.leaf[(*s.node_row_of_slot)[c_.live.pod_node[p]]];
      if (leaf != no_row) ++made.rooms[leaf].used;
    }
    return true;
  });
  topology::add_up(tree, made.rooms);
  return made;
}

/// Children that are equal slices, each with a required level of its own, have room beside each other.
bool domain_walk::holds_slices(sub_group_row member, const topology::domain_tree& tree, const measured& what,
                               std::uint32_t domain) const {
  const model::cluster_state& s = c_.state();
  std::map<std::tuple<std::uint32_t, std::size_t, std::int64_t>, std::int64_t> slices;
  for (sub_group_row child = s.subs[member].is_set ? s.subs[member].first_child : no_row; child != no_row;
       child = s.subs[child].next_sibling) {
    const std::optional<level_ask> ask = ask_of(child);
    if (s.subs[child].is_set || !ask || ask->tree != &tree || ask->levels.required <= tree.domains[domain].level ||
        c_.counts(child).active_allocated > 0) {
      continue;
    }
    const std::vector<pod_row> pods = chunk_.below(c_, child);
    if (pods.empty()) continue;
    const class_row kind = s.pods[pods.front()].pod_class;
    if (std::any_of(pods.begin(), pods.end(), [&](pod_row p) { return s.pods[p].pod_class != kind; })) continue;
    const auto at = std::lower_bound(what.kinds.begin(), what.kinds.end(), kind);
    ++slices[{ask->levels.required, static_cast<std::size_t>(at - what.kinds.begin()),
              static_cast<std::int64_t>(pods.size())}];
  }
  return std::all_of(slices.begin(), slices.end(), [&](const auto& one) {
    const auto& [level, kind, pods] = one.first;
    return topology::slices_in(tree, what.rooms, domain, level, kind, pods) >= one.second;
  });
}

nodes_offered domain_walk::nodes_of(const level_ask& ask, const measured& what, std::uint32_t domain,
                                    const nodes_offered& offered) const {
  nodes_offered made;
  made.among.assign(c_.state().node_count(), 0);
  for (const node_row row : ask.tree->domains[domain].nodes) {
    if (!offered.among.empty() && offered.among[row] == 0) continue;
    made.among[row] = 1;
    made.rows.push_back(row);
  }
  const auto add_band = [&](const std::vector<node_row>& nodes) {
    node_band band;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(band),
                 [&](node_row row) { return made.among[row] != 0; });
    if (!band.empty()) made.bands.push_back(std::move(band));
  };
  const std::uint32_t level = ask.tree->domains[domain].level;
  if (ask.levels.preferred != no_row && level < ask.levels.preferred) {
    for (const std::uint32_t one : topology::domains_to_fill(*ask.tree, what.rooms, domain, ask.levels.preferred,
                                                             what.need.count, c_.options.domain_placement)) {
      add_band(ask.tree->domains[one].nodes);
    }
  } else {
    for (const node_band& band : offered.bands) add_band(band);
  }
  return made;
}

void domain_walk::note_shortage(const level_ask& ask, const measured& what) {
  why_ = {};
  why_.group = group_;
  if (ask.levels.required == topology::root_level) return;
  const bool sticks = what.rooms[topology::root_domain].used > 0;
  std::map<std::int64_t, std::uint32_t, std::greater<>> domains;
  for (const std::uint32_t one : ask.tree->by_level[ask.levels.required]) {
    const topology::domain_room& room = what.rooms[one];
    if (!sticks || room.used > 0) ++domains[what.kinds.size() == 1 ? room.pods.front() : not_counted];
  }
  for (const auto& [have, count] : domains) why_.domains.push_back({what.need.count, have, count});
}

domain_walk::domain_choices domain_walk::choices_of(sub_group_row member, const level_ask& ask,
                                                    const nodes_offered& offered) {
  const std::vector<pod_row> pods = chunk_.below(c_, member);
  domain_choices made{member, ask, &offered, measure(member, *ask.tree, pods, offered), {}, 0, {}, {}, false};
  made.domains =
      topology::domains_to_try(*ask.tree, made.what.rooms, ask.levels, made.what.need, c_.options.domain_placement);
  return made;
}

/// How pods of several kinds fill domains is an estimate: they are also tried without that order.
bool domain_walk::is_tried_without_order(const nodes_offered& nodes, const measured& what) {
  return what.kinds.size() > 1 && nodes.bands.size() > 1;
}

/// Made one by one, for mostly the first one will do and each has a mark for every node.
std::optional<nodes_offered> domain_walk::next_of(domain_choices& from) {
  if (from.again) return std::exchange(from.again, std::nullopt);
  std::optional<nodes_offered> made;
  while (!made && from.next < from.domains.size()) {
    const std::uint32_t domain = from.domains[from.next++];
    if (holds_slices(from.member, *from.ask.tree, from.what, domain))
      made = nodes_of(from.ask, from.what, domain, *from.offered);
  }
  if (!made && !from.is_done) {
    from.is_done = true;
    if (from.ask.levels.required == topology::root_level) {
      made = everywhere(from.ask, from.what, *from.offered);
      if (from.last_size && made->rows.size() <= *from.last_size) made.reset();
    } else if (!from.last_size) {
      note_shortage(from.ask, from.what);
    }
  }
  if (!made) return made;
  from.last_size = made->rows.size();
  if (is_tried_without_order(*made, from.what)) {
    from.again = made;
    from.again->bands.clear();
  }
  return made;
}

/// All nodes, those that are in no domain last: a preferred level keeps nobody from anywhere.
nodes_offered domain_walk::everywhere(const level_ask& ask, const measured& what, const nodes_offered& offered) const {
  nodes_offered made = nodes_of(ask, what, topology::root_domain, offered);
  node_band outside;
  for (node_row row = 0; row < c_.state().node_count(); ++row) {
    if (ask.tree->leaf[row] != no_row || (!offered.among.empty() && offered.among[row] == 0)) continue;
    made.among[row] = 1;
    made.rows.push_back(row);
    outside.push_back(row);
  }
  if (!outside.empty()) made.bands.push_back(std::move(outside));
  return made;
}

// ---- levels with shapes ------------------------------------------------------------------------------------------

/// The required level has a shape, or a preferred one or one between.
bool domain_walk::has_shape(const level_ask& ask) {
  if (ask.tree->grids.empty()) return false;
  for (std::uint32_t level = ask.levels.required; level <= ask.levels.narrowest(); ++level) {
    if (ask.tree->grid_of(level) != nullptr) return true;
  }
  return false;
}

/// Nodes with pods of the member, as marks by node.
std::vector<std::uint8_t> domain_walk::nodes_in_use(sub_group_row member) const {
  const model::cluster_state& s = c_.state();
  std::vector<std::uint8_t> in_use(s.node_count(), 0);
  for_pod_sets_below(c_, member, [&](sub_group_row sub) {
    for (pod_row p = c_.counts(sub).active_allocated == 0 ? no_row : s.subs[sub].first_pod; p != no_row;
         p = s.pods[p].next) {
      const std::uint32_t slot = c_.live.pod_node[p];
      if (framework::is_active(c_, p) && slot != no_row) in_use[(*s.node_row_of_slot)[slot]] = 1;
    }
    return true;
  });
  return in_use;
}

/// How many pods of each kind fit on a node. Pods of a kind that keep each other away fit once.
std::vector<std::int64_t> domain_walk::places_of_kinds(const measured& what, node_row row) const {
  const model::cluster_state& s = c_.state();
  std::vector<std::int64_t> places(what.kinds.size(), 0);
  if (c_.constraints.closes(group_, row)) return places;
  for (std::size_t kind = 0; kind < what.kinds.size(); ++kind) {
    if (!c_.choice.accepts(c_, what.kinds[kind], row)) continue;
    places[kind] = places_on(c_, row, request_of_class(c_, what.kinds[kind]), more_);
    const model::pod_class& ask = *s.classes[what.kinds[kind]];
    if (c_.has_predicates && (!ask.host_ports.empty() || keeps_its_like_away(c_, what.first[kind], row)))
      places[kind] = std::min<std::int64_t>(places[kind], 1);
  }
  return places;
}

/// Pieces of domains of the level, made of nodes of these domains, which are of that level or narrower ones.
topology::piece_search domain_walk::pieces_in(const level_ask& ask, std::uint32_t level, sub_group_row member,
                                              const measured& what, std::span<const std::uint32_t> domains,
                                              const nodes_offered& offered) const {
  const topology::domain_tree& tree = *ask.tree;
  const topology::level_grid& grid = *tree.grid_of(level);
  const std::size_t kinds = what.kinds.size();
  const std::vector<std::uint8_t> in_use =
      what.rooms[topology::root_domain].used > 0 ? nodes_in_use(member) : std::vector<std::uint8_t>{};
  std::vector<topology::piece_domain> found;
  for (const std::uint32_t narrow : domains) {
    std::uint32_t wide = narrow;
    while (tree.domains[wide].level > level) wide = tree.domains[wide].parent;
    topology::piece_domain made{narrow, what.rooms[narrow].used, {}, {}};
    std::uint32_t cells = 0;
    bool lost = false;  // pods of the member are in no position
    for (const node_row row : tree.domains[wide].nodes) {
      if (grid.cell[row] != model::no_cell) cells = std::max(cells, grid.cell[row] + 1);
      lost = lost || (grid.cell[row] == model::no_cell && !in_use.empty() && in_use[row] != 0);
    }
    if (cells == 0 || lost) continue;
    if (grid.shape.kind != model::shape_kind::block) cells = grid.shape.positions();
    made.cells.resize(cells);
    made.room.assign(cells * kinds, 0);
    for (const node_row row : tree.domains[wide].nodes) {
      if (grid.cell[row] == model::no_cell) continue;
      topology::piece_cell& cell = made.cells[grid.cell[row]];
      cell.node = row;
      cell.cost = victims_ != nullptr ? (*victims_)[row] : 0;
      cell.used = !in_use.empty() && in_use[row] != 0;
      cell.open = cell.used;
      if (!offered.among.empty() && offered.among[row] == 0) continue;
      if (wide != narrow && tree.domain_of(row, tree.domains[narrow].level) != narrow) continue;
      const std::vector<std::int64_t> places = places_of_kinds(what, row);
      std::copy(places.begin(), places.end(), made.room.begin() + static_cast<std::ptrdiff_t>(grid.cell[row] * kinds));
      cell.open = cell.open || std::any_of(places.begin(), places.end(), [](std::int64_t one) { return one > 0; });
    }
    found.push_back(std::move(made));
  }
  return {grid.shape, std::move(found), what.need, c_.options.domain_placement};
}

/// Pods take the nodes of a piece from its first position on, so that neighbours in the order of pods are neighbours
/// there.
nodes_offered one_by_one(std::span<const node_row> nodes, std::size_t node_count) {
  nodes_offered made{node_set(node_count, 0), {nodes.begin(), nodes.end()}, {}};
  for (const node_row row : nodes) {
    made.among[row] = 1;
    made.bands.push_back({row});
  }
  return made;
}

result<bool> domain_walk::place_in_pieces(const agenda& todo, const level_ask& ask) {
  result<bool> planned = place_as_planned(todo);
  if (!planned || *planned || (plans(todo) && steps_left_ <= 0)) return planned;
  const topology::domain_tree& tree = *ask.tree;
  const nodes_offered& offered = *todo.offered;
  const measured what = measure(todo.member, tree, chunk_.below(c_, todo.member), offered);
  const std::uint32_t start = c_.statement.depth();
  std::int64_t tried = 0;
  bool first = true;
  bool ends = false;
  // Each way to choose nodes is tried at least once.
  const auto attempt = [&](const nodes_offered& nodes) -> result<bool> {
    ends = !first && steps_left_ <= 0;
    if (ends) return false;
    first = false;
    --steps_left_;
    ++tried;
    result<bool> placed = place_on(todo, nodes);
    if (placed && *placed) remember(todo.member, nodes);
    if (placed && !*placed) c_.statement.rollback(start);
    return placed;
  };
  const auto attempt_both_ways = [&](nodes_offered nodes) -> result<bool> {
    result<bool> placed = attempt(nodes);
    if (!placed || *placed || ends || !is_tried_without_order(nodes, what)) return placed;
    nodes.bands.clear();
    return attempt(nodes);
  };
  const bool must_fit = tree.grid_of(ask.levels.required) != nullptr;
  const std::vector<std::uint32_t> domains =
      topology::domains_to_try(tree, what.rooms, ask.levels, what.need, c_.options.domain_placement);
  for (auto from = domains.begin(); from != domains.end();) {
    const std::uint32_t level = tree.domains[*from].level;
    const auto to =
        std::find_if(from, domains.end(), [&](std::uint32_t one) { return tree.domains[one].level != level; });
    std::vector<std::uint32_t> here;
    std::copy_if(from, to, std::back_inserter(here),
                 [&](std::uint32_t one) { return holds_slices(todo.member, tree, what, one); });
    from = to;
    const std::uint32_t shaped = must_fit ? ask.levels.required : level;
    if (tree.grid_of(shaped) != nullptr) {
      topology::piece_search search = pieces_in(ask, shaped, todo.member, what, here, offered);
      topology::piece one;
      first = true;
      for (ends = false; !ends && search.next(one);) {
        nodes_offered nodes = one_by_one(one.nodes, c_.state().node_count());
        result<bool> placed = attempt(nodes);
        if (!placed || *placed) return placed;
        if (ends || what.kinds.size() == 1) continue;
        nodes.bands.clear();  // the order of positions may be a bad one for pods of several kinds
        placed = attempt(nodes);
        if (!placed || *placed) return placed;
      }
    }
    if (must_fit) continue;
    first = true;
    for (const std::uint32_t one : here) {
      result<bool> placed = attempt_both_ways(nodes_of(ask, what, one, offered));
      if (!placed || *placed) return placed;
      if (ends) break;
    }
  }
  if (ask.levels.required == topology::root_level) {
    first = true;
    return attempt_both_ways(everywhere(ask, what, offered));
  }
  if (tried == 0 && must_fit) {
    note_small_pieces(ask, todo.member, what, offered);
  } else if (tried == 0) {
    note_shortage(ask, what);
  } else if (ends) {
    why_.pieces_tried = tried;
  }
  return false;
}

bool domain_walk::requires_shape(sub_group_row member) const {
  const std::optional<level_ask> ask = ask_of(member);
  return ask && ask->tree->grid_of(ask->levels.required) != nullptr;
}

/// A member that requires a level, and domains of the level that have room for its pods.
domain_walk::holder domain_walk::holder_of(sub_group_row member, level_ask ask, const nodes_offered& offered) {
  ask.levels.preferred = no_row;
  const measured what = measure(member, *ask.tree, chunk_.below(c_, member), offered);
  holder made{member, ask, std::vector<std::uint8_t>(ask.tree->domains.size(), 0)};
  for (const std::uint32_t one :
       topology::domains_to_try(*ask.tree, what.rooms, ask.levels, what.need, c_.options.domain_placement)) {
    made.has_room[one] = 1;
  }
  return made;
}

/// The domain of the holder that the piece is in; no_row: none that has room.
std::uint32_t domain_walk::home_of(const holder& above, const std::vector<node_row>& piece) {
  const topology::domain_tree& tree = *above.ask.tree;
  std::uint32_t home = no_row;
  for (const node_row row : piece) {
    if (tree.leaf[row] == no_row) return no_row;
    const std::uint32_t one = tree.domain_of(row, above.ask.levels.required);
    if (above.has_room[one] == 0 || (home != no_row && home != one)) return no_row;
    home = one;
  }
  return home;
}

offered_pieces domain_walk::pieces_with(std::span<const pod_row> chunk, const std::vector<std::int64_t>& more,
                                        const std::vector<std::uint32_t>& victims, std::size_t most) {
  chunk_ = chunk_members(c_, chunk);
  more_ = &more;
  victims_ = &victims;
  nodes_offered everything;
  if (how_.among != nullptr) everything.among = *how_.among;
  const model::group_core& g = c_.state().groups[group_];
  using likeness = std::tuple<sub_group_row, const topology::domain_tree*, std::uint32_t, std::vector<class_row>>;
  std::map<likeness, std::size_t> known;
  std::vector<members_alike> found;
  std::vector<holder> holders;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const std::optional<level_ask> ask = ask_of(sub);
    std::vector<pod_row> pods = chunk_.below(c_, sub);
    // Inside of a piece of another member that one decides who has to leave.
    if (!ask || !requires_shape(sub) || pods.empty() || !add_holders(sub, everything, holders)) continue;
    if (!has_nodes(sub)) {
      std::vector<class_row> kinds;
      kinds.reserve(pods.size());
      for (const pod_row p : pods) kinds.push_back(c_.state().pods[p].pod_class);
      std::sort(kinds.begin(), kinds.end());
      const auto [at, is_new] = known.try_emplace(
          {c_.state().subs[sub].parent, ask->tree, ask->levels.required, std::move(kinds)}, found.size());
      if (!is_new) found[at->second].members.push_back(sub);
      if (!is_new) continue;
    }
    found.push_back({{sub}, std::move(pods), {}, false});
  }
  for (members_alike& one : found) {
    add_pieces(everything, holders, std::max<std::size_t>(1, most / found.size()), one);
  }
  offered_pieces made{std::move(found), {}};
  for (const holder& one : holders) made.holders.emplace_back(one.member, one.ask.tree);
  return made;
}

/// Members above with a required level of their own. False: one of them requires a shape.
bool domain_walk::add_holders(sub_group_row member, const nodes_offered& offered, std::vector<holder>& to) {
  std::vector<sub_group_row> above;
  for (sub_group_row up = c_.state().subs[member].parent; up != no_row; up = c_.state().subs[up].parent) {
    if (requires_shape(up)) return false;
    const std::optional<level_ask> ask = ask_of(up);
    if (ask && ask->levels.required != topology::root_level) above.push_back(up);
  }
  for (const sub_group_row up : above) {
    const bool is_known = std::any_of(to.begin(), to.end(), [&](const holder& h) { return h.member == up; });
    if (is_known) continue;
    if (const std::optional<level_ask> ask = ask_of(up)) to.push_back(holder_of(up, *ask, offered));
  }
  return true;
}

/// Some pod below the member is on a node.
bool domain_walk::has_nodes(sub_group_row member) const {
  bool any = false;
  for_pod_sets_below(c_, member, [&](sub_group_row one) {
    any = c_.counts(one).active_allocated > 0;
    return !any;
  });
  return any;
}

/// The first pieces for members alike, as many as `most`, that lie in domains of the holders above them.
void domain_walk::add_pieces(const nodes_offered& offered, std::span<const holder> holders, std::size_t most,
                             members_alike& to) {
  const sub_group_row member = to.members.front();
  const std::optional<level_ask> asked = ask_of(member);
  if (!asked) return;
  level_ask ask = *asked;
  ask.levels.preferred = no_row;
  const measured what = measure(member, *ask.tree, to.pods, offered);
  const std::vector<std::uint32_t> domains =
      topology::domains_to_try(*ask.tree, what.rooms, ask.levels, what.need, c_.options.domain_placement);
  topology::piece_search search = pieces_in(ask, ask.levels.required, member, what, domains, offered);
  for (topology::piece one; search.next(one);) {
    if (to.pieces.size() == most) {
      to.has_more = true;
      return;
    }
    offered_piece made{std::move(one.nodes), {}};
    bool has_home = true;
    for (const holder& above : holders) {
      const bool is_held = is_below(c_, member, above.member);
      made.homes.push_back(is_held ? home_of(above, made.nodes) : no_row);
      has_home = has_home && (!is_held || made.homes.back() != no_row);
    }
    if (!has_home) continue;
    to.pieces.push_back(std::move(made));
  }
}

/// For each domain what the largest of its pieces has room for. Nobody asks that in a simulation.
void domain_walk::note_small_pieces(const level_ask& ask, sub_group_row member, const measured& what,
                                    const nodes_offered& offered) {
  why_ = {};
  why_.group = group_;
  if (how_.only_claims) return;
  const bool sticks = what.rooms[topology::root_domain].used > 0;
  const std::vector<std::uint32_t>& all = ask.tree->by_level[ask.levels.required];
  std::vector<std::uint32_t> domains;
  std::copy_if(all.begin(), all.end(), std::back_inserter(domains),
               [&](std::uint32_t one) { return !sticks || what.rooms[one].used > 0; });
  const topology::piece_search search = pieces_in(ask, ask.levels.required, member, what, domains, offered);
  std::map<std::int64_t, std::uint32_t, std::greater<>> counts;
  for (std::size_t i = 0; i < search.domains().size(); ++i) {
    ++counts[what.kinds.size() == 1 ? search.most_in(i) : not_counted];
  }
  const auto without = static_cast<std::uint32_t>(domains.size() - search.domains().size());
  if (without > 0) counts[what.kinds.size() == 1 ? 0 : not_counted] += without;
  for (const auto& [have, count] : counts) why_.domains.push_back({what.need.count, have, count});
}

}  // namespace kaisched::actions
