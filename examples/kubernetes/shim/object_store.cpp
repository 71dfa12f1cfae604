#include "object_store.hpp"

#include <cstdlib>
#include <iterator>
#include <utility>

#include "shared_pod.hpp"

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

/// Group, kind and name of an object.
std::string mark_of(const resource& of, const std::string& name) {
  const std::size_t slash = name.find('/');
  json metadata{{"name", slash == std::string::npos ? name : name.substr(slash + 1)}};
  if (slash != std::string::npos) metadata["namespace"] = name.substr(0, slash);
  return one_line({{"apiVersion", of.version}, {"kind", of.kind}, {"metadata", std::move(metadata)}});
}

/// Why a pod that waits cannot be started by a binding alone; empty if it can.
std::string refusal_of(const json& pod, bool shares) {
  for (const char* key : {gpu_fraction_annotation, gpu_memory_annotation}) {
    if (!is_annotated(pod, key)) continue;
    if (!shares) return std::string("annotation ") + key + ": parts of GPUs are not given away here";
    if (annotation_of(pod, shared_map_annotation).empty()) {
      return std::string("annotation ") + key + ": annotation " + shared_map_annotation +
             " is missing: the pod came in without the webhook";
    }
  }
  const json::json_pointer claims("/spec/resourceClaims");
  if (pod.contains(claims) && !pod[claims].empty()) return "spec.resourceClaims: claims are not supported yet";
  return {};
}

/// Versions of an object are numbers that grow; 0 if it is none.
std::uint64_t number_of_version(const json& object) {
  return std::strtoull(text_at(object, "/metadata/resourceVersion").c_str(), nullptr, 10);
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
      made.refusal = refusal_of(one, shares_);
    }
  }
  made.text = std::make_shared<const std::string>(one_line(seen));
  made.object = std::move(one);
  return made;
}

bool object_store::put_one(entries& in, const resource& of, const std::string& name, entry now) {
  entry& was = in[name];
  const bool differs = was.text == nullptr || *was.text != *now.text || was.refusal != now.refusal;
  was = std::move(now);
  if (differs) changed_[of.key()].insert(name);
  if (is_pod(of)) {
    if (gpu_groups_of(was.object).empty()) {
      sharers_.erase(name);
    } else {
      sharers_.insert(name);
    }
    settle(name, was.object, false);
  }
  return differs;
}

void object_store::replace(const resource& of, std::vector<json> all) {
  // What cannot be read stops the list before anything is different.
  std::vector<entry> read;
  read.reserve(all.size());
  for (json& one : all) read.push_back(made(of, std::move(one)));
  const std::scoped_lock lock(mutex_);
  const bool first = !kinds_.contains(of.key());
  entries& in = kinds_[of.key()];
  bool differs = first;
  entries before = std::exchange(in, {});
  for (entry& one : read) {
    const std::string name = name_of(one.object);
    if (const auto old = before.find(name); old != before.end()) in.insert(before.extract(old));
    differs = put_one(in, of, name, std::move(one)) || differs;
  }
  differs = differs || !before.empty();
  for (const auto& [name, gone] : before) changed_[of.key()].insert(name);
  if (is_pod(of)) {
    for (const auto& [name, gone] : before) drop_pod(name, gone.object);
  }
  if (differs) changed();
}

void object_store::put(const resource& of, json one) {
  const std::string name = name_of(one);
  entry now = made(of, std::move(one));
  const std::scoped_lock lock(mutex_);
  if (put_one(kinds_[of.key()], of, name, std::move(now))) changed();
}

void object_store::put_newer(const resource& of, json one) {
  const std::string name = name_of(one);
  const std::string uid = text_at(one, "/metadata/uid");
  const std::uint64_t version = number_of_version(one);
  entry now = made(of, std::move(one));
  const std::scoped_lock lock(mutex_);
  entries& in = kinds_[of.key()];
  const auto known = in.find(name);
  if (known == in.end() || text_at(known->second.object, "/metadata/uid") != uid) return;
  if (number_of_version(known->second.object) >= version) return;
  if (put_one(in, of, name, std::move(now))) changed();
}

void object_store::remove(const resource& of, const json& one) {
  const std::scoped_lock lock(mutex_);
  const std::string name = name_of(one);
  if (kinds_[of.key()].erase(name) == 0) return;
  changed_[of.key()].insert(name);
  if (is_pod(of)) drop_pod(name, one);
  changed();
}

void object_store::drop_pod(const std::string& name, const json& pod) {
  sharers_.erase(name);
  settle(name, pod, true);
}

/// Ends an assumption that the server has caught up with.
void object_store::settle(const std::string& name, const json& pod, bool gone) {
  const auto found = assumed_.find(name);
  if (found == assumed_.end()) return;
  const assumption& what = found->second;
  if (text_at(pod, "/metadata/uid") != what.uid) {
    // Devices may be granted to a pod of which the server has told nothing yet, while its predecessor is being told of.
    if (what.grants()) return;
    assumed_.erase(found);
    note_pod(name);
    return;
  }
  const bool over = gone || !text_at(pod, "/metadata/deletionTimestamp").empty() ||
                    (!what.node.empty() && !text_at(pod, "/spec/nodeName").empty()) ||
                    (what.grants() && has_all(pod, what.annotations));
  if (!over) return;
  assumed_.erase(found);
  note_pod(name);
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
  if (what.metadata.is_object()) {
    if (!gpu_groups_of({{"metadata", what.metadata}}).empty()) {  // those that it had before are not its own any more
      for (const std::string& label : gpu_group_labels_of(seen)) seen["metadata"]["labels"].erase(label);
    }
    seen["metadata"].update(what.metadata, true);
  }
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

void object_store::note_pod(const std::string& name) { changed_[std::string(pod_key)].insert(name); }

/// With what has been decided; null for what is not to be seen.
shared_text object_store::seen(const resource& of, const std::string& name, const entry& one) const {
  if (!one.refusal.empty()) return nullptr;
  const assumption* const decided = assumed_of(of, name);
  return decided == nullptr ? one.text
                            : std::make_shared<const std::string>(one_line(taken_for_done(*one.text, *decided)));
}

object_texts object_store::texts(const named_texts& unseen) const {
  object_texts texts;
  const auto add = [&](shared_text text) {
    texts.bytes += text->size() + 1;
    texts.all.push_back(std::move(text));
  };
  for (const resource& of : watched_resources()) {
    const auto all = kinds_.find(of.key());
    if (all == kinds_.end()) continue;
    for (const auto& [name, one] : all->second) {
      if (shared_text text = seen(of, name, one); text != nullptr) add(std::move(text));
    }
  }
  for (const auto& [name, text] : unseen) add(text);
  return texts;
}

std::vector<object_change> object_store::take_changes(std::shared_ptr<const object_texts>& all) {
  const std::scoped_lock lock(mutex_);
  // Grants end by themselves as well.
  for (auto one = assumed_.begin(); one != assumed_.end();) {
    const bool is_over = one->second.grants() && !one->second.holds();
    if (is_over) note_pod(one->first);
    one = is_over ? assumed_.erase(one) : std::next(one);
  }
  named_texts unseen;
  for (const json& one : granted_unseen()) unseen[name_of(one)] = std::make_shared<const std::string>(one_line(one));
  all = std::make_shared<const object_texts>(texts(unseen));
  std::vector<object_change> changes;
  for (const auto& [key, names] : std::exchange(changed_, {})) {
    const resource& of = resource_of(key);
    const auto kept = kinds_.find(key);
    for (const std::string& name : names) {
      object_change change{std::string(of.kind) + " " + name, mark_of(of, name)};
      const auto granted = is_pod(of) ? unseen.find(name) : unseen.end();
      if (granted != unseen.end()) {
        change.text = granted->second;
      } else if (kept != kinds_.end()) {
        if (const auto one = kept->second.find(name); one != kept->second.end())
          change.text = seen(of, name, one->second);
      }
      changes.push_back(std::move(change));
    }
  }
  seen_by_cycle_ = given_;
  return changes;
}

std::uint64_t object_store::look(const looker& see) const {
  const std::scoped_lock lock(mutex_);
  for (const char* kind : {"Node", "Pod"}) {
    const resource& of = resource_of(kind);
    const auto all = kinds_.find(of.key());
    if (all == kinds_.end()) continue;
    for (const auto& [name, one] : all->second) {
      if (const assumption* const decided = assumed_of(of, name); decided != nullptr) {
        const json seen = taken_for_done(*one.text, *decided);
        see(of, seen, one_line(seen));
      } else {
        see(of, one.object, *one.text);
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

void object_store::each(std::string_view key, const std::function<void(const json&)>& see) const {
  const std::scoped_lock lock(mutex_);
  const auto all = kinds_.find(key);
  if (all == kinds_.end()) return;
  for (const auto& [name, one] : all->second) see(one.object);
}

void object_store::each_sharer(const std::function<void(const json& pod)>& see) const {
  const std::scoped_lock lock(mutex_);
  const auto pods = kinds_.find(pod_key);
  if (pods == kinds_.end()) return;
  for (const std::string& name : sharers_) {
    const auto found = pods->second.find(name);
    if (found != pods->second.end() && assumed_of(resource_of(pod_key), name) == nullptr) see(found->second.object);
  }
  for (const auto& [name, what] : assumed_) {
    const auto found = pods->second.find(name);
    if (found == pods->second.end() || !what.holds()) continue;
    if (const json seen = taken_for_done(*found->second.text, what); !gpu_groups_of(seen).empty()) see(seen);
  }
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

bool object_store::assume_bound(const std::string& pod, const std::string& uid, const std::string& node,
                                json metadata) {
  const std::scoped_lock lock(mutex_);
  if (const auto last = granted_.find(node); last != granted_.end() && last->second > seen_by_cycle_) return false;
  bound_[node] = ++given_;
  assumption& what = assumed_[pod] = {};
  what.uid = uid;
  what.node = node;
  what.metadata = std::move(metadata);
  note_pod(pod);
  return true;
}

bool object_store::assume_granted(const json& pod, const std::string& node, json annotations,
                                  std::chrono::steady_clock::time_point until, std::uint64_t seen) {
  const std::string as_text = *made(resource_of(pod_key), pod).text;
  const std::scoped_lock lock(mutex_);
  if (const auto last = bound_.find(node); last != bound_.end() && last->second > seen) return false;
  granted_[node] = ++given_;
  assumed_[name_of(pod)] = {text_at(pod, "/metadata/uid"), node, {}, std::move(annotations), as_text, {}, until};
  note_pod(name_of(pod));
  changed();
  return true;
}

void object_store::assume_gone(const std::string& pod, const std::string& uid, const std::string& when) {
  const std::scoped_lock lock(mutex_);
  assumption& what = assumed_[pod] = {};
  what.uid = uid;
  what.when = when;
  note_pod(pod);
}

void object_store::forget(const std::string& pod) {
  const std::scoped_lock lock(mutex_);
  if (assumed_.erase(pod) == 0) return;
  note_pod(pod);
  changed();
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
