// What a recorded cycle did to each workload.

#include <algorithm>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kueue_cycle.hpp"
#include "conformance/kueue_places.hpp"
#include "conformance/kueue_second_pass.hpp"
#include "conformance/kueue_workload_shape.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

std::string_view reason_words(adm::victim_reason why) {
  switch (why) {
    case adm::victim_reason::in_queue:
      return "prioritization in the ClusterQueue";
    case adm::victim_reason::reclamation:
      return "reclamation within the cohort";
    case adm::victim_reason::fair_sharing:
      return "Fair Sharing within the cohort";
    case adm::victim_reason::reclamation_while_borrowing:
      break;
  }
  return "reclamation within the cohort while borrowing";
}

/// What came of a look that was repeated as its victims were told before.
std::string outcome_of_repeat(const adm::head_result& result) {
  if (result.outcome == adm::cycle_outcome::deferred) return "deferred_fit";
  return result.outcome == adm::cycle_outcome::preempts ? "new_targets" : "skipped";
}

std::string or_unknown(const std::string& text) { return text.empty() ? "UNKNOWN" : text; }

std::string uid_of(const json& workload) { return text_or_empty(member(workload, "metadata"), "uid"); }

std::string priority_words(const json& workload, const json& input) {
  const std::int64_t priority = priority_of(workload, input);
  const std::int64_t base = value_or(member(workload, "spec"), "priority", std::int64_t{0});
  return std::to_string(priority) + " (base: " + std::to_string(base) + ", boost: " + std::to_string(priority - base) +
         ")";
}

}  // namespace

void cycle_replay::add_event(const std::string& key, const std::string& reason, const std::string& message) {
  events_.push_back({{"key", key}, {"reason", reason}, {"message", message}});
}

void cycle_replay::put_back(const queue_object& queue, const std::string& key, comeback how, waiting why,
                            bool flavors_left) {
  if (workloads_.at(key).second_pass) return add_event(key, "SecondPassFailed", why.message);
  add_event(key, why.reason, why.message);
  if (api_error_.empty()) memory_.waits[key] = std::move(why);
  const bool at_once = queue.strict_order ? how != comeback::mismatch : how == comeback::at_once;
  if (at_once || flavors_left) {
    active_[queue.name].insert(key);
    return;
  }
  parked_[queue.name].insert(key);
  if (how != comeback::parked_alike || queue.strict_order || !gate(input_, "SchedulingEquivalenceHashing")) return;
  const json shape = shape_of(workloads_.at(key).object, input_);
  const std::set<std::string> others = active_[queue.name];
  for (const std::string& other : others) {
    if (shape_of(workloads_.at(other).object, input_) != shape) continue;
    active_[queue.name].erase(other);
    parked_[queue.name].insert(other);
  }
}

/// Keeps how far the search for flavors came, unless what comes next changes what there is.
void cycle_replay::remember(const queue_object& queue, const std::string& key, const adm::head_result& result) {
  memory_.scans.erase(key);
  const bool lost_to_others = result.outcome == adm::cycle_outcome::overlap ||
                              result.outcome == adm::cycle_outcome::crowded_out ||
                              result.outcome == adm::cycle_outcome::better_runs;
  const bool kept = result.outcome == adm::cycle_outcome::no_fit ||
                    result.outcome == adm::cycle_outcome::no_candidates ||
                    result.outcome == adm::cycle_outcome::too_low ||
                    (lost_to_others && gate(input_, "FlavorFungibilityPreserveScanProgress"));
  if (kept) {
    adm::scan_memory scan = scan_now(queue, workloads_.at(key).object);
    scan.progress = result.assignment.progress;
    memory_.scans.emplace(key, std::move(scan));
  }
  const bool waits = result.outcome == adm::cycle_outcome::preempts || result.outcome == adm::cycle_outcome::deferred;
  if (waits) memory_.preemptors[queue.name] = key;
}

std::string cycle_replay::message_of(std::size_t number, const adm::flavor_assignment& assignment) const {
  const json& sets = items(member(workloads_.at(heads_[number].name).object, "spec"), "podSets");
  std::string text;
  for (std::size_t i = 0; i < assignment.pod_sets.size(); ++i) {
    const adm::pod_set_assignment& set = assignment.pod_sets[i];
    if (set.obstacles.empty() && !set.topology_failed) continue;
    text += (text.empty() ? "" : "; ") + ("couldn't assign flavors to pod set " + text_or_empty(sets[i], "name")) +
            ": " +
            joined_obstacles(
                all_, texts_[number], set.obstacles,
                set.topology_failed ? std::vector{places_.reason(set.topology_reason)} : std::vector<std::string>{});
  }
  return text;
}

void cycle_replay::tell(const queue_object& queue, std::size_t number, const adm::head_result& result) {
  const std::string& key = heads_[number].name;
  const bool left = adm::has_flavors_left(result.assignment.progress);
  const std::string message = message_of(number, result.assignment);
  if (result.looked_as_if_gone) ++repeated_[queue.name][outcome_of_repeat(result)];
  switch (result.outcome) {
    case adm::cycle_outcome::admitted:
      return admit(queue, number, result);
    case adm::cycle_outcome::not_replaced:
      return evict_without_replacement(queue, number, result);
    case adm::cycle_outcome::not_tried:
      return put_back(queue, key, comeback::at_once, {"", message});
    case adm::cycle_outcome::preempts:
      for (const adm::quota_victim& victim : result.victims) evict(victim, key);
      return put_back(queue, key, comeback::at_once,
                      {"WaitingForPreemptedWorkloads", message + ". Pending the preemption of " +
                                                           std::to_string(result.victims.size()) + " workload(s)"});
    case adm::cycle_outcome::no_fit:
      return put_back(queue, key, comeback::parked_alike, {std::string(no_fit_text(result.assignment.why)), message},
                      left);
    case adm::cycle_outcome::no_candidates:
      return put_back(queue, key, comeback::parked_alike, {"WaitingForQuota", message}, left);
    case adm::cycle_outcome::overlap:
      ++skipped_[queue.name];
      return put_back(queue, key, comeback::at_once,
                      {"WaitingForQuota", "Workload has overlapping preemption targets with another workload"});
    case adm::cycle_outcome::crowded_out:
      if (result.assignment.mode() == adm::assignment_mode::preempt) ++skipped_[queue.name];
      return put_back(queue, key, comeback::at_once,
                      {"WaitingForQuota", "Workload no longer fits after processing another workload"});
    case adm::cycle_outcome::gated:
      return put_back(queue, key, comeback::parked, {"AdmissionGated", "Workload requires preemption, but it's gated"});
    case adm::cycle_outcome::better_runs:
      return put_back(queue, key, comeback::at_once,
                      {"PendingEvaluation", "A more favorable variant is already admitted"});
    case adm::cycle_outcome::too_low:
      return put_back(queue, key, comeback::parked,
                      {"PendingEvaluation", "Target flavor is below LastAcceptableFlavorName"}, left);
    case adm::cycle_outcome::moves:
      return move(queue, number, result);
    case adm::cycle_outcome::deferred:
      break;
  }
  put_back(queue, key, comeback::at_once,
           {"WaitingForPreemptedWorkloads",
            "Workload has overlapping preemption targets with another workload, but will fit after these preemptions "
            "complete"});
}

/// Flavors that were looked at, but are not simply free, in words of the reference.
std::string cycle_replay::considered(std::size_t number, const adm::flavor_assignment& assignment) const {
  const json& sets = items(member(workloads_.at(heads_[number].name).object, "spec"), "podSets");
  std::string text;
  for (std::size_t i = 0; i < assignment.pod_sets.size(); ++i) {
    std::string of_set;
    for (const adm::flavor_attempt& one : assignment.pod_sets[i].attempts) {
      if (one.mode == adm::assignment_mode::fit && one.borrowing == 0) continue;
      std::vector<std::string> reasons;
      for (const adm::obstacle& why : one.obstacles) reasons.push_back(obstacle_text(all_, texts_[number], why));
      std::sort(reasons.begin(), reasons.end());
      of_set += (of_set.empty() ? "" : ", ") + all_.flavors.names[one.flavor] + "(";
      of_set +=
          one.victims ? "preemptionMode=" + std::string(forecast_text(*one.victims)) : std::string(mode_text(one.mode));
      if (one.borrowing > 0) of_set += ";borrow=" + std::to_string(one.borrowing);
      for (const std::string& why : reasons) of_set += ";" + why;
      of_set += ")";
    }
    if (!of_set.empty()) text += (text.empty() ? "" : " | ") + text_or_empty(sets[i], "name") + ": " + of_set;
  }
  return text;
}

std::string cycle_replay::reserved_message(const queue_object& queue, std::size_t number,
                                           const adm::flavor_assignment& assignment) const {
  // A workload without a time of making has waited as long as the reference can count.
  const std::int64_t queued = heads_[number].queued_at;
  const std::int64_t since = queued == no_time ? INT64_MAX : -queued;
  const std::int64_t seconds = since == INT64_MAX ? 9223372037 : (since + 500'000'000) / 1'000'000'000;
  const std::string flavors = considered(number, assignment);
  return "Quota reserved in ClusterQueue " + queue.name + ", wait time since queued was " + std::to_string(seconds) +
         "s" + (flavors.empty() ? "" : "; Flavors considered: " + flavors);
}

json cycle_replay::admission_of(const queue_object& queue, std::size_t number, const adm::head_result& result) const {
  const json& object = workloads_.at(heads_[number].name).object;
  const json& sets = items(member(object, "spec"), "podSets");
  json made = json::array();
  for (std::size_t i = 0; i < result.assignment.pod_sets.size(); ++i) {
    const adm::pod_set_assignment& assigned = result.assignment.pod_sets[i];
    json set = {{"name", text_or_empty(sets[i], "name")}, {"count", assigned.count}};
    for (const adm::chosen_flavor& one : assigned.flavors) {
      const std::string& resource = all_.resources.names[one.resource];
      set["flavors"][resource] = all_.flavors.names[one.flavor];
      for (const adm::resource_amount& asked : assigned.requests) {
        if (asked.resource == one.resource) set["resourceUsage"][resource] = quantity_text(resource, asked.value);
      }
    }
    const bool placed = i < result.places.size() && result.places[i];
    if (placed) set["topologyAssignment"] = assignment_record(*result.places[i]);
    json later = member(admitted_set(object, text_or_empty(sets[i], "name")), "delayedTopologyRequest");
    if (places_.come_later(number, result.assignment, i)) {
      later = "Pending";
    } else if (placed && !later.is_null()) {
      later = "Ready";
    }
    if (!later.is_null()) set["delayedTopologyRequest"] = later;
    made.push_back(std::move(set));
  }
  return {{"clusterQueue", queue.name}, {"podSetAssignments", std::move(made)}};
}

void cycle_replay::admit(const queue_object& queue, std::size_t number, const adm::head_result& result) {
  const std::string& key = heads_[number].name;
  if (!api_error_.empty()) return fail_to_admit(queue, key);
  const cycle_workload& workload = workloads_.at(key);
  admitted_[key] = admission_of(queue, number, result);
  memory_.waits.erase(key);
  if (!workload.second_pass) {
    add_event(key, "QuotaReserved", reserved_message(queue, number, result.assignment));
    if (counts_local_usage(queue)) {
      adm::usage_amounts asked;
      for (const adm::pod_set_demand& demand : heads_[number].demands) {
        for (const adm::resource_amount& one : demand.requests) {
          const std::string& resource = all_.resources.names[one.resource];
          asked[resource] += static_cast<double>(one.value) / (resource == "cpu" ? 1000.0 : 1.0);
        }
      }
      memory_.histories[local_queue_of(workload.object)].got(key, asked, memory_.entry_share);
    }
  }
  if (!has_lost_nodes(workload.object) && checks_pass(queue, workload.object, admitted_[key]))
    add_event(key, "Admitted", "Admitted by ClusterQueue " + queue.name + ", wait time since reservation was 0s");
}

/// The workload gives up what it was to have and, unless it is gone, is tried again.
void cycle_replay::fail_to_admit(const queue_object& queue, const std::string& key) {
  dropped_.insert(key);
  if (is_not_found(api_error_)) return;
  if (workloads_.at(key).second_pass) return add_event(key, "SecondPassFailed", "");
  active_[queue.name].insert(key);
}

void cycle_replay::evict(const adm::quota_victim& victim, const std::string& preemptor) {
  const adm::running_workload& running = all_.state.running[victim.workload];
  if (running.evicted) return;
  if (!api_error_.empty()) throw unsupported("victims that cannot be told");
  const json& waits = workloads_.at(preemptor).object;
  const json& leaves = workloads_.at(running.name).object;
  const std::string of_preemptor = all_.path(all_.queue(workloads_.at(preemptor).queue)->node);
  const std::string message =
      "Preempted to accommodate a workload (UID: " + or_unknown(uid_of(waits)) +
      ", JobUID: " + or_unknown(text_or_empty(member(member(waits, "metadata"), "labels"), "kueue.x-k8s.io/job-uid")) +
      ") due to " + std::string(reason_words(victim.why)) + "; preemptor path: " + of_preemptor +
      "; preemptee path: " + all_.path(running.queue);
  const std::string priorities = "; preemptor effective priority: " + priority_words(waits, input_) +
                                 "; preemptee effective priority: " + priority_words(leaves, input_);
  leaving_[running.name] = reason_text(victim.why);
  add_event(running.name, "EvictedDueToPreempted", message);
  add_event(running.name, "Preempted", message + priorities);
  add_event(preemptor, "PreemptedWorkload",
            "Preempted workload " + running.name + " (UID: " + uid_of(leaves) + ") in ClusterQueue " +
                all_.queue_at(running.queue).name + priorities);
}

void cycle_replay::move(const queue_object& queue, std::size_t number, const adm::head_result& result) {
  const std::string& key = heads_[number].name;
  if (!api_error_.empty()) throw unsupported("siblings that cannot be told");
  add_event(all_.state.running[*result.sibling].name, "EvictedDueToFlavorMigration",
            "Evicted to accommodate a workload (UID: " + uid_of(workloads_.at(key).object) +
                ") due to migration to more favorable resource flavor");
  put_back(queue, key, comeback::at_once,
           {"WaitingForPreemptedWorkloads",
            message_of(number, result.assignment) + ". Pending the migration of 1 workload(s)"});
}

void cycle_replay::evict_without_replacement(const queue_object& queue, std::size_t number,
                                             const adm::head_result& result) {
  const std::string& key = heads_[number].name;
  if (is_not_found(api_error_)) return;
  if (!api_error_.empty()) return put_back(queue, key, comeback::at_once, {"", message_of(number, result.assignment)});
  std::string nodes;
  for (const json& one : items(member(workloads_.at(key).object, "status"), "unhealthyNodes"))
    nodes += (nodes.empty() ? "" : ",") + text_or_empty(one, "name");
  add_event(key, "EvictedDueToNodeFailures",
            "Workload was evicted as there was no replacement for unhealthy node(s): " + nodes);
}

}  // namespace kaisched::conformance::kueue
