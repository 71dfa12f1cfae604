// Places in topologies of recorded calls.

#include "conformance/kueue_places.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kueue_calls.hpp"
#include "conformance/kueue_second_pass.hpp"
#include "conformance/rules/counted_domains.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

constexpr const char* hostname = "kubernetes.io/hostname";

bool is_open(const json& node) {
  if (value_or(member(node, "spec"), "unschedulable", false)) return false;
  for (const json& one : items(member(node, "status"), "conditions")) {
    if (text_or_empty(one, "type") == "Ready") return text_or_empty(one, "status") == "True";
  }
  return false;
}

adm::counted_domain counted_of(const json& record) {
  const json& domain = record.contains("domain") ? record.at("domain") : record;
  const json& state = record.contains("domain") ? member(record, "state") : record;
  adm::counted_domain made;
  for (const json& value : items(domain, "level_values")) made.values.push_back(value.get<std::string>());
  made.counts = {value_or(state, "pod_count", std::int64_t{0}),
                 value_or(state, "slice_count", std::int64_t{0}),
                 value_or(state, "pod_count_with_leader", std::int64_t{0}),
                 value_or(state, "slice_count_with_leader", std::int64_t{0}),
                 value_or(state, "leader_count", std::int64_t{0}),
                 value_or(state, "affinity_score", std::int64_t{0})};
  return made;
}

std::string id_of(const json& record) {
  return text_or_empty(record.contains("domain") ? record.at("domain") : record, "id");
}

struct counted_list {
  std::vector<adm::counted_domain> domains;
  std::vector<std::string> ids;
};

counted_list counted_domains(const json& input) {
  counted_list made;
  for (const json& record : items(input, "domains")) {
    made.domains.push_back(counted_of(record));
    made.ids.push_back(id_of(record));
    const std::string parent = text_or_empty(record.contains("domain") ? record.at("domain") : record, "parent_id");
    const auto at = std::find(made.ids.begin(), made.ids.end(), parent);
    if (!parent.empty() && at != made.ids.end())
      made.domains.back().parent = static_cast<std::uint32_t>(at - made.ids.begin());
  }
  return made;
}

json state_record(const adm::domain_counts& counts) {
  json made = json::object();
  const auto put = [&](const char* name, std::int64_t value) {
    if (value != 0) made[name] = value;
  };
  put("pod_count", counts.pods);
  put("slice_count", counts.slices);
  put("pod_count_with_leader", counts.pods_with_leader);
  put("slice_count_with_leader", counts.slices_with_leader);
  put("leader_count", counts.leaders);
  put("affinity_score", counts.score);
  return made;
}

std::vector<std::string> texts_of(const json& list) {
  std::vector<std::string> made;
  for (const json& one : list) made.push_back(one.get<std::string>());
  return made;
}

/// Usage of domains in requests per pod and a count.
void add_usage(const name_list& resources, const json& list, adm::assumed_usage& into) {
  for (const json& one : list) {
    requests per_pod;
    for (const json& request : items(one, "single_pod_requests"))
      per_pod[text_or_empty(request, "name")] = value_or(request, "value", std::int64_t{0});
    adm::domain_assignment places;
    places.places.push_back({texts_of(items(one, "values")), value_or(one, "count", std::int64_t{0})});
    adm::assume(into, places, vector_of(resources, per_pod), resources.at("pods"));
  }
}

name_list resources_of(const json& input) {
  std::set<std::string> names{"pods", "cpu"};
  for (const json& node : items(input, "nodes")) {
    for (const auto& [name, value] : items(member(node, "status"), "allocatable").items()) names.insert(name);
  }
  for (const json& set : items(input, "pod_sets")) {
    for (const auto& [name, value] : items(set, "requests").items()) names.insert(name);
  }
  for (const auto& [name, value] : items(input, "single_pod_requests").items()) names.insert(name);
  for (const char* key : {"prior_own_usage", "prior_flavor_usage"}) {
    for (const json& one : items(input, key)) {
      for (const json& request : items(one, "single_pod_requests")) names.insert(text_or_empty(request, "name"));
    }
  }
  for (const auto& [domain, amounts] : items(input, "aggregated_domain_usages").items()) {
    if (!amounts.is_object()) throw unsupported("form of aggregated usage");
    for (const auto& [name, value] : amounts.items()) names.insert(name);
  }
  return {{names.begin(), names.end()}};
}

const json* set_of(const json& list, const std::string& name) {
  for (const json& one : list) {
    if (text_or_empty(one, "name") == name) return &one;
  }
  return nullptr;
}

/// What is read of a call that looks for places, and its answer.
json place_all(const json& input, std::vector<adm::pod_set_places> sets, const std::vector<std::string>& names,
               const node_domains& domains, const name_list& resources, const exclusion_texts& texts) {
  const json& workload = member(input, "workload");
  const json& unhealthy = items(member(workload, "status"), "unhealthyNodes");
  const json& admitted = items(member(member(workload, "status"), "admission"), "podSetAssignments");
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const json* of = set_of(admitted, names[i]);
    if (of != nullptr && has(*of, "topologyAssignment"))
      sets[i].existing = read_assignment(of->at("topologyAssignment"));
  }
  adm::assumed_usage assumed;
  add_usage(resources, items(input, "prior_flavor_usage"), assumed);
  const std::vector<adm::placed_set> placed = adm::place_pod_sets(
      domains.ledger, sets, unhealthy.empty() ? std::string{} : text_or_empty(unhealthy.front(), "name"),
      is_of_one_pod(workload, input), assumed, value_or(input, "simulate_empty", false),
      place_rules_of(resources, input));
  json made = json::object();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (!placed[i].looked_at) continue;
    if (placed[i].failure) {
      made[names[i]] = {{"failure_reason", failure_text(domains, resources, texts, placed[i].failure)}};
    } else {
      made[names[i]] = {{"topology_assignment", assignment_record(placed[i].places)}};
    }
  }
  return made;
}

}  // namespace

std::int64_t exclusion_texts::number(const std::string& text) {
  const auto at = std::find(texts.begin(), texts.end(), text);
  if (at != texts.end()) return at - texts.begin();
  texts.push_back(text);
  return static_cast<std::int64_t>(texts.size()) - 1;
}

adm::resource_vector vector_of(const name_list& resources, const requests& amounts) {
  adm::resource_vector made(resources.names.size(), -1);
  for (const auto& [name, value] : amounts) {
    if (const auto at = resources.find(name)) made[*at] = value;
  }
  return made;
}

node_domains read_domains(const name_list& resources, const std::vector<std::string>& levels, const json& nodes,
                          const json& node_labels, const json& pods) {
  const bool hosts = !levels.empty() && levels.back() == hostname;
  node_domains made{"default", adm::domain_ledger(levels, hosts, resources.names.size()), {}};
  std::vector<json> sorted;
  for (const json& node : nodes) {
    const json& labels = items(member(node, "metadata"), "labels");
    const bool matches =
        std::all_of(levels.begin(), levels.end(), [&](const std::string& level) { return labels.contains(level); });
    bool labelled = true;
    for (const auto& [key, value] : node_labels.items()) labelled = labelled && member(labels, key) == value;
    if (matches && labelled && is_open(node)) sorted.push_back(node);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const json& a, const json& b) {
    return text_or_empty(member(a, "metadata"), "name") < text_or_empty(member(b, "metadata"), "name");
  });
  std::map<std::string, std::vector<std::string>> values_of_node;
  for (const json& node : sorted) {
    const json& labels = items(member(node, "metadata"), "labels");
    std::vector<std::string> values;
    for (const std::string& level : levels) values.push_back(text_or_empty(labels, level));
    requests allocatable;
    for (const auto& [name, text] : items(member(node, "status"), "allocatable").items())
      allocatable[name] = quantity(name, text);
    adm::resource_vector capacity = vector_of(resources, allocatable);
    for (std::int64_t& one : capacity) one = std::max<std::int64_t>(one, 0);
    const std::uint32_t leaf = made.ledger.add_node(values, capacity);
    values_of_node[text_or_empty(member(node, "metadata"), "name")] = values;
    if (made.nodes.size() <= leaf) made.nodes.push_back(hosts ? node : json());
  }
  for (const json& pod : pods) {
    const std::string phase = text_or_empty(member(pod, "status"), "phase");
    const auto values = values_of_node.find(text_or_empty(member(pod, "spec"), "nodeName"));
    if (phase == "Succeeded" || phase == "Failed" || values == values_of_node.end()) continue;
    requests used = pod_requests(member(pod, "spec"));
    used["pods"] += 1;
    adm::resource_vector taken = vector_of(resources, used);
    for (std::int64_t& one : taken) one = -std::max<std::int64_t>(one, 0);
    made.ledger.add_node(values->second, taken);
  }
  return made;
}

void read_pod_rules(const node_domains& domains, const json& pod_spec, const std::vector<json>& more_tolerations,
                    bool by_affinity, exclusion_texts& texts, adm::place_request& request) {
  std::vector<json> tolerations;
  for (const json& one : items(pod_spec, "tolerations")) tolerations.push_back(one);
  tolerations.insert(tolerations.end(), more_tolerations.begin(), more_tolerations.end());
  json selector = json::object();
  if (has(pod_spec, "nodeSelector")) selector["nodeSelector"] = pod_spec.at("nodeSelector");
  json affinity = json::object();
  if (has(pod_spec, "affinity")) affinity["affinity"] = pod_spec.at("affinity");
  for (const json& node : domains.nodes) {
    request.excluded.push_back(-1);
    request.scores.push_back(0);
    if (node.is_null()) continue;
    const json& labels = items(member(node, "metadata"), "labels");
    if (const json* taint = untolerated_taint(items(member(node, "spec"), "taints"), tolerations)) {
      const std::string value = text_or_empty(*taint, "value");
      request.excluded.back() = texts.number("taint \"" + text_or_empty(*taint, "key") + (value.empty() ? "" : "=") +
                                             value + ":" + text_or_empty(*taint, "effect") + "\"");
    } else if (!matches_node_affinity(selector, labels, nullptr)) {
      request.excluded.back() = texts.number("nodeSelector");
    } else if (!matches_node_affinity(affinity, labels, nullptr)) {
      request.excluded.back() = texts.number("affinity");
    }
    if (!by_affinity) continue;
    for (const json& term : items(member(member(pod_spec, "affinity"), "nodeAffinity"),
                                  "preferredDuringSchedulingIgnoredDuringExecution")) {
      json as_required = json::object();
      as_required["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
          json::array({member(term, "preference")});
      if (matches_node_affinity(as_required, labels, nullptr))
        request.scores.back() += value_or(term, "weight", std::int64_t{0});
    }
  }
}

void read_topology_request(const json& asked, adm::place_request& request) {
  request.required = text_or_empty(asked, "required");
  request.preferred = text_or_empty(asked, "preferred");
  request.unconstrained = value_or(asked, "unconstrained", false);
  for (const json& layer : items(asked, "podsetSliceRequiredTopologyConstraints"))
    request.slices.push_back({text_or_empty(layer, "topology"), value_or(layer, "size", std::int64_t{0})});
  if (request.slices.empty() && has(asked, "podSetSliceRequiredTopology")) {
    request.slices.push_back(
        {text_or_empty(asked, "podSetSliceRequiredTopology"), value_or(asked, "podSetSliceSize", std::int64_t{0})});
  }
}

std::string failure_text(const node_domains& domains, const name_list& resources, const exclusion_texts& texts,
                         const adm::place_failure& failure) {
  const std::string topology = "topology \"" + domains.topology + "\"";
  std::string text;
  switch (failure.kind) {
    case adm::place_failure_kind::none:
      return {};
    case adm::place_failure_kind::no_level_asked:
      return "topology level not specified";
    case adm::place_failure_kind::no_level:
      return "no requested topology level: " + failure.level;
    case adm::place_failure_kind::no_slice_level:
      return "no requested topology level for slices: " + failure.level;
    case adm::place_failure_kind::slice_above_level:
      return "podset slice topology " + failure.level + " is above the podset topology " + failure.other;
    case adm::place_failure_kind::no_layer_level:
      return "no requested topology level for additional slice layer: " + failure.level;
    case adm::place_failure_kind::layer_not_lower:
      return "additional slice layer topology " + failure.level + " must be at a lower level than " + failure.other;
    case adm::place_failure_kind::layer_not_divisor:
      return "additional slice layer size " + std::to_string(failure.fits) + " must evenly divide parent layer size " +
             std::to_string(failure.asked);
    case adm::place_failure_kind::no_slice_size:
      return "slice topology requested, but slice size not provided";
    case adm::place_failure_kind::no_domains:
      return "no topology domains at level: " + failure.level;
    case adm::place_failure_kind::stale:
      return "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains the stale "
             "domain " +
             failure.level;
    case adm::place_failure_kind::no_replacement:
      return "cannot find replacement assignment for unhealthy node: " + failure.level;
    case adm::place_failure_kind::too_few: {
      const std::string unit = std::to_string(failure.asked) + (failure.slice_size == 1 ? " pod(s)" : " slice(s)");
      text = failure.fits == 0 ? topology + " doesn't allow to fit any of " + unit
                               : topology + " allows to fit only " + std::to_string(failure.fits) + " out of " + unit;
      break;
    }
    case adm::place_failure_kind::too_few_layers:
      text = topology + " doesn't allow to fit";
      for (const adm::layer_fit& one : failure.layers) {
        text +=
            "; " + std::to_string(one.fits) + "/" + std::to_string(one.asked) + " slice(s) fit on level " + one.level;
      }
      break;
  }
  std::vector<std::string> reasons;
  for (const auto& [number, count] : failure.excluded)
    reasons.push_back(texts.texts[static_cast<std::size_t>(number)] + ": " + std::to_string(count));
  if (failure.outside > 0) reasons.push_back("topologyDomain: " + std::to_string(failure.outside));
  for (const auto& [resource, count] : failure.bounding_resources)
    reasons.push_back("resource \"" + resources.names[static_cast<std::size_t>(resource)] +
                      "\": " + std::to_string(count));
  if (reasons.empty()) return text;
  std::sort(reasons.begin(), reasons.end());
  std::string listed;
  for (const std::string& one : reasons) listed += (listed.empty() ? "" : ", ") + one;
  return text + ". Total nodes: " + std::to_string(failure.leaves) + "; excluded: " + listed;
}

adm::domain_assignment read_assignment(const json& record) {
  adm::domain_assignment made;
  made.levels = texts_of(items(record, "levels"));
  for (const json& slice : items(record, "slices")) {
    const std::int64_t domains = value_or(slice, "domainCount", std::int64_t{0});
    const json& counts = member(slice, "podCounts");
    for (std::size_t i = 0; i < static_cast<std::size_t>(domains); ++i) {
      adm::placed_pods& place = made.places.emplace_back();
      place.count = has(counts, "universal") ? counts.at("universal").get<std::int64_t>()
                                             : counts.at("individual").at(i).get<std::int64_t>();
      for (const json& level : items(slice, "valuesPerLevel")) {
        if (has(level, "universal")) {
          place.values.push_back(text_or_empty(level, "universal"));
          continue;
        }
        const json& each = level.at("individual");
        place.values.push_back(text_or_empty(each, "prefix") + each.at("roots").at(i).get<std::string>() +
                               text_or_empty(each, "suffix"));
      }
    }
  }
  for (const json& place : items(record, "domains"))
    made.places.push_back({texts_of(items(place, "values")), value_or(place, "count", std::int64_t{0})});
  return made;
}

json assignment_record(const adm::domain_assignment& made) {
  json domains = json::array();
  for (const adm::placed_pods& one : made.places) domains.push_back({{"count", one.count}, {"values", one.values}});
  json record = {{"levels", made.levels}};
  if (!domains.empty()) record["domains"] = std::move(domains);
  return record;
}

adm::place_rules place_rules_of(const name_list& resources, const json& input) {
  return {resources.at("pods"), gate(input, "TASProfileMixed"), gate(input, "TASBalancedPlacement"),
          gate(input, "TASRespectNodeAffinityPreferred")};
}

differences check_places(const json& one) {
  const json& input = one.at("input");
  const name_list resources = resources_of(input);
  node_domains domains = read_domains(resources, texts_of(items(input, "levels")), items(input, "nodes"),
                                      items(input, "node_labels"), items(input, "pods"));
  adm::assumed_usage held;
  if (has(input, "aggregated_domain_usages") && gate(input, "TASHandleOverlappingFlavors")) {
    for (const auto& [domain, amounts] : items(input, "aggregated_domain_usages").items()) {
      requests used;
      for (const auto& [name, value] : amounts.items()) used[name] = value.get<std::int64_t>();
      held[domain] = vector_of(resources, used);
    }
  } else {
    add_usage(resources, items(input, "prior_own_usage"), held);
  }
  for (const auto& [domain, amounts] : held) domains.ledger.use(domain, amounts, true);
  std::vector<adm::pod_set_places> sets;
  std::vector<std::string> names;
  exclusion_texts texts;
  for (const json& record : items(input, "pod_sets")) {
    adm::pod_set_places& set = sets.emplace_back();
    names.push_back(text_or_empty(record, "pod_set_name"));
    set.group = text_or_empty(record, "pod_set_group_name");
    set.request.count = value_or(record, "count", std::int64_t{0});
    requests per_pod;
    for (const auto& [name, value] : items(record, "requests").items()) per_pod[name] = value.get<std::int64_t>();
    set.request.requests = vector_of(resources, per_pod);
    set.request.implied = !has(record, "topology_request");
    read_topology_request(member(record, "topology_request"), set.request);
    if (has(record, "previous_assignment") && gate(input, "ElasticJobsViaWorkloadSlicesWithTAS"))
      set.previous = read_assignment(record.at("previous_assignment"));
    json pod_spec = json::object();
    if (has(record, "node_selector")) pod_spec["nodeSelector"] = record.at("node_selector");
    if (has(record, "tolerations")) pod_spec["tolerations"] = record.at("tolerations");
    if (has(record, "node_affinity")) pod_spec["affinity"]["nodeAffinity"] = record.at("node_affinity");
    read_pod_rules(domains, pod_spec, {}, gate(input, "TASRespectNodeAffinityPreferred"), texts, set.request);
  }
  differences found;
  compare(found, "places", one.at("expected").at("result"), place_all(input, sets, names, domains, resources, texts));
  return found;
}

differences check_replacement(const json& one) {
  const json& input = one.at("input");
  const name_list resources = resources_of(input);
  const node_domains domains = read_domains(resources, texts_of(items(input, "levels")), items(input, "nodes"),
                                            json::object(), items(input, "pods"));
  adm::pod_set_places set;
  set.request.count = value_or(input, "count", std::int64_t{0});
  requests per_pod;
  for (const auto& [name, value] : items(input, "single_pod_requests").items())
    per_pod[name] = value.get<std::int64_t>();
  set.request.requests = vector_of(resources, per_pod);
  read_topology_request(member(input, "topology_request"), set.request);
  exclusion_texts texts;
  read_pod_rules(domains, json::object(), {}, false, texts, set.request);
  const std::string name = text_or_empty(input, "pod_set");
  const json got = place_all(input, {set}, {name}, domains, resources, texts);
  const json& expected = one.at("expected");
  differences found;
  const json& answer = member(got, name);
  compare(found, "reason", text_or_empty(expected, "reason"), text_or_empty(answer, "failure_reason"));
  const json& places = member(expected, "assignment");
  if (places.is_object()) compare(found, "places", places, member(answer, "topology_assignment"));
  return found;
}

differences check_domain_order(const json& one) {
  const json& input = one.at("input");
  const counted_list list = counted_domains(input);
  const bool with_leader = one.at("test").get<std::string>().find("WithLeader") != std::string::npos;
  adm::place_rules rules;
  rules.least_free_if_unconstrained = gate(input, "TASProfileMixed");
  // The recorded calls have scores only where they count, and do not say so with a gate.
  rules.by_affinity = !has(input, "feature_gates") || gate(input, "TASRespectNodeAffinityPreferred");
  json order = json::array();
  for (const std::size_t at :
       adm::domain_order(list.domains, with_leader, value_or(input, "unconstrained", false), rules))
    order.push_back(list.ids[at]);
  differences found;
  compare(found, "order", one.at("expected").at("order"), order);
  return found;
}

differences check_balanced(const json& one) {
  const json& input = one.at("input");
  const json& expected = one.at("expected");
  counted_list list = counted_domains(input);
  const auto number = [&](const json& of, const char* name) { return value_or(of, name, std::int64_t{0}); };
  const std::int64_t size = std::max<std::int64_t>(number(input, "slice_size"), 1);
  const std::string test = one.at("test").get<std::string>();
  differences found;
  if (test == "TestFindBestDomainsForBalancedPlacement") {
    const json& params = member(input, "params");
    const adm::even_placement best =
        adm::best_threshold(list.domains, number(params, "count"), number(params, "leader_count"),
                            std::max<std::int64_t>(number(params, "slice_size"), 1),
                            static_cast<std::size_t>(number(params, "requested_level_idx")),
                            static_cast<std::size_t>(number(params, "slice_level_idx")));
    compare(found, "threshold", number(expected, "threshold"), best.threshold);
    compare(found, "domains", number(expected, "domains_count"), static_cast<std::int64_t>(best.domains));
  } else if (test == "TestPlaceSlicesOnDomainsBalanced") {
    std::vector<std::size_t> chosen;
    json result = json::object();
    if (adm::spread_slices(list.domains, number(input, "slice_count"), number(input, "leader_count"), size,
                           number(input, "threshold"), chosen)) {
      for (const std::size_t at : chosen) result[list.ids[at]] = state_record(list.domains[at].counts);
    }
    const json& wanted = member(expected, "result");
    compare(found, "counts", wanted.is_null() ? json::object() : wanted, result);
  } else if (test == "TestSelectOptimalDomainSetToFit") {
    json ids = json::array();
    for (const std::size_t at :
         adm::fewest_domains(list.domains, number(input, "worker_count") / size, number(input, "leader_count"), size,
                             value_or(input, "prioritize_by_entropy", true)))
      ids.push_back(list.ids[at]);
    compare(found, "domains", items(expected, "result"), ids);
  } else {
    throw unsupported("call " + test);
  }
  return found;
}

differences check_place_math(const json& one) {
  const json& input = one.at("input");
  differences found;
  if (one.at("test") == "TestTruncateAssignment") {
    const adm::domain_assignment all = read_assignment(input.at("assignment"));
    compare(found, "assignment", one.at("expected").at("result"),
            assignment_record(adm::truncated(all, value_or(input, "new_count", std::int64_t{0}))));
    return found;
  }
  if (one.at("test") != "TestMergeTopologyAssignments") throw unsupported("call " + one.at("test").get<std::string>());
  const adm::domain_assignment a = read_assignment(member(input, "a"));
  const adm::domain_assignment b = read_assignment(member(input, "b"));
  const adm::domain_ledger nothing(a.levels, false, 0);
  compare(found, "assignment", one.at("expected").at("result"), assignment_record(adm::merged(nothing, a, b)));
  return found;
}

}  // namespace kaisched::conformance::kueue
