#include "object_store.hpp"

#include <utility>

namespace shim {

namespace {

using nlohmann::json;

/// A name that no scheduler has whose pods the engine decides by itself.
constexpr const char* another_scheduler = "another-scheduler";

std::string one_line(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

bool is_pod(const resource& of) { return of.kind == pod_key && of.group().empty(); }

/// Leaves out what no decision depends on and what changes all the time.
void prune(json& object) {
  json& metadata = object["metadata"];
  for (const char* key : {"managedFields", "selfLink", "generation"}) metadata.erase(key);
  if (metadata.contains("annotations")) {
    metadata["annotations"].erase("kubectl.kubernetes.io/last-applied-configuration");
  }
  if (object.value("kind", "") != "Node" || !object.contains("status")) return;
  json& status = object["status"];
  for (const char* key : {"images", "nodeInfo", "volumesInUse", "volumesAttached"}) status.erase(key);
  if (status.contains("conditions")) {
    for (json& one : status["conditions"]) one.erase("lastHeartbeatTime");
  }
}

bool is_annotated(const json& object, const char* key) {
  const json& metadata = object["metadata"];
  return metadata.contains("annotations") && metadata["annotations"].contains(key);
}

/// Why a pod that waits cannot be started by a binding alone; empty if it can.
std::string refusal_of(const json& pod) {
  for (const char* key : {"gpu-fraction", "gpu-memory"}) {
    if (is_annotated(pod, key)) return std::string("annotation ") + key + ": parts of GPUs need a binder of their own";
  }
  const json::json_pointer claims("/spec/resourceClaims");
  if (pod.contains(claims) && !pod[claims].empty()) return "spec.resourceClaims: claims are not supported yet";
  return {};
}

/// Whether the server has said what was granted.
bool has_all(const json& pod, const json& annotations) {
  const json::json_pointer path("/metadata/annotations");
  if (!pod.contains(path)) return false;
  const json& has = pod[path];
  for (const auto& [key, value] : annotations.items()) {
    if (!has.contains(key) || has[key] != value) return false;
  }
  return true;
}

}  // namespace

std::string text_at(const json& object, const char* pointer) {
  const json::json_pointer path(pointer);
  if (!object.contains(path)) return {};
  const json& found = object[path];
  return found.is_string() ? found.get<std::string>() : std::string{};
}

std::string name_of(const json& object) {
  const std::string name_space = text_at(object, "/metadata/namespace");
  const std::string name = text_at(object, "/metadata/name");
  return name_space.empty() ? name : name_space + "/" + name;
}

object_store::entry object_store::made(const resource& of, json one) const {
  prune(one);
  entry made;
  json seen = one;
  seen["metadata"].erase("resourceVersion");
  if (is_pod(of)) {
    if (seen.contains("status")) seen["status"].erase("conditions");  // what is said about it, by this program as well
    const bool ours = text_at(one, "/spec/schedulerName") == scheduler_name_;
    if (!ours) {  // it only uses its node, whatever group it names
      seen["spec"]["schedulerName"] = another_scheduler;
      if (seen["metadata"].contains("annotations")) seen["metadata"]["annotations"].erase("pod-group-name");
    } else if (text_at(one, "/spec/nodeName").empty()) {
      made.refusal = refusal_of(one);
    }
  }
  made.text = one_line(seen);
  made.object = std::move(one);
  return made;
}

bool object_store::put_one(entries& in, const resource& of, json one) {
  const std::string name = name_of(one);
  entry now = made(of, std::move(one));
  entry& was = in[name];
  const bool differs = was.text != now.text || was.refusal != now.refusal;
  was = std::move(now);
  if (is_pod(of)) settle(name, was.object, false);
  return differs;
}

void object_store::replace(const resource& of, std::vector<json> all) {
  const std::scoped_lock lock(mutex_);
  const bool first = !kinds_.contains(of.key());
  entries& in = kinds_[of.key()];
  bool differs = first;
  entries before = std::exchange(in, {});
  for (json& one : all) {
    const std::string name = name_of(one);
    if (const auto old = before.find(name); old != before.end()) in.insert(before.extract(old));
    differs = put_one(in, of, std::move(one)) || differs;
  }
  differs = differs || !before.empty();
  if (is_pod(of)) {
    for (const auto& [name, gone] : before) settle(name, gone.object, true);
  }
  if (differs) changed();
}

void object_store::put(const resource& of, json one) {
  const std::scoped_lock lock(mutex_);
  if (put_one(kinds_[of.key()], of, std::move(one))) changed();
}

void object_store::remove(const resource& of, const json& one) {
  const std::scoped_lock lock(mutex_);
  const std::string name = name_of(one);
  if (kinds_[of.key()].erase(name) == 0) return;
  if (is_pod(of)) settle(name, one, true);
  changed();
}

/// Ends an assumption that the server has caught up with.
void object_store::settle(const std::string& name, const json& pod, bool gone) {
  const auto found = assumed_.find(name);
  if (found == assumed_.end()) return;
  const assumption& what = found->second;
  if (text_at(pod, "/metadata/uid") != what.uid) {
    // Devices may be granted to a pod of which the server has told nothing yet, while its predecessor is being told of.
    if (!what.grants()) assumed_.erase(found);
    return;
  }
  const bool over = gone || !text_at(pod, "/metadata/deletionTimestamp").empty() ||
                    (!what.node.empty() && !text_at(pod, "/spec/nodeName").empty()) ||
                    (what.grants() && has_all(pod, what.annotations));
  if (over) assumed_.erase(found);
}

const object_store::assumption* object_store::assumed_of(const resource& of, const std::string& name) const {
  if (!is_pod(of)) return nullptr;
  const auto found = assumed_.find(name);
  return found == assumed_.end() || !found->second.holds() ? nullptr : &found->second;
}

json object_store::taken_for_done(const std::string& text, const assumption& what) {
  json seen = json::parse(text);
  if (what.node.empty()) {
    seen["metadata"]["deletionTimestamp"] = what.when;
    return seen;
  }
  seen["spec"]["nodeName"] = what.node;
  if (what.grants()) seen["metadata"]["annotations"].update(what.annotations);
  return seen;
}

std::vector<json> object_store::granted_unseen() const {
  std::vector<json> made;
  const auto pods = kinds_.find("Pod");
  for (const auto& [name, what] : assumed_) {
    if (!what.grants() || !what.holds()) continue;
    if (pods != kinds_.end()) {
      const auto known = pods->second.find(name);
      if (known != pods->second.end() && text_at(known->second.object, "/metadata/uid") == what.uid) continue;
    }
    made.push_back(taken_for_done(what.pod, what));
  }
  return made;
}

std::string object_store::text() const {
  const std::scoped_lock lock(mutex_);
  std::string text;
  for (const resource& of : watched_resources()) {
    const auto all = kinds_.find(of.key());
    if (all == kinds_.end()) continue;
    for (const auto& [name, one] : all->second) {
      if (!one.refusal.empty()) continue;
      const assumption* const decided = assumed_of(of, name);
      text += decided == nullptr ? one.text : one_line(taken_for_done(one.text, *decided));
      text += '\n';
    }
  }
  for (const json& one : granted_unseen()) text.append(one_line(one)).push_back('\n');
  seen_by_cycle_ = given_;
  return text;
}

std::uint64_t object_store::look(const looker& see) const {
  const std::scoped_lock lock(mutex_);
  for (const char* kind : {"Node", "Pod"}) {
    const resource& of = resource_of(kind);
    const auto all = kinds_.find(of.key());
    if (all == kinds_.end()) continue;
    for (const auto& [name, one] : all->second) {
      if (const assumption* const decided = assumed_of(of, name); decided != nullptr) {
        const json seen = taken_for_done(one.text, *decided);
        see(of, seen, one_line(seen));
      } else {
        see(of, one.object, one.text);
      }
    }
  }
  for (const json& one : granted_unseen()) see(resource_of("Pod"), one, one_line(one));
  return given_;
}

json object_store::find(std::string_view key, std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto all = kinds_.find(key);
  if (all == kinds_.end()) return nullptr;
  const auto found = all->second.find(name);
  return found == all->second.end() ? json() : found->second.object;
}

bool object_store::has_annotation(std::string_view key, std::string_view name, const char* annotation) const {
  const std::scoped_lock lock(mutex_);
  const auto all = kinds_.find(key);
  if (all == kinds_.end()) return false;
  const auto found = all->second.find(name);
  return found != all->second.end() && is_annotated(found->second.object, annotation);
}

std::map<std::string, std::string> object_store::refused() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, std::string> refused;
  if (const auto pods = kinds_.find(pod_key); pods != kinds_.end()) {
    for (const auto& [name, one] : pods->second) {
      if (!one.refusal.empty()) refused.emplace(name, one.refusal);
    }
  }
  return refused;
}

bool object_store::assume_bound(const std::string& pod, const std::string& uid, const std::string& node) {
  const std::scoped_lock lock(mutex_);
  if (const auto last = granted_.find(node); last != granted_.end() && last->second > seen_by_cycle_) return false;
  bound_[node] = ++given_;
  assumption& what = assumed_[pod] = {};
  what.uid = uid;
  what.node = node;
  return true;
}

bool object_store::assume_granted(const json& pod, const std::string& node, json annotations,
                                  std::chrono::steady_clock::time_point until, std::uint64_t seen) {
  const std::string as_text = made(resource_of("Pod"), pod).text;
  const std::scoped_lock lock(mutex_);
  if (const auto last = bound_.find(node); last != bound_.end() && last->second > seen) return false;
  granted_[node] = ++given_;
  assumed_[name_of(pod)] = {text_at(pod, "/metadata/uid"), node, {}, std::move(annotations), as_text, until};
  changed();
  return true;
}

void object_store::assume_gone(const std::string& pod, const std::string& uid, const std::string& when) {
  const std::scoped_lock lock(mutex_);
  assumption& what = assumed_[pod] = {};
  what.uid = uid;
  what.when = when;
}

void object_store::forget(const std::string& pod) {
  const std::scoped_lock lock(mutex_);
  if (assumed_.erase(pod) > 0) changed();
}

std::size_t object_store::assumed() const {
  const std::scoped_lock lock(mutex_);
  return assumed_.size();
}

bool object_store::synced() const {
  const std::scoped_lock lock(mutex_);
  return kinds_.size() == watched_resources().size();
}

std::uint64_t object_store::revision() const {
  const std::scoped_lock lock(mutex_);
  return revision_;
}

void object_store::wait_for_change(std::uint64_t known, std::chrono::steady_clock::time_point until) const {
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, until, [&] { return revision_ != known || woken_; });
  woken_ = false;
}

void object_store::wake() {
  const std::scoped_lock lock(mutex_);
  woken_ = true;
  wake_.notify_all();
}

void object_store::changed() {
  ++revision_;
  wake_.notify_all();
}

}  // namespace shim
