#include "policy/predicates/affinity_counts.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "policy/access.hpp"

namespace kaisched::policy {

namespace {

using model::affinity_term;
using model::host_port;

constexpr std::uint32_t node_topology = 0;  ///< the topology in which each node is a domain

void keep_once(std::vector<std::uint32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

// ---- counts --------------------------------------------------------------------------------------------------------

void affinity_counts::changed(const session_access& a, pod_row pod) {
  const kind& of = kind_of(pod);
  if (of.feeds.empty()) return;
  spots_.changed(a, pod, [&](const pod_spots::spot& where, std::int64_t pods) {
    for (const std::uint32_t one : of.feeds) {
      tally& to = tallies_[one];
      to.everywhere += pods;
      const std::uint32_t domain = topologies_[to.topology].of(where.at);
      if (domain != no_row) to.by_domain.add(domain, pods);
    }
  });
}

// ---- kinds ---------------------------------------------------------------------------------------------------------

/// Finds out which pods count for which others. Tallies of the same pods over the same domains are one.
class affinity_counts::maker {
 public:
  maker(affinity_counts& made, const model::cluster_state& s) : made_(made), s_(s), pods_(s) {
    made_.kind_of_ = pods_.by_pod();
    made_.kinds_.resize(pods_.all().size());
    made_.topologies_.push_back(nodes_as_domains(s));
  }

  void add_ports() {
    for (std::uint32_t i = 0; i < pods_.all().size(); ++i) {
      for (const host_port& one : class_of(i).host_ports) by_port_[one.port].push_back(i);
    }
    for (auto& [port, kinds] : by_port_) keep_once(kinds);
    for (std::uint32_t i = 0; i < pods_.all().size(); ++i) {
      for (const host_port& one : class_of(i).host_ports)
        made_.kinds_[i].ports.push_back(tally_of(node_topology, in_conflict(one)));
    }
  }

  void add_affinity() {
    for (const auto& [owner, kinds] : pods_.by_owner()) {
      for (const affinity_term& term : s_.classes[owner.first]->affinity) {
        const std::vector<std::uint32_t> selected = pods_.selected_by(term, owner.second);
        const std::uint32_t counted = tally_of(topology_of(term.topology_key), selected);
        for (const std::uint32_t one : kinds) {
          const bool itself = std::binary_search(selected.begin(), selected.end(), one);
          made_.kinds_[one].affinity.push_back({counted, itself});
        }
      }
    }
  }

  /// A term holds in both directions: the pod stays away from pods that it selects, and these from the pod.
  void add_anti_affinity() {
    std::map<feeders, std::vector<std::uint32_t>> owners_of;  // of terms, by what these select
    for (const auto& [owner, kinds] : pods_.by_owner()) {
      for (const affinity_term& term : s_.classes[owner.first]->anti_affinity) {
        std::vector<std::uint32_t> selected = pods_.selected_by(term, owner.second);
        if (selected.empty()) continue;
        std::vector<std::uint32_t>& owners = owners_of[{topology_of(term.topology_key), std::move(selected)}];
        owners.insert(owners.end(), kinds.begin(), kinds.end());
      }
    }
    for (auto& [term, owners] : owners_of) {
      keep_once(owners);
      const std::uint32_t of_selected = tally_of(term.first, term.second);
      const std::uint32_t of_owners = tally_of(term.first, owners);
      for (const std::uint32_t one : owners) made_.kinds_[one].apart.push_back(of_selected);
      for (const std::uint32_t one : term.second) made_.kinds_[one].apart.push_back(of_owners);
    }
  }

  void finish() {
    for (const auto& [counted, number] : tallies_) {
      for (const std::uint32_t one : counted.second) made_.kinds_[one].feeds.push_back(number);
    }
    for (kind& one : made_.kinds_) {
      keep_once(one.ports);
      keep_once(one.apart);
    }
  }

 private:
  using feeders = std::pair<std::uint32_t, std::vector<std::uint32_t>>;  ///< topology, kinds

  [[nodiscard]] const model::pod_class& class_of(std::uint32_t kind) const {
    return *s_.classes[pods_.all()[kind].of_class];
  }
  std::uint32_t topology_of(std::string_view key) {
    const auto [at, is_new] = topologies_.try_emplace(key, static_cast<std::uint32_t>(made_.topologies_.size()));
    if (is_new) made_.topologies_.push_back(domains_of_key(s_, key));
    return at->second;
  }
  std::uint32_t tally_of(std::uint32_t topology, const std::vector<std::uint32_t>& kinds) {
    const auto [at, is_new] =
        tallies_.try_emplace({topology, kinds}, static_cast<std::uint32_t>(made_.tallies_.size()));
    if (is_new) {
      const std::uint32_t domains = made_.topologies_[topology].count;
      made_.tallies_.push_back({topology, 0, domain_counts(domains, pods_.pods_of(kinds))});
    }
    return at->second;
  }
  /// Kinds with a port that excludes this one on a node.
  [[nodiscard]] std::vector<std::uint32_t> in_conflict(const host_port& with) const {
    std::vector<std::uint32_t> found = by_port_.at(with.port);
    std::erase_if(found, [&](std::uint32_t i) {
      const std::vector<host_port>& theirs = class_of(i).host_ports;
      return std::none_of(theirs.begin(), theirs.end(), [&](const host_port& one) { return with.conflicts(one); });
    });
    return found;
  }

  affinity_counts& made_;
  const model::cluster_state& s_;
  pod_kinds pods_;
  std::map<std::string_view, std::uint32_t> topologies_;  ///< by key
  std::map<feeders, std::uint32_t> tallies_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_port_;
};

void affinity_counts::open(const session_access& a) {
  const model::cluster_state& s = *a.state;
  *this = {};
  if (s.pods_with_affinity + s.pods_with_ports == 0) return;
  maker made(*this, s);
  made.add_ports();
  made.add_affinity();
  made.add_anti_affinity();
  made.finish();
  spots_ = pod_spots(s.pod_slots);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live) changed(a, p);
  }
}

// ---- answers -------------------------------------------------------------------------------------------------------

std::int64_t affinity_counts::pods_near(const tally& of, node_row row) const {
  const std::uint32_t domain = topologies_[of.topology].of(row);
  return domain == no_row ? 0 : of.by_domain.of(domain);
}

constraint affinity_counts::verdict(const kind& of, node_row row) const {
  const auto is_near = [&](std::uint32_t one) { return pods_near(tallies_[one], row) > 0; };
  if (std::any_of(of.ports.begin(), of.ports.end(), is_near)) return constraint::host_port;
  for (const affinity_rule& one : of.affinity) {
    const tally& counted = tallies_[one.tally];
    // The first pod of those that want to be together may go anywhere the topology key exists.
    const bool is_first = counted.everywhere == 0 && one.selects_itself;
    if (topologies_[counted.topology].of(row) == no_row || (!is_first && pods_near(counted, row) == 0))
      return constraint::pod_affinity;
  }
  return std::any_of(of.apart.begin(), of.apart.end(), is_near) ? constraint::pod_anti_affinity : constraint::none;
}

bool affinity_counts::concerns(pod_row pod) const {
  if (!is_open()) return false;
  const kind& of = kind_of(pod);
  return !of.ports.empty() || !of.affinity.empty() || !of.apart.empty();
}

void affinity_counts::judge(pod_row pod, std::span<const node_row> nodes, std::span<constraint> verdicts) const {
  if (!concerns(pod)) return;
  const kind& of = kind_of(pod);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == constraint::none) verdicts[i] = verdict(of, nodes[i]);
  }
}

bool affinity_counts::counts_alike(const affinity_counts& other) const {
  return std::ranges::equal(tallies_, other.tallies_, [&](const tally& a, const tally& b) {
    return a.everywhere == b.everywhere && a.by_domain.is_like(b.by_domain, topologies_[a.topology].count);
  });
}

}  // namespace kaisched::policy
