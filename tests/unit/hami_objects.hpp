#pragma once
// Clusters of HAMi as objects of Kubernetes, and what becomes of them: rows, decisions, annotations to patch.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <kaisched/kaisched.hpp>

#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "io/kubernetes/actions.hpp"
#include "io/kubernetes/translation.hpp"

namespace kaisched::hami_objects {

using namespace kaisched::io::kubernetes;  // NOLINT(google-build-using-namespace): it is what is tested
using json = nlohmann::ordered_json;

inline json gpu_record(const std::string& id, int index, int mebibytes, const std::string& mode = "hami-core") {
  return {{"id", id},       {"index", index},        {"count", 10},       {"devmem", mebibytes},
          {"devcore", 100}, {"type", "NVIDIA-A100"}, {"numa", index % 2}, {"mode", mode},
          {"health", true}};
}
inline json make_node(const std::string& name, const json& annotations, const json& more = json::object()) {
  json allocatable{{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "110"}};
  allocatable.update(more);
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"annotations", annotations}}},
          {"status", {{"allocatable", allocatable}}}};
}
inline json gpu_node(const std::string& name, int gpus = 2, int mebibytes = 40960) {
  json records = json::array();
  for (int i = 0; i < gpus; ++i) records.push_back(gpu_record(name + "-GPU-" + std::to_string(i), i, mebibytes));
  return make_node(name, {{"hami.io/node-nvidia-register", records.dump()}}, {{"nvidia.com/gpu", gpus * 10}});
}
inline json make_container(const std::string& name, const json& limits) {
  return {{"name", name}, {"resources", {{"limits", limits}}}};
}
inline json make_pod(const std::string& name, const json& containers, const std::string& scheduler = "hami-scheduler") {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"namespace", "team"}, {"name", name}}},
          {"spec", {{"schedulerName", scheduler}, {"containers", containers}}},
          {"status", {{"phase", "Pending"}}}};
}
inline json asking(const std::string& name, const json& limits) {
  return make_pod(name, json::array({make_container("main", limits)}));
}
inline json running(json pod, const std::string& node, const json& annotations) {
  pod["spec"]["nodeName"] = node;
  pod["status"]["phase"] = "Running";
  pod["metadata"]["annotations"].update(annotations);
  return pod;
}

inline translation read_objects(const json& objects, const settings& chosen = {}) {
  const json list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", objects}};
  result<translation> read = translate_json(list.dump(), "c.json", chosen);
  if (!read) FAIL(read.failure().message);
  return std::move(*read);
}
inline std::string fault_in(const json& objects) {
  const translation read = read_objects(objects);
  return read.input.faults.empty() ? "(no fault)" : read.input.faults.front().message;
}
inline cluster cluster_of(const translation& read) {
  for (const error& fault : read.input.faults) MESSAGE(fault.message);
  result<cluster> built = io::build_cluster(read.input, "reject");
  if (!built) FAIL(built.failure().message);
  return std::move(*built);
}
/// The row of a node or a pod in our own format; an empty object if it is not there.
inline json row_in(const translation& read, const std::string& table, const std::string& name) {
  const json all = json::parse(*io::format_cluster_json(cluster_of(read).take_snapshot(), 0));
  if (!all.contains(table)) return json::object();
  for (const json& row : all.at(table)) {
    if (row.contains("name") && row.at("name") == name) return row;
  }
  return json::object();
}
inline json pod_row_of(const json& objects, const std::string& name, const settings& chosen = {}) {
  return row_in(read_objects(objects, chosen), "pod", "team/" + name);
}
inline std::string requests_in(const json& row) { return row.value("device_requests", json::array()).dump(); }
inline std::int64_t gpu_in(const json& row) { return row.at("request").value("gpu", std::int64_t{0}); }
inline std::string obstacle_in(const json& row) { return row.value("obstacle", std::string()); }

/// A session, and who is bound where with what.
struct played {
  session run;
  std::map<std::string, std::vector<std::string>> grants;
  std::map<std::string, std::string> nodes;
};
inline played play(const translation& read, const std::string& preset) {
  engine decides;
  decides.set_device_catalog(read.names.vendors);
  if (auto done = decides.set("preset", preset); !done) FAIL(done.failure().message);
  result<session> run = decides.run(cluster_of(read).take_snapshot(), 0);
  if (!run) FAIL(run.failure().message);
  const result<table> decisions = run->to_table(table_kind::decision);
  REQUIRE(decisions.ok());
  const table_view rows = decisions->view();
  played made{std::move(*run), {}, {}};
  for (std::uint64_t i = 0; i < rows.rows; ++i) {
    const auto kind = static_cast<decision_kind>(rows.find(col::decision_kind)->values<std::uint8_t>(rows.rows)[i]);
    if (kind != decision_kind::bind) continue;
    const std::string name(rows.find(col::decision_pod_name)->string(i));
    made.nodes[name] = rows.find(col::decision_node_name)->string(i);
    for (const std::string_view one : split_list(rows.find(col::decision_device_grants)->string(i))) {
      made.grants[name].emplace_back(one);
    }
  }
  return made;
}
/// The annotations that are to be patched, by pod.
inline std::map<std::string, json> patches_of(const played& of, const translation& read) {
  const result<std::string> text = format_actions(of.run, read.names, binding_form::kubernetes);
  if (!text) FAIL(text.failure().message);
  std::map<std::string, json> patches;
  std::map<std::string, bool> bound;
  const json list = json::parse(*text);
  for (const json& item : list.at("items")) {
    const json& metadata = item.at("metadata");
    const std::string name = metadata.value("namespace", std::string()) + "/" + metadata.at("name").get<std::string>();
    if (item.at("kind") == "Binding") bound[name] = true;
    if (!metadata.contains("annotations")) continue;
    CHECK_FALSE(bound[name]);  // the plugin must find them when the pod gets there
    CHECK(metadata.at("labels").at("hami.io/vgpu-node") == of.nodes.at(name));
    patches[name] = metadata.at("annotations");
  }
  return patches;
}

inline const json whole_device_limits{{"nvidia.com/gpu", 1}};

}  // namespace kaisched::hami_objects
