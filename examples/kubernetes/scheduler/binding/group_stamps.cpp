#include "binding/group_stamps.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api_server/clock_text.hpp"
#include "api_server/object_fields.hpp"
#include "api_server/requests.hpp"
#include "api_server/resources.hpp"
#include "api_server/text_parts.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr const char* last_start = "kai.scheduler/last-start-timestamp";
constexpr const char* last_eviction = "kai.scheduler/last-eviction-timestamp";
constexpr const char* evictions = "kaisched.io/evictions";
constexpr const char* after = "kaisched.io/after";
constexpr const char* stale_since = "kai.scheduler/stale-podgroup-timestamp";

/// Entries as the engine reads them from the annotation of a group: blanks go, and names get its namespace.
std::string as_read(std::string_view annotation, const std::string& name_space) {
  std::string all;
  while (!annotation.empty()) {
    std::string entry(take_part(annotation, ','));
    std::erase(entry, ' ');
    const std::size_t colon = entry.find(':');
    if (colon != std::string::npos && entry.find('/') == std::string::npos) entry.insert(colon + 1, name_space + "/");
    if (!entry.empty()) all.append(all.empty() ? "" : ",").append(entry);
  }
  return all;
}

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
    note_settled(group, times);
  }
}

/// A group that another one came after has left: the annotation of that one has to say what became of it, since nobody
/// will know.
void group_stamps::note_settled(const std::string& group, const group_times& times) {
  if (!store_.has_annotation(pod_group_key, group, after)) return;
  const json object = store_.find(pod_group_key, group);
  const std::string is = fmt::format("{}", fmt::join(times.after, ","));
  if (is == as_read(annotations_of(object).value(after, ""), text_at(object, "/metadata/namespace"))) return;
  due_[group][after] = is.empty() ? json() : json(is);
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
  if (key == last_eviction) due_[of->second][evictions] = std::to_string(times->second.evictions);
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
  try {
    const response answer = send_(patch_of(
        place(resource_of(pod_group_key), text_at(object, "/metadata/namespace"), text_at(object, "/metadata/name")),
        {{"metadata", {{"uid", text_at(object, "/metadata/uid")}, {"annotations", due->second}}}}));
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
