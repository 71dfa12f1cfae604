#include "hami/device_choice.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "hami/hami_annotations.hpp"

namespace shim {

namespace abi = kaisched::abi;

namespace {

using nlohmann::json;

/// Its pods are decided by the rules of HAMi alone.
constexpr const char* asking_scheduler = "hami-scheduler";

/// Its devices; whether it is closed, tainted or under pressure has been judged.
json node_to_see(const json& node) {
  const json metadata = section(node, "/metadata");
  json seen{{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", metadata.value("name", "")}}}};
  for (const char* key : {"labels", "annotations"}) {
    if (metadata.contains(key)) seen["metadata"][key] = metadata[key];
  }
  const json status = section(node, "/status");
  for (const char* key : {"allocatable", "capacity"}) {
    if (status.contains(key)) seen["status"][key] = status[key];
  }
  return seen;
}

bool is_extended(const std::string& resource) {
  return resource.find('/') != std::string::npos && !resource.starts_with("kubernetes.io/") &&
         !resource.starts_with("requests.") && !resource.starts_with("limits.");
}

json containers_to_see(const json& pod, const char* list) {
  json seen = json::array();
  for (const json& one : list_at(pod, list)) {
    if (!one.is_object()) continue;
    json container{{"name", one.value("name", "")}};
    if (one.contains("restartPolicy")) container["restartPolicy"] = one["restartPolicy"];
    for (const char* part : {"limits", "requests"}) {
      const json amounts = section(one, (std::string("/resources/") + part).c_str());
      for (const auto& [name, amount] : amounts.items()) {
        if (is_extended(name)) container["resources"][part][name] = amount;
      }
    }
    seen.push_back(std::move(container));
  }
  return seen;
}

/// Nodes that were not asked about are there for what they say about vendors.
json place_among(const candidate_nodes& candidates) {
  json names = json::array();
  for (const auto& [name, unused] : candidates) names.push_back(name);
  if (names.empty()) names.push_back("");  // nowhere
  const json term{
      {"matchFields", json::array({{{"key", "metadata.name"}, {"operator", "In"}, {"values", std::move(names)}}})}};
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", json::array({term})}}}}}};
}

json pod_to_see(const json& pod, const candidate_nodes& candidates) {
  json seen{{"apiVersion", "v1"}, {"kind", "Pod"}, {"status", {{"phase", "Pending"}}}};
  for (const char* key : {"name", "namespace", "uid", "creationTimestamp"}) {
    if (const json metadata = section(pod, "/metadata"); metadata.contains(key)) seen["metadata"][key] = metadata[key];
  }
  const json annotations = annotations_of(pod);
  for (const auto& [key, value] : annotations.items()) {
    if (key.find('/') != std::string::npos && key != "pod-group-name" && !hami::is_decision(key)) {
      seen["metadata"]["annotations"][key] = value;
    }
  }
  seen["spec"] = {{"schedulerName", asking_scheduler},
                  {"affinity", place_among(candidates)},
                  {"containers", containers_to_see(pod, "/spec/containers")},
                  {"initContainers", containers_to_see(pod, "/spec/initContainers")}};
  return seen;
}

bool may_hold_devices(const json& pod) {
  const json annotations = annotations_of(pod);
  for (const auto& [key, unused] : annotations.items()) {
    if (key.starts_with("hami.io/") || key == "gpu-fraction" || key == "gpu-memory") return true;
  }
  return asks_for_extended(pod);
}

/// Whether it is on a node, or about to be.
bool is_placed(const json& pod) {
  return !text_at(pod, "/spec/nodeName").empty() || !text_at(pod, "/metadata/annotations/hami.io~1vgpu-node").empty();
}

struct asked_devices {
  bool any = false;
  std::string obstacle;  ///< why it gets none, wherever it goes
};
/// Empty if the pod has no row.
std::optional<asked_devices> devices_asked_by(const abi::snapshot& snapshot, const std::string& pod) {
  const abi::table pods = snapshot.table(KAISCHED_TABLE_POD);
  const auto names = pods.texts(KAISCHED_POD_COL_NAME);
  const auto requests = pods.text_lists(KAISCHED_POD_COL_DEVICE_REQUESTS);
  const auto obstacles = pods.texts(KAISCHED_POD_COL_OBSTACLE);
  for (std::size_t i = 0; i < pods.rows(); ++i) {
    if (names[i] == pod) return asked_devices{!requests[i].empty(), std::string(obstacles[i])};
  }
  return std::nullopt;
}

/// Why the pod has no row.
std::string fault_of(const std::vector<std::string>& faults, const std::string& pod) {
  for (const std::string& one : faults) {
    if (one.find(pod) != std::string::npos) return one;
  }
  return "pod " + pod + ": cannot be read";
}

std::set<std::string_view> nodes_with_devices(const abi::table& nodes) {
  const auto names = nodes.texts(KAISCHED_NODE_COL_NAME);
  const auto devices = nodes.text_lists(KAISCHED_NODE_COL_VENDOR_DEVICES);
  std::set<std::string_view> made;
  for (std::size_t i = 0; i < nodes.rows(); ++i) {
    if (!devices[i].empty()) made.insert(names[i]);
  }
  return made;
}

void explain_nodes(const abi::snapshot& snapshot, const abi::session& session, kaisched_id pod,
                   const candidate_nodes& candidates, device_choice& to) {
  const abi::table all = snapshot.table(KAISCHED_TABLE_NODE);
  const std::set<std::string_view> with_devices = nodes_with_devices(all);
  const abi::answers answers = session.candidates(pod);
  const abi::table rows = answers.table();
  const auto nodes = rows.texts(KAISCHED_CANDIDATE_COL_NODE_NAME);
  const auto constraints = rows.texts(KAISCHED_CANDIDATE_COL_CONSTRAINT);
  const auto sentences = rows.texts(KAISCHED_CANDIDATE_COL_TEXT);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (!with_devices.contains(nodes[i]) || candidates.find(nodes[i]) == candidates.end()) continue;
    std::string why(sentences[i]);
    // What the rules said is counted over all nodes.
    if (const std::size_t list = why.find(": "); constraints[i] == "vendor_device" && list != std::string::npos) {
      why = "the vendors' rules give the pod no devices; over all nodes: " + why.substr(list + 2);
    }
    to.why.emplace(nodes[i], why.empty() ? "its devices are on their way to another pod" : why);
  }
}

}  // namespace

void each_resource(const json& pod, const std::function<void(const std::string& name)>& see) {
  for (const char* list : {"/spec/initContainers", "/spec/containers"}) {
    for (const json& one : list_at(pod, list)) {
      for (const char* part : {"/resources/limits", "/resources/requests"}) {
        const json amounts = section(one, part);
        for (const auto& [name, unused] : amounts.items()) see(name);
      }
    }
  }
}

bool asks_for_extended(const json& pod) {
  bool asks = false;
  each_resource(pod, [&asks](const std::string& name) { asks = asks || is_extended(name); });
  return asks;
}

/// What the cache is told so that it has these objects and no others.
class device_chooser::update {
 public:
  explicit update(device_chooser& to) : to_(to), before_(std::exchange(to.shown_, {})) {}

  /// Whether it has been shown, or passed over, in this version.
  [[nodiscard]] bool is_known(const std::string& key, const std::string& version) {
    const auto was = before_.find(key);
    if (was == before_.end() || was->second.version != version) return false;
    to_.shown_.insert(before_.extract(was));
    return true;
  }
  void show(const std::string& key, std::string version, const std::string& text) {
    try {
      to_.objects_.put(text);
    } catch (const abi::failure&) {  // none for the engine: it is not there
      return;
    }
    before_.erase(key);
    to_.shown_.insert_or_assign(key, shown_object{std::move(version), true});
  }
  void pass_over(const std::string& key, std::string version) {
    to_.shown_.insert_or_assign(key, shown_object{std::move(version), false});
  }
  /// What was there and is no longer goes.
  void finish() {
    for (const auto& [key, was] : before_) {
      if (!was.there) continue;
      const std::size_t blank = key.find(' ');
      const std::size_t slash = key.find('/');
      json metadata{{"name", key.substr((slash == std::string::npos ? blank : slash) + 1)}};
      if (slash != std::string::npos) metadata["namespace"] = key.substr(blank + 1, slash - blank - 1);
      to_.objects_.remove(
          json{{"apiVersion", "v1"}, {"kind", key.substr(0, blank)}, {"metadata", std::move(metadata)}}.dump());
    }
  }

 private:
  device_chooser& to_;
  std::map<std::string, shown_object, std::less<>> before_;
};

device_chooser::device_chooser(abi::options engine, const abi::options& objects)
    : engine_(std::move(engine)), objects_(objects) {}

std::uint64_t device_chooser::show(object_store& store, const json& pod, const candidate_nodes& candidates) {
  const std::string own = "Pod " + name_of(pod);
  update now(*this);
  for (const auto& [name, object] : candidates) {
    if (object.is_null()) continue;
    const std::string text = one_line(node_to_see(object));
    if (const std::string key = "Node " + name; !now.is_known(key, text)) now.show(key, text, text);
  }
  const std::uint64_t seen = store.look_to_grant([&](const resource& of, const json& object, const std::string& text) {
    const std::string key = fmt::format("{} {}", of.kind, name_of(object));
    // What is taken for done has no version yet.
    std::string version = text_at(object, "/metadata/resourceVersion");
    if (version.empty()) version = text;
    if (of.kind == "Node") {
      const auto asked = candidates.find(std::string_view(key).substr(of.kind.size() + 1));
      const bool came = asked != candidates.end() && !asked->second.is_null();
      if (!came && !now.is_known(key, version)) now.show(key, version, one_line(node_to_see(object)));
    } else if (key != own && !now.is_known(key, version)) {
      if (is_placed(object) && may_hold_devices(object)) {
        now.show(key, std::move(version), text);
      } else {
        now.pass_over(key, std::move(version));
      }
    }
  });
  const std::string text = one_line(pod_to_see(pod, candidates));
  if (!now.is_known(own, text)) now.show(own, text, text);
  now.finish();
  return seen;
}

device_choice device_chooser::choose(object_store& store, const json& pod_object, const candidate_nodes& candidates,
                                     std::int64_t now, std::uint64_t& seen) {
  seen = show(store, pod_object, candidates);
  const std::string pod = name_of(pod_object);
  const auto [snapshot, objects] = objects_.take(now);

  device_choice made;
  std::optional<asked_devices> asked = devices_asked_by(snapshot, pod);
  if (!asked) {
    made.fault = fault_of(objects.faults(), pod);
    return made;
  }
  made.asks = asked->any || !asked->obstacle.empty();
  made.obstacle = std::move(asked->obstacle);
  if (!made.asks || !made.obstacle.empty()) return made;
  const abi::session session = abi::engine(engine_).run(snapshot, now);
  json list = json::parse(objects.actions(session, "kubernetes"));
  for (json& one : list["items"]) {
    if (name_of(one) != pod) continue;
    if (one["kind"] == "Binding") made.node = text_at(one, "/target/name");
    if (one["kind"] == "Pod" && !one.contains("status")) made.metadata = std::move(one["metadata"]);
  }
  if (made.node.empty()) {
    abi::cluster cluster(snapshot);
    explain_nodes(snapshot, session, cluster.find(KAISCHED_TABLE_POD, pod).value(), candidates, made);
  }
  return made;
}

}  // namespace shim
