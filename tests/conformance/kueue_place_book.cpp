#include "conformance/kueue_place_book.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kueue_second_pass.hpp"
#include "conformance/rules/counted_domains.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

bool asks_for_places(const json& pod_set) {
  const json& asked = member(pod_set, "topologyRequest");
  for (const char* key : {"unconstrained", "required", "preferred", "podSetSliceRequiredTopology", "podSetSliceSize"}) {
    if (has(asked, key)) return true;
  }
  return !items(asked, "podsetSliceRequiredTopologyConstraints").empty();
}

}  // namespace

recorded_places::recorded_places(const cluster& all, const json& input)
    : all_(all), input_(input), has_topology_(all.flavors.names.size()) {
  if (!gate(input, "TopologyAwareScheduling")) return;
  std::map<std::string, std::vector<std::string>> levels;
  for (const json& one : items(input, "topologies")) {
    for (const json& level : items(member(one, "spec"), "levels"))
      levels[text_or_empty(member(one, "metadata"), "name")].push_back(text_or_empty(level, "nodeLabel"));
  }
  for (const auto& [name, spec] : all.flavor_objects) {
    const std::string topology = text_or_empty(spec, "topologyName");
    if (topology.empty()) continue;
    if (!levels.contains(topology)) throw unsupported("flavors without their topology");
    node_domains made = read_domains(all.resources, levels[topology], items(input, "nodes"), items(spec, "nodeLabels"),
                                     items(input, "pods"));
    made.topology = topology;
    domains_.emplace(name, std::move(made));
    has_topology_[all.flavors.at(name)] = 1;
  }
}

void recorded_places::add_running(const json& workload) {
  std::vector<usage>& into = running_.emplace_back();
  if (domains_.empty()) return;
  for (const json& set : items(member(member(workload, "status"), "admission"), "podSetAssignments")) {
    if (!has(set, "topologyAssignment")) continue;
    requests per_pod;
    for (const json& spec : items(member(workload, "spec"), "podSets")) {
      if (text_or_empty(spec, "name") == text_or_empty(set, "name"))
        per_pod = pod_requests(member(member(spec, "template"), "spec"));
    }
    std::set<std::string> flavors;
    for (const auto& [resource, flavor] : items(set, "flavors").items()) flavors.insert(flavor.get<std::string>());
    for (const std::string& flavor : flavors)
      into.push_back({flavor, read_assignment(set.at("topologyAssignment")), vector_of(all_.resources, per_pod)});
  }
  for (const usage& one : into) {
    const auto own = domains_.find(one.flavor);
    if (own == domains_.end()) continue;
    adm::assumed_usage used;
    adm::assume(used, one.places, one.per_pod, all_.resources.at("pods"));
    for (auto& [flavor, domains] : domains_) {
      // Flavors whose leaves are hosts may share them.
      const bool shared = own->second.ledger.leaves_are_hosts() && domains.ledger.leaves_are_hosts() &&
                          gate(input_, "TASHandleOverlappingFlavors");
      if (flavor != one.flavor && !shared) continue;
      for (const auto& [leaf, amounts] : used) domains.ledger.use(leaf, amounts, true);
    }
  }
}

void recorded_places::add_head(const queue_object& queue, const json& workload) {
  heads_.push_back({&queue, workload});
}

bool recorded_places::only_topologies(const queue_object& queue) const {
  if (domains_.empty()) return false;
  return std::all_of(queue.groups.begin(), queue.groups.end(), [&](const adm::flavor_group& group) {
    return std::all_of(group.flavors.begin(), group.flavors.end(),
                       [&](std::uint32_t flavor) { return has_topology_[flavor] != 0; });
  });
}

std::optional<std::string> recorded_places::mismatch(const queue_object& queue, const std::string& flavor,
                                                     const json& pod_set) const {
  if (!gate(input_, "TopologyAwareScheduling")) return std::nullopt;
  const auto domains = domains_.find(flavor);
  const bool asks = asks_for_places(pod_set);
  const std::string quoted = "Flavor \"" + flavor + "\"";
  if (!asks && only_topologies(queue)) return std::nullopt;
  if (!asks) {
    return domains == domains_.end() ? std::nullopt : std::optional(quoted + " supports only TopologyAwareScheduling");
  }
  if (domains == domains_.end()) {
    const requests per_pod = pod_requests(member(member(pod_set, "template"), "spec"));
    for (const adm::flavor_group& group : queue.groups) {
      if (std::find(group.flavors.begin(), group.flavors.end(), all_.flavors.at(flavor)) == group.flavors.end())
        continue;
      const bool overlap = std::any_of(group.resources.begin(), group.resources.end(), [&](std::uint32_t resource) {
        return per_pod.contains(all_.resources.names[resource]);
      });
      if (overlap) return quoted + " does not support TopologyAwareScheduling";
    }
    return std::nullopt;
  }
  adm::place_request request;
  read_topology_request(member(pod_set, "topologyRequest"), request);
  if (!adm::has_levels(domains->second.ledger, request)) return quoted + " does not contain the requested level";
  return std::nullopt;
}

void recorded_places::change(const std::vector<usage>& list, bool add) {
  for (const usage& one : list) {
    const auto domains = domains_.find(one.flavor);
    if (domains == domains_.end()) continue;
    adm::assumed_usage used;
    adm::assume(used, one.places, one.per_pod, all_.resources.at("pods"));
    for (const auto& [leaf, amounts] : used) domains->second.ledger.use(leaf, amounts, add);
  }
}

std::string recorded_places::flavor_of(const adm::pod_set_assignment& set) const {
  std::set<std::string> found;
  for (const adm::chosen_flavor& one : set.flavors) {
    if (has_topology_[one.flavor] != 0) found.insert(all_.flavors.names[one.flavor]);
  }
  if (found.size() != 1) throw unsupported("pod sets without one topology");
  return *found.begin();
}

bool recorded_places::asks(const head& of, const json& pod_set, std::int64_t count) const {
  return !domains_.empty() && count != 0 && (asks_for_places(pod_set) || only_topologies(*of.queue));
}

std::optional<adm::domain_assignment> recorded_places::kept(const head& of, const json& pod_set) const {
  const json& held = admitted_set(of.workload, text_or_empty(pod_set, "name"));
  if (!has(held, "topologyAssignment")) return std::nullopt;
  adm::domain_assignment places = read_assignment(held.at("topologyAssignment"));
  for (const adm::placed_pods& one : places.places) {
    if (is_lost(of.workload, one.values.back())) return std::nullopt;
  }
  return places;
}

bool recorded_places::come_later(std::size_t number, const adm::flavor_assignment& assignment,
                                 std::size_t pod_set) const {
  const head& of = heads_[number];
  const json& set = items(member(of.workload, "spec"), "podSets")[pod_set];
  return asks(of, set, assignment.pod_sets[pod_set].count) && !kept(of, set) &&
         places_come_later(input_, *of.queue, flavor_of(assignment.pod_sets[pod_set]), of.workload);
}

recorded_places::answer recorded_places::look(std::size_t number, const adm::flavor_assignment& assignment,
                                              bool as_if_empty) {
  answer made;
  const head& of = heads_[number];
  const json& sets = items(member(of.workload, "spec"), "podSets");
  made.places.resize(sets.size());
  struct flavor_sets {
    std::vector<adm::pod_set_places> sets;
    std::vector<std::size_t> numbers;
    exclusion_texts texts;
  };
  std::map<std::string, flavor_sets> by_flavor;
  for (std::size_t i = 0; i < sets.size() && i < assignment.pod_sets.size(); ++i) {
    if (!asks(of, sets[i], assignment.pod_sets[i].count)) continue;
    if ((made.places[i] = kept(of, sets[i]))) continue;
    const std::string flavor = flavor_of(assignment.pod_sets[i]);
    if (places_come_later(input_, *of.queue, flavor, of.workload)) continue;
    flavor_sets& into = by_flavor[flavor];
    adm::pod_set_places& set = into.sets.emplace_back();
    into.numbers.push_back(i);
    made.asked.push_back(i);
    const json pod_spec = pod_spec_after_checks(of.workload, sets[i]);
    const json& held = admitted_set(of.workload, text_or_empty(sets[i], "name"));
    if (has(held, "topologyAssignment")) set.existing = read_assignment(held.at("topologyAssignment"));
    set.group = text_or_empty(member(sets[i], "topologyRequest"), "podSetGroupName");
    set.request.count = assignment.pod_sets[i].count;
    set.request.requests = vector_of(all_.resources, pod_requests(pod_spec));
    set.request.implied = !asks_for_places(sets[i]);
    read_topology_request(member(sets[i], "topologyRequest"), set.request);
    std::vector<json> tolerations;
    for (const json& one : items(all_.flavor_objects.at(flavor), "tolerations")) tolerations.push_back(one);
    read_pod_rules(domains_.at(flavor), pod_spec, tolerations, gate(input_, "TASRespectNodeAffinityPreferred"),
                   into.texts, set.request);
  }
  const json& lost = items(member(of.workload, "status"), "unhealthyNodes");
  adm::assumed_usage shared;
  for (auto& [flavor, asked] : by_flavor) {
    const node_domains& domains = domains_.at(flavor);
    adm::assumed_usage own;
    const bool share = domains.ledger.leaves_are_hosts() && gate(input_, "TASHandleOverlappingFlavors");
    const std::vector<adm::placed_set> placed = adm::place_pod_sets(
        domains.ledger, asked.sets, lost.empty() ? std::string{} : text_or_empty(lost.front(), "name"),
        is_of_one_pod(of.workload, input_), share ? shared : own, as_if_empty, place_rules_of(all_.resources, input_));
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (placed[i].failure && !made.failed) {
        made.failed = asked.numbers[i];
        made.flavor = all_.flavors.at(flavor);
        made.reason = reasons_.size();
        reasons_.push_back(failure_text(domains, all_.resources, asked.texts, placed[i].failure));
      } else if (placed[i].looked_at) {
        made.places[asked.numbers[i]] = placed[i].places;
      }
    }
  }
  return made;
}

std::vector<recorded_places::usage> recorded_places::usages_of(std::size_t number,
                                                               const adm::flavor_assignment& assignment,
                                                               const adm::set_places& places) const {
  std::vector<usage> made;
  const json& sets = items(member(heads_[number].workload, "spec"), "podSets");
  for (std::size_t i = 0; i < places.size() && i < assignment.pod_sets.size(); ++i) {
    if (!places[i]) continue;
    const json& held = admitted_set(heads_[number].workload, text_or_empty(sets[i], "name"));
    // What it holds already is in the ledger.
    const adm::domain_assignment before =
        has(held, "topologyAssignment") ? read_assignment(held.at("topologyAssignment")) : adm::domain_assignment{};
    made.push_back({flavor_of(assignment.pod_sets[i]), adm::beyond(*places[i], before),
                    vector_of(all_.resources, pod_requests(member(member(sets[i], "template"), "spec")))});
  }
  return made;
}

bool recorded_places::has_room(std::size_t number, const adm::flavor_assignment& assignment,
                               const adm::set_places& places) {
  for (const usage& one : usages_of(number, assignment, places)) {
    const adm::domain_ledger& ledger = domains_.at(one.flavor).ledger;
    for (const adm::placed_pods& place : one.places.places) {
      const std::uint32_t leaf = ledger.leaf_of(place.values);
      if (leaf == adm::domain_ledger::none) return false;
      if (adm::count_in(one.per_pod, ledger.remaining(leaf, false)).count < place.count) return false;
    }
  }
  return true;
}

void recorded_places::add(std::size_t number, const adm::flavor_assignment& assignment, const adm::set_places& places) {
  change(usages_of(number, assignment, places), true);
}

}  // namespace kaisched::conformance::kueue
