#pragma once
/// @file
/// Network domains in tiers: trees given by members instead of labels, and which of their domains a gang may use.
///
/// Source: Volcano's hypernodes (pkg/scheduler/api/hyper_node_info.go) and its plugin network-topology-aware. A domain
/// has a tier, and nodes or domains of lower tiers as members; the lower the tier, the nearer its nodes are to each
/// other. Where Volcano iterates a map, domains are in the order of their names.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/resources/resource_list.hpp"

namespace kaisched::policy {

/// A domain as it is declared.
struct domain_declaration {
  std::string name;
  std::int64_t tier = 0;
  std::vector<std::string> nodes;    ///< direct members, selectors resolved
  std::vector<std::string> domains;  ///< direct members
};

enum class domain_fault : std::uint8_t { none, cycle, several_parents };

class network_domains {
 public:
  struct domain {
    std::int64_t tier = 0;
    std::string parent;  ///< empty: none
    std::set<std::string, std::less<>> children;
    std::set<std::string, std::less<>> nodes;  ///< of it and all below
  };

  network_domains() = default;
  /// After a fault nothing else can be relied on.
  explicit network_domains(std::span<const domain_declaration> declared);

  [[nodiscard]] domain_fault fault() const { return fault_; }
  [[nodiscard]] const std::map<std::string, domain, std::less<>>& all() const { return domains_; }
  [[nodiscard]] const domain* find(std::string_view name) const;
  /// The domain itself, its parent, and so on.
  [[nodiscard]] std::vector<std::string> ancestors(std::string_view name) const;
  /// The smallest domain that holds both, empty if there is none. An empty name is no restriction.
  [[nodiscard]] std::string common_ancestor(std::string_view one, std::string_view other) const;

 private:
  void collect(const std::string& name, std::vector<std::string>& chain);

  std::map<std::string, domain, std::less<>> domains_;
  domain_fault fault_ = domain_fault::none;
};

/// What the nodes of a domain have together.
struct domain_resources {
  resource_list allocatable;
  resource_list idle;
  resource_list future_idle;  ///< once what is being released is free
};

/// What a search for domains is for: room that there is, or room that victims would make.
enum class domain_search : std::uint8_t { allocate, evict };

struct gradient_question {
  std::string_view root;          ///< where to search
  std::int64_t highest_tier = 0;  ///< that the pods may span
  std::string_view allocated;     ///< where some of them are already; empty: nowhere
  const resource_list* minimum = nullptr;
  domain_search purpose = domain_search::allocate;
};

/// Domains that may be tried, from the lowest tier up. None if what is allocated does not allow any.
[[nodiscard]] std::vector<std::vector<std::string>> domain_gradients(
    const network_domains& domains, const std::map<std::string, domain_resources, std::less<>>& has,
    const gradient_question& asked);
/// For eviction the widest domains come first, and no more than `most` are tried.
[[nodiscard]] std::vector<std::vector<std::string>> widest_first(std::vector<std::vector<std::string>> gradients,
                                                                 std::size_t most);
/// The domains of gradients in order, each once, at most `most` (0: all); the fallback, if there is one, where none is.
[[nodiscard]] std::vector<std::string> pick_domains(std::span<const std::vector<std::string>> gradients,
                                                    std::size_t most, std::string_view fallback);

/// How many pods, by the nodes they are on, are in a domain.
[[nodiscard]] std::size_t pods_within(const std::set<std::string, std::less<>>& domain_nodes,
                                      std::span<const std::string> nodes_of_pods);
/// How near two tiers are, 0 to 1: 1 for the lowest common tier.
[[nodiscard]] double tier_score(std::int64_t tier, std::int64_t lowest, std::int64_t highest);

}  // namespace kaisched::policy
