#include "schedulers/kueue/cycle/places.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/saturating.hpp"
#include "model/selector.hpp"
#include "policy/access.hpp"

namespace kaisched::kueue {

namespace {

/// The label whose values are the names of nodes: such leaves are known by it alone.
constexpr std::string_view host_label = "kubernetes.io/hostname";
constexpr std::int64_t endless_pods = std::numeric_limits<std::int32_t>::max();

const std::vector<std::string>& levels_of(const framework::session_state& c, const std::string& topology) {
  return std::ranges::find(*c.state().topologies, topology, &model::topology_info::name)->levels;
}

}  // namespace

session_places::session_places(const framework::session_state& c, const cluster_view& world)
    : session_reader(c), world_(world), levels_(levels_of(c, world.topology)), pods_resource_(c.state().dims()) {
  const bool hosts = !levels_.empty() && levels_.back() == host_label;
  for (std::size_t f = 0; f < world.flavors.size(); ++f)
    flavors_.push_back({domain_ledger(levels_, hosts, pods_resource_ + std::size_t{1}), {}});
  has_topology_.assign(world.flavors.size(), 1);
  leaf_of_node_.assign(c.state().node_count(), domain_ledger::none);
  add_nodes();
  add_running();
}

/// Free is what the session has idle and what workloads of the world hold: others only use the nodes.
void session_places::add_nodes() {
  for (const node_row row : *s_.rows_by_name) {
    const model::node_info& node = *(*s_.nodes)[row];
    const std::uint32_t flavor = world_.flavor_of_node[row];
    if (flavor == no_flavor || !node.open()) continue;
    std::vector<std::string> values;
    for (const std::string& level : levels_) {
      const std::string* const value = model::find_label(node.labels, level);
      if (value == nullptr) break;
      values.push_back(*value);
    }
    if (values.size() != levels_.size()) continue;
    resource_vector free(pods_resource_ + std::size_t{1});
    for (dimension d = 0; d < s_.dims(); ++d) free[d] = (*c_.live.idle)[static_cast<std::size_t>(row) * s_.dims() + d];
    free[pods_resource_] = endless_pods;
    flavor_domains& into = flavors_[flavor];
    leaf_of_node_[row] = into.ledger.add_node(values, free);
    into.nodes.resize(into.ledger.leaves().size());
    into.nodes[leaf_of_node_[row]].push_back(row);
  }
}

void session_places::add_running() {
  for (const group_row g : world_.running) {
    usages& into = running_.emplace_back();
    each_pod(g, [&](pod_row p) {
      const node_row row = node_of(p);
      if (row == no_row || !model::is_in(status(p), model::active_used) || leaf_of_node_[row] == domain_ledger::none)
        return;
      const std::uint32_t flavor = world_.flavor_of_node[row];
      domain_ledger& ledger = flavors_[flavor].ledger;
      const domain_ledger::one_leaf& leaf = ledger.leaves()[leaf_of_node_[row]];
      const std::vector<std::string>& path = ledger.domains()[leaf.domain].values;
      domain_assignment place{levels_, {}};
      place.places.push_back({ledger.leaves_are_hosts() ? std::vector<std::string>{path.back()} : path, 1});
      into.push_back({flavor, std::move(place), vector_of(s_.pods[p].pod_class)});
      resource_vector held = into.back().per_pod;
      for (std::int64_t& one : held) one = std::max<std::int64_t>(one, 0);
      ledger.add_node(std::vector<std::string>(path), held);
    });
    change(into, true);
  }
}

/// Nothing of a dimension is not asked for at all.
resource_vector session_places::vector_of(class_row kind) const {
  resource_vector made = request_of(kind);
  for (std::int64_t& one : made) one = one > 0 ? one : -1;
  made.push_back(-1);
  return made;
}

void session_places::change(const usages& list, bool add) {
  for (const usage& one : list) {
    assumed_usage used;
    assume(used, one.places, one.per_pod, pods_resource_);
    for (const auto& [leaf, amounts] : used) flavors_[one.flavor].ledger.use(leaf, amounts, add);
  }
}

void session_places::start(std::vector<const waiting_workload*> heads) {
  heads_ = std::move(heads);
  failures_.clear();
}

void session_places::keep(std::size_t head, const flavor_assignment& assignment, const set_places& places) {
  const auto at = std::ranges::find(assumed_, head, &std::pair<std::size_t, usages>::first);
  if (at == assumed_.end()) {
    running_.push_back(usages_of(head, assignment, places));
    return;
  }
  running_.push_back(std::move(at->second));
  assumed_.erase(at);
}

void session_places::finish() {
  for (const auto& [head, list] : assumed_) change(list, false);
  assumed_.clear();
}

void session_places::forget(std::size_t workload) {
  change(running_[workload], false);
  running_[workload].clear();
}

std::span<const node_row> session_places::nodes_of(std::uint32_t flavor, const placed_pods& place) const {
  return flavors_[flavor].nodes[flavors_[flavor].ledger.leaf_of(place.values)];
}

bool session_places::has_levels(const waiting_set& set) const {
  const std::string& level = set.required.empty() ? set.preferred : set.required;
  return level.empty() || std::ranges::find(levels_, level) != levels_.end();
}

/// All resources of a pod set take one flavor; one that asks for nothing has none.
std::optional<std::uint32_t> session_places::flavor_of(const pod_set_assignment& set) const {
  if (set.flavors.empty()) return std::nullopt;
  return set.flavors.front().flavor;
}

/// Leaves all of whose nodes refuse pods of the class and the group, amounts aside.
const std::vector<std::int64_t>& session_places::excluded_for(class_row kind, group_row group, std::uint32_t flavor) {
  const auto [at, is_new] = excluded_.try_emplace({kind, c_.constraints.kind_of(group), flavor});
  if (!is_new || (!c_.has_predicates && !c_.constraints.has(policy::trait_closes_nodes))) return at->second;
  for (const std::vector<node_row>& nodes : flavors_[flavor].nodes) {
    const bool closed =
        std::ranges::all_of(nodes, [&](node_row row) { return schedulers::is_closed(c_, row, kind, group); });
    at->second.push_back(closed ? 0 : -1);
  }
  return at->second;
}

pod_set_places session_places::places_asked(const waiting_workload& of, std::size_t set, std::int64_t count,
                                            std::uint32_t flavor) {
  const waiting_set& from = of.sets[set];
  pod_set_places made;
  made.group = of.head.demands[set].group;
  made.request.count = count;
  made.request.requests = vector_of(from.kind);
  made.request.required = from.required;
  made.request.preferred = from.preferred;
  made.request.implied = from.required.empty() && from.preferred.empty();
  made.request.excluded = excluded_for(from.kind, of.group, flavor);
  return made;
}

session_places::answer session_places::look(std::size_t head, const flavor_assignment& assignment, bool as_if_empty) {
  answer made;
  const waiting_workload& of = *heads_[head];
  made.places.resize(of.sets.size());
  std::map<std::uint32_t, std::pair<std::vector<pod_set_places>, std::vector<std::size_t>>> by_flavor;
  for (std::size_t i = 0; i < of.sets.size() && i < assignment.pod_sets.size(); ++i) {
    const std::optional<std::uint32_t> flavor = flavor_of(assignment.pod_sets[i]);
    if (!flavor || assignment.pod_sets[i].count == 0) continue;
    auto& [sets, numbers] = by_flavor[*flavor];
    sets.push_back(places_asked(of, i, assignment.pod_sets[i].count, *flavor));
    numbers.push_back(i);
    made.asked.push_back(i);
  }
  place_rules rules;
  rules.pods_resource = pods_resource_;
  for (const auto& [flavor, asked] : by_flavor) {
    const auto& [sets, numbers] = asked;
    assumed_usage assumed;
    const std::vector<placed_set> placed =
        place_pod_sets(flavors_[flavor].ledger, sets, {}, false, assumed, as_if_empty, rules);
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (placed[i].failure && !made.failed) {
        made.failed = numbers[i];
        made.flavor = flavor;
        made.reason = failures_.size();
        failures_.push_back(placed[i].failure);
      } else if (placed[i].looked_at) {
        made.places[numbers[i]] = placed[i].places;
      }
    }
  }
  return made;
}

session_places::usages session_places::usages_of(std::size_t head, const flavor_assignment& assignment,
                                                 const set_places& places) const {
  usages made;
  for (std::size_t i = 0; i < places.size() && i < assignment.pod_sets.size(); ++i) {
    const std::optional<std::uint32_t> flavor = flavor_of(assignment.pod_sets[i]);
    if (places[i] && flavor) made.push_back({*flavor, *places[i], vector_of(heads_[head]->sets[i].kind)});
  }
  return made;
}

bool session_places::has_room(std::size_t head, const flavor_assignment& assignment, const set_places& places) {
  for (const usage& one : usages_of(head, assignment, places)) {
    const domain_ledger& ledger = flavors_[one.flavor].ledger;
    for (const placed_pods& place : one.places.places) {
      const std::uint32_t leaf = ledger.leaf_of(place.values);
      if (leaf == domain_ledger::none) return false;
      if (count_in(one.per_pod, ledger.remaining(leaf, false)).count < place.count) return false;
    }
  }
  return true;
}

void session_places::add(std::size_t head, const flavor_assignment& assignment, const set_places& places) {
  assumed_.emplace_back(head, usages_of(head, assignment, places));
  change(assumed_.back().second, true);
}

}  // namespace kaisched::kueue
