#include "group_stamps.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "clock_text.hpp"
#include "resources.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr const char* last_start = "kai.scheduler/last-start-timestamp";
constexpr const char* last_eviction = "kai.scheduler/last-eviction-timestamp";
constexpr const char* stale_since = "kai.scheduler/stale-podgroup-timestamp";

}  // namespace

group_stamps::group_stamps(object_store& store, send_function send, log_function log)
    : store_(store), send_(std::move(send)), log_(std::move(log)) {}

void group_stamps::begin(const decision& what, std::chrono::system_clock::time_point when) {
  what_ = &what;
  time_ = clock_text(when);
  stamped_.clear();
  for (const auto& [group, times] : what.groups) {
    const bool marked = store_.has_annotation(pod_group_key, group, stale_since);
    if (times.is_stale != marked) {
      due_[group][stale_since] = times.is_stale ? json(time_) : json();
    } else if (const auto due = due_.find(group); due != due_.end()) {
      due->second.erase(stale_since);  // it has come right by itself
    }
  }
}

void group_stamps::before_start(const std::string& pod) { stamp(pod, &group_times::starts, last_start); }
void group_stamps::before_eviction(const std::string& pod) { stamp(pod, &group_times::is_evicted, last_eviction); }

void group_stamps::stamp(const std::string& pod, bool group_times::* which, const char* key) {
  const auto of = what_->group_of.find(pod);
  if (of == what_->group_of.end()) return;
  const auto times = what_->groups.find(of->second);
  if (times == what_->groups.end() || !(times->second.*which)) return;
  if (!stamped_.emplace(of->second, key).second) return;  // with another pod of this cycle
  due_[of->second][key] = time_;
  write(of->second);
}

void group_stamps::finish(const std::function<bool()>& go_on) {
  std::vector<std::string> groups;
  for (const auto& [group, unused] : due_) groups.push_back(group);
  for (const std::string& group : groups) {
    if (!go_on()) return;
    write(group);
  }
}

void group_stamps::write(const std::string& group) {
  const auto due = due_.find(group);
  if (due == due_.end()) return;
  const json object = store_.find(pod_group_key, group);
  if (object.is_null() || due->second.empty()) {  // gone, or made of pods alone: there is nothing to write on
    due_.erase(due);
    return;
  }
  request what;
  what.method = "PATCH";
  what.target =
      place(resource_of(pod_group_key), text_at(object, "/metadata/namespace"), text_at(object, "/metadata/name"));
  what.content_type = "application/merge-patch+json";
  what.body = json{{"metadata", {{"uid", text_at(object, "/metadata/uid")}, {"annotations", due->second}}}}.dump();
  try {
    const response answer = send_(what);
    if (answer.ok()) {
      json now = json::parse(answer.body, nullptr, false);
      if (text_at(now, "/metadata/uid").empty()) {  // not from an API server; the next cycle tries again
        log_(fmt::format("pod group {}: times: no object: {}", group, server_words(answer)));
        return;
      }
      now["apiVersion"] = resource_of(pod_group_key).version;
      now["kind"] = resource_of(pod_group_key).kind;
      store_.put_newer(resource_of(pod_group_key), std::move(now));
    } else {
      log_(fmt::format("pod group {}: times: {}", group, server_words(answer)));
      if (answer.status >= 500 || answer.status == 429) return;  // the next cycle tries again
    }
    due_.erase(due);
  } catch (const no_answer& fault) {
    log_(fmt::format("pod group {}: times: {}", group, fault.what()));
  }
}

}  // namespace shim
