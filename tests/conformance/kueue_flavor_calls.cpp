// Flavor assignments of recorded calls.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/saturating.hpp"
#include "conformance/json_values.hpp"
#include "conformance/kueue_calls.hpp"
#include "conformance/kueue_demands.hpp"
#include "conformance/kueue_objects.hpp"
#include "conformance/kueue_places.hpp"
#include "conformance/rules/counted_domains.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

json requests_record(const cluster& all, const std::vector<adm::resource_amount>& requests) {
  json made = json::object();
  for (const adm::resource_amount& one : requests) {
    const std::string& name = all.resources.names[one.resource];
    made[name] = quantity_text(name, one.value);
  }
  return made;
}

json flavors_record(const cluster& all, const adm::pod_set_assignment& set) {
  json made = json::object();
  for (const adm::chosen_flavor& one : set.flavors) {
    made[all.resources.names[one.resource]] = {{"flavor", all.flavors.names[one.flavor]},
                                               {"mode", mode_text(one.mode)},
                                               {"borrow", one.borrowing},
                                               {"tried_flavor_idx", one.tried}};
  }
  return made;
}

/// The record of expectations leaves out what is zero and how far the flavor borrows.
json expected_flavors(const json& recorded) {
  json made = json::object();
  for (const auto& [resource, one] : recorded.items()) {
    made[resource] = {{"flavor", text_or_empty(one, "name")},
                      {"mode", has(one, "mode") ? text_or_empty(one, "mode") : "NoFit"},
                      {"tried_flavor_idx", value_or(one, "tried_flavor_idx", 0)}};
  }
  return made;
}

json without_borrow(json flavors) {
  for (auto& [resource, one] : flavors.items()) one.erase("borrow");
  return flavors;
}

void compare_assignment(differences& found, const cluster& all, const demand_texts& texts, const json& one,
                        const adm::flavor_assignment& made) {
  const json& expected = one.at("expected").at("assignment");
  const json& actual = member(member(one, "actual"), "assignment");
  compare(found, "borrowing", value_or(expected, "borrowing", 0), made.borrowing);
  compare(found, "mode", one.at("expected").at("rep_mode"), mode_text(made.mode()));
  const json usage = all.amounts_record(made.usage);
  compare(found, "usage",
          items(member(member(expected, "usage"), "quota"), "assigned").empty()
              ? json::object()
              : expected.at("usage").at("quota").at("assigned"),
          usage);
  if (has(expected, "no_fit_reason"))
    compare(found, "class of the reason", expected.at("no_fit_reason"), no_fit_text(made.why));
  const json& sets = items(expected, "pod_sets");
  compare(found, "pod sets", sets.size(), made.pod_sets.size());
  for (std::size_t i = 0; i < std::min(sets.size(), made.pod_sets.size()); ++i) {
    const adm::pod_set_assignment& set = made.pod_sets[i];
    const std::string name = text_or_empty(sets[i], "name");
    compare(found, "flavors of " + name, expected_flavors(items(sets[i], "flavors")),
            without_borrow(flavors_record(all, set)));
    compare(found, "count of " + name, value_or(sets[i], "count", std::int64_t{0}), set.count);
    compare(found, "requests of " + name, has(sets[i], "requests") ? sets[i].at("requests") : json::object(),
            requests_record(all, set.requests));
    std::vector<std::string> reasons;
    for (const json& text : items(member(sets[i], "status"), "reasons")) reasons.push_back(text.get<std::string>());
    if (has(sets[i], "status")) {
      compare(found, "status of " + name, joined_obstacles(all, texts, {}, reasons),
              joined_obstacles(all, texts, set.obstacles));
    }
  }
  if (actual.is_null()) return;
  compare(found, "recorded borrowing", actual.at("borrowing"), made.borrowing);
  compare(found, "recorded class of the reason", actual.at("no_fit_reason"), no_fit_text(made.why));
  compare(found, "recorded usage",
          items(member(actual, "usage"), "assigned").empty() ? json::object() : actual.at("usage").at("assigned"),
          usage);
  const json& recorded = items(actual, "pod_sets");
  for (std::size_t i = 0; i < std::min(recorded.size(), made.pod_sets.size()); ++i) {
    const std::string name = text_or_empty(recorded[i], "name");
    const json& flavors = member(recorded[i], "flavors");
    compare(found, "recorded flavors of " + name, flavors.is_null() ? json::object() : flavors,
            flavors_record(all, made.pod_sets[i]));
    compare(found, "recorded status of " + name, text_or_empty(recorded[i], "status"),
            joined_obstacles(all, texts, made.pod_sets[i].obstacles));
  }
}

adm::victim_oracle recorded_oracle(const cluster& all, const json& input) {
  return [&all, &input](adm::cell_id cell, adm::amount /*value*/) {
    const json& answer = member(member(input, "simulation_result"), all.cell_text(cell));
    adm::victim_forecast made{adm::fit_mode::preempt, value_or(answer, "borrowing_after_simulation", 0)};
    const json& possibility = member(answer, "preemption_possibility");
    if (answer.is_null()) return made;
    const std::string text = possibility.is_string() ? possibility.get<std::string>() : "NoCandidates";
    if (text == "NoCandidates") made.mode = adm::fit_mode::no_candidates;
    if (text == "Reclaim") made.mode = adm::fit_mode::reclaim;
    return made;
  };
}

}  // namespace

demand_texts demands_of(const cluster& all, const queue_object& /*queue*/, const json& workload, const json& input,
                        const flavor_check& check) {
  demand_texts made;
  for (const json& set : items(member(workload, "spec"), "podSets")) {
    adm::pod_set_demand& demand = made.demands.emplace_back();
    demand.count = count_after_reclaim(workload, set, input);
    const json& pod_spec = member(member(set, "template"), "spec");
    for (const auto& [resource, value] : pod_requests(pod_spec)) {
      demand.requests.push_back(
          {all.resources.at(resource), base::saturating_multiply(std::max<std::int64_t>(value, 0), demand.count)});
    }
    demand.group = text_or_empty(member(set, "topologyRequest"), "podSetGroupName");
    for (std::uint32_t flavor = 0; flavor < all.flavors.names.size(); ++flavor) {
      const std::string& name = all.flavors.names[flavor];
      const auto object = all.flavor_objects.find(name);
      std::optional<std::string> why =
          object == all.flavor_objects.end() ? std::optional("flavor " + name + " not found") : std::nullopt;
      if (!why && check) why = check(name, set);
      if (!why) why = flavor_mismatch(object->second, name, pod_spec);
      if (!why) {
        demand.mismatches.emplace_back();
        continue;
      }
      demand.mismatches.emplace_back(static_cast<std::uint32_t>(made.texts.size()));
      made.texts.push_back(std::move(*why));
    }
  }
  return made;
}

adm::flavor_search search_of(const cluster& all, const queue_object& queue, const json& input, bool fair) {
  adm::flavor_search search;
  search.tree = &all.state.tree;
  search.queue = queue.node;
  search.groups = queue.groups;
  search.rules = queue.rules;
  search.fungible = gate(input, "FlavorFungibility");
  search.preempts_while_borrowing =
      queue.preemption.borrow_within_cohort.has_value() || (fair && !queue.reclaim_is_never);
  search.ignores_missing_resources =
      gate(input, "QuotaCheckStrategy") && text_or_empty(input, "quota_check_strategy") == "IgnoreUndeclared";
  search.resource_order = all.resource_order;
  search.pods_resource = all.resources.find("pods");
  return search;
}

differences check_flavor_assignment(const json& one) {
  const json& input = one.at("input");
  if (has(input, "topologies")) throw unsupported("flavors with topologies");
  cluster all = read_cluster(input);
  const queue_object& queue = *all.queue("test-clusterqueue");
  const auto use = [&](const char* usage, const char* name) {
    if (has(input, usage)) all.state.tree.add_usage(all.queue(name)->node, all.amounts(input.at(usage)));
  };
  use("cluster_queue_usage", "test-clusterqueue");
  use("secondary_cluster_queue_usage", "test-secondary-clusterqueue");
  use("test_cluster_queue_usage", "test-clusterqueue");
  use("other_cluster_queue_usage", "other-clusterqueue");

  json workload = json::object();
  workload["spec"]["podSets"] = items(input, "wl_pods");
  if (has(input, "workload_requests")) workload["spec"]["podSets"] = json::array({input.at("workload_requests")});
  if (has(input, "wl_reclaimable_pods")) workload["status"]["reclaimablePods"] = input.at("wl_reclaimable_pods");
  demand_texts texts = demands_of(all, queue, workload, input);
  adm::flavor_search search = search_of(all, queue, input, value_or(input, "enable_fair_sharing", false));
  const json& slice = member(input, "preempt_workload_slice");
  if (!slice.is_null() && gate(input, "ElasticJobsViaWorkloadSlices")) {
    search.replaces = true;
    const json& sets = items(slice, "total_requests");
    for (std::size_t i = 0; i < std::min(sets.size(), texts.demands.size()); ++i) {
      for (const json& request : items(sets[i], "requests"))
        texts.demands[i].replaced.push_back(
            {all.resources.at(text_or_empty(request, "name")), value_or(request, "value", std::int64_t{0})});
      for (const auto& [resource, flavor] : items(sets[i], "flavors").items())
        texts.demands[i].replaced_flavors.push_back(
            {all.resources.at(resource), all.flavors.at(flavor.get<std::string>())});
    }
  }
  const bool of_modes = one.at("expected").contains("mode");
  search.oracle = recorded_oracle(all, input);
  if (of_modes && !has(input, "simulation_result")) {
    // These calls have no workloads: within its own quota a queue is told that it can reclaim.
    search.oracle = [&](adm::cell_id cell, adm::amount value) {
      const bool borrows = all.state.tree.borrows_with(queue.node, cell, value);
      return adm::victim_forecast{borrows ? adm::fit_mode::preempt : adm::fit_mode::reclaim, 0};
    };
  }
  const adm::flavor_assignment made = adm::assign_flavors(search, texts.demands);
  differences found;
  if (!of_modes) {
    compare_assignment(found, all, texts, one, made);
    return found;
  }
  compare(found, "mode", one.at("expected").at("mode"), mode_text(made.mode()));
  json flavors = json::object();
  for (const adm::pod_set_assignment& set : made.pod_sets) {
    for (const adm::chosen_flavor& chosen : set.flavors)
      flavors[all.resources.names[chosen.resource]] = all.flavors.names[chosen.flavor];
  }
  compare(found, "flavors", one.at("expected").at("flavors"), flavors);
  return found;
}

namespace {

/// What an assignment uses of topologies beyond what the workload holds there, by flavor.
json net_places(const json& input) {
  json made = json::object();
  const json& workload = member(member(input, "wl"), "obj");
  for (const json& set : items(member(input, "assignment"), "pod_sets")) {
    if (!has(set, "topology_assignment")) continue;
    std::set<std::string> flavors;
    for (const auto& [resource, flavor] : items(set, "flavors").items()) {
      if (has(member(member(input, "cq"), "tas_flavors"), text_or_empty(flavor, "name")))
        flavors.insert(text_or_empty(flavor, "name"));
    }
    const std::string name = text_or_empty(set, "name");
    const json* spec = nullptr;
    for (const json& one : items(member(workload, "spec"), "podSets")) {
      if (text_or_empty(one, "name") == name) spec = &one;
    }
    if (flavors.size() != 1 || spec == nullptr) continue;
    adm::domain_assignment now;
    for (const json& domain : items(set.at("topology_assignment"), "domains"))
      now.places.push_back(
          {domain.at("values").get<std::vector<std::string>>(), value_or(domain, "count", std::int64_t{0})});
    adm::domain_assignment before;
    for (const json& held : items(member(input, "prev_admission"), "podSetAssignments")) {
      if (text_or_empty(held, "name") == name && has(held, "topologyAssignment"))
        before = read_assignment(held.at("topologyAssignment"));
    }
    const requests per_pod = pod_requests(member(member(*spec, "template"), "spec"));
    for (const adm::placed_pods& one : adm::beyond(now, before).places)
      made[*flavors.begin()].push_back({{"values", one.values}, {"count", one.count}, {"requests", per_pod}});
  }
  return made;
}

json net_places_record(const json& result) {
  json made = json::object();
  for (const auto& [flavor, places] : result.items()) {
    for (const json& one : places) {
      json per_pod = json::object();
      for (const json& request : items(one, "single_pod_requests"))
        per_pod[text_or_empty(request, "name")] = value_or(request, "value", std::int64_t{0});
      made[flavor].push_back(
          {{"values", one.at("values")}, {"count", value_or(one, "count", 0)}, {"requests", std::move(per_pod)}});
    }
  }
  return made;
}

}  // namespace

differences check_flavor_math(const json& one) {
  const json& input = one.at("input");
  differences found;
  if (one.at("test") == "TestAssignment_RequiresBorrowing") {
    compare(found, "borrows", one.at("expected").at("result"), value_or(input, "borrowing", 0) > 0);
    return found;
  }
  if (one.at("test") == "TestAssignment_TotalRequestsFor") {
    const cluster all = read_cluster(input);
    const json& info = member(member(input, "args"), "wl");
    adm::flavor_assignment assignment;
    std::vector<adm::pod_set_demand> demands;
    for (const json& set : items(info, "total_requests")) {
      adm::pod_set_demand& demand = demands.emplace_back();
      demand.count = value_or(set, "count", std::int64_t{0});
      for (const json& request : items(set, "requests"))
        demand.requests.push_back(
            {all.resources.at(text_or_empty(request, "name")), value_or(request, "value", std::int64_t{0})});
    }
    const json& fields = member(input, "fields");
    const json& slice = member(fields, "replace_workload_slice");
    const json& replaced = items(slice, "total_requests");
    if (!slice.is_null() && replaced.size() < demands.size()) throw unsupported("slices without their totals");
    for (const json& set : items(fields, "pod_sets")) {
      const std::size_t number = assignment.pod_sets.size();
      adm::pod_set_assignment& into = assignment.pod_sets.emplace_back();
      into.count = value_or(set, "count", std::int64_t{0});
      // Of a slice that replaces another one only the pods count that are more.
      if (!slice.is_null() && number < demands.size())
        into.count = demands[number].count - value_or(replaced[number], "count", std::int64_t{0});
      for (const auto& [resource, flavor] : items(set, "flavors").items())
        into.flavors.push_back({all.resources.at(resource), all.flavors.at(text_or_empty(flavor, "name")),
                                adm::assignment_mode::fit, 0, 0});
    }
    compare(found, "totals", one.at("expected").at("result"),
            all.amounts_record(adm::total_requests(assignment, demands, all.state.tree.cells(), false)));
    return found;
  }
  if (one.at("test") == "TestAssignment_ComputeTASNetUsage") {
    compare(found, "places", net_places_record(items(one.at("expected"), "result")), net_places(input));
    return found;
  }
  throw unsupported("call " + one.at("test").get<std::string>());
}

}  // namespace kaisched::conformance::kueue
