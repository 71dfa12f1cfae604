#include "binding/explainer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "api_server/clock_text.hpp"
#include "api_server/requests.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr const char* pod_conditions = "/status/conditions";
constexpr const char* group_conditions = "/status/schedulingConditions";

/// Group conditions are of a pool each.
const json* condition_of(const json& object, const char* path, const std::string& type, const std::string& pool = {}) {
  for (const json& one : list_at(object, path)) {
    if (text_at(one, "/type") == type && (pool.empty() || text_at(one, "/nodePool") == pool)) return &one;
  }
  return nullptr;
}

/// The others, and one more with the next number.
json with_condition(const json& object, json condition) {
  json all = json::array();
  long transition = 0;
  for (const json& one : list_at(object, group_conditions)) {
    transition = std::max(transition, std::strtol(text_at(one, "/transitionID").c_str(), nullptr, 10));
    const bool same = text_at(one, "/type") == text_at(condition, "/type") &&
                      text_at(one, "/nodePool") == text_at(condition, "/nodePool");
    if (!same) all.push_back(one);
  }
  condition["transitionID"] = std::to_string(std::clamp(transition, 0L, 2'000'000'000L) + 1);
  all.push_back(std::move(condition));
  return all;
}

request status_patch(std::string_view key, const json& object, const char* form, const json& body) {
  return patch_of(
      place(resource_of(key), text_at(object, "/metadata/namespace"), text_at(object, "/metadata/name")) + "/status",
      body, form);
}

std::string message_of(const std::vector<std::pair<std::string, std::string>>& reasons) {
  std::string message;
  for (const auto& [constraint, sentence] : reasons) message += (message.empty() ? "" : "; ") + sentence;
  return message;
}

}  // namespace

bool marks_pods(const json& group) {
  const json::json_pointer path("/spec/markUnschedulable");
  return !group.contains(path) || group[path] != json(false);
}

explainer::explainer(const configuration& by, object_store& store, event_list& events, send_function send,
                     log_function log)
    : by_(by), store_(store), events_(events), send_(std::move(send)), log_(std::move(log)) {}

void explainer::begin(const decision& what, std::chrono::system_clock::time_point when) {
  what_ = &what;
  when_ = when;
  faults_ = 0;
  own_.clear();
  conditions_.clear();
  due_.clear();
  std::erase_if(explained_, [&](const auto& one) { return when_ - one.second > 2 * by_.explain_period; });
}

void explainer::add(const std::string& object, std::function<bool()> say) {
  due_[object.substr(0, object.find('/'))].push_back(std::move(say));
}

void explainer::add_group(const std::string& group, const reasons& why) {
  if (const auto missing = what_->missing.find(group); missing != what_->missing.end()) {  // it waits for others
    add(group, [this, &group, &why, count = missing->second] { return tell_not_ready(group, why, count); });
    return;
  }
  add(group, [this, &group, &why] { return explain_group(group, why); });
  const auto times = what_->groups.find(group);
  if (times == what_->groups.end()) return;
  for (const std::string& pod : times->second.waiting) {
    add(group, [this, &pod, &group, &why] {
      const auto own = own_.find(pod);
      return explain_pod(pod, group, own == own_.end() ? message_of(why) : own->second);
    });
  }
}

std::size_t explainer::finish(const std::function<bool()>& go_on, std::chrono::steady_clock::time_point until) {
  for (const auto& [group, why] : what_->waiting) add_group(group, why);
  for (const auto& [pod, why] : store_.refused()) {
    add(pod, [this, pod = pod, why = why] { return explain_pod(pod, {}, why); });
  }
  for (const auto& [key, condition] : conditions_) {
    add(key.first, [this, &pod = key.first, &condition] {
      return write_condition(pod, condition, fmt::format("pod {} {}", pod, text_at(condition, "/type")), "Binding");
    });
  }
  std::size_t said = 0;
  auto turn = due_.upper_bound(last_);
  while (!due_.empty() && go_on() && std::chrono::steady_clock::now() < until) {
    if (turn == due_.end()) turn = due_.begin();
    // What is said already costs no request, so it is no turn.
    bool spoke = false;
    while (!spoke && !turn->second.empty()) {
      spoke = say(turn->second.front());
      turn->second.pop_front();
    }
    if (spoke) ++said;
    last_ = turn->first;
    turn = turn->second.empty() ? due_.erase(turn) : std::next(turn);
  }
  behind_ = !due_.empty();
  due_.clear();
  if (faults_ > 1) log_(fmt::format("{} more objects whose reasons were not taken", faults_ - 1));
  return said;
}

bool explainer::say(const std::function<bool()>& what) {
  try {
    return what();
  } catch (const json::exception& fault) {  // an object that is not what it should be
    complain(fmt::format("condition: {}", fault.what()));
    return false;
  }
}

bool explainer::may_explain(const std::string& object) {
  const auto [found, first] = explained_.try_emplace(object, when_);
  if (first) return true;
  if (when_ - found->second < by_.explain_period) return false;
  found->second = when_;
  return true;
}

bool explainer::patch(const std::string& object, const request& what) {
  try {
    const response answer = send_(what);
    if (answer.ok()) return true;
    if (answer.status == 409) explained_.erase(object);  // somebody else wrote: the next cycle sees what
    complain(fmt::format("{}: condition: {}", object, server_words(answer)));
  } catch (const no_answer& fault) {
    complain(fmt::format("{}: condition: {}", object, fault.what()));
  }
  return false;
}

/// One server does not take any of thousands: one line says so.
void explainer::complain(const std::string& fault) {
  if (++faults_ == 1) log_(fault);
}

bool explainer::write_condition(const std::string& pod, const json& condition, const std::string& subject,
                                const char* action) {
  const std::string type = text_at(condition, "/type");
  const std::string message = text_at(condition, "/message");
  const bool fails = text_at(condition, "/status") == "False";
  json object;
  store_.look_at(pod_key, pod, [&](const json& seen) {
    const json* was = condition_of(seen, pod_conditions, type);
    if (was == nullptr || text_at(*was, "/message") != message) object = seen;
  });
  if (object.is_null()) return false;  // gone, or it says so already
  if (fails && !may_explain(subject)) return false;
  const json* was = condition_of(object, pod_conditions, type);
  json now = condition;
  // It began to be what it is when it was something else.
  const bool is_new = was == nullptr || text_at(*was, "/status") != text_at(condition, "/status") ||
                      !was->contains("lastTransitionTime");
  now["lastTransitionTime"] = is_new ? json(clock_text(when_)) : (*was)["lastTransitionTime"];
  const request what = status_patch(
      pod_key, object, strategic_patch_type,
      {{"metadata", {{"uid", text_at(object, "/metadata/uid")}}}, {"status", {{"conditions", json::array({now})}}}});
  if (patch("pod " + pod, what) && fails)
    events_.tell(object, "Warning", text_at(condition, "/reason"), message, action);
  return true;
}

bool explainer::explain_pod(const std::string& pod, const std::string& group, const std::string& message) {
  bool marks = true;
  store_.look_at(pod_group_key, group, [&](const json& seen) { marks = marks_pods(seen); });
  return marks &&
         write_condition(
             pod, {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}, {"message", message}},
             "pod " + pod, "Scheduling");
}

bool explainer::explain_group(const std::string& group, const reasons& why) {
  // As KAI: what has pods on nodes only wants more of them.
  if (const auto times = what_->groups.find(group); times != what_->groups.end() && times->second.is_active)
    return false;
  json list = json::array();
  for (const auto& [constraint, sentence] : why) list.push_back({{"reason", constraint}, {"message", sentence}});
  const std::string message = message_of(why);
  const std::string pool = by_.node_pool.empty() ? "default" : by_.node_pool;
  const std::string type = "UnschedulableOnNodePool";
  json object;
  store_.look_at(pod_group_key, group, [&](const json& seen) {
    const json* was = condition_of(seen, group_conditions, type, pool);
    if (was == nullptr || text_at(*was, "/message") != message) object = seen;
  });
  if (object.is_null()) return false;  // made of pods alone, or it says so already
  if (!may_explain("pod group " + group)) return false;
  const json conditions = with_condition(object, {{"type", type},
                                                  {"status", "True"},
                                                  {"nodePool", pool},
                                                  {"reason", "Unschedulable"},
                                                  {"message", message},
                                                  {"reasons", list},
                                                  {"lastTransitionTime", clock_text(when_)}});
  // The whole list is written, and those of other pools are in it.
  const request what = status_patch(pod_group_key, object, merge_patch_type,
                                    {{"metadata", {{"resourceVersion", text_at(object, "/metadata/resourceVersion")}}},
                                     {"status", {{"schedulingConditions", conditions}}}});
  if (patch("pod group " + group, what)) events_.tell(object, "Warning", "Unschedulable", message, "Scheduling");
  return true;
}

bool explainer::tell_not_ready(const std::string& group, const reasons& why, std::int64_t missing) {
  const bool after_others = why.front().first == "dependency";
  const std::string note =
      after_others ? why.front().second
                   : fmt::format("waiting for {} {}: {}", missing, missing == 1 ? "pod" : "pods", why.front().second);
  json object;
  store_.look_at(pod_group_key, group, [&](const json& seen) {
    if (not_ready_[text_at(seen, "/metadata/uid")] != note) object = seen;
  });
  if (object.is_null() || !may_explain("pod group " + group)) return false;
  if (not_ready_.size() > 100'000) not_ready_.clear();  // an event too many does no harm
  not_ready_[text_at(object, "/metadata/uid")] = note;
  events_.tell(object, "Normal", "NotReady", note, "Scheduling");
  return true;
}

}  // namespace shim
