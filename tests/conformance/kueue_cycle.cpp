// Whole cycles of recorded calls: who is admitted, who waits and why, who leaves.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kueue_calls.hpp"
#include "conformance/kueue_demands.hpp"
#include "conformance/kueue_objects.hpp"
#include "conformance/kueue_place_book.hpp"
#include "conformance/unsupported.hpp"
#include "policy/admission/cycle.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::admission;

namespace {

/// A workload in a queue, or one that holds quota.
struct cycle_workload {
  json object;
  std::string key;
  std::string queue;  ///< cluster queue; empty if it has none
  bool holds = false;
};

/// How a workload goes back to its queue.
enum class comeback : std::uint8_t { parked, parked_alike, mismatch, at_once };

struct waiting {
  std::string reason;
  std::string message;
};

json namespace_labels(const json& input, const std::string& name) {
  static const std::map<std::string, json> known{
      {"default", json::object()},     {"eng-alpha", {{"dep", "eng"}}}, {"eng-beta", {{"dep", "eng"}}},
      {"eng-gamma", {{"dep", "eng"}}}, {"sales", {{"dep", "sales"}}},   {"lend", {{"dep", "lend"}}},
  };
  for (const json& object : items(input, "objects")) {
    if (text_or_empty(member(object, "metadata"), "name") == name && text_or_empty(object, "kind") == "Namespace")
      return items(member(object, "metadata"), "labels");
  }
  const auto found = known.find(name);
  return found == known.end() ? json::object() : found->second;
}

std::string namespace_of(const std::string& key) { return key.substr(0, key.find('/')); }

/// Resources of which more is asked than the limit allows, in words of the reference.
std::optional<std::string> invalid_requests(const json& workload) {
  std::vector<std::string> errors;
  const json& sets = items(member(workload, "spec"), "podSets");
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const json& spec = member(member(sets[s], "template"), "spec");
    for (const char* kind : {"initContainers", "containers"}) {
      const json& containers = items(spec, kind);
      for (std::size_t c = 0; c < containers.size(); ++c) {
        const json& resources = member(containers[c], "resources");
        json names = json::array();
        for (const auto& [name, text] : items(resources, "requests").items()) {
          const json& bound = member(member(resources, "limits"), name);
          if (!bound.is_null() && quantity(name, text) > quantity(name, bound)) names.push_back(name);
        }
        if (names.empty()) continue;
        errors.push_back("spec.podSets[" + std::to_string(s) + "].template.spec." + kind + "[" + std::to_string(c) +
                         "]: Invalid value: " + names.dump() + ": requests must not exceed its limits");
      }
    }
  }
  if (errors.empty()) return std::nullopt;
  std::string text;
  for (const std::string& one : errors) text += (text.empty() ? "" : ", ") + one;
  return "resources validation failed: " + (errors.size() > 1 ? "[" + text + "]" : text);
}

/// What makes two workloads alike for a queue.
json shape_of(const json& workload, const json& input) {
  json sets = json::array();
  for (const json& set : items(member(workload, "spec"), "podSets")) {
    json one = set;
    one["count"] = count_after_reclaim(workload, set, input);
    sets.push_back(std::move(one));
  }
  return {{"priority", priority_of(workload, input)}, {"sets", std::move(sets)}};
}

json keys_by_queue(const std::map<std::string, std::set<std::string>>& keys) {
  json made = json::object();
  for (const auto& [queue, list] : keys) {
    if (!list.empty()) made[queue] = list;
  }
  return made;
}

json sorted_lists(const json& by_queue) {
  json made = json::object();
  if (!by_queue.is_object()) return made;
  for (const auto& [queue, list] : by_queue.items()) {
    std::set<std::string> keys;
    for (const json& one : list) keys.insert(one.get<std::string>());
    if (!keys.empty()) made[queue] = keys;
  }
  return made;
}

/// Empty members are as good as none.
json tidy(const json& value) {
  if (!value.is_object()) return value;
  json made = json::object();
  for (const auto& [key, one] : value.items()) {
    if (key == "podSetAssignments") {
      json sets = json::array();
      for (const json& set : one) sets.push_back(tidy(set));
      made[key] = std::move(sets);
    } else if (!one.is_null() && !(one.is_structured() && one.empty())) {
      made[key] = one;
    }
  }
  return made;
}

class cycle_replay {
 public:
  explicit cycle_replay(const json& one)
      : one_(one), input_(one.at("input")), all_(read_cluster(input_)), places_(all_, input_) {}

  differences run() {
    read_workloads();
    run_heads();
    differences found;
    const json& expected = one_.at("expected");
    if (expected.contains("new_assignments")) {
      compare(found, "new assignments", tidy_all(items(expected, "new_assignments")), new_assignments());
    } else {
      compare(found, "assignments", tidy_all(items(expected, "assignments")), assignments());
    }
    compare(found, "left", sorted_lists(member(expected, "left")), keys_by_queue(active_));
    compare(found, "parked", sorted_lists(member(expected, "inadmissible_left")), keys_by_queue(parked_));
    if (has(expected, "workloads")) compare_workloads(found, expected.at("workloads"));
    if (has(expected, "events")) compare_events(found, expected.at("events"));
    for (const auto& [queue, count] : items(expected, "skipped_preemptions").items())
      compare(found, "preemptions skipped in " + queue, count, skipped_[queue]);
    if (has(expected, "preemption_target_recomputations")) throw unsupported("counts of repeated looks");
    return found;
  }

 private:
  void read_workloads() {
    for (const queue_object& queue : all_.queues) {
      if (has(member(queue.object, "spec"), "admissionScope")) throw unsupported("past usage of local queues");
    }
    if (has(input_, "admission_error")) throw unsupported("errors of the API server");
    if (gate(input_, "ConcurrentAdmission")) throw unsupported("concurrent admission");
    std::map<std::string, std::string> local_queues;
    for (const json& one : items(input_, "local_queues")) {
      local_queues[key_of(one)] = text_or_empty(member(one, "spec"), "clusterQueue");
    }
    std::vector<json> sorted;
    for (const json& one : items(input_, "workloads")) sorted.push_back(one);
    std::stable_sort(sorted.begin(), sorted.end(), [](const json& a, const json& b) { return key_of(a) < key_of(b); });
    for (const json& object : sorted) {
      cycle_workload made{object, key_of(object), {}, has(member(object, "status"), "admission")};
      for (const auto& [name, value] : items(member(object, "metadata"), "annotations").items()) {
        if (name.find("workload-slice") != std::string::npos) throw unsupported("slices of workloads");
      }
      if (!items(member(object, "status"), "unhealthyNodes").empty()) throw unsupported("second pass of a workload");
      for (const json& set : items(member(member(object, "status"), "admission"), "podSetAssignments")) {
        if (has(set, "delayedTopologyRequest")) throw unsupported("second pass of a workload");
      }
      if (made.holds) {
        made.queue = text_or_empty(member(member(object, "status"), "admission"), "clusterQueue");
        all_.state.running.push_back(running_of(all_, object, input_));
        const adm::running_workload& running = all_.state.running.back();
        if (running.queue == adm::no_node) throw unsupported("workloads in queues that do not exist");
        all_.state.tree.add_usage(running.queue, running.usage);
        places_.add_running(object);
      } else {
        const auto local =
            local_queues.find(namespace_of(made.key) + "/" + text_or_empty(member(object, "spec"), "queueName"));
        if (local != local_queues.end()) made.queue = local->second;
        if (all_.queue(made.queue) == nullptr) made.queue.clear();
        if (!made.queue.empty() && !condition_is_true(object, "Finished")) active_[made.queue].insert(made.key);
      }
      workloads_.emplace(made.key, std::move(made));
    }
  }

  bool is_usable(const queue_object& queue) const {
    for (const adm::flavor_group& group : queue.groups) {
      for (const std::uint32_t flavor : group.flavors) {
        if (!all_.flavor_objects.contains(all_.flavors.names[flavor])) return false;
      }
    }
    const std::string stop = text_or_empty(member(queue.object, "spec"), "stopPolicy");
    return stop.empty() || stop == "None";
  }

  std::string head_of(const std::set<std::string>& keys) const {
    std::string best;
    for (const std::string& key : keys) {
      if (best.empty() || comes_first(workloads_.at(key).object, workloads_.at(best).object)) best = key;
    }
    return best;
  }

  bool comes_first(const json& a, const json& b) const {
    const std::int64_t x = priority_of(a, input_);
    const std::int64_t y = priority_of(b, input_);
    if (x != y) return x > y;
    const std::int64_t s = queued_at(a, input_, true);
    const std::int64_t t = queued_at(b, input_, true);
    if (s != t) return s < t;
    const std::string u = text_or_empty(member(a, "metadata"), "uid");
    const std::string v = text_or_empty(member(b, "metadata"), "uid");
    return u != v ? u < v : key_of(a) < key_of(b);
  }

  void run_heads() {
    const bool fair = value_or(input_, "enable_fair_sharing", false);
    std::vector<adm::cycle_queue> queues;
    std::vector<adm::cycle_head> heads;
    std::vector<demand_texts> texts;
    for (const queue_object& queue : all_.queues) {
      queues.push_back({queue.node, queue.groups, queue.rules, queue.preemption,
                        queue.preemption.borrow_within_cohort.has_value() || (fair && !queue.reclaim_is_never)});
      const auto waiting_here = active_.find(queue.name);
      if (waiting_here == active_.end() || waiting_here->second.empty() || !is_usable(queue)) continue;
      const std::string key = head_of(waiting_here->second);
      const json& object = workloads_.at(key).object;
      active_[queue.name].erase(key);
      if (refuse(queue, key, object)) continue;
      adm::cycle_head& head = heads.emplace_back();
      head.queue = queues.size() - 1;
      head.priority = priority_of(object, input_);
      head.queued_at = queued_at(object, input_, true);
      head.name = key;
      texts.push_back(demands_of(all_, queue, object, input_, [&](const std::string& flavor, const json& set) {
        return places_.mismatch(queue, flavor, set);
      }));
      places_.add_head(queue, object);
      head.demands = texts.back().demands;
      read_fewest(object, head);
    }
    adm::cycle_rules rules;
    rules.by_shares = fair;
    rules.fair.within_nominal_is_free = gate(input_, "FairSharingPreemptWithinNominal");
    rules.entries = {gate(input_, "PrioritizePreemptorWorkloads"), gate(input_, "PrioritySortingWithinCohort"),
                     gate(input_, "FairSharingPrioritizeNonBorrowing")};
    rules.fungible = gate(input_, "FlavorFungibility");
    rules.fewer_pods = gate(input_, "PartialAdmission");
    rules.looks_again_on_overlap = gate(input_, "RecomputeAssignmentUponPreemptionTargetsOverlap");
    rules.resource_order = all_.resource_order;
    rules.pods_resource = all_.resources.find("pods");
    rules.has_topology = places_.has_topology();
    rules.looks_again_for_places = gate(input_, "TASRecomputeAssignmentWithinSchedulingCycle");
    if (!places_.empty()) {
      rules.places = &places_;
      all_.state.listener = &places_;
    }
    const adm::cycle_result result = adm::run_cycle(all_.state, queues, heads, rules);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const queue_object& queue = all_.queue_at(queues[heads[i].queue].node);
      tell(queue, heads[i], result.heads[i], texts[i]);
    }
  }

  static void read_fewest(const json& object, adm::cycle_head& head) {
    const json& sets = items(member(object, "spec"), "podSets");
    bool fewer = false;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      fewer = fewer || has(sets[i], "minCount");
      head.fewest.push_back(value_or(sets[i], "minCount", value_or(sets[i], "count", std::int64_t{0})));
    }
    if (!fewer) head.fewest.clear();
  }

  /// Workloads that no flavors are looked for.
  bool refuse(const queue_object& queue, const std::string& key, const json& object) {
    for (const json& check : items(member(object, "status"), "admissionChecks")) {
      const std::string state = text_or_empty(check, "state");
      if (state != "Retry" && state != "Rejected") continue;
      put_back(queue, key, comeback::parked, {"PendingEvaluation", "The workload has failed admission checks"});
      return true;
    }
    const json& selector = member(member(queue.object, "spec"), "namespaceSelector");
    if (!matches_selector(selector, namespace_labels(input_, namespace_of(key)))) {
      put_back(queue, key, comeback::mismatch,
               {"Misconfigured", "workload namespace doesn't match ClusterQueue selector"});
      return true;
    }
    if (const std::optional<std::string> why = invalid_requests(object)) {
      put_back(queue, key, comeback::parked, {"Misconfigured", *why});
      return true;
    }
    return false;
  }

  void put_back(const queue_object& queue, const std::string& key, comeback how, waiting why,
                bool flavors_left = false) {
    waiting_[key] = std::move(why);
    events_.push_back({{"key", key}, {"reason", waiting_[key].reason}});
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

  std::string message_of(const adm::cycle_head& head, const adm::flavor_assignment& assignment,
                         const demand_texts& texts) const {
    const json& sets = items(member(workloads_.at(head.name).object, "spec"), "podSets");
    std::string text;
    for (std::size_t i = 0; i < assignment.pod_sets.size(); ++i) {
      const adm::pod_set_assignment& set = assignment.pod_sets[i];
      if (set.obstacles.empty() && !set.topology_failed) continue;
      text += (text.empty() ? "" : "; ") + ("couldn't assign flavors to pod set " + text_or_empty(sets[i], "name")) +
              ": " +
              joined_obstacles(
                  all_, texts, set.obstacles,
                  set.topology_failed ? std::vector{places_.reason(set.topology_reason)} : std::vector<std::string>{});
    }
    return text;
  }

  void tell(const queue_object& queue, const adm::cycle_head& head, const adm::head_result& result,
            const demand_texts& texts) {
    const bool left =
        std::any_of(result.assignment.progress.begin(), result.assignment.progress.end(), [](const auto& of_set) {
          return std::any_of(of_set.begin(), of_set.end(), [](const auto& one) { return one.second != -1; });
        });
    const std::string message = message_of(head, result.assignment, texts);
    switch (result.outcome) {
      case adm::cycle_outcome::admitted:
        admit(queue, head, result, texts);
        break;
      case adm::cycle_outcome::preempts: {
        for (const adm::quota_victim& victim : result.victims) evict(victim, head.name);
        put_back(queue, head.name, comeback::at_once,
                 {"WaitingForPreemptedWorkloads",
                  message + ". Pending the preemption of " + std::to_string(result.victims.size()) + " workload(s)"});
        break;
      }
      case adm::cycle_outcome::no_fit:
        put_back(queue, head.name, comeback::parked_alike, {std::string(no_fit_text(result.assignment.why)), message},
                 left);
        break;
      case adm::cycle_outcome::no_candidates:
        put_back(queue, head.name, comeback::parked_alike, {"WaitingForQuota", message}, left);
        break;
      case adm::cycle_outcome::overlap:
        ++skipped_[queue.name];
        put_back(queue, head.name, comeback::at_once,
                 {"WaitingForQuota", "Workload has overlapping preemption targets with another workload"});
        break;
      case adm::cycle_outcome::crowded_out:
        if (result.assignment.mode() == adm::assignment_mode::preempt) ++skipped_[queue.name];
        put_back(queue, head.name, comeback::at_once,
                 {"WaitingForQuota", "Workload no longer fits after processing another workload"});
        break;
      case adm::cycle_outcome::deferred:
        put_back(queue, head.name, comeback::at_once,
                 {"WaitingForPreemptedWorkloads",
                  "Workload has overlapping preemption targets with another workload, but will fit after these "
                  "preemptions complete"});
        break;
    }
  }

  /// Whether all checks that the queue asks for, and all that the workload lists, are ready.
  static bool checks_pass(const queue_object& queue, const json& object) {
    const json& checks = items(member(object, "status"), "admissionChecks");
    const json& spec = member(queue.object, "spec");
    if (checks.empty() && (has(spec, "admissionChecks") || has(spec, "admissionChecksStrategy"))) return false;
    return std::all_of(checks.begin(), checks.end(),
                       [](const json& check) { return text_or_empty(check, "state") == "Ready"; });
  }

  /// Flavors that were looked at, but are not simply free, in words of the reference.
  std::string considered(const adm::cycle_head& head, const adm::flavor_assignment& assignment,
                         const demand_texts& texts) const {
    const json& sets = items(member(workloads_.at(head.name).object, "spec"), "podSets");
    std::string text;
    for (std::size_t i = 0; i < assignment.pod_sets.size(); ++i) {
      std::string of_set;
      for (const adm::flavor_attempt& one : assignment.pod_sets[i].attempts) {
        if (one.mode == adm::assignment_mode::fit && one.borrowing == 0) continue;
        std::vector<std::string> reasons;
        for (const adm::obstacle& why : one.obstacles) reasons.push_back(obstacle_text(all_, texts, why));
        std::sort(reasons.begin(), reasons.end());
        of_set += (of_set.empty() ? "" : ", ") + all_.flavors.names[one.flavor] + "(";
        of_set += one.victims ? "preemptionMode=" + std::string(forecast_text(*one.victims))
                              : std::string(mode_text(one.mode));
        if (one.borrowing > 0) of_set += ";borrow=" + std::to_string(one.borrowing);
        for (const std::string& why : reasons) of_set += ";" + why;
        of_set += ")";
      }
      if (!of_set.empty()) text += (text.empty() ? "" : " | ") + text_or_empty(sets[i], "name") + ": " + of_set;
    }
    return text;
  }

  std::string reserved_message(const queue_object& queue, const adm::cycle_head& head,
                               const adm::flavor_assignment& assignment, const demand_texts& texts) const {
    // A workload without a time of making has waited as long as the reference can count.
    const std::int64_t since = head.queued_at == no_time ? INT64_MAX : -head.queued_at;
    const std::int64_t seconds = since == INT64_MAX ? 9223372037 : (since + 500'000'000) / 1'000'000'000;
    const std::string flavors = considered(head, assignment, texts);
    return "Quota reserved in ClusterQueue " + queue.name + ", wait time since queued was " + std::to_string(seconds) +
           "s" + (flavors.empty() ? "" : "; Flavors considered: " + flavors);
  }

  void admit(const queue_object& queue, const adm::cycle_head& head, const adm::head_result& result,
             const demand_texts& texts) {
    const adm::flavor_assignment& assignment = result.assignment;
    messages_[head.name + " QuotaReserved"] = reserved_message(queue, head, assignment, texts);
    messages_[head.name + " Admitted"] =
        "Admitted by ClusterQueue " + queue.name + ", wait time since reservation was 0s";
    const json& sets = items(member(workloads_.at(head.name).object, "spec"), "podSets");
    json made = json::array();
    for (std::size_t i = 0; i < assignment.pod_sets.size(); ++i) {
      json set = {{"name", text_or_empty(sets[i], "name")}, {"count", assignment.pod_sets[i].count}};
      for (const adm::chosen_flavor& one : assignment.pod_sets[i].flavors) {
        const std::string& resource = all_.resources.names[one.resource];
        set["flavors"][resource] = all_.flavors.names[one.flavor];
        for (const adm::resource_amount& asked : assignment.pod_sets[i].requests) {
          if (asked.resource == one.resource) set["resourceUsage"][resource] = quantity_text(resource, asked.value);
        }
      }
      if (i < result.places.size() && result.places[i])
        set["topologyAssignment"] = assignment_record(*result.places[i]);
      made.push_back(std::move(set));
    }
    admitted_[head.name] = tidy({{"clusterQueue", queue.name}, {"podSetAssignments", std::move(made)}});
    events_.push_back({{"key", head.name}, {"reason", "QuotaReserved"}});
    if (checks_pass(queue, workloads_.at(head.name).object))
      events_.push_back({{"key", head.name}, {"reason", "Admitted"}});
  }

  void evict(const adm::quota_victim& victim, const std::string& preemptor) {
    const adm::running_workload& running = all_.state.running[victim.workload];
    if (running.evicted) return;
    leaving_[running.name] = reason_text(victim.why);
    events_.push_back({{"key", running.name}, {"reason", "EvictedDueToPreempted"}});
    events_.push_back({{"key", running.name}, {"reason", "Preempted"}});
    events_.push_back({{"key", preemptor}, {"reason", "PreemptedWorkload"}});
  }

  static json tidy_all(const json& by_key) {
    json made = json::object();
    for (const auto& [key, value] : by_key.items()) made[key] = normal_quantities(tidy(value));
    return made;
  }

  /// The same amount may be written in several ways.
  static json normal_quantities(json admission) {
    if (!admission.contains("podSetAssignments")) return admission;
    for (json& set : admission["podSetAssignments"]) {
      // Places may be written in several ways, too.
      if (set.contains("topologyAssignment"))
        set["topologyAssignment"] = assignment_record(read_assignment(set["topologyAssignment"]));
      if (!set.contains("resourceUsage")) continue;
      for (auto& [resource, text] : set["resourceUsage"].items()) text = quantity(resource, text);
    }
    return admission;
  }

  json assignments() const {
    json made = json::object();
    for (const auto& [key, workload] : workloads_) {
      if (workload.holds) made[key] = normal_quantities(tidy(workload.object.at("status").at("admission")));
    }
    for (const auto& [key, admission] : admitted_) made[key] = normal_quantities(admission);
    return made;
  }

  json new_assignments() const {
    json made = json::object();
    for (const auto& [key, admission] : admitted_) made[key] = normal_quantities(admission);
    return made;
  }

  void compare_workloads(differences& found, const json& expected) const {
    json leaving = json::object();
    json mine = json::object();
    for (const auto& [key, workload] : workloads_) {
      if (condition_is_true(workload.object, "Preempted"))
        mine[key] = text_or_empty(*condition(workload.object, "Preempted"), "reason");
    }
    for (const auto& [key, why] : leaving_) mine[key] = why;
    for (const json& one : expected) {
      const std::string key = key_of(one);
      if (condition_is_true(one, "Preempted")) leaving[key] = text_or_empty(*condition(one, "Preempted"), "reason");
      const json* reserved = condition(one, "QuotaReserved");
      const bool waits = reserved != nullptr && text_or_empty(*reserved, "status") == "False";
      const auto why = waiting_.find(key);
      if (!waits || why == waiting_.end()) {
        if (waits != (why != waiting_.end())) found.push_back(key + (waits ? " is expected to wait" : " waits"));
        continue;
      }
      compare(found, "reason of " + key, text_or_empty(*reserved, "reason"), why->second.reason);
      compare(found, "message of " + key, text_or_empty(*reserved, "message"), why->second.message);
    }
    compare(found, "who leaves", leaving, mine);
  }

  void compare_events(differences& found, const json& expected) const {
    json wanted = json::array();
    for (const json& one : expected) {
      wanted.push_back({{"key", text_or_empty(one, "key")}, {"reason", text_or_empty(one, "reason")}});
      const auto why = waiting_.find(text_or_empty(one, "key"));
      if (!has(one, "message")) continue;
      const auto told = messages_.find(text_or_empty(one, "key") + " " + text_or_empty(one, "reason"));
      if (told != messages_.end()) {
        compare(found, "message of an event", one.at("message"), told->second);
      } else if (why != waiting_.end() && why->second.reason == text_or_empty(one, "reason")) {
        compare(found, "message of an event", one.at("message"), why->second.message);
      } else {
        throw unsupported("message of an event");
      }
    }
    json got = events_;
    std::sort(wanted.begin(), wanted.end());
    std::sort(got.begin(), got.end());
    compare(found, "events", wanted, got);
  }

  const json& one_;
  const json& input_;
  cluster all_;
  recorded_places places_;
  std::map<std::string, cycle_workload> workloads_;
  std::map<std::string, std::set<std::string>> active_;
  std::map<std::string, std::set<std::string>> parked_;
  std::map<std::string, json> admitted_;
  std::map<std::string, waiting> waiting_;
  std::map<std::string, std::string> leaving_;
  std::map<std::string, std::int64_t> skipped_;
  std::map<std::string, std::string> messages_;  ///< of events, by workload and reason
  json events_ = json::array();
};

}  // namespace

differences check_cycle(const json& one) {
  if (one.at("expected").contains("pending_flavor")) throw unsupported("progress over several cycles");
  return cycle_replay(one).run();
}

}  // namespace kaisched::conformance::kueue
