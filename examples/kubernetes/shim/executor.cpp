#include "executor.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <boost/asio/ip/host_name.hpp>
#include <fmt/format.h>

#include "clock_text.hpp"
#include "gpu_sharing.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr std::string_view component = "kaisched-kubernetes";
constexpr const char* merge_patch = "application/merge-patch+json";
constexpr const char* strategic_patch = "application/strategic-merge-patch+json";
constexpr const char* bound_condition = "PodBound";  // as KAI's binder calls it
constexpr std::size_t most_note = 1024;              // of an event

json preconditions(const std::string& uid) { return {{"uid", uid}}; }

/// The part of a condition that somebody would notice.
const json* condition_of(const json& object, const json::json_pointer& list, const std::string& type) {
  if (!object.contains(list) || !object[list].is_array()) return nullptr;
  for (const json& one : object[list]) {
    if (one.value("type", "") == type) return &one;
  }
  return nullptr;
}

}  // namespace

executor::executor(const configuration& by, const credentials& as, object_store& store, log_function log)
    : by_(by),
      client_(as),
      store_(store),
      log_(std::move(log)),
      stamps_(
          store, [this](const request& what) { return send(what); }, log_),
      reservations_(
          by.sharing, by.scheduler_name, store, [this](const request& what) { return send_in_time(what); }, log_),
      binder_(store, [this](const request& what) { return send_in_time(what); }),
      identity_(boost::asio::ip::host_name()) {
  binder_.add(std::make_unique<gpu_sharing>(
      by_.sharing, reservations_, store_, [this](const request& what) { return send_in_time(what); }, log_));
  // What is sent under a lease has been answered or given up before somebody else may take it.
  if (by_.election.enabled && !by_.dry_run)
    client_.set_timeout(by_.election.lease_duration - by_.election.renew_deadline);
}

tally executor::carry_out(const decision& what, std::chrono::system_clock::time_point when,
                          const std::function<bool()>& go_on) {
  when_ = when;
  go_on_ = go_on;
  before_.clear();
  told_.clear();
  stamps_.begin(what, when);
  tally done;
  conditions_.clear();
  try {
    if (by_.sharing.enabled()) sync_reservations(done);
    go_on_binding(done);
    for (const json& action : what.actions) {
      if (!go_on()) return done;
      act(action, done);
    }
  } catch (const cancelled&) {  // in the middle of a binding
    return done;
  }
  stamps_.finish(go_on);
  for (const auto& [group, why] : what.waiting) {
    if (!go_on()) return done;
    explain_group(group, why, done);
  }
  if (go_on()) explain_bindings(done);
  if (go_on()) explain_refused(done);
  send_events(go_on);
  std::erase_if(explained_, [&](const auto& one) { return when_ - one.second > 2 * by_.explain_period; });
  return done;
}

bool executor::resolve_unknown() {
  while (!unknown_.empty()) {
    const std::string pod = *unknown_.begin();
    request what;
    what.target = place_of(pod_key, pod);
    try {
      const response answer = send(what);
      if (answer.status == 404) {
        store_.forget(pod);
        binder_.resolve(pod, false);
      } else if (answer.ok()) {
        json object = json::parse(answer.body);
        const bool bound = !text_at(object, "/spec/nodeName").empty();
        const bool happened = bound || !text_at(object, "/metadata/deletionTimestamp").empty();
        if (happened) {
          store_.put(resource_of(pod_key), std::move(object));
        } else {
          store_.forget(pod);
        }
        binder_.resolve(pod, bound);
      } else {
        log_(fmt::format("pod {}: {}", pod, server_words(answer)));
        return false;
      }
    } catch (const no_answer& fault) {
      log_(fmt::format("pod {}: {}", pod, fault.what()));
      return false;
    } catch (const cancelled&) {
      return false;
    }
    unknown_.erase(unknown_.begin());
  }
  return true;
}

void executor::act(const json& action, tally& to) {
  const std::string kind = action.value("kind", "");
  const std::string pod = name_of(action);
  if (kind == "Binding") {
    bind(action, pod, to);
  } else if (kind == "Eviction") {
    evict(pod, to);
  } else if (kind == "Pod" && action.contains("status")) {
    patch_status(pod, action["status"], to);
  } else {
    before_.push_back(action);
  }
}

void executor::bind(const json& action, const std::string& pod, tally& to) {
  if (store_.find(pod_key, pod).is_null()) return before_.clear();  // gone since the decision
  stamps_.before_start(pod);
  settle(binder_.begin(action, std::exchange(before_, {})), to);
}

void executor::go_on_binding(tally& to) {
  for (const std::string& pod : binder_.waiting()) {
    if (!go_on_()) return;
    settle(binder_.go_on(pod), to);
  }
}

void executor::settle(const bind_result& result, tally& to) {
  const std::string words = fmt::format("bind to {}", result.node);
  if (!result.why.empty()) log_(fmt::format("pod {}: {}: {}", result.pod, words, result.why));
  switch (result.state) {
    case bind_state::bound:
      ++to.bound;
      log_(fmt::format("pod {}: bound to {}", result.pod, result.node));
      if (const json object = store_.find(pod_key, result.pod); !object.is_null()) {
        tell(object, "Normal", "Scheduled", fmt::format("bound to {}", result.node), "Binding");
        const json* const was = condition_of(object, json::json_pointer("/status/conditions"), bound_condition);
        if (was != nullptr && was->value("status", "") == "False") {
          conditions_[result.pod] = {
              {"type", bound_condition}, {"status", "True"}, {"reason", "Bound"}, {"message", words}};
        }
      }
      break;
    case bind_state::unknown:
      unknown_.insert(result.pod);
      ++to.unknown;
      break;
    case bind_state::failed:
      conditions_[result.pod] = {{"type", bound_condition},
                                 {"status", "False"},
                                 {"reason", "BindingError"},
                                 {"message", fmt::format("{}: {}", words, result.why)}};
      ++to.refused;
      break;
    case bind_state::refused:
      ++to.refused;
      break;
    case bind_state::waits:
    case bind_state::dropped:
      break;
  }
}

void executor::evict(const std::string& pod, tally& to) {
  const json object = store_.find(pod_key, pod);
  if (object.is_null()) return;
  const std::string uid = text_at(object, "/metadata/uid");
  request what = removal(pod, uid);
  if (by_.eviction == eviction_form::evict) {
    what.method = "POST";
    what.target = place_of(pod_key, pod, "eviction");
    what.body = json{{"apiVersion", "policy/v1"},
                     {"kind", "Eviction"},
                     {"metadata", {{"namespace", split_name(pod).first}, {"name", split_name(pod).second}}},
                     {"deleteOptions", {{"preconditions", preconditions(uid)}}}}
                    .dump();
  }
  stamps_.before_eviction(pod);
  binder_.abandon(pod);
  store_.assume_gone(pod, uid, clock_text(when_));
  if (!change(pod, what, "evict", to)) return;
  ++to.evicted;
  log_(fmt::format("pod {}: evicted", pod));
  tell(object, "Normal", "Evict", "evicted to make room for pods that come before it", "Evicting");
}

request executor::removal(const std::string& pod, const std::string& uid) {
  request what;
  what.method = "DELETE";
  what.target = place_of(pod_key, pod);
  what.body = json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", preconditions(uid)}}.dump();
  return what;
}

void executor::sync_reservations(tally& to) {
  for (const std::string& pod : reservations_.sync()) {
    const json object = store_.find(pod_key, pod);
    if (object.is_null()) continue;
    const std::string why = "it shares a GPU that no pod reserves: others may be given the same";
    if (by_.sharing.orphans == orphan_form::keep) {
      if (may_explain("orphan " + pod)) tell(object, "Warning", "NoReservation", why, "Binding");
      continue;
    }
    const std::string uid = text_at(object, "/metadata/uid");
    store_.assume_gone(pod, uid, clock_text(when_));
    if (!change(pod, removal(pod, uid), "remove", to)) continue;
    ++to.evicted;
    log_(fmt::format("pod {}: removed: {}", pod, why));
    tell(object, "Warning", "NoReservation", why, "Evicting");
  }
}

bool executor::change(const std::string& pod, const request& what, const std::string& words, tally& to) {
  if (!go_on_()) {  // the time of its group was written in between
    store_.forget(pod);
    return false;
  }
  try {
    const response answer = send(what);
    if (answer.ok()) return true;
    log_(fmt::format("pod {}: {}: {}", pod, words, server_words(answer)));
    if (answer.status >= 500) {  // what it had done before it failed nobody knows
      unknown_.insert(pod);
      ++to.unknown;
      return false;
    }
    store_.forget(pod);
    ++to.refused;
  } catch (const no_answer& fault) {
    log_(fmt::format("pod {}: {}: {}", pod, words, fault.what()));
    unknown_.insert(pod);
    ++to.unknown;
  }
  return false;
}

response executor::send_in_time(const request& what) {
  if (!go_on_()) throw cancelled();
  return send(what);
}

void executor::patch_status(const std::string& pod, const json& status, tally& to) {
  if (status.contains("conditions")) {
    explain_pod(pod, status["conditions"].front(), to);
    return;
  }
  const json object = store_.find(pod_key, pod);
  if (object.is_null() || text_at(object, "/status/nominatedNodeName") == status.value("nominatedNodeName", "")) return;
  request what;
  what.method = "PATCH";
  what.target = place_of(pod_key, pod, "status");
  what.content_type = merge_patch;
  what.body = json{{"status", status}}.dump();
  try {
    if (send(what).ok()) ++to.nominated;
  } catch (const no_answer& fault) {  // a hint; the next cycle gives it again
    log_(fmt::format("pod {}: {}", pod, fault.what()));
  }
}

bool executor::may_explain(const std::string& object) {
  const auto [found, first] = explained_.try_emplace(object, when_);
  if (first) return true;
  if (when_ - found->second < by_.explain_period) return false;
  found->second = when_;
  return true;
}

void executor::explain_pod(const std::string& pod, const json& condition, tally& to, const char* action) {
  const json object = store_.find(pod_key, pod);
  if (object.is_null()) return;
  const std::string type = condition.value("type", "");
  const json* was = condition_of(object, json::json_pointer("/status/conditions"), type);
  if (was != nullptr && was->value("message", "") == condition.value("message", "")) return;
  const bool fails = condition.value("status", "") == "False";
  if (fails && !may_explain(fmt::format("pod {} {}", pod, type))) return;
  json now = condition;
  const bool is_as_before = was != nullptr && was->value("status", "") == condition.value("status", "") &&
                            was->contains("lastTransitionTime");
  now["lastTransitionTime"] = is_as_before ? (*was)["lastTransitionTime"] : json(clock_text(when_));
  request what;
  what.method = "PATCH";
  what.target = place_of(pod_key, pod, "status");
  what.content_type = strategic_patch;
  what.body = json{{"status", {{"conditions", json::array({now})}}}}.dump();
  try {
    const response answer = send(what);
    if (!answer.ok()) {
      log_(fmt::format("pod {}: condition: {}", pod, server_words(answer)));
      return;
    }
    ++to.explained;
    if (fails) tell(object, "Warning", condition.value("reason", ""), condition.value("message", ""), action);
  } catch (const no_answer& fault) {
    log_(fmt::format("pod {}: {}", pod, fault.what()));
  }
}

void executor::explain_refused(tally& to) {
  for (const auto& [pod, why] : store_.refused()) {
    explain_pod(pod, {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}, {"message", why}},
                to);
  }
}

void executor::explain_bindings(tally& to) {
  for (const auto& [pod, condition] : conditions_) explain_pod(pod, condition, to, "Binding");
}

void executor::explain_group(const std::string& group, const std::vector<std::pair<std::string, std::string>>& why,
                             tally& to) {
  const json object = store_.find(pod_group_key, group);
  if (object.is_null()) return;  // a group that was made of pods alone
  const json::json_pointer list("/status/schedulingConditions");
  json reasons = json::array();
  std::string message;
  for (const auto& [constraint, sentence] : why) {
    reasons.push_back({{"reason", constraint}, {"message", sentence}});
    message += (message.empty() ? "" : "; ") + sentence;
  }
  const std::string type = "UnschedulableOnNodePool";
  const json* was = condition_of(object, list, type);
  if (was != nullptr && was->value("message", "") == message) return;
  if (!may_explain("group " + group)) return;

  json conditions = json::array();
  long transition = 0;
  if (object.contains(list) && object[list].is_array()) {
    for (const json& one : object[list]) {
      transition = std::max(transition, std::strtol(one.value("transitionID", "0").c_str(), nullptr, 10));
      if (one.value("type", "") != type) conditions.push_back(one);
    }
  }
  conditions.push_back({{"type", type},
                        {"status", "True"},
                        {"nodePool", "default"},
                        {"reason", why.front().first},
                        {"message", message},
                        {"reasons", reasons},
                        {"transitionID", std::to_string(transition + 1)},
                        {"lastTransitionTime", clock_text(when_)}});
  request what;
  what.method = "PATCH";
  what.target = place_of(pod_group_key, group, "status");
  what.content_type = merge_patch;
  what.body = json{{"status", {{"schedulingConditions", conditions}}}}.dump();
  try {
    const response answer = send(what);
    if (!answer.ok()) {
      log_(fmt::format("pod group {}: condition: {}", group, server_words(answer)));
      return;
    }
    ++to.explained;
    tell(object, "Warning", "Unschedulable", message, "Scheduling");
  } catch (const no_answer& fault) {
    log_(fmt::format("pod group {}: {}", group, fault.what()));
  }
}

void executor::tell(const json& about, std::string_view type, std::string_view reason, const std::string& note,
                    std::string_view action) {
  const std::string name_space = text_at(about, "/metadata/namespace");
  const std::string name = text_at(about, "/metadata/name");
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(when_.time_since_epoch());
  const json event{
      {"apiVersion", "events.k8s.io/v1"},
      {"kind", "Event"},
      {"metadata", {{"namespace", name_space}, {"name", fmt::format("{}.{:x}.{:x}", name, since.count(), events_++)}}},
      {"eventTime", clock_text(when_, true)},
      {"reportingController", component},
      {"reportingInstance", identity_},
      {"action", action},
      {"reason", reason},
      {"type", type},
      {"note", note.size() > most_note ? note.substr(0, most_note - 3) + "..." : note},
      {"regarding",
       {{"apiVersion", about.value("apiVersion", "v1")},
        {"kind", about.value("kind", "Pod")},
        {"namespace", name_space},
        {"name", name},
        {"uid", text_at(about, "/metadata/uid")}}}};
  request what;
  what.method = "POST";
  what.target = fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", encoded(name_space));
  what.body = event.dump(-1, ' ', false, json::error_handler_t::replace);
  told_.push_back(std::move(what));
}

void executor::send_events(const std::function<bool()>& go_on) {
  for (const request& what : std::exchange(told_, {})) {
    if (!go_on()) return;
    try {
      const response answer = send(what);
      if (!answer.ok()) log_(fmt::format("{}: {}", what.target, server_words(answer)));
    } catch (const no_answer& fault) {  // nothing depends on an event
      log_(fmt::format("{}: {}", what.target, fault.what()));
    }
  }
}

}  // namespace shim
