// Tables of Volcano about hypernodes: how they form trees, and which of them a gang may use.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_records.hpp"
#include "policy/topology/network_domains.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
using name_set = std::set<std::string, std::less<>>;
using nodes_by_domain = std::map<std::string, name_set, std::less<>>;

/// The nodes that a selector of members takes.
std::vector<std::string> selected_nodes(const json& selector, const json& nodes) {
  name_set found;
  const std::string exact = text_or_empty(member(selector, "exactMatch"), "name");
  if (!exact.empty()) found.insert(exact);
  if (has(selector, "regexMatch")) {
    const std::regex pattern(text_or_empty(member(selector, "regexMatch"), "pattern"));
    for (const json& node : nodes) {
      const std::string name = name_of(member(node, "metadata"));
      if (std::regex_search(name, pattern)) found.insert(name);
    }
  }
  const json& labels = member(selector, "labelMatch");
  if (!items(labels, "matchLabels").empty() || !items(labels, "matchExpressions").empty()) {
    const model::selector by = volcano_selector(labels);
    for (const json& node : nodes) {
      if (by.matches(volcano_labels(node))) found.insert(name_of(member(node, "metadata")));
    }
  }
  return {found.begin(), found.end()};
}

policy::domain_declaration declaration_of(const json& object, const json& nodes) {
  policy::domain_declaration made;
  made.name = name_of(member(object, "metadata"));
  made.tier = value_or<std::int64_t>(member(object, "spec"), "tier", 0);
  for (const json& one : items(member(object, "spec"), "members")) {
    const json& selector = member(one, "selector");
    if (text_or_empty(one, "type") == "Node") {
      for (std::string& node : selected_nodes(selector, nodes)) made.nodes.push_back(std::move(node));
    } else if (std::string name = text_or_empty(member(selector, "exactMatch"), "name"); !name.empty()) {
      made.domains.push_back(std::move(name));
    }
  }
  return made;
}

std::vector<policy::domain_declaration> declarations_of(const json& objects, const json& nodes) {
  std::vector<policy::domain_declaration> made;
  for (const json& object : objects) made.push_back(declaration_of(object, nodes));
  return made;
}

volcano_difference check_members(const json& one) {
  const json& input = volcano_input(one);
  return compare_names(one.at("expected").at("result"),
                       selected_nodes(member(input, "selector"), items(input, "nodes")));
}

volcano_difference check_ancestors(const json& one) {
  const json& input = volcano_input(one);
  const policy::network_domains domains(declarations_of(items(input, "initial_hyper_nodes"), items(input, "nodes")));
  const std::vector<std::string> found = domains.ancestors(text_or_empty(input, "hyper_node_name"));
  if (found == one.at("expected").at("ancestors").get<std::vector<std::string>>()) return std::nullopt;
  return "ancestors are [" + joined(found) + "]";
}

volcano_difference compare_domains(const json& expected, const policy::network_domains& found) {
  std::vector<std::string> names;
  for (const auto& [name, made] : found.all()) {
    names.push_back(name);
    const std::string text =
        "Name: " + name + ", Tier: " + std::to_string(made.tier) + ", TierName: , Parent: " + made.parent;
    const std::string wanted = text_or_empty(items(expected, "hyper_nodes_info"), name);
    if (text != wanted) return text + ", recorded is " + wanted;
    if (volcano_difference why =
            compare_names(items(items(expected, "real_nodes_set"), name), {made.nodes.begin(), made.nodes.end()}))
      return name + ": " + *why;
  }
  std::vector<std::string> wanted;
  for (const auto& [name, text] : items(expected, "hyper_nodes_info").items()) wanted.push_back(name);
  return compare_names(wanted, names);
}

/// Objects come one after the other; a fault that a later one repairs is told and then forgotten.
volcano_difference check_update(const json& one) {
  const json& input = volcano_input(one);
  const json& expected = one.at("expected");
  const json& nodes = items(input, "nodes");
  std::vector<policy::domain_declaration> declared;
  bool faulty = false;
  for (const json& object : items(input, "initial_hyper_nodes")) {
    declared.push_back(declaration_of(object, nodes));
    faulty = faulty || policy::network_domains(declared).fault() != policy::domain_fault::none;
  }
  if (volcano_difference why = compare_flag(member(expected, "error"), faulty)) return why;
  if (faulty) {
    if (!has(input, "correct_hyper_node")) throw unsupported("the record leaves out how a fault is repaired");
    const policy::domain_declaration repaired = declaration_of(member(input, "correct_hyper_node"), nodes);
    for (policy::domain_declaration& was : declared) {
      if (was.name == repaired.name) was = repaired;
    }
  }
  const policy::network_domains made(declared);
  if (made.fault() != policy::domain_fault::none) return "there is still a fault";
  if (volcano_difference why = compare_domains(expected, made)) return why;
  for (const auto& [tier, names] : items(expected, "hyper_nodes_list_by_tier").items()) {
    std::vector<std::string> found;
    for (const auto& [name, domain] : made.all()) {
      if (std::to_string(domain.tier) == tier) found.push_back(name);
    }
    if (volcano_difference why = compare_names(names, found)) return "tier " + tier + ": " + *why;
  }
  return std::nullopt;
}

/// One domain of tier 1 in a gradient.
volcano_difference check_prefilter(const json& one) {
  const json& input = volcano_input(one);
  policy::domain_resources has_there;
  has_there.idle = volcano_resources(member(input, "idle_resource"));
  has_there.future_idle = volcano_resources(member(input, "future_idle_resource"));
  const policy::resource_list minimum = volcano_resources(member(input, "min_resource"));
  policy::gradient_question asked;
  asked.highest_tier = value_or<std::int64_t>(input, "highest_allowed_tier", 0);
  asked.allocated = text_or_empty(input, "allocated_hyper_node").empty() ? "" : "allocated";
  asked.minimum = &minimum;
  if (value_or(input, "purpose", 0) == 1) {
    if (!has(input, "allocatable_resource")) throw unsupported("the record leaves out what is allocatable");
    asked.purpose = policy::domain_search::evict;
    has_there.allocatable = volcano_resources(member(input, "allocatable_resource"));
  }
  const policy::network_domains domains(std::vector<policy::domain_declaration>{{"tier-1", 1, {}, {}}});
  asked.root = "tier-1";
  if (!asked.allocated.empty()) asked.allocated = "tier-1";
  const auto found = policy::domain_gradients(domains, {{"tier-1", has_there}}, asked);
  return compare_flag(member(one.at("expected"), "tier1_selected"), !found.empty());
}

nodes_by_domain nodes_of_domains(const json& record) {
  nodes_by_domain made;
  for (const auto& [domain, nodes] : record.items()) {
    name_set& of = made[domain];
    for (const json& node : nodes) of.insert(node.is_string() ? node.get<std::string>() : name_of(node));
  }
  return made;
}

/// The first of the domains that the node is in; empty if it is in none.
std::string_view domain_of_node(const nodes_by_domain& nodes_of, std::span<const std::string> of_lowest_tier,
                                std::string_view node) {
  for (const std::string& name : of_lowest_tier) {
    const auto found = nodes_of.find(name);
    if (found != nodes_of.end() && found->second.contains(node)) return found->first;
  }
  return {};
}

volcano_difference check_domain_of_node(const json& one) {
  const json& input = volcano_input(one);
  const json& tiers = items(input, "hyper_nodes_tiers");
  std::vector<std::string> lowest;
  if (!tiers.empty()) {
    const json& names = items(items(input, "hyper_nodes_set_by_tier"), std::to_string(tiers.front().get<int>()));
    lowest = names.get<std::vector<std::string>>();
  }
  const nodes_by_domain nodes = nodes_of_domains(items(input, "hyper_nodes"));
  const std::string_view found = domain_of_node(nodes, lowest, text_or_empty(input, "node_name"));
  if (found == text_or_empty(one.at("expected"), "res")) return std::nullopt;
  return "domain is " + std::string(found);
}

volcano_difference check_pods_within(const json& one) {
  const json& input = volcano_input(one);
  const nodes_by_domain nodes = nodes_of_domains(items(input, "hyper_nodes"));
  const auto domain = nodes.find(text_or_empty(input, "hyper_node_name"));
  std::vector<std::string> of_pods;
  for (const auto& [task, node] : items(input, "tasks").items()) of_pods.push_back(node.get<std::string>());
  const std::size_t found = domain == nodes.end() ? 0 : policy::pods_within(domain->second, of_pods);
  return compare_number(one.at("expected").at("res"), static_cast<double>(found));
}

/// Of the nodes of each domain those that there are. The library makes domains of nodes that it has.
volcano_difference check_present_nodes(const json& one) {
  const json& input = volcano_input(one);
  name_set present;
  for (const auto& [name, node] : items(input, "all_nodes").items()) present.insert(name);
  nodes_by_domain found = nodes_of_domains(items(input, "hyper_nodes"));
  for (auto& [name, nodes] : found) {
    std::erase_if(nodes, [&](const std::string& node) { return !present.contains(node); });
  }
  const nodes_by_domain wanted = nodes_of_domains(items(one.at("expected"), "result"));
  return found == wanted ? std::nullopt : volcano_difference("other nodes are recorded");
}

/// The tree of the test, which its rows do not repeat: the names are those of a tree that another row of the file has.
volcano_difference check_common_ancestor(const json& one) {
  const policy::network_domains domains(std::vector<policy::domain_declaration>{
      {"s0", 1, {}, {}},
      {"s1", 1, {}, {}},
      {"s2", 1, {}, {}},
      {"s3", 1, {}, {}},
      {"s4", 2, {}, {"s0", "s1"}},
      {"s5", 2, {}, {"s2", "s3"}},
      {"s6", 3, {}, {"s4", "s5"}},
  });
  const json& input = volcano_input(one);
  const std::string found =
      domains.common_ancestor(text_or_empty(input, "hypernode"), text_or_empty(input, "job_hyper_node"));
  if (found == text_or_empty(one.at("expected"), "lca")) return std::nullopt;
  return "the ancestor is " + found;
}

/// Domains of nodes alone, some of them selected: which they are changes with the nodes that there are. The library has
/// domains by labels of nodes, which all do.
volcano_difference check_selected_leaves(const json& one) {
  std::vector<std::string> found;
  for (const json& object : items(volcano_input(one), "hyper_nods")) {
    bool has_domains = false;
    bool has_selected = false;
    for (const json& member_of : items(member(object, "spec"), "members")) {
      const json& selector = member(member_of, "selector");
      has_domains = has_domains || text_or_empty(member_of, "type") == "HyperNode";
      has_selected = has_selected || has(selector, "regexMatch") || has(selector, "labelMatch");
    }
    if (has_selected && !has_domains) found.push_back(name_of(member(object, "metadata")));
  }
  return compare_names(one.at("expected").at("result"), found);
}

constexpr std::array domain_tables{
    volcano_table{"TestGetMembers", check_members},
    volcano_table{"TestHyperNodesInfo_GetAncestors", check_ancestors},
    volcano_table{"TestHyperNodesInfo_UpdateHyperNode_Normal", check_update},
    volcano_table{"TestHyperNodesInfo_UpdateHyperNode_WithCycle", check_update},
    volcano_table{"TestHyperNodesInfo_UpdateHyperNode_MultipleParents", check_update},
    volcano_table{"TestHyperNodeGradientPreFiltering", check_prefilter},
    volcano_table{"TestFindHyperNodeForNode", check_domain_of_node},
    volcano_table{"TestFindJobTaskNumOfHyperNode", check_pods_within},
    volcano_table{"TestGetHyperNodeList", check_present_nodes},
    volcano_table{"TestGetLCAHyperNode", check_common_ancestor},
    volcano_table{"TestHyperNodesInfo_GetRegexSelectorLeafHyperNodes", check_selected_leaves},
};

}  // namespace

std::span<const volcano_table> volcano_domain_tables() { return domain_tables; }

}  // namespace kaisched::conformance
