#include "policy/topology/domain_tree.hpp"

#include <algorithm>

namespace kaisched::policy::topology {

std::uint32_t domain_tree::level_named(std::string_view wanted) const {
  const auto at = std::find(levels.begin(), levels.end(), wanted);
  return at == levels.end() ? no_row : static_cast<std::uint32_t>(at - levels.begin()) + 1;
}

std::uint32_t domain_tree::domain_of(node_row node, std::uint32_t level) const {
  std::uint32_t at = leaf[node];
  while (domains[at].level > level) at = domains[at].parent;
  return at;
}

tree_builder::tree_builder(std::string name, std::vector<std::string> levels, domain_key key) : key_(key) {
  tree_.name = std::move(name);
  tree_.levels = std::move(levels);
  tree_.domains.push_back({"root", root_level, no_row, true, {}});
  tree_.children.emplace_back();
  tree_.by_level.resize(tree_.levels.size() + 1);
  tree_.by_level.front().push_back(root_domain);
  known_.resize(tree_.levels.size() + 1);
}

std::uint32_t tree_builder::child(std::uint32_t parent, std::uint32_t level, const std::string& value) {
  std::string id = level == 1 ? value : tree_.domains[parent].id + "." + value;
  std::string key = key_ == domain_key::joined ? id : std::to_string(parent) + "." + value;
  // Nodes mostly come domain by domain, so the domain of the last node is the first guess.
  auto& known = known_[level];
  const auto at = std::lower_bound(known.begin(), known.end(), key,
                                   [](const auto& one, const std::string& wanted) { return one.first < wanted; });
  if (at != known.end() && at->first == key) return at->second;
  const auto fresh = static_cast<std::uint32_t>(tree_.domains.size());
  known.emplace(at, std::move(key), fresh);
  tree_.domains.push_back({std::move(id), level, parent, !value.empty(), {}});
  tree_.children.emplace_back();
  tree_.children[parent].push_back(fresh);
  tree_.by_level[level].push_back(fresh);
  return fresh;
}

void tree_builder::add(node_row node, std::span<const std::string* const> values) {
  if (std::find(values.begin(), values.end(), nullptr) != values.end()) return;
  std::uint32_t at = root_domain;
  tree_.domains[at].nodes.push_back(node);
  for (std::uint32_t level = 1; level <= values.size(); ++level) {
    at = child(at, level, *values[level - 1]);
    tree_.domains[at].nodes.push_back(node);
  }
  if (tree_.leaf.size() <= node) tree_.leaf.resize(std::size_t{node} + 1, no_row);
  tree_.leaf[node] = at;
}

void rank_domains(domain_tree& tree) {
  tree.place.assign(tree.domains.size(), 0);
  for (const std::vector<std::uint32_t>& level : tree.by_level) {
    for (std::uint32_t i = 0; i < level.size(); ++i) tree.place[level[i]] = i;
  }
  tree.name_rank.assign(tree.domains.size(), 0);
  std::vector<std::uint32_t> open{root_domain};
  for (std::uint32_t rank = 0; !open.empty(); ++rank) {
    const std::uint32_t next = open.back();
    open.pop_back();
    tree.name_rank[next] = rank;
    std::vector<std::uint32_t> below = tree.children[next];
    std::sort(below.begin(), below.end(),
              [&](std::uint32_t a, std::uint32_t b) { return tree.domains[a].id > tree.domains[b].id; });
    open.insert(open.end(), below.begin(), below.end());
  }
}

domain_tree tree_builder::finish(std::size_t nodes) {
  tree_.leaf.resize(nodes, no_row);
  rank_domains(tree_);
  return std::move(tree_);
}

std::uint32_t common_domain(const domain_tree& tree, std::span<const node_row> nodes, std::uint32_t narrowest) {
  std::uint32_t common = no_row;
  for (const node_row node : nodes) {
    std::uint32_t at = tree.leaf[node];
    if (at == no_row) continue;
    if (common == no_row) common = at;
    while (at != common) {
      std::uint32_t& deeper = tree.domains[at].level > tree.domains[common].level ? at : common;
      deeper = tree.domains[deeper].parent;
    }
    if (common == root_domain) return common;
  }
  if (common == no_row) return root_domain;
  while (tree.domains[common].level > narrowest) common = tree.domains[common].parent;
  // The widest level without a value ends what nodes have in common.
  for (std::uint32_t up = common; up != root_domain; up = tree.domains[up].parent) {
    if (!tree.domains[up].has_value) common = tree.domains[up].parent;
  }
  return common;
}

std::vector<std::uint32_t> bottom_up_order(const child_lists& children, std::uint32_t from) {
  std::vector<std::uint32_t> order{from};
  std::vector<std::size_t> starts;
  for (std::size_t start = 0; start < order.size();) {
    starts.push_back(start);
    const std::size_t end = order.size();
    for (; start < end; ++start) {
      const std::vector<std::uint32_t>& below = children[order[start]];
      order.insert(order.end(), below.begin(), below.end());
    }
  }
  std::vector<std::uint32_t> reversed;
  reversed.reserve(order.size());
  std::size_t end = order.size();
  for (auto start = starts.rbegin(); start != starts.rend(); ++start) {
    reversed.insert(reversed.end(), order.begin() + static_cast<std::ptrdiff_t>(*start),
                    order.begin() + static_cast<std::ptrdiff_t>(end));
    end = *start;
  }
  return reversed;
}

std::vector<std::uint32_t> domains_of_level(const domain_tree& tree, const child_lists& children, std::uint32_t from,
                                            std::uint32_t level) {
  std::vector<std::uint32_t> found;
  if (tree.domains[from].level == level) return {from};
  for (const std::uint32_t child : children[from]) {
    const std::vector<std::uint32_t> below = domains_of_level(tree, children, child, level);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

}  // namespace kaisched::policy::topology
