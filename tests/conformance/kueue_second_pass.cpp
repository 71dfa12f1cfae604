#include "conformance/kueue_second_pass.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/saturating.hpp"
#include "conformance/json_values.hpp"
#include "conformance/kueue_places.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

const json& admitted_sets(const json& workload) {
  return items(member(member(workload, "status"), "admission"), "podSetAssignments");
}

bool all_checks_ready(const json& workload) {
  const json& checks = items(member(workload, "status"), "admissionChecks");
  return std::all_of(checks.begin(), checks.end(),
                     [](const json& check) { return text_or_empty(check, "state") == "Ready"; });
}

bool waits_for_places(const json& set) {
  return !has(set, "topologyAssignment") && text_or_empty(set, "delayedTopologyRequest") == "Pending";
}

/// Checks of a queue with the flavors that they are for; none means all.
std::map<std::string, std::set<std::string>> checks_of(const queue_object& queue) {
  const json& spec = member(queue.object, "spec");
  std::map<std::string, std::set<std::string>> made;
  for (const json& name : items(spec, "admissionChecks")) made[name.get<std::string>()] = {};
  for (const json& one : items(member(spec, "admissionChecksStrategy"), "admissionChecks")) {
    std::set<std::string>& flavors = made[text_or_empty(one, "name")];
    for (const json& flavor : items(one, "onFlavors")) flavors.insert(flavor.get<std::string>());
  }
  return made;
}

std::string controller_of(const json& input, const std::string& check) {
  for (const json& one : items(input, "admission_checks")) {
    if (text_or_empty(member(one, "metadata"), "name") == check)
      return text_or_empty(member(one, "spec"), "controllerName");
  }
  return {};
}

}  // namespace

bool needs_second_pass(const json& workload) {
  const json& sets = admitted_sets(workload);
  if (condition_is_true(workload, "Finished") || condition_is_true(workload, "Evicted") ||
      !condition_is_true(workload, "QuotaReserved"))
    return false;
  const bool admitted = condition_is_true(workload, "Admitted");
  if (!admitted) {
    return !items(member(workload, "status"), "admissionChecks").empty() && all_checks_ready(workload) &&
           std::any_of(sets.begin(), sets.end(), waits_for_places);
  }
  return std::any_of(sets.begin(), sets.end(), [&](const json& set) {
    if (!has(set, "topologyAssignment")) return false;
    const adm::domain_assignment held = read_assignment(set.at("topologyAssignment"));
    return std::any_of(held.places.begin(), held.places.end(),
                       [&](const adm::placed_pods& one) { return is_lost(workload, one.values.back()); });
  });
}

bool has_lost_nodes(const json& workload) { return !items(member(workload, "status"), "unhealthyNodes").empty(); }

bool is_lost(const json& workload, const std::string& node) {
  const json& nodes = items(member(workload, "status"), "unhealthyNodes");
  return std::any_of(nodes.begin(), nodes.end(), [&](const json& one) { return text_or_empty(one, "name") == node; });
}

bool is_of_one_pod(const json& workload, const json& input) {
  const json& owners = items(member(workload, "metadata"), "ownerReferences");
  const json& annotations = member(member(workload, "metadata"), "annotations");
  return gate(input, "SkipReassignmentForPodOwnedWorkloads") && owners.size() == 1 &&
         text_or_empty(owners.front(), "kind") == "Pod" && text_or_empty(owners.front(), "apiVersion") == "v1" &&
         text_or_empty(annotations, "kueue.x-k8s.io/is-group-workload") != "true";
}

const json& admitted_set(const json& workload, const std::string& name) {
  static const json none;
  for (const json& set : admitted_sets(workload)) {
    if (text_or_empty(set, "name") == name) return set;
  }
  return none;
}

demand_texts held_demands(const cluster& all, const json& workload, const json& input) {
  demand_texts made;
  for (const json& set : items(member(workload, "spec"), "podSets")) {
    adm::pod_set_demand& demand = made.demands.emplace_back();
    const json& held = admitted_set(workload, text_or_empty(set, "name"));
    const std::int64_t left = count_after_reclaim(workload, set, input);
    const std::int64_t count = value_or(held, "count", value_or(set, "count", std::int64_t{0}));
    demand.count = std::min(count, left);
    for (const auto& [resource, text] : items(held, "resourceUsage").items()) {
      std::int64_t value = quantity(resource, text);
      if (left < count && count != 0) value = base::saturating_multiply(value / count, left);
      demand.requests.push_back({all.resources.at(resource), value});
    }
    for (const auto& [resource, flavor] : items(held, "flavors").items())
      demand.held.push_back({all.resources.at(resource), all.flavors.at(flavor.get<std::string>())});
    demand.group = text_or_empty(member(set, "topologyRequest"), "podSetGroupName");
  }
  return made;
}

json pod_spec_after_checks(const json& workload, const json& pod_set) {
  json spec = member(member(pod_set, "template"), "spec");
  for (const json& check : items(member(workload, "status"), "admissionChecks")) {
    if (text_or_empty(check, "state") != "Ready") continue;
    for (const json& update : items(check, "podSetUpdates")) {
      if (text_or_empty(update, "name") != text_or_empty(pod_set, "name")) continue;
      for (const auto& [key, value] : items(update, "nodeSelector").items()) {
        json& own = spec["nodeSelector"][key];
        if (!own.is_null() && own != value) throw unsupported("checks that contradict the workload");
        own = value;
      }
      for (const json& one : items(update, "tolerations")) spec["tolerations"].push_back(one);
    }
  }
  return spec;
}

bool places_come_later(const json& input, const queue_object& queue, const std::string& flavor, const json& workload) {
  const bool holds = condition_is_true(workload, "QuotaReserved");
  for (const auto& [check, flavors] : checks_of(queue)) {
    const std::string controller = controller_of(input, check);
    if (controller == "kueue.x-k8s.io/multikueue") return true;
    if (controller == "kueue.x-k8s.io/provisioning-request" && !holds && (flavors.empty() || flavors.contains(flavor)))
      return true;
  }
  return false;
}

bool checks_pass(const queue_object& queue, const json& workload, const json& admission) {
  std::set<std::string> used;
  for (const json& set : items(admission, "podSetAssignments")) {
    if (waits_for_places(set)) return false;
    for (const auto& [resource, flavor] : items(set, "flavors").items()) used.insert(flavor.get<std::string>());
  }
  std::set<std::string> listed;
  for (const json& one : items(member(workload, "status"), "admissionChecks"))
    listed.insert(text_or_empty(one, "name"));
  for (const auto& [check, flavors] : checks_of(queue)) {
    const bool needed =
        flavors.empty() ? !used.empty() : std::any_of(used.begin(), used.end(), [&, &on = flavors](const auto& flavor) {
          return on.contains(flavor);
        });
    if (needed && !listed.contains(check)) return false;
  }
  return all_checks_ready(workload);
}

}  // namespace kaisched::conformance::kueue
