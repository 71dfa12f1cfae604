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

bool reaches(const affinity_term& term, std::string_view own, std::string_view other) {
  if (term.any_namespace) return true;
  if (term.namespaces.empty()) return own == other;
  return std::binary_search(term.namespaces.begin(), term.namespaces.end(), other);
}

// ---- counts --------------------------------------------------------------------------------------------------------

void neighbour_book::tally::add(node_row at, std::uint32_t domain, std::int64_t pods) {
  if (domain == no_row || (!counts.empty() && counts[at] == 0)) return;
  const std::int64_t before = in_domain[domain];
  in_domain[domain] += pods;
  if (with.empty()) return;
  const auto was = static_cast<std::size_t>(before);
  const auto is = static_cast<std::size_t>(before + pods);
  if (is >= with.size()) with.resize(is + 1, 0);
  --with[was];
  ++with[is];
  fewest = std::min(fewest, is);
  while (with[fewest] == 0) ++fewest;
}

void neighbour_book::count(const kind& of, spot where, std::int64_t pods) {
  if (where.at == no_row) return;
  for (const feed& one : of.feeds) {
    if (one.only_staying && where.is_leaving) continue;
    tally& to = tallies_[one.tally];
    to.add(where.at, domain_of(to, where.at), pods);
  }
}

void neighbour_book::move(pod_row pod, node_row to, bool is_leaving) {
  const kind& of = kind_of(pod);
  if (of.feeds.empty()) return;
  spot& known = spots_[pod];
  const spot now{to, is_leaving};
  if (known.at == now.at && known.is_leaving == now.is_leaving) return;
  count(of, known, -1);
  count(of, now, 1);
  known = now;
}

void neighbour_book::changed(const session_access& a, pod_row pod) {
  const kind& of = kind_of(pod);
  if (of.feeds.empty()) return;
  const model::cluster_state& s = *a.state;
  const auto status = static_cast<pod_status>(a.live->pod_state[pod]);
  const std::uint32_t slot = a.live->pod_node[pod];
  const bool is_there = s.pods[pod].live && slot != no_row && model::is_in(status, model::active_used);
  move(pod, is_there ? (*s.node_row_of_slot)[slot] : no_row, !model::is_in(status, model::active_allocated));
  std::erase_if(leaving_, [&](const auto& one) {
    if (one.first != pod) return false;
    count(of, {one.second, true}, -1);
    return true;
  });
  for (const leaving_pod& one : *a.leaving) {
    if (one.pod != pod) continue;
    leaving_.emplace_back(pod, (*s.node_row_of_slot)[one.node]);
    count(of, {leaving_.back().second, true}, 1);
  }
}

// ---- kinds ---------------------------------------------------------------------------------------------------------

/// Finds out who counts for whom.
class neighbour_book::maker {
 public:
  maker(neighbour_book& made, const model::cluster_state& s) : made_(made), s_(s) {}

  void find_kinds() {
    std::map<std::tuple<class_row, std::string_view, std::string_view>, std::uint32_t> known;
    made_.kind_of_.assign(s_.pod_slots, 0);
    for (pod_row p = 0; p < s_.pod_slots; ++p) {
      if (!s_.pods[p].live) continue;
      const group_row g = s_.pods[p].group;
      const std::string_view space = g == no_row ? std::string_view{} : s_.group_extras[g].name_space;
      const auto [at, is_new] = known.try_emplace({s_.pods[p].pod_class, space, s_.pod_extras[p].labels},
                                                  static_cast<std::uint32_t>(likes_.size()));
      if (is_new) {
        likes_.push_back({s_.pods[p].pod_class, space, model::parse_labels(s_.pod_extras[p].labels).value()});
        owners_[{s_.pods[p].pod_class, space}].push_back(at->second);
      }
      made_.kind_of_[p] = at->second;
    }
    made_.kinds_.resize(likes_.size());
    topology& nodes = made_.topologies_.emplace_back();
    nodes.domains = s_.node_count();
    for (node_row row = 0; row < s_.node_count(); ++row) nodes.domain.push_back(row);
  }

  void add_spread() {
    for (const auto& [owner, kinds] : owners_) {
      const model::pod_class& ask = *s_.classes[owner.first];
      for (const bool is_soft : {false, true}) {
        for (const model::spread_constraint& one : ask.spread) {
          if (one.soft == is_soft) add_rule(ask, one, owner.second, kinds);
        }
      }
    }
  }

  void add_wishes() {
    for (const auto& [owner, kinds] : owners_) {
      const model::pod_class& ask = *s_.classes[owner.first];
      for (const model::pod_preference& one : ask.preferences) {
        const std::vector<std::uint32_t> selected = selected_by(one.term, owner.second);
        if (selected.empty()) continue;
        add_wish(one.term, selected, kinds, {0, one.weight, false});
        add_wish(one.term, kinds, selected, {0, one.weight, false});
      }
      for (const affinity_term& term : ask.affinity) {
        const std::vector<std::uint32_t> selected = selected_by(term, owner.second);
        if (!selected.empty()) add_wish(term, kinds, selected, {0, 1, true});
      }
    }
  }

 private:
  struct likeness {
    class_row of_class;
    std::string_view space;
    model::label_list labels;
  };

  std::uint32_t topology_of(std::string_view key) {
    for (std::uint32_t i = each_node + 1; i < made_.topologies_.size(); ++i) {
      if (made_.topologies_[i].key == key) return i;
    }
    topology& made = made_.topologies_.emplace_back();
    made.key = key;
    std::map<std::string_view, std::uint32_t> numbers;
    for (const auto& node : *s_.nodes) {
      const std::string* const value = model::find_label(node->labels, key);
      made.domain.push_back(
          value == nullptr ? no_row
                           : numbers.try_emplace(*value, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
    made.domains = static_cast<std::uint32_t>(numbers.size());
    return static_cast<std::uint32_t>(made_.topologies_.size() - 1);
  }

  /// Kinds of pods that a term of pods in a namespace selects.
  [[nodiscard]] std::vector<std::uint32_t> selected_by(const affinity_term& term, std::string_view space) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < likes_.size(); ++i) {
      if (reaches(term, space, likes_[i].space) && term.pods.matches(likes_[i].labels)) found.push_back(i);
    }
    return found;
  }

  tally& start_tally(std::uint32_t topology) {
    tally& made = made_.tallies_.emplace_back();
    made.topology = topology;
    made.in_domain.assign(made_.topologies_[topology].domains, 0);
    return made;
  }
  [[nodiscard]] std::uint32_t last_tally() const { return static_cast<std::uint32_t>(made_.tallies_.size() - 1); }

  void add_wish(const affinity_term& term, const std::vector<std::uint32_t>& counted,
                const std::vector<std::uint32_t>& pulled, wish what) {
    start_tally(topology_of(term.topology_key));
    what.tally = last_tally();
    for (const std::uint32_t one : counted) made_.kinds_[one].feeds.push_back({what.tally, false});
    for (const std::uint32_t one : pulled) made_.kinds_[one].pulls.push_back(what);
  }

  /// Nodes whose pods count: those with all keys, and that the pod could go to as far as the constraint looks at that.
  [[nodiscard]] std::vector<std::uint8_t> nodes_that_count(const model::pod_class& ask,
                                                           const model::spread_constraint& by) {
    std::vector<std::uint8_t> counts(s_.node_count(), 1);
    for (const model::spread_constraint& other : ask.spread) {
      if (other.soft != by.soft) continue;
      const topology& keys = made_.topologies_[topology_of(other.topology_key)];
      for (node_row row = 0; row < counts.size(); ++row) {
        if (keys.domain[row] == no_row) counts[row] = 0;
      }
    }
    for (node_row row = 0; row < counts.size(); ++row) {
      const model::node_info& node = *(*s_.nodes)[row];
      if (!by.ignores_affinity && !ask.matches_labels(node.labels)) counts[row] = 0;
      if (by.honors_taints && (node.unschedulable || !ask.tolerates(node.taints))) counts[row] = 0;
    }
    return counts;
  }

  void add_rule(const model::pod_class& ask, const model::spread_constraint& by, std::string_view space,
                const std::vector<std::uint32_t>& owners) {
    const bool by_node = by.soft && by.topology_key == node_key;
    std::vector<std::uint8_t> counts = nodes_that_count(ask, by);
    const std::uint32_t at = topology_of(by.topology_key);
    tally& made = start_tally(by_node ? each_node : at);
    // What a node has is looked at there, whether or not the node counts for domains.
    if (!by_node) made.counts = std::move(counts);
    if (by_node) {
      const topology& keys = made_.topologies_[at];
      made.counts.resize(s_.node_count());
      for (node_row row = 0; row < s_.node_count(); ++row) made.counts[row] = keys.domain[row] == no_row ? 0 : 1;
    }
    if (!by.soft) count_domains(made);
    rule of{last_tally(), by.skew, by.min_domains, by_node, 0};
    // A selector without requirements counts nobody, and matches the pod itself.
    for (std::uint32_t i = 0; i < likes_.size() && !by.pods.requirements.empty(); ++i) {
      if (likes_[i].space == space && by.pods.matches(likes_[i].labels))
        made_.kinds_[i].feeds.push_back({of.tally, true});
    }
    for (const std::uint32_t one : owners) {
      of.itself = by.pods.matches(likes_[one].labels) ? 1 : 0;
      (by.soft ? made_.kinds_[one].soft : made_.kinds_[one].hard).push_back(of);
    }
  }

  void count_domains(tally& of) {
    std::vector<std::uint8_t> is_there(of.in_domain.size(), 0);
    for (node_row row = 0; row < s_.node_count(); ++row) {
      if (of.counts[row] != 0) is_there[made_.domain_of(of, row)] = 1;
    }
    of.domains = static_cast<std::uint32_t>(std::count(is_there.begin(), is_there.end(), 1));
    of.with.assign(1, of.domains);
  }

  neighbour_book& made_;
  const model::cluster_state& s_;
  std::vector<likeness> likes_;  ///< by kind
  std::map<std::pair<class_row, std::string_view>, std::vector<std::uint32_t>> owners_;
};

void neighbour_book::open(const session_access& a, bool spread, bool wishes) {
  const model::cluster_state& s = *a.state;
  *this = {};
  spread = spread && s.pods_with_spread > 0;
  wishes = wishes && s.pods_with_preferences + s.pods_with_affinity > 0;
  if (!spread && !wishes) return;
  maker made(*this, s);
  made.find_kinds();
  if (spread) made.add_spread();
  if (wishes) made.add_wishes();
  spots_.assign(s.pod_slots, {});
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
    if (of.in_domain[domain] + one.itself - fewest > one.skew) return spread_verdict::uneven;
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
      return one.by_node ? of.counts[nodes[i]] != 0 : domain_of(of, nodes[i]) != no_row;
    });
    if (has_all) taking_part.push_back(i);
  }
  if (taking_part.empty()) return points;
  std::vector<double> sums(taking_part.size(), 0.0);
  for (const rule& one : soft) {
    const tally& of = tallies_[one.tally];
    std::vector<std::uint8_t> seen(of.in_domain.size(), 0);
    std::size_t domains = 0;
    for (const std::size_t i : taking_part) {
      std::uint8_t& is_seen = seen[domain_of(of, nodes[i])];
      domains += is_seen == 0 ? 1U : 0U;
      is_seen = 1;
    }
    const double weight = natural_log(static_cast<double>(domains + 2));
    for (std::size_t k = 0; k < taking_part.size(); ++k) {
      const auto pods = static_cast<double>(of.in_domain[domain_of(of, nodes[taking_part[k]])]);
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
      if (domain != no_row) sums[i] += weight * of.in_domain[domain];
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

}  // namespace kaisched::policy
