#include "policy/topology/network_domains.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::policy {

network_domains::network_domains(std::span<const domain_declaration> declared) {
  for (const domain_declaration& one : declared) {
    domain& made = domains_[one.name];
    made.tier = one.tier;
    made.nodes.insert(one.nodes.begin(), one.nodes.end());
  }
  for (const domain_declaration& one : declared) {
    for (const std::string& child : one.domains) {
      const auto known = domains_.find(child);
      // A member that is not declared yet is none.
      if (known == domains_.end()) continue;
      if (!known->second.parent.empty() && known->second.parent != one.name) fault_ = domain_fault::several_parents;
      known->second.parent = one.name;
      domains_[one.name].children.insert(child);
    }
  }
  std::vector<std::string> chain;
  for (const auto& [name, made] : domains_) collect(name, chain);
}

void network_domains::collect(const std::string& name, std::vector<std::string>& chain) {
  if (std::find(chain.begin(), chain.end(), name) != chain.end()) {
    fault_ = domain_fault::cycle;
    return;
  }
  chain.push_back(name);
  domain& of = domains_.find(name)->second;
  for (const std::string& child : of.children) {
    collect(child, chain);
    const domain& below = domains_.find(child)->second;
    of.nodes.insert(below.nodes.begin(), below.nodes.end());
  }
  chain.pop_back();
}

const network_domains::domain* network_domains::find(std::string_view name) const {
  const auto found = domains_.find(name);
  return found == domains_.end() ? nullptr : &found->second;
}

std::vector<std::string> network_domains::ancestors(std::string_view name) const {
  std::vector<std::string> chain{std::string(name)};
  for (const domain* at = find(name); at != nullptr && !at->parent.empty(); at = find(at->parent)) {
    if (std::find(chain.begin(), chain.end(), at->parent) != chain.end()) break;
    chain.push_back(at->parent);
  }
  return chain;
}

std::string network_domains::common_ancestor(std::string_view one, std::string_view other) const {
  if (one.empty() || other.empty()) return std::string(one.empty() ? other : one);
  const std::vector<std::string> mine = ancestors(one);
  for (std::string& candidate : ancestors(other)) {
    if (std::find(mine.begin(), mine.end(), candidate) != mine.end()) return std::move(candidate);
  }
  return {};
}

namespace {

/// Whether a domain may be tried: in tier, and, unless pods are somewhere already, with enough for the minimum.
bool is_eligible(std::int64_t tier, const domain_resources* has, const gradient_question& asked) {
  if (tier > asked.highest_tier) return false;
  if (!asked.allocated.empty() || has == nullptr || asked.minimum == nullptr) return true;
  const auto fits = [&](const resource_list& amounts) {
    return less_equal(*asked.minimum, amounts, absent_resource::zero);
  };
  if (asked.purpose == domain_search::evict) return fits(has->allocatable);
  return fits(has->idle) || fits(has->future_idle);
}

/// Where to search: below the root and, if pods are somewhere already, below the widest domain around them that is in
/// tier. Empty: the two have nothing in common.
std::string search_root(const network_domains& domains, const gradient_question& asked) {
  if (asked.allocated.empty()) return std::string(asked.root);
  std::string widest;
  for (const std::string& one : domains.ancestors(asked.allocated)) {
    const network_domains::domain* at = domains.find(one);
    if (at == nullptr || at->tier > asked.highest_tier) break;
    widest = one;
  }
  if (widest.empty()) return {};
  const std::string common = domains.common_ancestor(asked.root, widest);
  if (common == widest) return std::string(asked.root);
  return common == asked.root ? widest : std::string{};
}

}  // namespace

std::vector<std::vector<std::string>> domain_gradients(const network_domains& domains,
                                                       const std::map<std::string, domain_resources, std::less<>>& has,
                                                       const gradient_question& asked) {
  std::vector<std::string> open{search_root(domains, asked)};
  std::map<std::int64_t, std::vector<std::string>> by_tier;
  std::set<std::string, std::less<>> seen(open.begin(), open.end());
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::string name = open[i];
    const network_domains::domain* at = domains.find(name);
    if (at == nullptr) continue;
    const auto resources = has.find(name);
    if (is_eligible(at->tier, resources == has.end() ? nullptr : &resources->second, asked))
      by_tier[at->tier].push_back(name);
    for (const std::string& child : at->children) {
      if (seen.insert(child).second) open.push_back(child);
    }
  }
  std::vector<std::vector<std::string>> gradients;
  for (auto& [tier, names] : by_tier) gradients.push_back(std::move(names));
  return gradients;
}

std::vector<std::vector<std::string>> widest_first(std::vector<std::vector<std::string>> gradients, std::size_t most) {
  std::reverse(gradients.begin(), gradients.end());
  std::size_t left = most;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (left == 0) {
      gradients.resize(i);
      break;
    }
    std::vector<std::string>& names = gradients[i];
    if (names.size() > left) names.erase(names.begin(), names.end() - static_cast<std::ptrdiff_t>(left));
    left -= names.size();
  }
  return gradients;
}

std::vector<std::string> pick_domains(std::span<const std::vector<std::string>> gradients, std::size_t most,
                                      std::string_view fallback) {
  std::vector<std::string> picked;
  for (const std::vector<std::string>& gradient : gradients) {
    for (const std::string& name : gradient) {
      if (std::find(picked.begin(), picked.end(), name) != picked.end()) continue;
      picked.push_back(name);
      if (picked.size() == most) return picked;
    }
  }
  if (picked.empty() && !fallback.empty()) picked.emplace_back(fallback);
  return picked;
}

std::size_t pods_within(const std::set<std::string, std::less<>>& domain_nodes,
                        std::span<const std::string> nodes_of_pods) {
  return static_cast<std::size_t>(std::count_if(nodes_of_pods.begin(), nodes_of_pods.end(),
                                                [&](const std::string& node) { return domain_nodes.contains(node); }));
}

double tier_score(std::int64_t tier, std::int64_t lowest, std::int64_t highest) {
  if (lowest == highest) return 1;
  if (tier < lowest || tier > highest) return 0;
  return static_cast<double>(highest - tier) / static_cast<double>(highest - lowest);
}

}  // namespace kaisched::policy
