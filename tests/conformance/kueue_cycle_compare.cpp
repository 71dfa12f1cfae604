// A recorded cycle beside what the replay made of it.

#include <algorithm>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kueue_cycle.hpp"
#include "conformance/kueue_places.hpp"
#include "conformance/kueue_second_pass.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;

namespace {

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

/// The same amount may be written in several ways.
json normal_quantities(json admission) {
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

}  // namespace

void cycle_replay::compare_with(differences& found, const json& expected) {
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
  for (const auto& [queue, counts] : items(expected, "preemption_target_recomputations").items()) {
    if (!counts.is_object()) throw unsupported("counts of repeated looks that do not say what came of them");
    compare(found, "repeated looks of " + queue, counts, json(repeated_[queue]));
  }
}

json cycle_replay::tidy_all(const json& by_key) {
  json made = json::object();
  for (const auto& [key, value] : by_key.items()) made[key] = normal_quantities(tidy(value));
  return made;
}

json cycle_replay::assignments() const {
  json made = json::object();
  for (const auto& [key, workload] : workloads_) {
    if (workload.holds && !dropped_.contains(key)) made[key] = workload.object.at("status").at("admission");
  }
  for (const auto& [key, admission] : admitted_) made[key] = admission;
  return tidy_all(made);
}

/// Without those that were admitted before, unless they have lost a node.
json cycle_replay::new_assignments() const {
  json made = assignments();
  for (const auto& [key, workload] : workloads_) {
    const bool settled = condition_is_true(workload.object, "Admitted") && !has_lost_nodes(workload.object);
    if (workload.holds && settled) made.erase(key);
  }
  return made;
}

json cycle_replay::workloads_after() const {
  json made = json::array();
  for (const auto& [key, workload] : workloads_) {
    json object = workload.object;
    json& conditions = object["status"]["conditions"];
    if (const auto admission = admitted_.find(key); admission != admitted_.end()) {
      object["status"]["admission"] = admission->second;
      for (const char* type : {"QuotaReserved", "Admitted"})
        conditions.push_back({{"type", type}, {"status", "True"}, {"lastTransitionTime", "now"}});
    }
    if (const auto why = leaving_.find(key); why != leaving_.end()) {
      conditions.push_back({{"type", "Evicted"}, {"status", "True"}, {"reason", "Preempted"}});
      conditions.push_back({{"type", "Preempted"}, {"status", "True"}, {"reason", why->second}});
    }
    made.push_back(std::move(object));
  }
  return made;
}

void cycle_replay::compare_workloads(differences& found, const json& expected) const {
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
    const auto why = memory_.waits.find(key);
    if (!waits || why == memory_.waits.end()) {
      if (waits != (why != memory_.waits.end())) found.push_back(key + (waits ? " is expected to wait" : " waits"));
      continue;
    }
    compare(found, "reason of " + key, text_or_empty(*reserved, "reason"), why->second.reason);
    compare(found, "message of " + key, text_or_empty(*reserved, "message"), why->second.message);
  }
  compare(found, "who leaves", leaving, mine);
}

void cycle_replay::compare_events(differences& found, const json& expected) const {
  json wanted = json::array();
  json got = json::array();
  for (const json& one : expected) {
    wanted.push_back({{"key", text_or_empty(one, "key")}, {"reason", text_or_empty(one, "reason")}});
    if (!has(one, "message")) continue;
    json messages = json::array();
    for (const json& told : events_) {
      if (told["key"] == wanted.back()["key"] && told["reason"] == wanted.back()["reason"])
        messages.push_back(told["message"]);
    }
    if (std::find(messages.begin(), messages.end(), one.at("message")) == messages.end())
      compare(found, "message of an event", one.at("message"), messages);
  }
  for (const json& told : events_) got.push_back({{"key", told["key"]}, {"reason", told["reason"]}});
  std::sort(wanted.begin(), wanted.end());
  std::sort(got.begin(), got.end());
  compare(found, "events", wanted, got);
}

}  // namespace kaisched::conformance::kueue
