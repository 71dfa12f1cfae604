#include "binding/executor.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "api_server/clock_text.hpp"
#include "api_server/requests.hpp"
#include "binding/claim_reservation.hpp"
#include "sharing/gpu_sharing.hpp"

namespace shim {

namespace {

using nlohmann::json;

/// What a cycle may take to say why something waits, and to tell of events.
constexpr std::chrono::milliseconds most_explaining(1000);
/// A pod that a budget protects is asked for again after this time, or what the server says if that is longer.
constexpr std::chrono::seconds spared_for(30);
/// What no server may make this one wait longer than.
constexpr std::chrono::seconds longest_pause(30);

/// Whether it is from an API server, and not from something in between.
bool is_object(const response& answer) { return !text_at(json::parse(answer.body, nullptr, false), "/kind").empty(); }

constexpr const char* bound_condition = "PodBound";  // as KAI's binder calls it

bool evicts(const request& what) { return what.method == "DELETE" || what.target.ends_with("/eviction"); }

/// A budget keeps the pod.
bool is_protected(const request& what, const response& answer) {
  return evicts(what) && answer.body.find("DisruptionBudget") != std::string::npos;
}

}  // namespace

executor::executor(const configuration& by, const credentials& as, object_store& store, log_function log)
    : by_(by),
      client_(as),
      store_(store),
      log_(std::move(log)),
      send_([this](const request& what) { return send(what); }),
      send_in_time_([this](const request& what) { return send_in_time(what); }),
      stamps_(store, send_, log_),
      reservations_(by.sharing, by.scheduler_name, store, send_in_time_, log_),
      binder_(store, send_in_time_),
      events_(send_, log_),
      explainer_(by, store, events_, send_, log_),
      jobs_(by, store, events_, send_in_time_, log_),
      scaling_(by, store, send_in_time_, log_) {
  // First: nothing is prepared for a pod that may never start.
  auto gate = std::make_unique<check_gate>(by_.checks, [this](const std::string& pod, json condition) {
    explainer_.add_condition(pod, std::move(condition));
  });
  gate_ = gate.get();
  binder_.add(std::move(gate));
  binder_.add(std::make_unique<claim_reservation>(store, send_in_time_, log_));
  binder_.add(std::make_unique<gpu_sharing>(by_.sharing, reservations_, store_, send_in_time_, log_));
  // What is sent under a lease has been answered or given up before somebody else may take it.
  if (by_.election.enabled && !by_.dry_run)
    client_.set_timeout(by_.election.lease_duration - by_.election.renew_deadline);
}

tally executor::carry_out(const decision& what, std::chrono::system_clock::time_point when,
                          const std::function<bool()>& go_on) {
  when_ = when;
  what_ = &what;
  go_on_ = [this, go_on] { return !is_paused() && go_on(); };  // also asked before the next cycle begins
  before_.clear();
  told_evictions_.clear();
  refusing_.clear();
  suspended_.clear();
  gate_->begin(what);
  jobs_.begin(what);
  events_.begin(when);
  explainer_.begin(what, when);
  stamps_.begin(what, when);
  tally done;
  try {
    if (by_.sharing.enabled()) sync_reservations(done);
    go_on_binding(done);
    suspend_jobs(done);
    for (const json& action : what.actions) {
      if (!go_on_()) break;
      try {
        act(action, done);
      } catch (const json::exception& fault) {  // an object that is not what it should be stops nobody else
        before_.clear();
        log_(fmt::format("{} {}: {}", text_at(action, "/kind"), name_of(action), fault.what()));
      }
    }
    for (const check_gate::lapsed_pod& one : gate_->take_lapsed())
      store_.hold_back(one.pod, one.uid, lapsed_gate, std::chrono::steady_clock::now() + by_.checks.retry);
    done.resumed = jobs_.resume(go_on_);
  } catch (const cancelled&) {  // in the middle of a binding
    return done;
  } catch (const json::exception& fault) {
    log_(fmt::format("bindings that wait: {}", fault.what()));
  }
  stamps_.finish(go_on_);
  // Together no longer than this, so that what has come in the meantime is decided.
  const std::chrono::milliseconds most = by_.once ? std::chrono::hours(1) : most_explaining;
  const auto until = std::chrono::steady_clock::now() + most;
  done.explained = explainer_.finish(go_on_, until);
  if (by_.scaling.enabled()) show_needs();
  events_.send(go_on_, std::max(until, std::chrono::steady_clock::now() + most / 4));
  return done;
}

void executor::show_needs() {
  try {
    scaling_.sync(*what_, when_, go_on_);
  } catch (const cancelled&) {
    return;
  } catch (const json::exception& fault) {  // an object that is not what it should be
    log_(fmt::format("pods that stand in: {}", fault.what()));
  }
}

bool executor::is_behind() const noexcept { return explainer_.is_behind() || !events_.is_empty(); }

bool executor::is_paused() const noexcept { return std::chrono::steady_clock::now() < paused_until_; }

bool executor::resolve_unknown() {
  while (!unknown_.empty()) {
    const std::string pod = *unknown_.begin();
    try {
      const response answer = send({.target = place_of(pod_key, pod)});
      if (answer.status == 404) {
        tell_resolved_eviction(pod, {});
        store_.forget(pod);
        binder_.resolve(pod, false);
      } else if (answer.ok()) {
        json object = json::parse(answer.body);
        if (text_at(object, "/metadata/uid").empty()) throw std::runtime_error("an answer that is no pod");
        const bool bound = !text_at(object, "/spec/nodeName").empty();
        object["apiVersion"] = "v1";
        object["kind"] = pod_key;
        tell_resolved_eviction(pod, object);
        // What it says ends what was assumed if that has happened; else nothing did.
        store_.put_newer(resource_of(pod_key), std::move(object));
        store_.forget(pod);
        binder_.resolve(pod, bound);
      } else {
        log_(fmt::format("pod {}: {}", pod, server_words(answer)));
        return false;
      }
    } catch (const cancelled&) {
      return false;
    } catch (const std::exception& fault) {  // of the network, or an answer that is no pod
      log_(fmt::format("pod {}: {}", pod, fault.what()));
      return false;
    }
    unknown_.erase(unknown_.begin());
  }
  return true;
}

void executor::suspend_jobs(tally& to) {
  for (const std::string& pod : jobs_.suspend(go_on_)) {
    const json object = store_.find(pod_key, pod);
    if (object.is_null()) continue;
    binder_.abandon(pod);
    store_.assume_gone(pod, text_at(object, "/metadata/uid"), clock_text(when_));
    suspended_.insert(pod);
    ++to.evicted;
    tell_eviction(notice_of(object, pod));
  }
}

void executor::act_on_planned(const json& action, const std::string& kind, const std::string& pod) {
  before_.clear();
  if (kind == "Binding") {
    jobs_.bind(pod, text_at(action, "/target/name"));
  } else if (kind == "Eviction") {
    jobs_.evict(pod);
  } else if (const std::string why = text_at(action, "/status/conditions/0/message"); !why.empty()) {
    jobs_.wait(pod, why, [this](const std::string& job) { return explainer_.may_explain(job); });
  }
}

void executor::act(const json& action, tally& to) {
  const std::string kind = action.value("kind", "");
  const std::string pod = name_of(action);
  if (jobs_.made(pod)) return act_on_planned(action, kind, pod);
  if (kind == "Eviction" && suspended_.contains(pod)) return;
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
        events_.tell(object, "Normal", "Scheduled", fmt::format("bound to {}", result.node), "Binding");
        const bool failed_before = std::ranges::any_of(list_at(object, "/status/conditions"), [](const json& one) {
          return text_at(one, "/type") == bound_condition && text_at(one, "/status") == "False";
        });
        if (failed_before) {
          explainer_.add_condition(
              result.pod, {{"type", bound_condition}, {"status", "True"}, {"reason", "Bound"}, {"message", words}});
        }
      }
      break;
    case bind_state::unknown:
      unknown_.insert(result.pod);
      ++to.unknown;
      break;
    case bind_state::failed:
      explainer_.add_condition(result.pod, {{"type", bound_condition},
                                            {"status", "False"},
                                            {"reason", "BindingError"},
                                            {"message", fmt::format("{}: {}", words, result.why)}});
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
  const auto group = what_->group_of.find(pod);
  if (store_.is_spared(pod)) return;
  if (group != what_->group_of.end() && refusing_.contains(group->second)) return;  // one of them stays
  const std::string uid = text_at(object, "/metadata/uid");
  request what = removal_of(place_of(pod_key, pod), uid);
  if (by_.eviction == eviction_form::evict) {
    what = with_object("POST", place_of(pod_key, pod, "eviction"),
                       {{"apiVersion", "policy/v1"},
                        {"kind", "Eviction"},
                        {"metadata", {{"namespace", split_name(pod).first}, {"name", split_name(pod).second}}},
                        {"deleteOptions", {{"preconditions", {{"uid", uid}}}}}});
  }
  stamps_.before_eviction(pod);
  binder_.abandon(pod);
  store_.assume_gone(pod, uid, clock_text(when_));
  eviction_notice notice = notice_of(object, pod);
  if (change(pod, what, "evict", to)) {
    ++to.evicted;
    log_(fmt::format("pod {}: evicted", pod));
    tell_eviction(notice);
  } else if (unknown_.contains(pod)) {
    untold_.insert_or_assign(pod, std::move(notice));
  }
}

executor::eviction_notice executor::notice_of(json object, const std::string& pod) const {
  const auto cause = what_->causes.find(pod);
  const auto group = what_->group_of.find(pod);
  return {std::move(object), group == what_->group_of.end() ? std::string{} : group->second,
          cause == what_->causes.end() ? eviction_cause{} : cause->second};
}

void executor::tell_resolved_eviction(const std::string& pod, const json& now) {
  const auto untold = untold_.find(pod);
  if (untold == untold_.end()) return;
  const bool has_happened = now.is_null() || !text_at(now, "/metadata/deletionTimestamp").empty() ||
                            text_at(now, "/metadata/uid") != text_at(untold->second.object, "/metadata/uid");
  if (has_happened) {
    log_(fmt::format("pod {}: evicted", pod));
    tell_eviction(untold->second);
  }
  untold_.erase(untold);
}

/// As KAI: the group is told once for all its pods that leave for the same reason, and so is each pod.
void executor::tell_eviction(const eviction_notice& notice) {
  const eviction_cause& cause = notice.cause;
  const std::string note = cause.evictor.empty() ? fmt::format("evicted by {}", cause.action)
                                                 : fmt::format("evicted by {} for {}", cause.action, cause.evictor);
  events_.tell(notice.object, "Normal", "Evict", note, "Evicting");
  if (notice.group.empty() || !told_evictions_.emplace(notice.group, cause.evictor).second) return;
  const json of_group = store_.find(pod_group_key, notice.group);
  if (of_group.is_null()) return;
  json notes{{"num-evicted-pods", std::to_string(cause.pods)}, {"evictor-action-type", cause.action}};
  if (!cause.evictor.empty()) {
    std::tie(notes["evictor-pod-group-namespace"], notes["evictor-pod-group-name"]) = split_name(cause.evictor);
  }
  events_.tell(of_group, "Normal", "Evict", note, "Evicting", std::move(notes));
}

void executor::sync_reservations(tally& to) {
  for (const std::string& pod : reservations_.sync()) {
    const json object = store_.find(pod_key, pod);
    if (object.is_null()) continue;
    const std::string why = "it shares a GPU that no pod reserves: others may be given the same";
    if (by_.sharing.orphans == orphan_form::keep) {
      if (explainer_.may_explain("orphan " + pod)) events_.tell(object, "Warning", "NoReservation", why, "Binding");
      continue;
    }
    const std::string uid = text_at(object, "/metadata/uid");
    store_.assume_gone(pod, uid, clock_text(when_));
    if (!change(pod, removal_of(place_of(pod_key, pod), uid), "remove", to)) continue;
    ++to.evicted;
    log_(fmt::format("pod {}: removed: {}", pod, why));
    events_.tell(object, "Warning", "NoReservation", why, "Evicting");
  }
}

bool executor::change(const std::string& pod, const request& what, const std::string& words, tally& to) {
  if (!go_on_()) {  // the time of its group was written in between
    store_.forget(pod);
    return false;
  }
  try {
    const response answer = send(what);
    const bool is_none = answer.ok() && !is_object(answer);
    if (answer.ok() && !is_none) return true;
    log_(fmt::format("pod {}: {}: {}{}", pod, words, is_none ? "no object: " : "", server_words(answer)));
    if (!is_none) hold_back(pod, what, answer);
    if (is_none || answer.status >= 500) {  // what has been done nobody knows
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
  response answer = send(what);
  if (answer.ok() && !is_object(answer)) throw no_answer("an answer that is no object");
  return answer;
}

response executor::send(const request& what) {
  response answer = client_.send(what);
  if (answer.status == 429 && !is_protected(what, answer)) {
    paused_until_ =
        std::chrono::steady_clock::now() + std::clamp(answer.retry_after, std::chrono::seconds(1), longest_pause);
  }
  return answer;
}

/// The server does not let the pod go, mostly because of a budget.
void executor::hold_back(const std::string& pod, const request& what, const response& answer) {
  if (answer.status == 429 && !is_protected(what, answer)) return;
  // Gone, changed, or out of order: it is decided anew.
  const bool passes = answer.status == 404 || answer.status == 409 || answer.status >= 500;
  if (!evicts(what) || (passes && !is_protected(what, answer))) return;
  const auto known = what_->group_of.find(pod);
  const std::string group = known == what_->group_of.end() ? std::string{} : known->second;
  if (!group.empty()) refusing_.insert(group);
  store_.spare(pod, group, std::chrono::steady_clock::now() + std::max(answer.retry_after, spared_for));
}

void executor::patch_status(const std::string& pod, const json& status, tally& to) {
  if (status.contains("conditions")) {
    explainer_.add_pod(pod, text_at(status["conditions"].front(), "/message"));
    return;
  }
  const json object = store_.find(pod_key, pod);
  if (object.is_null() || text_at(object, "/status/nominatedNodeName") == status.value("nominatedNodeName", "")) return;
  try {
    if (!send(patch_of(place_of(pod_key, pod, "status"), {{"status", status}})).ok()) return;
    ++to.nominated;
    events_.tell(object, "Normal", "Pipelined",
                 fmt::format("waits for pods that leave {}", text_at(status, "/nominatedNodeName")), "Scheduling");
  } catch (const no_answer& fault) {  // a hint; the next cycle gives it again
    log_(fmt::format("pod {}: {}", pod, fault.what()));
  }
}

}  // namespace shim
