#include "conformance/kai_topology_calls.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "conformance/json_values.hpp"
#include "policy/topology/kai_domains.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
namespace topology = policy::topology;

/// Names of things as numbers, in the order in which they come up.
class numbered {
 public:
  std::uint32_t number(const std::string& name) {
    const auto [at, fresh] = known_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return at->second;
  }
  [[nodiscard]] const std::string& name(std::uint32_t number) const { return names_.at(number); }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::map<std::string, std::uint32_t> known_;
  std::vector<std::string> names_;
};

/// The nodes, resources and levels that a call names.
struct call_names {
  call_names() {
    for (const char* resource : {"cpu_milli", "memory", "gpu", "pods"}) resources.number(resource);
  }
  topology::amounts amounts_of(const json& record) {
    topology::amounts made(resources.size(), 0);
    for (const auto& [resource, amount] : record.items()) {
      const std::uint32_t d = resources.number(resource);
      if (made.size() <= d) made.resize(std::size_t{d} + 1, 0);
      made[d] = amount.get<double>();
    }
    return made;
  }
  numbered resources;
  numbered nodes;
  numbered levels;  ///< of a tree that a call gives as it is; a level's number is one more
};

std::uint32_t level_or_none(const std::vector<std::string>& levels, const std::string& name) {
  if (name.empty()) return no_row;
  const auto at = std::find(levels.begin(), levels.end(), name);
  return at == levels.end() ? topology::unknown_level : static_cast<std::uint32_t>(at - levels.begin()) + 1;
}

topology::level_constraint constraint_of(const json& in, const std::vector<std::string>& levels) {
  const json& asked = member(in.at("sub_group"), "constraint");
  return {level_or_none(levels, text_or_empty(asked, "required")),
          level_or_none(levels, text_or_empty(asked, "preferred"))};
}

std::vector<std::string> levels_of(const json& record) {
  std::vector<std::string> levels;
  for (const json& level : items(record, "levels")) levels.push_back(level.get<std::string>());
  return levels;
}

// ---- trees ---------------------------------------------------------------------------------------------

struct recorded_tree {
  topology::domain_tree tree;
  topology::domain_counts counts;
  std::vector<topology::amounts> free;
};

void add_domain(call_names& names, recorded_tree& to, const json& record) {
  topology::domain made{record.at("id").get<std::string>(), 0, no_row, true, {}};
  for (const json& node : items(record, "nodes")) made.nodes.push_back(names.nodes.number(node.get<std::string>()));
  to.tree.domains.push_back(std::move(made));
  to.tree.children.emplace_back();
  to.free.push_back(names.amounts_of(items(record, "free")));
  to.counts.pods.push_back(value_or(record, "allocatable_pods", std::int64_t{0}));
}

void finish(call_names& names, recorded_tree& made) {
  made.counts.dimensions = names.resources.size();
  for (topology::amounts& one : made.free) {
    one.resize(names.resources.size(), 0);
    made.counts.free.insert(made.counts.free.end(), one.begin(), one.end());
  }
  topology::rank_domains(made.tree);
}

/// A domain with its children. Its levels are those that come up.
void add_subtree(call_names& names, recorded_tree& to, const json& record) {
  const auto own = static_cast<std::uint32_t>(to.tree.domains.size());
  add_domain(names, to, record);
  to.tree.domains[own].level = names.levels.number(record.at("level").get<std::string>()) + 1;
  for (const json& child : items(record, "children")) {
    to.tree.children[own].push_back(static_cast<std::uint32_t>(to.tree.domains.size()));
    add_subtree(names, to, child);
  }
}

/// Domains by the key under which the tree lists them; two keys may name one domain.
struct keyed_tree : recorded_tree {
  std::map<std::string, std::uint32_t> domain_of;
};

keyed_tree keyed_tree_of(call_names& names, const json& record) {
  keyed_tree made;
  made.tree.name = text_or_empty(record, "name");
  made.tree.levels = levels_of(record);
  made.tree.by_level.resize(made.tree.levels.size() + 1);
  std::vector<const json*> all;
  for (const json& one : items(record, "domains")) all.push_back(&one);
  // The root is the first domain.
  std::stable_partition(all.begin(), all.end(), [](const json* one) { return (*one).at("key") == "root/root"; });
  if (all.empty() || all.front()->at("key") != "root/root") {
    add_domain(names, made, {{"id", "root"}, {"allocatable_pods", topology::not_counted}});
  }
  std::map<json, std::uint32_t> known;
  std::map<std::string, std::uint32_t> own;
  std::vector<std::pair<std::uint32_t, const json*>> fresh;
  for (const json* one : all) {
    json without_key = *one;
    without_key.erase("key");
    const std::string level = one->at("level").get<std::string>();
    const auto [at, first] =
        known.try_emplace(std::move(without_key), static_cast<std::uint32_t>(made.tree.domains.size()));
    if (first) {
      add_domain(names, made, *one);
      const std::uint32_t number = level_or_none(made.tree.levels, level);
      made.tree.domains.back().level = number == topology::unknown_level ? topology::root_level : number;
      own[level + "/" + one->at("id").get<std::string>()] = at->second;
      fresh.emplace_back(at->second, one);
    }
    const std::string key = one->at("key").get<std::string>();
    made.domain_of[key] = at->second;
    const std::string listed = key.substr(0, key.rfind('/'));
    const std::uint32_t number = listed == "root" ? topology::root_level : level_or_none(made.tree.levels, listed);
    if (number < made.tree.by_level.size()) made.tree.by_level[number].push_back(at->second);
  }
  for (const auto& [domain, one] : fresh) {
    for (const json& child : items(*one, "children")) {
      made.tree.children[domain].push_back(own.at(child.get<std::string>()));
    }
  }
  topology::rank_domains(made.tree);
  return made;
}

std::string key_of(const topology::domain_tree& tree, std::uint32_t domain) {
  const topology::domain& one = tree.domains[domain];
  return (one.level == topology::root_level ? std::string("root") : tree.levels[one.level - 1]) + "/" + one.id;
}

// ---- nodes and pods --------------------------------------------------------------------------------------

struct recorded_rooms {
  std::map<std::uint32_t, topology::amounts> free;
  std::map<std::uint32_t, double> shared;

  [[nodiscard]] std::vector<topology::node_room> by_node(std::size_t nodes) const {
    std::vector<topology::node_room> rooms(nodes);
    for (const auto& [row, amounts] : free) rooms[row] = {amounts, shared.at(row)};
    return rooms;
  }
};

recorded_rooms rooms_of(call_names& names, const json& in) {
  recorded_rooms rooms;
  for (const json& node : items(in, "nodes")) {
    const std::uint32_t row = names.nodes.number(name_of(node));
    topology::amounts free = names.amounts_of(items(node, "idle"));
    const topology::amounts releasing = names.amounts_of(items(node, "releasing"));
    free.resize(names.resources.size(), 0);
    for (std::size_t d = 0; d < releasing.size(); ++d) free[d] += releasing[d];
    rooms.free[row] = std::move(free);
    rooms.shared[row] = value_or(node, "shared_gpu_room", 0.0);
  }
  return rooms;
}

topology::pods_ask asks_of(call_names& names, const json& in) {
  std::vector<topology::pod_ask> pods;
  for (const json& task : items(in, "tasks")) {
    topology::pod_ask one{names.amounts_of(items(task, "request")), 0};
    one.gpus = value_or(task, "gpus", one.request[dim_gpu]);
    pods.push_back(std::move(one));
  }
  return {pods, names.resources.size()};
}

/// The tree that the labels of the nodes make. A node without labels is in none.
topology::domain_tree labelled_tree(call_names& names, const json& in, const std::vector<std::string>& levels) {
  std::map<std::uint32_t, const json*> nodes;
  for (const json& node : items(in, "nodes")) nodes[names.nodes.number(name_of(node))] = &node;
  topology::tree_builder builder("", levels, topology::domain_key::joined);
  for (const auto& [row, node] : nodes) {
    std::vector<std::string> texts;
    for (const std::string& level : levels) texts.push_back(text_or_empty(items(*node, "labels"), level));
    std::vector<const std::string*> values;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      values.push_back(has(items(*node, "labels"), levels[i]) ? &texts[i] : nullptr);
    }
    builder.add(row, values);
  }
  return builder.finish(names.nodes.size());
}

bool is_active(const json& task) {
  static const std::set<std::string> active{"Allocated", "Pipelined", "Binding", "Bound", "Running"};
  return active.contains(text_or_empty(task, "status"));
}

std::vector<node_row> nodes_in_use(call_names& names, const json& in) {
  std::vector<node_row> rows;
  for (const json& pod_set : items(in, "pod_sets")) {
    for (const json& task : items(pod_set, "tasks")) {
      if (is_active(task)) rows.push_back(names.nodes.number(text_or_empty(task, "node")));
    }
  }
  return rows;
}

json ids_of(const topology::domain_tree& tree, const std::vector<std::uint32_t>& domains) {
  std::vector<std::string> ids;
  for (const std::uint32_t one : domains) ids.push_back(tree.domains[one].id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

json order_of(const call_names& names, const recorded_tree& of, const topology::child_lists& children,
              std::uint32_t domain) {
  json below = json::array();
  for (const std::uint32_t child : children[domain]) below.push_back(order_of(names, of, children, child));
  return {{"id", of.tree.domains[domain].id},
          {"level", names.levels.name(of.tree.domains[domain].level - 1)},
          {"children", std::move(below)}};
}

json room_of(const call_names& names, const recorded_tree& of, std::uint32_t domain) {
  json made = order_of(names, of, topology::child_lists(of.tree.children.size()), domain);
  made["allocatable_pods"] = of.counts.pods[domain];
  for (const std::uint32_t child : of.tree.children[domain]) made["children"].push_back(room_of(names, of, child));
  return made;
}

/// A recorded domain with some of its members.
json trimmed(const json& record, const std::vector<std::string>& kept, bool ordered) {
  json made;
  for (const std::string& key : kept) made[key] = record.at(key);
  made["children"] = json::array();
  for (const json& child : items(record, "children")) made["children"].push_back(trimmed(child, kept, ordered));
  if (!ordered) {
    std::sort(made["children"].begin(), made["children"].end(),
              [](const json& a, const json& b) { return a.at("id") < b.at("id"); });
  }
  return made;
}

}  // namespace

// ---- the functions, in -> out ------------------------------------------------------------------------------

json topology_lowest_common_domain(const json& in) {
  call_names names;
  const topology::domain_tree tree = labelled_tree(names, in, levels_of(in));
  std::vector<node_row> rows;
  std::vector<std::string> valid;
  for (const json& node : items(in, "nodes")) {
    rows.push_back(names.nodes.number(name_of(node)));
    if (tree.leaf[rows.back()] != no_row) valid.push_back(name_of(node));
  }
  std::sort(valid.begin(), valid.end());
  const std::uint32_t preferred = level_or_none(tree.levels, text_or_empty(in.at("constraint"), "preferred"));
  const std::uint32_t common = topology::common_domain(tree, rows, preferred);
  const topology::domain& found = tree.domains[common];
  return {{"id", found.id},
          {"level", found.level == topology::root_level ? "root" : tree.levels[found.level - 1]},
          {"valid_nodes", valid}};
}

json topology_relevant_levels(const json& in) {
  const std::vector<std::string> levels = levels_of(in.at("topology"));
  json found = json::array();
  for (const std::uint32_t level : topology::levels_to_try(levels.size(), constraint_of(in, levels))) {
    found.push_back(level == topology::root_level ? "root" : levels[level - 1]);
  }
  const bool wrong = found.empty();
  return {{"levels", std::move(found)}, {"error", wrong}};
}

json topology_job_allocatable_domains(const json& in) {
  call_names names;
  keyed_tree where = keyed_tree_of(names, in.at("topology"));
  const topology::amounts total = names.amounts_of(in.at("tasks_resources"));
  const std::vector<node_row> used = nodes_in_use(names, in);
  finish(names, where);
  const topology::level_constraint asked = constraint_of(in, where.tree.levels);
  const bool wrong = topology::levels_to_try(where.tree.levels.size(), asked).empty();
  const topology::found_domains found = topology::domains_that_hold(
      where.tree, asked, total, in.at("tasks_count").get<std::size_t>(), used, where.counts);
  std::vector<std::string> keys;
  for (const std::uint32_t one : found.domains) keys.push_back(key_of(where.tree, one));
  std::sort(keys.begin(), keys.end());
  json problems = ids_of(where.tree, found.too_small);
  if (keys.empty() && !wrong) problems.insert(problems.begin(), "");
  return {{"domains", keys}, {"error", wrong}, {"problems", problems}};
}

json topology_subset_nodes(const json& in) {
  call_names names;
  const json& constraint = member(in.at("sub_group"), "constraint");
  const std::string wanted = text_or_empty(constraint, "topology");
  const std::vector<std::string> offered = in.at("node_set").get<std::vector<std::string>>();
  json answer{
      {"node_sets", json::array()}, {"node_scores", json::object()}, {"error", false}, {"problems", json::array()}};
  const auto everything = [&] {
    std::vector<std::string> sorted = offered;
    std::sort(sorted.begin(), sorted.end());
    answer["node_sets"].push_back(sorted);
    return answer;
  };
  if (wanted.empty()) return everything();
  const json* record = nullptr;
  for (const json& one : items(in, "topologies")) record = text_or_empty(one, "name") == wanted ? &one : record;
  if (record == nullptr) {
    answer["problems"].push_back("");
    return answer;
  }
  if (items(in, "tasks").empty()) return everything();
  const recorded_rooms rooms = rooms_of(names, in);
  keyed_tree where = keyed_tree_of(names, *record);
  const topology::domain_tree labelled = labelled_tree(names, in, where.tree.levels);
  const topology::level_constraint asked = constraint_of(in, where.tree.levels);
  std::vector<node_row> rows;
  for (const std::string& node : offered) rows.push_back(names.nodes.number(node));
  const std::uint32_t shared = topology::common_domain(labelled, rows, asked.preferred);
  const auto common = where.domain_of.find(key_of(labelled, shared));
  if (common == where.domain_of.end()) {
    answer["error"] = true;
    return answer;
  }
  const std::vector<node_row> used = nodes_in_use(names, in);
  const topology::pods_ask pods = asks_of(names, in);
  const topology::domain_choice made =
      topology::choose_domains(where.tree, common->second, asked, pods, used, rooms.by_node(names.nodes.size()));
  for (const std::uint32_t one : made.domains) {
    std::vector<std::string> set;
    for (const node_row row : where.tree.domains[one].nodes) {
      const bool open = labelled.leaf[row] != no_row && std::find(rows.begin(), rows.end(), row) != rows.end();
      if (open) set.push_back(names.nodes.name(row));
    }
    std::sort(set.begin(), set.end());
    answer["node_sets"].push_back(set);
  }
  answer["error"] = made.is_wrong;
  answer["problems"] = ids_of(where.tree, made.too_small);
  if (made.domains.empty() && !made.is_wrong) answer["problems"].insert(answer["problems"].begin(), "");
  if (asked.preferred != no_row && !made.common_is_full) {
    json& scores = answer["node_scores"][text_or_empty(in.at("sub_group"), "name")] = json::object();
    for (const topology::scored_domain& one : made.scores) {
      for (const node_row row : where.tree.domains[one.domain].nodes) scores[names.nodes.name(row)] = one.score;
    }
  }
  return answer;
}

json topology_tree_allocatable(const json& in) {
  if (in.at("domain").is_null()) return {{"domain", nullptr}, {"error", false}};
  call_names names;
  recorded_tree where;
  add_subtree(names, where, in.at("domain"));
  const recorded_rooms rooms = rooms_of(names, in);
  const topology::pods_ask pods = asks_of(names, in);
  topology::count_pods(where.tree, topology::root_domain, rooms.by_node(names.nodes.size()), pods, where.counts);
  return {{"domain", trimmed(room_of(names, where, topology::root_domain), {"id", "level", "allocatable_pods"}, false)},
          {"error", false}};
}

json topology_sort_tree(const json& in) {
  if (in.at("domain").is_null()) return {{"domain", nullptr}};
  call_names names;
  recorded_tree where;
  add_subtree(names, where, in.at("domain"));
  const topology::amounts total = names.amounts_of(in.at("tasks_resources"));
  finish(names, where);
  topology::child_lists children = where.tree.children;
  const std::string deepest = text_or_empty(in, "max_depth_level");
  if (!deepest.empty()) {
    const std::uint32_t level = names.levels.number(deepest) + 1;
    for (std::uint32_t one = 0; one < children.size(); ++one) {
      if (where.tree.domains[one].level <= level)
        topology::sort_children(where.tree, children[one], total, where.counts);
    }
  }
  return {{"domain", order_of(names, where, children, topology::root_domain)}};
}

json topology_node_scores(const json& in) {
  call_names names;
  recorded_tree where;
  add_subtree(names, where, in.at("domain"));
  json scores = json::object();
  const std::uint32_t preferred = names.levels.number(text_or_empty(in, "preferred_level")) + 1;
  for (const topology::scored_domain& one : topology::domain_scores(
           topology::domains_of_level(where.tree, where.tree.children, topology::root_domain, preferred))) {
    for (const node_row row : where.tree.domains[one.domain].nodes) scores[names.nodes.name(row)] = one.score;
  }
  return {{"scores", scores}};
}

json topology_reverse_level_order(const json& in) {
  json order = json::array();
  if (in.at("domain").is_null()) return {{"order", order}};
  call_names names;
  recorded_tree where;
  add_subtree(names, where, in.at("domain"));
  for (const std::uint32_t one : topology::bottom_up_order(where.tree.children, topology::root_domain)) {
    const topology::domain& domain = where.tree.domains[one];
    order.push_back(names.levels.name(domain.level - 1) + "/" + domain.id);
  }
  return {{"order", order}};
}

// ---- records that lack something ---------------------------------------------------------------------------------

bool is_complete_topology_call(const json& one) {
  const json& in = one.at("in");
  if (one.at("kind") == "topology_job_allocatable_domains") {
    call_names names;
    const auto unnamed = [](const json& domain) {
      const json& nodes = items(domain, "nodes");
      return std::find(nodes.begin(), nodes.end(), json("")) != nodes.end();
    };
    const json& domains = items(in.at("topology"), "domains");
    return nodes_in_use(names, in).empty() || std::none_of(domains.begin(), domains.end(), unnamed);
  }
  if (one.at("kind") != "topology_tree_allocatable") return true;
  const json& tasks = items(in, "tasks");
  const json& nodes = items(in, "nodes");
  const bool some_share = std::any_of(tasks.begin(), tasks.end(), [](const json& task) {
    const double gpus = value_or(task, "gpus", value_or(items(task, "request"), "gpu", 0.0));
    return gpus > 0 && gpus < 1;
  });
  return !some_share || std::none_of(nodes.begin(), nodes.end(), [](const json& node) {
    const double free = value_or(items(node, "idle"), "gpu", 0.0) + value_or(items(node, "releasing"), "gpu", 0.0);
    return free < value_or(items(node, "allocatable"), "gpu", 0.0) && !has(node, "shared_gpu_room");
  });
}

// ---- recorded answers ----------------------------------------------------------------------------------------

json comparable_topology(json out) {
  if (out.contains("error")) out["error"] = !out["error"].is_null() && out["error"] != "";
  if (out.contains("fit_errors")) {
    static const std::regex domain("^<([^>]*)>: ");
    std::vector<std::string> problems;
    for (const json& text : items(out, "fit_errors")) {
      const std::string message = text.get<std::string>();
      std::smatch found;
      problems.push_back(std::regex_search(message, found, domain) ? found[1].str() : "");
    }
    std::sort(problems.begin(), problems.end());
    out.erase("fit_errors");
    out["problems"] = problems;
  }
  if (out.contains("domains")) {
    std::vector<std::string> domains = items(out, "domains").get<std::vector<std::string>>();
    std::sort(domains.begin(), domains.end());
    out["domains"] = domains;
  }
  for (const char* listed : {"levels", "order", "node_sets"}) {
    if (out.contains(listed) && out[listed].is_null()) out[listed] = json::array();
  }
  return out;
}

json comparable_room(json out) {
  out = comparable_topology(std::move(out));
  if (!out["domain"].is_null()) out["domain"] = trimmed(out["domain"], {"id", "level", "allocatable_pods"}, false);
  return out;
}

json comparable_order(json out) {
  if (!out["domain"].is_null()) out["domain"] = trimmed(out["domain"], {"id", "level"}, true);
  return out;
}

}  // namespace kaisched::conformance
