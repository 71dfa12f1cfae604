// Tables and calls of Volcano about gangs: readiness, sub-groups, bundles of victims, budgets.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/rules/bundle_choice.hpp"
#include "conformance/rules/disruption_budgets.hpp"
#include "conformance/rules/sub_groups.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_records.hpp"
#include "policy/gang/readiness.hpp"
#include "policy/reclaim/gang_bundles.hpp"
#include "policy/topology/network_domains.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
using policy::victim_bundle;

/// Statuses are bits in the records of job infos.
constexpr int pending_bit = 1;
constexpr int pipelined_bit = 4;
constexpr std::array ready_bits{2, 8, 16, 32, 128};

policy::gang_counts counts_of(const json& record) {
  policy::gang_counts made;
  made.min_available = value_or<std::int64_t>(record, "min_available", 0);
  for (const auto& [status, tasks] : items(record, "task_status_index").items()) {
    const int bit = std::atoi(status.c_str());  // NOLINT(cert-err34-c): the recorder wrote it
    const auto number = static_cast<std::int64_t>(tasks.size());
    if (std::find(ready_bits.begin(), ready_bits.end(), bit) != ready_bits.end()) made.ready += number;
    if (bit == pipelined_bit) made.waiting += number;
    if (bit != pending_bit) continue;
    made.needs_none += std::count_if(tasks.begin(), tasks.end(),
                                     [](const json& task) { return value_or(task, "best_effort", false); });
  }
  return made;
}

template <auto Asks>
volcano_difference check_counts(const json& one) {
  return compare_flag(one.at("expected").at("result"), Asks(counts_of(member(volcano_input(one), "sji"))));
}

policy::distance_limit limit_of(const json& topology, bool hard) {
  policy::distance_limit made;
  made.hard = text_or_empty(topology, "mode") == (hard ? "hard" : "soft");
  if (has(topology, "highestTierAllowed")) made.highest_tier = topology.at("highestTierAllowed").get<std::int64_t>();
  return made;
}

volcano_difference compare_limit(const json& expected, const policy::distance_limit& found, std::string_view key) {
  if (volcano_difference why = compare_flag(expected.at(key), found.is_condition())) return why;
  return compare_number(member(expected, "tier"), static_cast<double>(found.highest_tier.value_or(0)));
}

volcano_difference check_sub_group_hard(const json& one) {
  const json& topology = member(member(volcano_input(one), "fields"), "network_topology");
  return compare_limit(one.at("expected"), limit_of(topology, true), "hard");
}

volcano_difference check_sub_group_soft(const json& one) {
  const json& topology = member(member(volcano_input(one), "fields"), "network_topology");
  return compare_flag(one.at("expected").at("hard"), limit_of(topology, false).hard);
}

volcano_difference check_gang_hard(const json& one) {
  const json& group = member(member(volcano_input(one), "job_info"), "pod_group");
  const json& topology = member(member(group, "spec"), "networkTopology");
  return compare_limit(one.at("expected"), limit_of(topology, true), "has_hard");
}

std::vector<std::string> texts_of(const json& list) {
  return list.is_null() ? std::vector<std::string>{} : list.get<std::vector<std::string>>();
}

volcano_difference check_match_values(const json& one) {
  const json& input = volcano_input(one);
  const json& rule = member(input, "policy");
  policy::sub_group_rule made{std::nullopt, texts_of(items(rule, "matchLabelKeys"))};
  if (has(rule, "labelSelector")) made.pods = volcano_selector(member(rule, "labelSelector"));
  const auto found = policy::sub_group_values(made, volcano_labels(member(input, "pod")));
  const json& wanted = member(one.at("expected"), "result");
  if (!found != wanted.is_null()) return found ? "the pod is in a sub-group" : "the pod is in none";
  if (!found || texts_of(wanted) == *found) return std::nullopt;
  return "values are [" + joined(*found) + "]";
}

volcano_difference check_new_sub_group(const json& one) {
  const json& input = volcano_input(one);
  const json& wanted = one.at("expected").at("result");
  const json& rule = member(input, "policy");
  const std::vector<std::string> values = texts_of(items(input, "match_values"));
  const std::int64_t least = value_or<std::int64_t>(rule, "subGroupSize", 1);
  if (volcano_difference why = compare_number(member(wanted, "min_available"), static_cast<double>(least))) return why;
  if (member(wanted, "network_topology") != member(rule, "networkTopology")) return "another topology is recorded";
  return compare_number(member(wanted, "match_index"), static_cast<double>(policy::sub_group_place(values)));
}

volcano_difference check_sub_group_name(const json& one) {
  const json& input = volcano_input(one);
  const auto found = policy::sub_group_name(text_or_empty(input, "job"), text_or_empty(input, "policy"),
                                            texts_of(items(input, "match_values")));
  if (!found) throw unsupported("names of sub-groups by a hash");
  if (*found == text_or_empty(one.at("expected"), "result")) return std::nullopt;
  return "name is " + *found;
}

policy::role_minimums minimums_of(const json& record) {
  policy::role_minimums made;
  for (const auto& [role, least] : record.items()) made.by_role[role] = least.get<std::int64_t>();
  return made;
}

volcano_difference check_role_minimums(const json& one) {
  const policy::role_minimums found = minimums_of(items(volcano_input(one), "min_task_member_changed"));
  const json& expected = one.at("expected");
  if (minimums_of(items(expected, "task_min_available")).by_role != found.by_role) return "roles differ";
  return compare_number(member(expected, "task_min_available_total"), static_cast<double>(found.total()));
}

volcano_difference check_budgets(const json& one) {
  std::vector<policy::disruption_budget> budgets;
  for (const json& record : items(volcano_input(one), "pdbs")) {
    policy::disruption_budget& made = budgets.emplace_back();
    made.space = text_or_empty(member(record, "metadata"), "namespace");
    if (has(member(record, "spec"), "selector"))
      made.pods = volcano_selector(member(member(record, "spec"), "selector"));
    made.allowed = value_or<std::int64_t>(member(record, "status"), "disruptionsAllowed", 0);
    for (const auto& [name, when] : items(member(record, "status"), "disruptedPods").items()) {
      made.disrupted.push_back(name);
    }
  }
  std::vector<policy::offered_victim> offered;
  for (const json& task : items(volcano_input(one), "preemptees")) {
    const json& pod = member(task, "pod");
    const json& about = member(pod, "metadata");
    offered.push_back({text_or_empty(about, "namespace"), text_or_empty(about, "name"), volcano_labels(pod)});
  }
  std::vector<std::string> found;
  for (const std::uint32_t victim : policy::within_budgets(budgets, offered)) found.push_back(offered[victim].name);
  std::vector<std::string> wanted;
  for (const json& task : items(one.at("expected"), "victims")) wanted.push_back(name_of(task));
  if (items(one.at("expected"), "victims_map").size() != found.size()) return "another number of victims is recorded";
  return compare_names(wanted, found);
}

/// The rules of the test, which its titles name and its rows do not repeat.
std::vector<model::selector> exclusive_rules() {
  return {volcano_selector({{"matchLabels", {{"app", "training"}, {"team", "ml"}}}}),
          volcano_selector({{"matchLabels", {{"workload", "inference"}}}})};
}

volcano_difference check_matching_rules(const json& one) {
  const std::vector<model::selector> rules = exclusive_rules();
  const model::label_list labels = volcano_labels(member(volcano_input(one), "pod"));
  const auto number =
      std::count_if(rules.begin(), rules.end(), [&](const model::selector& rule) { return rule.matches(labels); });
  return compare_number(one.at("expected").at("len"), static_cast<double>(number));
}

volcano_difference check_rule(const json& one) {
  const json& input = volcano_input(one);
  const std::vector<model::selector> rules = exclusive_rules();
  const model::label_list labels = volcano_labels(member(input, "pod"));
  return compare_flag(one.at("expected").at("result"),
                      rules.at(value_or<std::size_t>(input, "rule_idx", 0)).matches(labels));
}

constexpr std::array gang_tables{
    volcano_table{"TestSubJobInfo_IsReady", check_counts<policy::is_gang_ready>},
    volcano_table{"TestSubJobInfo_IsPipelined", check_counts<policy::is_gang_pipelined>},
    volcano_table{"TestSubJobInfo_IsHardTopologyMode", check_sub_group_hard},
    volcano_table{"TestSubJobInfo_IsSoftTopologyMode", check_sub_group_soft},
    volcano_table{"TestHasTopologyHardConstrain", check_gang_hard},
    volcano_table{"TestGetSubJobMatchValues_Basic", check_match_values},
    volcano_table{"TestGetSubJobMatchValues_Boundary", check_match_values},
    volcano_table{"TestGetSubJobMatchValues_EdgeCases", check_match_values},
    volcano_table{"TestNewSubJobInfo", check_new_sub_group},
    volcano_table{"TestSubJobInfo_getPodSubJobID", check_sub_group_name},
    volcano_table{"TestParseMinMemberInfoChanged", check_role_minimums},
    volcano_table{"TestPreemptableAndReclaimableFn", check_budgets},
    volcano_table{"TestMatchingRules", check_matching_rules},
    volcano_table{"TestPodMatchesRule", check_rule},
};

policy::gang_needs gang_of(const json& job) {
  policy::gang_needs made;
  made.uid = text_or_empty(job, "uid");
  made.queue = text_or_empty(job, "queue");
  made.priority = value_or<std::int64_t>(job, "priority", 0);
  made.min_available = value_or<std::int64_t>(job, "min_available", 0);
  made.role_minimum = minimums_of(items(job, "task_min_available")).by_role;
  made.set_minimum = minimums_of(items(job, "min_sub_jobs")).by_role;
  std::map<std::string, std::string> sub_group_of;
  for (const auto& [uid, record] : items(job, "sub_jobs").items()) {
    made.sub_groups.push_back(
        {uid, text_or_empty(record, "group"), value_or<std::int64_t>(record, "min_available", 0)});
    for (const json& task : items(record, "tasks")) sub_group_of[task.get<std::string>()] = uid;
  }
  // Tests that build a job by hand leave the status of its tasks out, which are running.
  static const std::set<std::string> holding{"Unknown", "Running", "Bound", "Binding", "Allocated", "Succeeded"};
  for (const json& task : items(job, "tasks")) {
    policy::gang_task& one = made.tasks.emplace_back();
    one.uid = text_or_empty(task, "uid");
    one.role = text_or_empty(task, "role");
    one.sub_group = sub_group_of[one.uid];
    one.priority = value_or<std::int64_t>(task, "priority", 0);
    one.holds = holding.contains(text_or_empty(task, "status"));
    one.needs_none = text_or_empty(task, "status") == "Pending" && value_or(task, "best_effort", false);
    one.request = volcano_resources(member(task, "resreq"));
  }
  return made;
}

std::vector<victim_bundle> bundles_of(const json& list) {
  std::vector<victim_bundle> made;
  for (const json& record : list) {
    victim_bundle& one = made.emplace_back();
    one.kind = text_or_empty(record, "type") == "whole" ? policy::bundle_kind::whole : policy::bundle_kind::safe;
    one.job = text_or_empty(record, "job");
    one.queue = text_or_empty(record, "queue");
    one.job_priority = value_or<std::int64_t>(record, "job_priority", 0);
    one.tasks = texts_of(items(record, "tasks"));
    one.local = volcano_resources(member(record, "local_res"));
    one.global = volcano_resources(member(record, "global_res"));
  }
  return made;
}

volcano_difference compare_bundles(const json& expected, const std::vector<victim_bundle>& found) {
  const std::vector<victim_bundle> wanted = bundles_of(expected);
  if (wanted.size() != found.size())
    return std::to_string(found.size()) + " bundles, recorded are " + std::to_string(wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const victim_bundle& a = wanted[i];
    const victim_bundle& b = found[i];
    const std::string where = "bundle " + std::to_string(i) + " of [" + joined(b.tasks) + "]: ";
    if (a.kind != b.kind || a.tasks != b.tasks) return where + "recorded are [" + joined(a.tasks) + "]";
    if (a.job != b.job || a.queue != b.queue || a.job_priority != b.job_priority)
      return where + "another job is recorded";
    if (!(a.local == b.local)) return where + "frees something else";
    if (!(a.global == b.global)) return where + "costs something else";
  }
  return std::nullopt;
}

volcano_difference replay_create(const json& in, const json& out) {
  const policy::gang_needs gang = gang_of(in.at("job"));
  std::vector<std::uint32_t> local;
  for (const json& task : items(in, "local_tasks")) {
    const auto at = std::find_if(gang.tasks.begin(), gang.tasks.end(),
                                 [&](const policy::gang_task& one) { return one.uid == text_or_empty(task, "uid"); });
    if (at == gang.tasks.end()) throw unsupported("a task that is not of the job");
    local.push_back(static_cast<std::uint32_t>(at - gang.tasks.begin()));
  }
  return compare_bundles(items(out, "bundles"), policy::make_bundles(gang, local));
}

volcano_difference replay_select(const json& in, const json& out) {
  return compare_bundles(items(out, "bundles"),
                         policy::select_bundles(bundles_of(items(in, "bundles")), volcano_resources(member(in, "need")),
                                                value_or(in, "allow_whole", false)));
}

/// Which of two jobs loses first is a function of the test that calls; jobs of different priorities differ by it.
std::weak_ordering by_priority(const victim_bundle& a, const victim_bundle& b) {
  return a.job == b.job ? std::weak_ordering::equivalent : std::weak_ordering(a.job_priority <=> b.job_priority);
}

volcano_difference replay_sort(const json& in, const json& out, const policy::bundle_order& owners) {
  std::vector<victim_bundle> bundles = bundles_of(items(in, "bundles"));
  policy::sort_bundles(bundles, volcano_resources(member(in, "need")), owners);
  return compare_bundles(items(out, "bundles"), bundles);
}

/// What single tasks hold is not recorded in this call: that of the bundle, in equal parts.
volcano_difference replay_allowed(const json& in, const json& out) {
  const std::vector<victim_bundle> bundles = bundles_of(items(in, "bundles"));
  std::map<std::string, policy::resource_list, std::less<>> request_of;
  for (const victim_bundle& one : bundles) {
    policy::resource_list part = one.local;
    part.multiply(1.0 / static_cast<double>(std::max<std::size_t>(one.tasks.size(), 1)));
    for (const std::string& task : one.tasks) request_of[task] = part;
  }
  return compare_bundles(items(out, "bundles"),
                         policy::allowed_bundles(bundles, texts_of(items(in, "allowed")),
                                                 [&](std::string_view task) { return request_of.find(task)->second; }));
}

volcano_difference replay_pick(const json& in, const json& out) {
  std::vector<std::vector<std::string>> gradients;
  for (const json& gradient : items(in, "gradients")) gradients.push_back(texts_of(gradient));
  const std::vector<std::string> found =
      policy::pick_domains(gradients, value_or<std::size_t>(in, "max_domains", 0), text_or_empty(in, "fallback"));
  if (found == texts_of(items(out, "domains"))) return std::nullopt;
  return "domains are [" + joined(found) + "]";
}

}  // namespace

std::span<const volcano_table> volcano_gang_tables() { return gang_tables; }

volcano_difference replay_volcano_call(const json& call, const json& /*one*/) {
  const std::string fn = call.at("fn").get<std::string>();
  const json& in = call.at("in");
  const json& out = call.at("out");
  if (fn == "create_job_bundles") return replay_create(in, out);
  if (fn == "select_bundles") return replay_select(in, out);
  if (fn == "sort_bundles_for_preempt") return replay_sort(in, out, by_priority);
  if (fn == "sort_bundles_for_reclaim") return replay_sort(in, out, {});
  if (fn == "apply_allowed_tasks") return replay_allowed(in, out);
  if (fn == "pick_domains_from_gradients") return replay_pick(in, out);
  throw unsupported("call " + fn);
}

}  // namespace kaisched::conformance
