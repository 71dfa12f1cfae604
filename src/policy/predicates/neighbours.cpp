#include "policy/predicates/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "policy/access.hpp"

namespace kaisched::policy {

namespace {

using model::affinity_term;

constexpr std::string_view node_key = "kubernetes.io/hostname";
constexpr std::uint32_t each_node = 0;  ///< the topology in which each node is a domain
constexpr std::int64_t most_points = 100;

/// The natural logarithm of a positive number by operations that are rounded alike everywhere, as `std::log` is not.
double natural_log(double value) {
  constexpr double log_of_two = 0.693147180559945309417;
  constexpr int terms = 12;  // more change no bit
  int exponent = 0;
  double part = std::frexp(value, &exponent);  // from 1/2 to 1
  if (part < 0.70710678118654752) {
    part *= 2;
    --exponent;
  }
  const double x = (part - 1) / (part + 1);
  double sum = 0;
  for (int i = terms; i >= 0; --i) sum = sum * x * x + 1.0 / (2 * i + 1);
  return exponent * log_of_two + 2 * x * sum;
}

}  // namespace

// ---- counts --------------------------------------------------------------------------------------------------------

void neighbour_book::tally::add(node_row at, std::uint32_t domain, std::int64_t pods) {
  if (domain == no_row || (counts != nullptr && (*counts)[at] == 0)) return;
  const std::int64_t after = in_domain.add(domain, pods);
  if (with.empty()) return;
  const auto was = static_cast<std::size_t>(after - pods);
  const auto is = static_cast<std::size_t>(after);
  if (is >= with.size()) with.resize(is + 1, 0);
  --with[was];
  ++with[is];
  fewest = std::min(fewest, is);
  while (with[fewest] == 0) ++fewest;
}

void neighbour_book::count(const kind& of, const pod_spots::spot& where, std::int64_t pods) {
  for (const feed& one : of.feeds) {
    if (one.only_staying && where.is_leaving) continue;
    tally& to = tallies_[one.tally];
    to.add(where.at, domain_of(to, where.at), pods);
  }
}

void neighbour_book::move(pod_row pod, node_row to, bool is_leaving) {
  const kind& of = kind_of(pod);
  if (of.feeds.empty()) return;
  spots_.move(pod, {to, is_leaving}, [&](const pod_spots::spot& at, std::int64_t pods) { count(of, at, pods); });
}

void neighbour_book::changed(const session_access& a, pod_row pod) {
  const kind& of = kind_of(pod);
  if (of.feeds.empty()) return;
  spots_.changed(a, pod, [&](const pod_spots::spot& at, std::int64_t pods) { count(of, at, pods); });
}

// ---- kinds ---------------------------------------------------------------------------------------------------------

/// Finds out which pods count for which others.
class neighbour_book::maker {
 public:
  maker(neighbour_book& made, const model::cluster_state& s) : made_(made), s_(s), pods_(s) {
    made_.kind_of_ = pods_.by_pod();
    made_.kinds_.resize(pods_.all().size());
    made_.topologies_.push_back(nodes_as_domains(s));
  }

  void add_spread() {
    for (const auto& [owner, kinds] : pods_.by_owner()) {
      const model::pod_class& ask = *s_.classes[owner.first];
      for (const bool is_soft : {false, true}) {
        for (const model::spread_constraint& one : ask.spread) {
          if (one.soft == is_soft) add_rule(ask, one, owner.second, kinds);
        }
      }
    }
  }

  void add_wishes() {
    for (const auto& [owner, kinds] : pods_.by_owner()) {
      const model::pod_class& ask = *s_.classes[owner.first];
      for (const model::pod_preference& one : ask.preferences) {
        const std::vector<std::uint32_t> selected = pods_.selected_by(one.term, owner.second);
        if (selected.empty()) continue;
        add_wish(one.term, selected, kinds, {0, one.weight, false});
        add_wish(one.term, kinds, selected, {0, one.weight, false});
      }
      for (const affinity_term& term : ask.affinity) {
        const std::vector<std::uint32_t> selected = pods_.selected_by(term, owner.second);
        if (!selected.empty()) add_wish(term, kinds, selected, {0, 1, true});
      }
    }
  }

 private:
  std::uint32_t topology_of(std::string_view key) {
    const auto [at, is_new] = topologies_.try_emplace(key, static_cast<std::uint32_t>(made_.topologies_.size()));
    if (is_new) made_.topologies_.push_back(domains_of_key(s_, key));
    return at->second;
  }

  tally& start_tally(std::uint32_t topology, const std::vector<std::uint32_t>& counted) {
    tally& made = made_.tallies_.emplace_back();
    made.topology = topology;
    made.in_domain = domain_counts(made_.topologies_[topology].count, pods_.pods_of(counted));
    return made;
  }
  [[nodiscard]] std::uint32_t last_tally() const { return static_cast<std::uint32_t>(made_.tallies_.size() - 1); }

  void add_wish(const affinity_term& term, const std::vector<std::uint32_t>& counted,
                const std::vector<std::uint32_t>& pulled, wish what) {
    start_tally(topology_of(term.topology_key), counted);
    what.tally = last_tally();
    for (const std::uint32_t one : counted) made_.kinds_[one].feeds.push_back({what.tally, false});
    for (const std::uint32_t one : pulled) made_.kinds_[one].pulls.push_back(what);
  }

  /// Nodes whose pods count: those with all keys, and that the pod could go to as far as the constraint looks at that.
  /// Most pods ask for the same there, so it is found out once.
  const std::shared_ptr<const node_flags>& nodes_that_count(const model::pod_class& ask,
                                                            const model::spread_constraint& by) {
    std::vector<std::uint32_t> keys;
    for (const model::spread_constraint& other : ask.spread) {
      if (other.soft == by.soft) keys.push_back(topology_of(other.topology_key));
    }
    const std::string_view selector = by.ignores_affinity ? std::string_view{} : ask.ask.node_selector;
    const std::string_view affinity = by.ignores_affinity ? std::string_view{} : ask.ask.node_affinity;
    const std::string_view tolerations = by.honors_taints ? ask.ask.tolerations : std::string_view{};
    std::shared_ptr<const node_flags>& known = flags_[{keys, selector, affinity, tolerations, by.honors_taints}];
    if (known != nullptr) return known;
    node_flags counts(s_.node_count(), 1);
    for (node_row row = 0; row < counts.size(); ++row) {
      const model::node_info& node = *(*s_.nodes)[row];
      for (const std::uint32_t key : keys) {
        if (made_.topologies_[key].of(row) == no_row) counts[row] = 0;
      }
      if (!by.ignores_affinity && !ask.matches_labels(node.labels)) counts[row] = 0;
      if (by.honors_taints && (node.unschedulable || !ask.tolerates(node.taints))) counts[row] = 0;
    }
    known = std::make_shared<const node_flags>(std::move(counts));
    return known;
  }
  const std::shared_ptr<const node_flags>& nodes_with_key(std::uint32_t topology) {
    std::shared_ptr<const node_flags>& known = flags_[{{topology}, {}, {}, {}, false}];
    if (known != nullptr) return known;
    node_flags has(s_.node_count(), 0);
    for (node_row row = 0; row < has.size(); ++row) has[row] = made_.topologies_[topology].of(row) == no_row ? 0 : 1;
    known = std::make_shared<const node_flags>(std::move(has));
    return known;
  }

  void add_rule(const model::pod_class& ask, const model::spread_constraint& by, std::string_view space,
                const std::vector<std::uint32_t>& owners) {
    const bool by_node = by.soft && by.topology_key == node_key;
    const std::uint32_t at = topology_of(by.topology_key);
    // A selector without requirements counts no pod, and matches the pod itself.
    const std::vector<std::uint32_t> counted =
        by.pods.requirements.empty() ? std::vector<std::uint32_t>{} : pods_.selected_by(by.pods, space);
    tally& made = start_tally(by_node ? each_node : at, counted);
    // What a node has is looked at there, whether or not the node counts for domains.
    made.counts = by_node ? nodes_with_key(at) : nodes_that_count(ask, by);
    if (!by.soft) count_domains(made);
    rule of{last_tally(), by.skew, by.min_domains, by_node, 0};
    for (const std::uint32_t one : counted) made_.kinds_[one].feeds.push_back({of.tally, true});
    for (const std::uint32_t one : owners) {
      of.itself = by.pods.matches(pods_.all()[one].labels) ? 1 : 0;
      (by.soft ? made_.kinds_[one].soft : made_.kinds_[one].hard).push_back(of);
    }
  }

  /// Those with a node that counts.
  void count_domains(tally& of) {
    const auto [known, is_new] = domains_.try_emplace({of.counts.get(), of.topology}, 0);
    if (is_new) {
      std::vector<std::uint8_t> is_there(made_.topologies_[of.topology].count, 0);
      for (node_row row = 0; row < s_.node_count(); ++row) {
        if ((*of.counts)[row] != 0) is_there[made_.domain_of(of, row)] = 1;
      }
      known->second = static_cast<std::uint32_t>(std::count(is_there.begin(), is_there.end(), 1));
    }
    of.domains = known->second;
    of.with.assign(1, of.domains);
  }

  neighbour_book& made_;
  const model::cluster_state& s_;
  pod_kinds pods_;
  std::map<std::string_view, std::uint32_t> topologies_;  ///< by key
  /// By keys, node selector, node affinity and tolerations that are looked at, and whether taints are.
  std::map<std::tuple<std::vector<std::uint32_t>, std::string_view, std::string_view, std::string_view, bool>,
           std::shared_ptr<const node_flags>>
      flags_;
  std::map<std::pair<const node_flags*, std::uint32_t>, std::uint32_t> domains_;  ///< by flags and topology
};

void neighbour_book::open(const session_access& a, bool spread, bool wishes) {
  const model::cluster_state& s = *a.state;
  *this = {};
  spread = spread && s.pods_with_spread > 0;
  wishes = wishes && s.pods_with_preferences + s.pods_with_affinity > 0;
  if (!spread && !wishes) return;
  maker made(*this, s);
  if (spread) made.add_spread();
  if (wishes) made.add_wishes();
  spots_ = pod_spots(s.pod_slots);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live) changed(a, p);
  }
}

// ---- answers -------------------------------------------------------------------------------------------------------

spread_verdict neighbour_book::verdict(pod_row pod, node_row node) const {
  for (const rule& one : kind_of(pod).hard) {
    const tally& of = tallies_[one.tally];
    const std::uint32_t domain = domain_of(of, node);
    if (domain == no_row) return spread_verdict::no_domain;
    const std::int64_t fewest = of.domains < one.min_domains ? 0 : static_cast<std::int64_t>(of.fewest);
    if (of.in_domain.of(domain) + one.itself - fewest > one.skew) return spread_verdict::uneven;
  }
  return spread_verdict::even;
}

std::vector<std::int64_t> neighbour_book::evenness(pod_row pod, std::span<const node_row> nodes) const {
  const std::vector<rule>& soft = kind_of(pod).soft;
  if (soft.empty()) return {};
  std::vector<std::int64_t> points(nodes.size(), 0);
  std::vector<std::size_t> taking_part;  // those that have all keys
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool has_all = std::all_of(soft.begin(), soft.end(), [&](const rule& one) {
      const tally& of = tallies_[one.tally];
      return one.by_node ? (*of.counts)[nodes[i]] != 0 : domain_of(of, nodes[i]) != no_row;
    });
    if (has_all) taking_part.push_back(i);
  }
  if (taking_part.empty()) return points;
  std::vector<double> sums(taking_part.size(), 0.0);
  for (const rule& one : soft) {
    const tally& of = tallies_[one.tally];
    std::vector<std::uint8_t> seen(topologies_[of.topology].count, 0);
    std::size_t domains = 0;
    for (const std::size_t i : taking_part) {
      std::uint8_t& is_seen = seen[domain_of(of, nodes[i])];
      domains += is_seen == 0 ? 1U : 0U;
      is_seen = 1;
    }
    const double weight = natural_log(static_cast<double>(domains + 2));
    for (std::size_t k = 0; k < taking_part.size(); ++k) {
      const auto pods = static_cast<double>(of.in_domain.of(domain_of(of, nodes[taking_part[k]])));
      sums[k] += pods * weight + static_cast<double>(one.skew - 1);
    }
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  for (std::size_t k = 0; k < taking_part.size(); ++k) {
    points[taking_part[k]] = std::llround(sums[k]);
    least = std::min(least, points[taking_part[k]]);
    most = std::max(most, points[taking_part[k]]);
  }
  for (const std::size_t i : taking_part)
    points[i] = most == 0 ? most_points : most_points * (most + least - points[i]) / most;
  return points;
}

std::vector<std::int64_t> neighbour_book::pull(pod_row pod, std::span<const node_row> nodes,
                                               std::int64_t required) const {
  const std::vector<wish>& pulls = kind_of(pod).pulls;
  if (pulls.empty()) return {};
  std::vector<std::int64_t> sums(nodes.size(), 0);
  for (const wish& one : pulls) {
    const tally& of = tallies_[one.tally];
    const std::int64_t weight = one.is_required ? required : one.weight;
    for (std::size_t i = 0; i < nodes.size() && weight != 0; ++i) {
      const std::uint32_t domain = domain_of(of, nodes[i]);
      if (domain != no_row) sums[i] += weight * of.in_domain.of(domain);
    }
  }
  return sums;
}

std::vector<std::int64_t> neighbour_book::welcome(pod_row pod, std::span<const node_row> nodes,
                                                  std::int64_t required) const {
  std::vector<std::int64_t> points = pull(pod, nodes, required);
  if (points.empty()) return points;
  const auto [at_least, at_most] = std::minmax_element(points.begin(), points.end());
  const std::int64_t least = *at_least;
  const std::int64_t span = *at_most - least;
  for (std::int64_t& one : points) {
    const double part = span == 0 ? 0 : static_cast<double>(one - least) / static_cast<double>(span);
    one = static_cast<std::int64_t>(static_cast<double>(most_points) * part);
  }
  return points;
}

bool neighbour_book::counts_alike(const neighbour_book& other) const {
  return std::ranges::equal(tallies_, other.tallies_, [&](const tally& a, const tally& b) {
    return a.fewest == b.fewest && a.in_domain.is_like(b.in_domain, topologies_[a.topology].count);
  });
}

}  // namespace kaisched::policy
