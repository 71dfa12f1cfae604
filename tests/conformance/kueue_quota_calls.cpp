// Quotas, shares, orders and victims of recorded calls.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/saturating.hpp"
#include "conformance/json_values.hpp"
#include "conformance/kueue_calls.hpp"
#include "conformance/kueue_objects.hpp"
#include "conformance/unsupported.hpp"
#include "schedulers/kueue/rules/entry_order.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

/// The cells that a queue has quotas of, in the order of its groups.
std::vector<adm::cell_id> cells_of(const cluster& all, const queue_object& queue) {
  std::vector<adm::cell_id> found;
  for (const adm::flavor_group& group : queue.groups) {
    for (const std::uint32_t flavor : group.flavors) {
      for (const std::uint32_t resource : group.resources) found.push_back(all.state.tree.cells().at(flavor, resource));
    }
  }
  return found;
}

json usage_record(const cluster& all, const queue_object& queue, const adm::cell_amounts& usage) {
  json made = json::array();
  const bool lent = all.state.tree.has_parent(queue.node);
  for (const adm::flavor_group& group : queue.groups) {
    for (const std::uint32_t flavor : group.flavors) {
      json resources = json::array();
      std::vector<std::uint32_t> sorted = group.resources;
      std::sort(sorted.begin(), sorted.end());
      for (const std::uint32_t resource : sorted) {
        const std::string& name = all.resources.names[resource];
        const adm::cell_id cell = all.state.tree.cells().at(flavor, resource);
        const adm::amount used = adm::amount_of(usage, cell);
        const adm::amount more =
            lent ? std::max(adm::amount(), used - all.state.tree.quota(queue.node, cell).nominal) : adm::amount();
        resources.push_back(
            {{"name", name}, {"total", amount_text(name, used)}, {"borrowed", amount_text(name, more)}});
      }
      made.push_back({{"name", all.flavors.names[flavor]}, {"resources", std::move(resources)}});
    }
  }
  return made;
}

/// The weighted ratio rounded up; the largest integer for an infinite one.
std::int64_t rounded(const adm::borrowed_share& share) {
  constexpr double too_large = 9223372036854775808.0;
  const double up = std::ceil(share.weighted());
  return up >= too_large ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(up);
}

json share_record(const cluster& all, const std::string& name, bool cohort, const adm::borrowed_share& share) {
  json made = {{"name", name}};
  if (cohort) made["node_type"] = true;
  if (const std::int64_t value = rounded(share); value != 0) made["dr_value"] = value;
  if (share.dominant_resource) made["dr_name"] = all.resources.names[*share.dominant_resource];
  if (share.borrowing) made["borrowing"] = true;
  return made;
}

json as_set(const json& list) {
  std::vector<json> all(list.begin(), list.end());
  std::sort(all.begin(), all.end());
  return all;
}

adm::assignment_mode mode_of(const std::string& text) {
  if (text == "Fit") return adm::assignment_mode::fit;
  if (text == "Preempt") return adm::assignment_mode::preempt;
  return text == "DeferredFit" ? adm::assignment_mode::deferred_fit : adm::assignment_mode::no_fit;
}

adm::cycle_entry entry_of(const json& record, const json& input, bool by_eviction) {
  const json& object = member(record, "obj");
  adm::cycle_entry made;
  made.holds_quota = condition_is_true(object, "QuotaReserved");
  made.preemptor = value_or(record, "is_preemptor", false);
  made.borrowing = value_or(member(record, "assignment"), "borrowing", 0);
  made.priority = priority_of(object, input);
  made.queued_at = queued_at(object, input, by_eviction);
  made.name = key_of(object);
  return made;
}

adm::entry_rules entry_rules_of(const json& input) {
  return {gate(input, "PrioritizePreemptorWorkloads"), gate(input, "PrioritySortingWithinCohort"),
          gate(input, "FairSharingPrioritizeNonBorrowing")};
}

/// What the assignment of a recorded call asks for, and the cells that lack quota.
void read_assignment(const cluster& all, const json& input, adm::victim_query& query) {
  const json& incoming = input.at("incoming");
  const json& assignment = member(input, "assignment");
  for (const json& set : items(member(incoming, "spec"), "podSets")) {
    std::int64_t count = count_after_reclaim(incoming, set, input);
    const json* assigned = nullptr;
    for (const json& one : items(assignment, "pod_sets")) {
      if (text_or_empty(one, "name") == text_or_empty(set, "name")) assigned = &one;
    }
    if (assigned != nullptr) count = value_or(*assigned, "count", std::int64_t{0});
    for (const auto& [resource, value] : pod_requests(member(member(set, "template"), "spec"))) {
      std::string flavor = text_or_empty(input, "assignment_flavor");
      std::string mode = "Preempt";
      if (assigned != nullptr) {
        const json& chosen = member(member(*assigned, "flavors"), resource);
        flavor = text_or_empty(chosen, "name");
        mode = text_or_empty(chosen, "mode");
      }
      if (flavor.empty()) continue;
      const adm::cell_id cell = all.cell(flavor, resource);
      if (mode == "Preempt") query.cells.push_back(cell);
      if (value != 0 && count != 0)
        adm::add_to(query.asked, cell, adm::amount(base::saturating_multiply(value, count)));
    }
  }
  std::sort(query.cells.begin(), query.cells.end());
  query.cells.erase(std::unique(query.cells.begin(), query.cells.end()), query.cells.end());
}

/// What the workloads of the case look like once the victims are told to leave: those that leave, and for what.
json leaving(const json& workloads) {
  json made = json::object();
  for (const json& one : workloads) {
    if (condition_is_true(one, "Preempted")) made[key_of(one)] = text_or_empty(*condition(one, "Preempted"), "reason");
    if (condition_is_true(one, "Evicted") && !made.contains(key_of(one))) made[key_of(one)] = "evicted";
  }
  return made;
}

}  // namespace

void compare(differences& found, const std::string& what, const json& expected, const json& got) {
  if (expected == got) return;
  found.push_back(what + ": expected " + expected.dump() + ", got " + got.dump());
}

differences check_quota_available(const json& one) {
  const json& input = one.at("input");
  cluster all = read_cluster(input);
  for (const auto& [name, usage] : items(input, "usage").items())
    all.state.tree.add_usage(all.queue(name)->node, all.amounts(usage));
  json available = json::object();
  json potentially = json::object();
  for (const queue_object& queue : all.queues) {
    adm::cell_amounts now;
    adm::cell_amounts ever;
    for (const adm::cell_id cell : cells_of(all, queue)) {
      // A queue in debt is told that nothing is left.
      now.push_back({cell, std::max(adm::amount(), all.state.tree.available(queue.node, cell))});
      ever.push_back({cell, all.state.tree.potentially_available(queue.node, cell)});
    }
    available[queue.name] = all.amounts_record(now);
    potentially[queue.name] = all.amounts_record(ever);
  }
  differences found;
  for (const char* from : {"expected", "actual"}) {
    compare(found, "available", one.at(from).at("available"), available);
    compare(found, "potentially available", one.at(from).at("potentially_available"), potentially);
  }
  return found;
}

differences check_quota_usage(const json& one) {
  const json& input = one.at("input");
  const cluster all = read_cluster(input);
  const queue_object& queue = all.queues.front();
  adm::cell_amounts reserved;
  adm::cell_amounts used;
  std::int64_t reserving = 0;
  std::int64_t admitted = 0;
  for (const json& workload : items(input, "workloads")) {
    const adm::running_workload running = running_of(all, workload, input);
    if (running.queue != queue.node || !condition_is_true(workload, "QuotaReserved")) continue;
    ++reserving;
    for (const adm::cell_amount& part : running.usage) adm::add_to(reserved, part.cell, part.value);
    if (!condition_is_true(workload, "Admitted")) continue;
    ++admitted;
    for (const adm::cell_amount& part : running.usage) adm::add_to(used, part.cell, part.value);
  }
  differences found;
  const json& expected = one.at("expected");
  compare(found, "reserved", expected.at("reserved_resources"), usage_record(all, queue, reserved));
  compare(found, "used", expected.at("used_resources"), usage_record(all, queue, used));
  compare(found, "reserving workloads", value_or(expected, "reserving_workloads", std::int64_t{0}), reserving);
  compare(found, "admitted workloads", value_or(expected, "admitted_workloads", std::int64_t{0}), admitted);
  return found;
}

differences check_fair_share(const json& one) {
  const json& input = one.at("input");
  cluster all = read_cluster(input);
  const adm::node_id queue = all.queue("cq")->node;
  all.state.tree.add_usage(queue, all.amounts(items(input, "usage")));
  differences found;
  const json& expected = one.at("expected");
  if (expected.contains("borrowing")) {
    const adm::borrowed_share share = all.state.tree.share(queue);
    compare(found, "borrowing", expected.at("borrowing"), share.borrowing);
    compare(found, "borrowing on what is asked for", expected.at("borrowing_on_requested"),
            share.borrows_any_of(all.amounts(items(input, "requested_frs"))));
    return found;
  }
  const adm::cell_amounts extra = all.amounts(items(input, "flv_res_q"));
  all.state.tree.add_usage(queue, extra);
  json shares = json::array();
  json precise = json::object();
  for (const queue_object& object : all.queues) {
    const adm::borrowed_share share = all.state.tree.share(object.node);
    shares.push_back(share_record(all, object.name, false, share));
    precise["cq/" + object.name] = share.weighted();
  }
  for (const auto& [name, node] : all.cohorts) {
    const adm::borrowed_share share = all.state.tree.share(node);
    shares.push_back(share_record(all, name, true, share));
    precise["cohort/" + name] = share.weighted();
  }
  compare(found, "shares", as_set(expected.at("result")), as_set(shares));
  const json& recorded = member(one.at("actual"), "precise_weighted_share");
  for (const auto& [name, value] : recorded.items()) {
    // JSON has no infinity: recorders write a text or nothing.
    if (value.is_number()) compare(found, "share of " + name, value, precise[name]);
  }
  return found;
}

differences check_resources_to_reserve(const json& one) {
  const json& input = one.at("input");
  cluster all = read_cluster(input);
  const adm::node_id queue = all.queues.front().node;
  all.state.tree.add_usage(queue, all.amounts(items(input, "cq_usage")));
  const adm::cell_amounts reserved = adm::amounts_to_reserve(
      all.state.tree, queue, all.amounts(items(input, "assignment_usage")),
      mode_of(text_or_empty(input, "assignment_mode")), value_or(member(input, "assignment"), "borrowing", 0) > 0);
  differences found;
  compare(found, "reserved", one.at("expected").at("reserved"), all.amounts_record(reserved));
  return found;
}

differences check_flavor_preference(const json& one) {
  const json& input = one.at("input");
  const auto grade = [&](const char* which) {
    const json& of = member(input, which);
    return adm::flavor_grade{static_cast<adm::fit_mode>(value_or(of, "preemption_mode", 0)),
                             value_or(of, "borrowing_level", 0)};
  };
  const bool other = text_or_empty(member(input, "config"), "preference") == "PreemptionOverBorrowing";
  const bool preferred = adm::is_preferred(grade("a"), grade("b"),
                                           other ? adm::fungibility::preference::preemption_over_borrowing
                                                 : adm::fungibility::preference::borrowing_over_preemption);
  differences found;
  compare(found, "preferred", one.at("expected").at("preferred"), preferred);
  return found;
}

differences check_candidate_order(const json& one) {
  const json& input = one.at("input");
  const std::string preemptor = text_or_empty(input, "preemptor_cluster_queue");
  std::map<std::string, std::uint32_t> queues{{preemptor, 0}};
  std::map<std::string, std::uint32_t> locals;
  struct named {
    std::string name;
    adm::running_workload running;
  };
  std::vector<named> candidates;
  for (const json& record : items(input, "candidates")) {
    const json& object = record.at("obj");
    named& made = candidates.emplace_back();
    made.name = text_or_empty(member(object, "metadata"), "name");
    cluster nothing;
    json bare = object;
    if (bare.contains("status")) bare["status"].erase("admission");
    made.running = running_of(nothing, bare, input);
    const std::string queue = text_or_empty(record, "cluster_queue");
    made.running.queue = queues.emplace(queue, static_cast<std::uint32_t>(queues.size())).first->second;
    const std::string local = text_or_empty(member(object, "spec"), "queueName");
    made.running.local_queue = locals.emplace(local, static_cast<std::uint32_t>(locals.size())).first->second;
    if (has(record, "local_queue_fs_usage")) made.running.local_usage = record.at("local_queue_fs_usage").get<double>();
  }
  // The recorded call compares usage of local queues whether or not a case has the gate on.
  const adm::candidate_rules rules{0, 0, gate(input, "AdmissionFairSharing")};
  std::stable_sort(candidates.begin(), candidates.end(), [&](const named& a, const named& b) {
    return adm::compare_candidates(a.running, b.running, rules) < 0;
  });
  json order = json::array();
  for (const named& candidate : candidates) order.push_back(candidate.name);
  differences found;
  compare(found, "order", one.at("expected").at("candidates"), order);
  return found;
}

differences check_entry_order(const json& one) {
  const json& input = one.at("input");
  const std::string timestamp = text_or_empty(member(input, "workload_ordering"), "pods_ready_requeuing_timestamp");
  std::vector<adm::cycle_entry> entries;
  for (const json& record : items(input, "input")) entries.push_back(entry_of(record, input, timestamp == "Eviction"));
  const adm::entry_rules rules = entry_rules_of(input);
  std::stable_sort(entries.begin(), entries.end(), [&](const adm::cycle_entry& a, const adm::cycle_entry& b) {
    return adm::compare_entries(a, b, rules) < 0;
  });
  json order = json::array();
  for (const adm::cycle_entry& entry : entries) order.push_back(entry.name.substr(entry.name.find('/') + 1));
  differences found;
  compare(found, "order", one.at("expected").at("order"), order);
  return found;
}

differences check_entry_compare(const json& one) {
  const json& input = one.at("input");
  // Cells by name, only for this comparison.
  std::map<std::string, adm::cell_id> cells;
  const auto cell = [&](const std::string& key) {
    return cells.emplace(key, static_cast<adm::cell_id>(cells.size())).first->second;
  };
  const auto share = [&](const std::string& key) {
    adm::borrowed_share made;
    for (const auto& [name, record] : items(input, "drs_values").items()) {
      if (!name.ends_with(" " + key + "}")) continue;
      made.ratio = value_or(record, "unweighted_ratio", 0.0);
      made.weight = value_or(record, "fair_weight", 0.0);
      made.borrowing = value_or(record, "borrowing", false);
      for (const json& of : items(record, "borrowed_f_rs"))
        made.cells.push_back(cell(text_or_empty(of, "flavor") + "/" + text_or_empty(of, "resource")));
    }
    return made;
  };
  const auto entry = [&](const char* which) {
    adm::cycle_entry made = entry_of(member(input, which), input, false);
    for (const auto& [key, value] : items(member(input, "requested_frs"), made.name).items())
      adm::add_to(made.asked, cell(key), adm::amount(value.get<std::int64_t>()));
    return made;
  };
  const adm::cycle_entry a = entry("a");
  const adm::cycle_entry b = entry("b");
  differences found;
  compare(found, "less", one.at("expected").at("less"),
          adm::goes_before(a, share(a.name), b, share(b.name), entry_rules_of(input)));
  return found;
}

differences check_victims(const json& one) {
  const json& input = one.at("input");
  const bool fair = one.at("kind") == "preemption-targets-fair";
  cluster all = read_cluster(input);
  const queue_object& queue = *all.queue(text_or_empty(input, "target_cq"));
  if (has(input, "topologies") || has(input, "nodes")) throw unsupported("victims for places");
  for (const json& workload : items(input, "admitted")) {
    all.state.running.push_back(running_of(all, workload, input));
    all.state.tree.add_usage(all.state.running.back().queue, all.state.running.back().usage);
  }
  const json& incoming = input.at("incoming");
  adm::victim_query query;
  query.queue = queue.node;
  query.priority = priority_of(incoming, input);
  query.queued_at = queued_at(incoming, input, true);
  query.rules = queue.preemption;
  query.order = {queue.node, 0, false};
  read_assignment(all, input, query);
  std::vector<adm::quota_victim> victims;
  if (fair) {
    adm::fair_rules rules;
    rules.within_nominal_is_free = gate(input, "FairSharingPreemptWithinNominal");
    if (has(input, "strategies") && !input.at("strategies").empty()) {
      rules.strategies.clear();
      for (const json& strategy : input.at("strategies")) {
        rules.strategies.push_back(strategy == "LessThanInitialShare" ? adm::share_strategy::below_initial_share
                                                                      : adm::share_strategy::at_most_final_share);
      }
    }
    victims = adm::find_fair_victims(all.state, query, rules);
  } else {
    victims = adm::find_victims(all.state, query);
  }
  json targets = json::array();
  json keys = json::array();
  json reasons = json::object();
  for (const json& workload : items(input, "admitted")) {
    if (condition_is_true(workload, "Evicted"))
      reasons[key_of(workload)] = leaving(json::array({workload})).at(key_of(workload));
  }
  for (const adm::quota_victim& victim : victims) {
    const adm::running_workload& running = all.state.running[victim.workload];
    targets.push_back({{"workload", running.name},
                       {"reason", reason_text(victim.why)},
                       {"cluster_queue", all.queue_at(running.queue).name}});
    keys.push_back(running.name + ":" + std::string(reason_text(victim.why)));
    // One that leaves already is not told again.
    if (!running.evicted) reasons[running.name] = reason_text(victim.why);
  }
  differences found;
  const json& expected = one.at("expected");
  if (has(member(one, "actual"), "targets") || !has(one, "actual")) {
    compare(found, "victims", items(member(one, "actual"), "targets"), targets);
  }
  if (fair) {
    compare(found, "victims as asserted", as_set(items(expected, "preempted")), as_set(keys));
  } else {
    compare(found, "number of victims", value_or(expected, "preempted", std::int64_t{0}),
            static_cast<std::int64_t>(victims.size()));
    if (has(expected, "workloads")) compare(found, "who leaves", leaving(expected.at("workloads")), reasons);
  }
  return found;
}

}  // namespace kaisched::conformance::kueue
