#include "watch/object_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "api_server/bounded_json.hpp"
#include "sharing/shared_pod.hpp"

namespace shim {

namespace {

using nlohmann::json;

/// A name that no scheduler has whose pods the engine decides by itself.
constexpr const char* another_scheduler = "another-scheduler";

bool is_pod(const resource& of) { return of.kind == pod_key && of.group().empty(); }

/// A field of an object that is one; what is none the engine names.
void drop(json& object, const char* key) {
  if (object.is_object()) object.erase(key);
}

json* part_of(json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Leaves out what no decision depends on and what changes all the time.
void prune(json& object) {
  json& metadata = object["metadata"];
  for (const char* key : {"managedFields", "selfLink", "generation"}) drop(metadata, key);
  if (json* const notes = part_of(metadata, "annotations")) {
    drop(*notes, "kubectl.kubernetes.io/last-applied-configuration");
  }
  json* const status = part_of(object, "status");
  if (text_at(object, "/kind") != "Node" || status == nullptr) return;
  for (const char* key : {"images", "nodeInfo", "volumesInUse", "volumesAttached"}) drop(*status, key);
  if (json* const conditions = part_of(*status, "conditions"); conditions != nullptr && conditions->is_array()) {
    for (json& one : *conditions) drop(one, "lastHeartbeatTime");
  }
}

/// Of the conditions of a pod whether it is ready, if anything.
void prune_conditions(json& status, bool keeps_readiness) {
  json kept = json::array();
  const json* const conditions = part_of(status, "conditions");
  if (keeps_readiness && conditions != nullptr && conditions->is_array()) {
    for (const json& one : *conditions) {
      if (text_at(one, "/type") == "Ready") kept.push_back({{"type", "Ready"}, {"status", text_at(one, "/status")}});
    }
  }
  drop(status, "conditions");
  if (!kept.empty()) status["conditions"] = std::move(kept);
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
  return one_line(json{{"apiVersion", of.version}, {"kind", of.kind}, {"metadata", std::move(metadata)}});
}

/// A claim of the pod that Kubernetes has not made of its template yet. Nobody can reserve devices for it.
std::string missing_claim(const json& pod) {
  const json& statuses = list_at(pod, "/status/resourceClaimStatuses");
  for (const json& one : list_at(pod, "/spec/resourceClaims")) {
    if (text_at(one, "/resourceClaimTemplateName").empty()) continue;
    const std::string name = text_at(one, "/name");
    const bool is_made =
        std::any_of(statuses.begin(), statuses.end(), [&](const json& of) { return text_at(of, "/name") == name; });
    if (!is_made) return fmt::format("spec.resourceClaims: {}: Kubernetes has not made the claim yet", name);
  }
  return {};
}

/// Why a pod that waits cannot be started by a binding alone; empty if it can.
std::string why_not(const json& pod, bool shares) {
  for (const char* key : {gpu_fraction_annotation, gpu_memory_annotation}) {
    if (!is_annotated(pod, key)) continue;
    if (!shares) return std::string("annotation ") + key + ": parts of GPUs are not given away here";
    if (annotation_of(pod, shared_map_annotation).empty()) {
      return std::string("annotation ") + key + ": annotation " + shared_map_annotation +
             " is missing: the pod came in without the webhook";
    }
  }
  return missing_claim(pod);
}

/// Whether it uses what a node has few of, such as `nvidia.com/gpu`.
bool uses_devices(const json& pod) {
  const json::json_pointer containers("/spec/containers");
  if (!pod.contains(containers)) return false;
  for (const json& one : pod[containers]) {
    for (const char* kind : {"/resources/requests", "/resources/limits"}) {
      const json::json_pointer amounts(kind);
      if (!one.contains(amounts)) continue;
      for (const auto& [name, amount] : one[amounts].items()) {
        if (name.find('/') != std::string::npos) return true;
      }
    }
  }
  return false;
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

object_store::entry object_store::made(const resource& of, json one, std::string& fault) const {
  entry name_only;
  for (const char* key : {"namespace", "name", "uid"}) {
    const std::string path = std::string("/metadata/") + key;
    if (const std::string text = text_at(one, path.c_str()); !text.empty()) name_only.object["metadata"][key] = text;
  }
  if (is_too_deep(one)) {
    fault = fmt::format("more than {} levels", deepest_json);
    return name_only;
  }
  try {
    return read(of, std::move(one));
  } catch (const json::exception& wrong) {  // a field that the program itself looks at has another type
    fault = wrong.what();
    return name_only;
  }
}

object_store::entry object_store::read(const resource& of, json one) const {
  prune(one);
  entry made;
  json seen = one;
  drop(seen["metadata"], "resourceVersion");
  if (is_pod(of)) {
    // What is said about it, by this program as well.
    if (json* const status = part_of(seen, "status")) prune_conditions(*status, keeps_readiness_);
    const bool ours = text_at(one, "/spec/schedulerName") == scheduler_name_;
    if (!ours) {  // it only uses its node, whatever group it names
      seen["spec"]["schedulerName"] = another_scheduler;
      if (json* const written = part_of(seen["metadata"], "annotations")) drop(*written, "pod-group-name");
    } else if (text_at(one, "/spec/nodeName").empty()) {
      made.refusal = refusal_of(one);
    }
  }
  made.text = std::make_shared<const std::string>(one_line(seen));
  made.object = std::move(one);
  return made;
}

std::string object_store::noted::of(const std::string& name, const json& object) const {
  const auto found = all.find(name);
  if (found != all.end()) return found->second;
  return otherwise ? otherwise(object) : std::string{};
}

void object_store::add_notes(std::string_view key, const std::string& name, entry& to) const {
  const auto of_kind = notes_.find(key);
  if (of_kind == notes_.end() || to.text == nullptr) return;
  json seen;
  for (const auto& [annotation, what] : of_kind->second) {
    std::string text = what.of(name, to.object);
    if (text.empty()) continue;
    if (seen.is_null()) seen = json::parse(*to.text);
    json& annotations = seen["metadata"]["annotations"];
    if (!annotations.is_object()) annotations = json::object();
    annotations[annotation] = std::move(text);
  }
  if (!seen.is_null()) to.text = std::make_shared<const std::string>(one_line(seen));
}

void object_store::note(std::string_view key, const std::string& annotation, notes all, unnoted otherwise) {
  const resource& of = resource_of(key);
  const std::scoped_lock lock(mutex_);
  noted& kept = notes_[std::string(key)][annotation];
  notes& known = kept.all;
  std::set<std::string> differ;
  for (const auto& [name, text] : all) {
    const auto before = known.find(name);
    if (before == known.end() || before->second != text) differ.insert(name);
  }
  for (const auto& [name, text] : known) {
    if (!all.contains(name)) differ.insert(name);
  }
  known = std::move(all);
  const unnoted before = std::exchange(kept.otherwise, std::move(otherwise));
  const auto objects = kinds_.find(key);
  if (objects == kinds_.end()) return;
  for (const unnoted& says : {before, kept.otherwise}) {
    if (!says) continue;
    for (const auto& [name, one] : objects->second) {
      if (!known.contains(name) && !says(one.object).empty()) differ.insert(name);
    }
  }
  for (const std::string& name : differ) {
    const auto found = objects->second.find(name);
    if (found == objects->second.end() || found->second.text == nullptr) continue;
    std::string fault;
    entry now = made(of, found->second.object, fault);
    add_notes(key, name, now);
    if (now.text == nullptr || *now.text != *found->second.text) changed_[std::string(key)].insert(name);
    found->second = std::move(now);
  }
}

void object_store::note_fault(const resource& of, const std::string& name, std::string fault) {
  if (fault.empty()) {
    faults_.erase({of.key(), name});
  } else {
    faults_[{of.key(), name}] = fmt::format("{} {}: {}", of.kind, name, fault);
  }
}

bool object_store::put_one(entries& in, const resource& of, const std::string& name, entry now, std::string fault) {
  note_fault(of, name, std::move(fault));
  add_notes(of.key(), name, now);
  entry& was = in[name];
  if (is_pod(of) && !assumed_.contains(name) && text_at(was.object, "/spec/nodeName").empty()) {
    const std::string node = text_at(now.object, "/spec/nodeName");
    if (!node.empty() && uses_devices(now.object)) granted_.insert(node);  // by another scheduler
  }
  const bool differs =
      was.text == nullptr || now.text == nullptr || *was.text != *now.text || was.refusal != now.refusal;
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
  std::vector<std::pair<entry, std::string>> read;  // with what is wrong
  read.reserve(all.size());
  for (json& one : all) {
    std::string fault;
    entry now = made(of, std::move(one), fault);
    read.emplace_back(std::move(now), std::move(fault));
  }
  const std::scoped_lock lock(mutex_);
  const bool first = !kinds_.contains(of.key());
  entries& in = kinds_[of.key()];
  bool differs = first;
  entries before = std::exchange(in, {});
  for (auto& [one, fault] : read) {
    const std::string name = name_of(one.object);
    if (const auto old = before.find(name); old != before.end()) in.insert(before.extract(old));
    differs = put_one(in, of, name, std::move(one), std::move(fault)) || differs;
  }
  differs = differs || !before.empty();
  for (const auto& [name, gone] : before) {
    changed_[of.key()].insert(name);
    forget_node(of, name);
    note_fault(of, name, {});
  }
  if (is_pod(of)) {
    for (const auto& [name, gone] : before) drop_pod(name, gone.object);
  }
  if (differs) changed();
}

void object_store::put(const resource& of, json one) { put(of, std::move(one), true); }

void object_store::put_newer(const resource& of, json one) { put(of, std::move(one), false); }

void object_store::put(const resource& of, json one, bool may_be_new) {
  const std::string name = name_of(one);
  const std::string uid = text_at(one, "/metadata/uid");
  const std::uint64_t version = number_of_version(one);
  std::string fault;
  entry now = made(of, std::move(one), fault);
  const std::scoped_lock lock(mutex_);
  entries& in = kinds_[of.key()];
  const auto known = in.find(name);
  const bool is_same = known != in.end() && text_at(known->second.object, "/metadata/uid") == uid;
  if (is_same ? number_of_version(known->second.object) > version : !may_be_new) return;
  if (put_one(in, of, name, std::move(now), std::move(fault))) changed();
}

void object_store::remove(const resource& of, const json& one) {
  const std::scoped_lock lock(mutex_);
  const std::string name = name_of(one);
  if (kinds_[of.key()].erase(name) == 0) return;
  note_fault(of, name, {});
  changed_[of.key()].insert(name);
  if (is_pod(of)) drop_pod(name, one);
  forget_node(of, name);
  changed();
}

void object_store::forget_node(const resource& of, const std::string& name) {
  if (of.key() != "Node") return;
  granted_.erase(name);
  bound_.erase(name);
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
                    ((!what.node.empty() || !what.gate.empty()) && !text_at(pod, "/spec/nodeName").empty()) ||
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
  if (!what.gate.empty()) {
    add_gate(seen, what.gate);
    return seen;
  }
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
  for (const auto& [name, what] : assumed_) {
    if (!what.grants() || !what.holds()) continue;
    const entry* const known = entry_of(pod_key, name);
    if (known != nullptr && text_at(known->object, "/metadata/uid") == what.uid) continue;
    made.push_back(taken_for_done(what.pod, what));
  }
  return made;
}

void object_store::show_planned(const std::string& name, json pod) {
  auto text = std::make_shared<const std::string>(one_line(pod));
  const std::scoped_lock lock(mutex_);
  auto& known = planned_[name];
  if (known.second != nullptr && *known.second == *text) return;
  known = {std::move(pod), std::move(text)};
  note_pod(name);
}

void object_store::hide_planned(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (planned_.erase(name) > 0) note_pod(name);
}

std::string object_store::refusal_of(const json& pod) const { return why_not(pod, shares_); }

bool object_store::is_there(std::string_view pod) const { return entry_of(pod_key, pod) != nullptr; }

void object_store::note_pod(const std::string& name) { changed_[std::string(pod_key)].insert(name); }

/// With what has been decided; null for what is not to be seen.
shared_text object_store::seen(const resource& of, const std::string& name, const entry& one) const {
  if (!one.refusal.empty() || one.text == nullptr) return nullptr;
  if (keeps_node(of, name)) {
    json kept = json::parse(*one.text);
    json& says = is_pod(of) ? kept["metadata"]["labels"] : kept["spec"];
    if (says.is_null() || says.is_object()) {
      says[is_pod(of) ? "kai.scheduler/preemptibility" : "preemptibility"] = "non-preemptible";
    }
    return std::make_shared<const std::string>(one_line(kept));
  }
  const assumption* const decided = assumed_of(of, name);
  return decided == nullptr ? one.text
                            : std::make_shared<const std::string>(one_line(taken_for_done(*one.text, *decided)));
}

bool object_store::keeps_node(const resource& of, const std::string& name) const {
  return !spared_.empty() && spared_.contains({of.key(), name}) && assumed_of(of, name) == nullptr;
}

void object_store::spare(const std::string& pod, const std::string& group,
                         std::chrono::steady_clock::time_point until) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, name] : {std::pair(pod_key, pod), std::pair(pod_group_key, group)}) {
    if (name.empty()) continue;
    spared_[{std::string(key), name}] = until;
    changed_[std::string(key)].insert(name);
  }
  changed();
}

bool object_store::is_spared(const std::string& pod) const {
  const std::scoped_lock lock(mutex_);
  const auto found = spared_.find({std::string(pod_key), pod});
  return found != spared_.end() && found->second > std::chrono::steady_clock::now();
}

void object_store::end_of_times() {
  for (auto one = assumed_.begin(); one != assumed_.end();) {
    const bool is_over = one->second.ends() && !one->second.holds();
    if (is_over) note_pod(one->first);
    one = is_over ? assumed_.erase(one) : std::next(one);
  }
  for (auto one = spared_.begin(); one != spared_.end();) {
    const bool is_over = one->second <= std::chrono::steady_clock::now();
    if (is_over) changed_[one->first.first].insert(one->first.second);
    one = is_over ? spared_.erase(one) : std::next(one);
  }
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
  end_of_times();
  named_texts unseen;
  for (const json& one : granted_unseen()) unseen[name_of(one)] = std::make_shared<const std::string>(one_line(one));
  for (const auto& [name, one] : planned_) {
    if (!is_there(name)) unseen.emplace(name, one.second);
  }
  all = std::make_shared<const object_texts>(texts(unseen));
  std::vector<object_change> changes;
  for (const auto& [key, names] : std::exchange(changed_, {})) {
    const resource& of = resource_of(key);
    for (const std::string& name : names) {
      object_change change{std::string(of.kind) + " " + name, mark_of(of, name)};
      const auto granted = is_pod(of) ? unseen.find(name) : unseen.end();
      if (granted != unseen.end()) {
        change.text = granted->second;
      } else if (const entry* const one = entry_of(key, name)) {
        change.text = seen(of, name, *one);
      }
      changes.push_back(std::move(change));
    }
  }
  granted_.clear();  // all of it has been seen
  return changes;
}

void object_store::look(const looker& see) const {
  const std::scoped_lock lock(mutex_);
  show(see);
}

std::uint64_t object_store::look_to_grant(const looker& see) {
  const std::scoped_lock lock(mutex_);
  show(see);
  bound_.clear();  // all of it has been seen
  return ++looks_;
}

void object_store::show(const looker& see) const {
  for (const char* kind : {"Node", "Pod"}) {
    const resource& of = resource_of(kind);
    const auto all = kinds_.find(of.key());
    if (all == kinds_.end()) continue;
    for (const auto& [name, one] : all->second) {
      if (one.text == nullptr) continue;
      if (const assumption* const decided = assumed_of(of, name); decided != nullptr) {
        const json seen = taken_for_done(*one.text, *decided);
        see(of, seen, one_line(seen));
      } else {
        see(of, one.object, *one.text);
      }
    }
  }
  for (const json& one : granted_unseen()) see(resource_of("Pod"), one, one_line(one));
  for (const auto& [name, one] : planned_) {
    if (!is_there(name)) see(resource_of("Pod"), one.first, *one.second);
  }
}

const object_store::entry* object_store::entry_of(std::string_view key, std::string_view name) const {
  const auto all = kinds_.find(key);
  if (all == kinds_.end()) return nullptr;
  const auto found = all->second.find(name);
  return found == all->second.end() ? nullptr : &found->second;
}

json object_store::find(std::string_view key, std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const entry* const found = entry_of(key, name);
  return found == nullptr ? json() : found->object;
}

void object_store::look_at(std::string_view key, std::string_view name,
                           const std::function<void(const json& object)>& see) const {
  const std::scoped_lock lock(mutex_);
  if (const entry* const found = entry_of(key, name)) see(found->object);
}

std::vector<std::string> object_store::unreadable() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [unused, words] : faults_) all.push_back(words);
  return all;
}

bool object_store::has_annotation(std::string_view key, std::string_view name, const char* annotation) const {
  const std::scoped_lock lock(mutex_);
  const entry* const found = entry_of(key, name);
  return found != nullptr && is_annotated(found->object, annotation);
}

void object_store::each(std::string_view key, const std::function<void(const json&)>& see) const {
  const std::scoped_lock lock(mutex_);
  const auto all = kinds_.find(key);
  if (all == kinds_.end()) return;
  for (const auto& [name, one] : all->second) see(one.object);
}

void object_store::each_sharer(const std::function<void(const json& pod)>& see) const {
  const std::scoped_lock lock(mutex_);
  for (const std::string& name : sharers_) {
    const entry* const found = entry_of(pod_key, name);
    if (found != nullptr && assumed_of(resource_of(pod_key), name) == nullptr) see(found->object);
  }
  for (const auto& [name, what] : assumed_) {
    const entry* const found = entry_of(pod_key, name);
    if (found == nullptr || !what.holds() || found->text == nullptr) continue;
    if (const json seen = taken_for_done(*found->text, what); !gpu_groups_of(seen).empty()) see(seen);
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
  if (granted_.contains(node)) return false;
  if (looks_ > 0) bound_.insert(node);
  assumption& what = assumed_[pod] = {};
  what.uid = uid;
  what.node = node;
  what.metadata = std::move(metadata);
  note_pod(pod);
  return true;
}

bool object_store::assume_granted(const json& pod, const std::string& node, json annotations,
                                  std::chrono::steady_clock::time_point until, std::uint64_t seen) {
  std::string fault;
  const entry now = made(resource_of(pod_key), pod, fault);
  if (now.text == nullptr) return false;
  const std::string as_text = *now.text;
  const std::scoped_lock lock(mutex_);
  if (seen != looks_ || bound_.contains(node)) return false;
  granted_.insert(node);
  assumed_[name_of(pod)] = {text_at(pod, "/metadata/uid"), node, {}, {}, std::move(annotations), as_text, {}, until};
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

void object_store::hold_back(const std::string& pod, const std::string& uid, const std::string& gate,
                             std::chrono::steady_clock::time_point until) {
  const std::scoped_lock lock(mutex_);
  assumption& what = assumed_[pod] = {};
  what.uid = uid;
  what.gate = gate;
  what.until = until;
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

std::size_t object_store::remembered() const {
  const std::scoped_lock lock(mutex_);
  return granted_.size() + bound_.size();
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
