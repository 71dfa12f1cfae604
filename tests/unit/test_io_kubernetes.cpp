// Objects of Kubernetes and KAI -> tables.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <kaisched/kaisched.hpp>

#include "files/cluster_file.hpp"
#include "files/kubernetes_text.hpp"
#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "io/kubernetes/actions.hpp"
#include "io/kubernetes/translation.hpp"

namespace of_test_io_kubernetes {

using namespace kaisched;
namespace kube = kaisched::io::kubernetes;

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string list(const std::vector<std::string>& objects) {
  std::string text = R"({"apiVersion": "v1", "kind": "List", "items": [)";
  for (std::size_t i = 0; i < objects.size(); ++i) text += (i == 0 ? "" : ",\n") + objects[i];
  return text + "]}";
}

io::cluster_input read(std::string_view text, const kube::settings& chosen = {}) {
  result<io::cluster_input> input = kube::parse(text, "c.json", chosen);
  if (!input) FAIL(input.failure().message);
  return std::move(*input);
}

/// The cluster as our own format, which is one row a line.
std::string tables(const io::cluster_input& input) {
  for (const error& fault : input.faults) MESSAGE(fault.message);
  result<cluster> built = io::build_cluster(input, "reject");
  if (!built) FAIL(built.failure().message);
  return *io::format_cluster_json(built->take_snapshot(), input.now);
}
std::string tables(const std::vector<std::string>& objects, const kube::settings& chosen = {}) {
  return tables(read(list(objects), chosen));
}

/// The row that starts with a name.
std::string row(std::string_view text, std::string_view name) {
  const std::string start = R"({"name": ")" + std::string(name) + "\"";
  const std::size_t begin = text.find(start);
  if (begin == std::string_view::npos) return "(no row)";
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with(',')) line.remove_suffix(1);
  return std::string(line);
}

std::string fault_of(const std::vector<std::string>& objects) {
  const result<io::cluster_input> input = kube::parse(list(objects), "c.json");
  if (!input) return input.failure().message;
  return input->faults.empty() ? "(no fault)" : input->faults.front().message;
}

std::string object(std::string_view api, std::string_view kind, std::string_view metadata, std::string_view rest) {
  std::string text = R"({"apiVersion": ")" + std::string(api) + R"(", "kind": ")" + std::string(kind) +
                     R"(", "metadata": {)" + std::string(metadata) + "}";
  if (!rest.empty()) text += ", " + std::string(rest);
  return text + "}";
}

std::string node(std::string_view name, std::string_view allocatable = R"("cpu": "8", "memory": "64Gi", "pods": "110")",
                 std::string_view metadata = "", std::string_view rest = "", std::string_view spec = "") {
  return object("v1", "Node", R"("name": ")" + std::string(name) + "\"" + std::string(metadata),
                R"("spec": {)" + std::string(spec) + R"(}, "status": {"allocatable": {)" + std::string(allocatable) +
                    "}" + std::string(rest) + "}");
}

/// Objects, and what has been sent to the API server since.
io::cluster_input read_after(const std::string& objects, const std::string& sent) {
  std::string requests;
  const nlohmann::json list_of_sent = nlohmann::json::parse(sent);
  for (const auto& item : list_of_sent.at("items")) {
    if (item.at("kind") == "BindRequest") requests += item.dump() + "\n";
  }
  return read(objects + requests);
}

const std::string queue = object("scheduling.run.ai/v2", "Queue", R"("name": "q")", R"("spec": {"resources": {}})");

std::string pod_group(std::string_view name, std::string_view spec = "", std::string_view metadata = "") {
  return object("scheduling.run.ai/v2alpha2", "PodGroup",
                R"("namespace": "team", "name": ")" + std::string(name) + "\"" + std::string(metadata),
                R"("spec": {"queue": "q")" + std::string(spec) + "}");
}

struct pod_parts {
  std::string metadata = {};
  std::string spec = {};
  std::string status = R"("phase": "Pending")";
  std::string container = R"("resources": {"requests": {"cpu": "1", "memory": "1Gi"}})";
};
std::string pod(std::string_view name, const pod_parts& parts = {}) {
  return object("v1", "Pod", R"("namespace": "team", "name": ")" + std::string(name) + "\"" + parts.metadata,
                R"("spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "main", )" + parts.container +
                    "}]" + parts.spec + R"(}, "status": {)" + parts.status + "}");
}
const std::string of_group = R"(, "annotations": {"pod-group-name": "g"})";

/// The row of a pod of group g, on or for node n1.
std::string row_of_pod(const pod_parts& parts) {
  return row(tables({queue, node("n1"), pod_group("g"), pod("p", parts)}), "team/p");
}

}  // namespace

TEST_CASE("a list, single objects after each other, and YAML say the same") {
  const std::vector<std::string> objects{node("n1"), queue, pod_group("g"), pod("p", {of_group})};
  const std::string as_list = tables(objects);
  CHECK(
      row(as_list, "team/p") ==
      R"({"name": "team/p", "group": "team/g", "request": {"cpu": 1000, "memory": 1073741824, "pods": 1}, "qos": "Burstable"})");
  std::string stream;
  for (const std::string& one : objects) stream += one + "\n";
  CHECK(tables(read(stream)) == as_list);
  CHECK(tables(read("[" + objects[0] + "," + list({objects[1], objects[2]}) + "]" + objects[3])) == as_list);
  CHECK(tables(read(R"({"kind": "PodList", "items": [{"metadata": {"name": "p", "namespace": "team", "annotations":
    {"pod-group-name": "g"}}, "spec": {"containers": [{"resources": {"requests": {"cpu": 1, "memory": 1073741824}}}]}}]})" +
                    list({objects[0], objects[1], objects[2]}))) == as_list);
  CHECK(tables(read("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
                    "status: {allocatable: {cpu: 8, memory: 64Gi, pods: 110}}\n---\n"
                    "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: q}\n---\n---\n"
                    "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g, namespace: team}\n"
                    "spec: {queue: q}\n---\n"
                    "apiVersion: v1\nkind: Pod\n"
                    "metadata: {name: p, namespace: team, annotations: {pod-group-name: g}}\n"
                    "spec: {containers: [{resources: {requests: {cpu: 1, memory: 1Gi}}}]}\n")) == as_list);
}

TEST_CASE("the text itself says that it is objects of Kubernetes") {
  CHECK(kube::is_likely(R"({"kind": "List"})"));
  CHECK(kube::is_likely("\xEF\xBB\xBF [{\"a\": {\"kind\": 1}, \"apiVersion\": 1}]"));
  CHECK(kube::is_likely("# x\n---\napiVersion: v1\n"));
  CHECK_FALSE(kube::is_likely(R"({"schema": "kaisched-cluster/1", "node": [{"kind": "x"}]})"));
  CHECK_FALSE(kube::is_likely(R"({"a": "kind"})"));
  CHECK_FALSE(kube::is_likely("schema: kaisched-cluster/1\nnode:\n  - {kind: 1}\n"));
  for (const std::string_view text : {"", "[]", "{}", "{\"", "{\"a\\", "]", "kind"}) CHECK_FALSE(kube::is_likely(text));
  for (const std::string_view source : {"standard input", "c.json", "c.yaml"}) {
    const result<io::cluster_input> input = io::parse_cluster(list({node("n1")}), source);
    REQUIRE(input.ok());
    CHECK(input->on_invalid == "quarantine");
  }
}

TEST_CASE("of an object that appears twice the last one counts") {
  CHECK(row(tables({node("n1"), node("n1", R"("cpu": "1")")}), "n1") == R"({"name": "n1", "capacity": {"cpu": 1000}})");
}

TEST_CASE("nodes: amounts, labels, taints, memory of devices") {
  const std::string text = tables({
      node(
          "n1", R"("cpu": "7500m", "memory": "1Gi", "nvidia.com/gpu": "4", "nvidia.com/mig-1g.5gb": 2, "pods": "110")",
          R"(, "labels": {"zone": "a", "nvidia.com/gpu.memory": "81559"})", "",
          R"("unschedulable": true, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "e", "effect": "NoExecute"}])"),
      node("n2", R"("amd.com/gpu": "1")", R"(, "labels": {"nvidia.com/gpu.memory": "85520809984"})"),
  });
  CHECK(
      row(text, "n1") ==
      R"({"name": "n1", "capacity": {"cpu": 7500, "memory": 1073741824, "gpu": 4000, "pods": 110, "nvidia.com/mig-1g.5gb": 2}, )"
      R"("unschedulable": true, "labels": {"nvidia.com/gpu.memory": "81559", "zone": "a"}, )"
      R"("taints": ["k=v:NoSchedule", "e=:NoExecute"], "gpu_memory": 85520809984})");
  CHECK(
      row(text, "n2") ==
      R"({"name": "n2", "capacity": {"gpu": 1000}, "labels": {"nvidia.com/gpu.memory": "85520809984"}, "gpu_memory": 85520809984})");
  const auto ready = [](std::string_view type, std::string_view status) {
    return !has(tables({node("n1", R"("cpu": "1")", "",
                             R"(, "conditions": [{"type": ")" + std::string(type) + R"(", "status": ")" +
                                 std::string(status) + R"("}])")}),
                R"("ready": false)");
  };
  CHECK(ready("Ready", "True"));
  CHECK_FALSE(ready("Ready", "False"));
  CHECK_FALSE(ready("Ready", "Unknown"));
  for (const std::string_view trouble : {"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}) {
    CHECK(ready(trouble, "False"));
    CHECK_FALSE(ready(trouble, "True"));
    CHECK_FALSE(ready(trouble, "Unknown"));
  }
  CHECK(ready("SomethingElse", "True"));
}

TEST_CASE("queues: units, defaults, parents first") {
  const std::string text = tables({
      object("scheduling.run.ai/v2", "Queue", R"("name": "child", "creationTimestamp": "1970-01-01T00:00:01Z")",
             R"("spec": {"parentQueue": "root", "priority": 7, "reclaimMinRuntime": "10m", "preemptMinRuntime": "0s",
                "resources": {"cpu": {"quota": 1500, "limit": -1, "overQuotaWeight": 2}, "memory": {"quota": 1000, "limit": 0},
                "gpu": {"quota": 1.5, "limit": 8}}})"),
      object("scheduling.run.ai/v2", "Queue", R"("name": "root")", R"("spec": {})"),
      object("scheduling.example.com/v1", "Queue", R"("name": "other")", R"("spec": {})"),
  });
  CHECK(row(text, "child") ==
        R"({"name": "child", "parent": "root", "priority": 7, "created": 1000000000, )"
        R"("quota": {"cpu": 1500, "memory": 1000000000, "gpu": 1500}, "limit": {"memory": 0, "gpu": 8000}, )"
        R"("over_quota_weight": {"cpu": 2, "memory": 0, "gpu": 0}, "reclaim_min_runtime": 600000000000, )"
        R"("preempt_min_runtime": 0})");
  CHECK(row(text, "root") ==
        R"({"name": "root", "quota": {"cpu": 0, "memory": 0, "gpu": 0}, "limit": {"cpu": 0, "memory": 0, "gpu": 0}, )"
        R"("over_quota_weight": {"cpu": 0, "memory": 0, "gpu": 0}})");
  CHECK(row(text, "other") == "(no row)");
}

TEST_CASE("pod groups: priority, preemptibility, times, constraints, sub-groups") {
  const std::string priority = object("scheduling.k8s.io/v1", "PriorityClass", R"("name": "high")", R"("value": 1000)");
  const std::string standard =
      object("scheduling.k8s.io/v1", "PriorityClass", R"("name": "low")", R"("value": 5, "globalDefault": true)");
  const std::string tree =
      object("kai.scheduler/v1alpha1", "Topology", R"("name": "t")",
             R"("spec": {"levels": [{"nodeLabel": "l/rack", "alias": "rack"}, {"nodeLabel": "host"}]})");
  const std::string text = tables({
      priority,
      standard,
      tree,
      queue,
      pod_group(
          "a",
          R"(, "minMember": 3, "priorityClassName": "high", "preemptionDelay": "30s", "stalenessGracePeriod": "-1s",
        "topologyConstraint": {"topology": "t", "requiredTopologyLevel": "rack", "preferredTopologyLevel": "host"})",
          R"(, "labels": {"user": "kim"}, "annotations": {"kai.scheduler/last-start-timestamp": "1970-01-01T00:00:02Z",
        "kai.scheduler/last-eviction-timestamp": "1970-01-01T00:00:03Z", "kai.scheduler/stale-podgroup-timestamp": "soon"})"),
      pod_group("b", R"(, "preemptibility": "non-preemptible")"),
      pod_group("c", R"(, "preemptibility": "semi-preemptible", "priorityClassName": "gone")"),
      pod_group("d", R"(, "minSubGroup": 1, "subGroups": [{"name": "leaf", "parent": "inner", "minMember": 2},
        {"name": "inner", "minSubGroup": 1, "minMember": 9}, {"name": "top", "minMember": 1}])"),
  });
  CHECK(
      row(text, "team/a") ==
      R"({"name": "team/a", "queue": "q", "priority": 1000, "preemptible": false, "min_member": 3, "namespace": "team", )"
      R"("last_start": 2000000000, "last_eviction": 3000000000, "preemption_delay": 30000000000, )"
      R"("staleness_grace": -1000000000, "topology": "t", "required_level": "l/rack", "preferred_level": "host", "user": "kim"})");
  CHECK(row(text, "team/b") ==
        R"({"name": "team/b", "queue": "q", "priority": 5, "preemptible": false, "namespace": "team"})");
  CHECK(has(row(text, "team/c"), R"("priority": 5, "preemptible": false)"));
  CHECK(has(row(text, "team/c"), R"("semi_preemptible": true)"));
  const std::string told = row(
      tables(
          {queue,
           pod_group("e", "",
                     R"(, "annotations": {"kaisched.io/evictions": "3", "kaisched.io/after": "ok:a, any:other/b"})")}),
      "team/e");
  CHECK(has(told, R"("evictions": 3)"));
  CHECK(has(told, R"("after": ["ok:team/a", "any:other/b"])"));
  const std::string unreadable =
      row(tables({queue,
                  pod_group("e", "", R"(, "annotations": {"kaisched.io/evictions": "-3", "kaisched.io/after": " "})")}),
          "team/e");
  CHECK_FALSE(has(unreadable, "evictions"));
  CHECK_FALSE(has(unreadable, "after"));
  CHECK(has(row(text, "team/d"), R"("min_sub_group": 1)"));
  CHECK(has(text, R"({"group": "team/d", "name": "inner", "min_sub_group": 1})"));
  CHECK(has(text, R"({"group": "team/d", "name": "leaf", "parent": "inner", "min_member": 2})"));
  CHECK(has(text, R"({"group": "team/d", "name": "top", "min_member": 1})"));
}

TEST_CASE("statuses of pods follow phase, deletion, node and gates") {
  const auto status = [](const pod_parts& parts) {
    const std::string text = row_of_pod(parts);
    const std::string_view key = R"("status": ")";
    const std::size_t at = text.find(key);
    return at == std::string::npos ? text.substr(0, text == "(no row)" ? 8 : 0)
                                   : text.substr(at + key.size(), text.find('"', at + key.size()) - at - key.size());
  };
  const std::string here = R"(, "nodeName": "n1")";
  const std::string running = R"("phase": "Running")";
  const std::string pending = R"("phase": "Pending")";
  const auto deleted = [](std::string_view when) {
    return of_group + R"(, "creationTimestamp": "2026-01-01T00:10:00Z", "deletionTimestamp": ")" + std::string(when) +
           "\"";
  };
  CHECK(status({of_group, "", pending}) == "");  // the default
  CHECK(status({of_group, R"(, "schedulingGates": [{"name": "x"}])", pending}) == "gated");
  CHECK(status({of_group, here, pending}) == "bound");
  CHECK(status({of_group, here, running}) == "running");
  CHECK(status({deleted("2026-01-01T00:08:01Z"), here, running}) == "releasing");
  CHECK(status({deleted("2026-01-01T00:07:59Z"), here, running}) == "stuck_in_releasing");
  CHECK(status({deleted("2026-01-01T00:07:59Z"), here, pending}) == "releasing");
  CHECK(status({of_group, "", R"("phase": "Succeeded")"}) == "succeeded");
  CHECK(status({of_group, "", R"("phase": "Failed")"}) == "failed");
  CHECK(status({of_group, here, R"("phase": "Unknown")"}) == "unknown");
  const std::string elsewhere = R"(, "nodeName": "elsewhere")";
  CHECK_FALSE(has(row_of_pod({of_group, elsewhere, R"("phase": "Succeeded")"}), "elsewhere"));
  const io::cluster_input lost =
      read(list({queue, node("n1"), pod_group("g"), pod("p", {of_group, elsewhere, running})}));
  const result<cluster> refused = io::build_cluster(lost, "reject");
  REQUIRE(!refused);
  CHECK(refused.failure().message == "c.json:4: pod[0].node: there is no node 'elsewhere'");
}

TEST_CASE("a binding under way places its pod") {
  const auto bind = [](std::string_view status) {
    return row(tables({queue, node("n1"), pod_group("g"), pod("p", {of_group}),
                       object("scheduling.run.ai/v1alpha2", "BindRequest", R"("namespace": "team", "name": "p")",
                              R"("spec": {"podName": "p", "selectedNode": "n1", "backoffLimit": 3}, "status": {)" +
                                  std::string(status) + "}")}),
               "team/p");
  };
  CHECK(has(bind(""), R"("status": "binding", "node": "n1")"));
  CHECK(has(bind(R"("phase": "Failed", "failedAttempts": 2)"), R"("status": "binding")"));
  CHECK_FALSE(has(bind(R"("phase": "Failed", "failedAttempts": 3)"), "n1"));
}

TEST_CASE("requests: sums, init containers, sidecars, limits, overhead") {
  const auto request = [](std::string_view containers, std::string_view more = "") {
    const std::string text =
        row(tables({queue, pod_group("g"),
                    object("v1", "Pod", R"("namespace": "team", "name": "p")" + of_group,
                           R"("spec": {"containers": [)" + std::string(containers) + "]" + std::string(more) + "}")}),
            "team/p");
    const std::size_t begin = text.find("\"request\": ") + 11;
    return text.substr(begin, text.find('}', begin) + 1 - begin);
  };
  const auto cpu = [](std::string_view amount, std::string_view more = "") {
    return R"({"resources": {"requests": {"cpu": ")" + std::string(amount) + R"("}})" + std::string(more) + "}";
  };
  const std::string sidecar = R"(, "restartPolicy": "Always")";
  const auto inits = [](const std::string& all) { return R"(, "initContainers": [)" + all + "]"; };
  CHECK(request(cpu("1") + "," + cpu("500m")) == R"({"cpu": 1500, "pods": 1})");
  CHECK(request(cpu("1"), inits(cpu("3") + "," + cpu("2"))) == R"({"cpu": 3000, "pods": 1})");
  CHECK(request(cpu("1"), inits(cpu("2", sidecar))) == R"({"cpu": 3000, "pods": 1})");
  CHECK(request(cpu("1"), inits(cpu("2", sidecar) + "," + cpu("5"))) == R"({"cpu": 7000, "pods": 1})");
  CHECK(request(cpu("1"), inits(cpu("5") + "," + cpu("2", sidecar))) == R"({"cpu": 5000, "pods": 1})");
  CHECK(request(cpu("1"), R"(, "overhead": {"cpu": "250m", "memory": "1Ki"})") ==
        R"({"cpu": 1250, "memory": 1024, "pods": 1})");
  CHECK(request(R"({"resources": {"limits": {"cpu": "2", "nvidia.com/gpu": 2}, "requests": {"cpu": "1"}}})") ==
        R"({"cpu": 1000, "gpu": 2000, "pods": 1})");
  CHECK(request(cpu("1") + "," + cpu("1"), R"(, "resources": {"requests": {"cpu": "5"}})") ==
        R"({"cpu": 5000, "pods": 1})");
}

TEST_CASE("shares of devices by annotations") {
  const auto asked = [](std::string_view annotations) {
    return row_of_pod({R"(, "annotations": {"pod-group-name": "g", )" + std::string(annotations) + "}"});
  };
  CHECK(has(asked(R"("gpu-fraction": "0.5")"), R"("gpu": 500, "pods": 1}, "device_count": 1)"));
  CHECK(has(asked(R"("gpu-fraction": "0.25", "gpu-fraction-num-devices": "3")"),
            R"("gpu": 750, "pods": 1}, "device_count": 3)"));
  CHECK(has(asked(R"("gpu-memory": "2048")"), R"("gpu_memory": 2147483648)"));
  CHECK(has(asked(R"("gpu-memory": "2048", "gpu-fraction-num-devices": "2")"), R"("device_count": 2)"));
  CHECK(has(asked(R"("gpu-memory": "2048", "gpu-fraction": "0.5")"), R"("gpu": 500)"));
  CHECK_FALSE(has(asked(R"("gpu-memory": "2048", "gpu-fraction": "0.5")"), "gpu_memory"));
  for (const std::string_view wrong :
       {R"("gpu-fraction": "half")", R"("gpu-fraction": "1.5")", R"("gpu-fraction": "0")", R"("gpu-memory": "2Gi")",
        R"("gpu-memory": "-1")", R"("gpu-fraction-num-devices": "2")"}) {
    CHECK_FALSE(has(asked(wrong), "gpu"));
  }
}

TEST_CASE("pods that share devices are on the same ones") {
  const auto sharer = [](std::string_view name, std::string_view labels, std::string_view more = "") {
    return pod(name, {R"(, "annotations": {"pod-group-name": "g", "gpu-fraction": "0.4")" + std::string(more) +
                          R"(}, "labels": {)" + std::string(labels) + "}",
                      R"(, "nodeName": "n1")", R"("phase": "Running")"});
  };
  const std::string n1 = node("n1", R"("cpu": "64", "memory": "64Gi", "nvidia.com/gpu": 4, "pods": 110)");
  const std::string text = tables({
      queue,
      n1,
      pod_group("g"),
      sharer("a", R"("runai-gpu-group": "u2")"),
      sharer("b", R"("runai-gpu-group": "u1")"),
      sharer("c", R"("runai-gpu-group/u1": "u1", "runai-gpu-group/u3": "u3")", R"(, "gpu-fraction-num-devices": "2")"),
      sharer("d", ""),
      pod("keeper",
          {R"(, "labels": {"app": "kai-resource-reservation", "runai-gpu-group": "u1"})", R"(, "nodeName": "n1")",
           R"("phase": "Running")", R"("resources": {"requests": {"cpu": "1m", "nvidia.com/gpu": 1}})"}),
  });
  CHECK(has(row(text, "team/a"), R"("devices": [2])"));
  CHECK(has(row(text, "team/b"), R"("devices": [3])"));
  CHECK(has(row(text, "team/c"), R"("devices": [1, 3])"));
  CHECK(row(text, "team/keeper") ==
        R"({"name": "team/keeper", "request": {"cpu": 1, "pods": 1}, "status": "running", "node": "n1", )"
        R"("labels": {"app": "kai-resource-reservation", "runai-gpu-group": "u1"}, "qos": "Burstable"})");
}

TEST_CASE("constraints of pods become short texts") {
  const auto with = [](std::string_view spec) { return row_of_pod({of_group, ", " + std::string(spec)}); };
  CHECK(has(with(R"("nodeSelector": {"b": "2", "a": "1"})"), R"("node_selector": {"a": "1", "b": "2"})"));
  CHECK(has(with(R"("tolerations": [{"operator": "Exists"}, {"key": "k", "operator": "Exists", "effect": "NoExecute"},
    {"key": "k", "value": "v"}, {"key": "k", "operator": "Gt", "value": "1"}])"),
            R"("tolerations": ["*", "k:NoExecute", "k=v"])"));
  CHECK(has(
      with(R"("affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x", "y"]}, {"key": "b", "operator": "NotIn", "values": [""]},
     {"key": "c", "operator": "Exists"}, {"key": "d", "operator": "DoesNotExist"}, {"key": "e", "operator": "Gt", "values": ["5"]}]},
    {}]}}})"),
      R"("node_affinity": ["a in (x,y),b notin (),c,!d,e>5", "none,!none"])"));
  CHECK(has(with(R"("affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
    {"weight": 7, "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}, {"key": "b", "operator": "Exists"}]}},
    {"weight": 9, "preference": {}}]}})"),
            R"("node_preferences": ["7: a in (x),b"])"));
  CHECK(has(with(R"("affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "1"}}, "namespaces": ["team"]}, {"topologyKey": "host"}]}})"),
            R"("affinity": ["zone: a=1", "host: none,!none"])"));
  CHECK(has(with(R"("affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "host", "labelSelector": {}, "namespaceSelector": {}}]}})"),
            R"("anti_affinity": ["host@*: "])"));
  CHECK(has(row_of_pod({of_group, "", R"("phase": "Pending")", R"("ports": [{"containerPort": 80, "hostPort": 8080},
    {"hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}, {"containerPort": 1}])"}),
            R"("host_ports": ["8080/TCP", "10.0.0.1:53/UDP"])"));
}

TEST_CASE("affinity to pods of other namespaces names them") {
  const auto near = [](std::string_view term) {
    return R"(, "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z",
      "labelSelector": {"matchLabels": {"a": "1"}})" +
           std::string(term) + "}]}}";
  };
  const auto space = [](std::string_view name, std::string_view labels) {
    return R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ")" + std::string(name) +
           R"(", "labels": {)" + std::string(labels) + "}}}";
  };
  const auto of = [&](std::string_view term, bool has_spaces) {
    std::vector<std::string> objects{queue, pod_group("g")};
    if (has_spaces) objects.push_back(space("red", R"("team": "x")"));
    if (has_spaces) objects.push_back(space("blue", R"("team": "y")"));
    objects.push_back(pod("p", {of_group, near(term)}));
    return row(tables(objects), "team/p");
  };
  CHECK(has(of(R"(, "namespaces": ["red", "blue", "red"])", false), R"("affinity": ["z@blue,red: a=1"])"));
  CHECK(has(of(R"(, "namespaceSelector": {})", false), R"("affinity": ["z@*: a=1"])"));
  const std::string by_label = R"(, "namespaceSelector": {"matchLabels": {"team": "y"}})";
  CHECK(has(of(by_label, true), R"("affinity": ["z@blue: a=1"])"));
  CHECK(has(of(by_label + R"(, "namespaces": ["green"])", true), R"("affinity": ["z@blue,green: a=1"])"));
  CHECK(has(of(R"(, "namespaceSelector": {"matchLabels": {"team": "z"}})", true), R"("affinity": ["z: none,!none"])"));
  CHECK(has(of(R"(, "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "red"}})", true),
            R"("affinity": ["z@red: a=1"])"));
  // Without any namespace nobody knows their labels.
  const std::string unknown = of(by_label, false);
  CHECK(has(unknown, R"("obstacle": "affinity to pods of namespaces by their labels needs these namespaces")"));
  CHECK_FALSE(has(unknown, R"("affinity")"));
}

TEST_CASE("preferences of other pods and spread become texts") {
  const std::string web = of_group + R"(, "labels": {"app": "web", "rev": "7"})";
  const auto with = [&](std::string_view spec) { return row_of_pod({web, ", " + std::string(spec)}); };
  CHECK(has(with(R"("affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
      {"weight": 5, "podAffinityTerm": {"topologyKey": "z", "namespaces": ["red"],
                                        "labelSelector": {"matchLabels": {"a": "1"}}}}]},
    "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": {
      "topologyKey": "h", "labelSelector": {"matchExpressions": [{"key": "b", "operator": "Exists"}]}}}]}})"),
            R"("preferences": ["5 z@red: a=1", "-100 h: b"])"));
  CHECK(has(with(R"("topologySpreadConstraints": [
      {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["rev", "missing"],
       "labelSelector": {"matchLabels": {"app": "web"}}, "minDomains": 3, "nodeAffinityPolicy": "Ignore",
       "nodeTaintsPolicy": "Honor"},
      {"maxSkew": 2, "topologyKey": "h", "whenUnsatisfiable": "ScheduleAnyway"}])"),
            R"("spread": ["1 z min_domains=3 ignore_affinity honor_taints: app=web,rev=7", "2 h soft: none,!none"])"));
  const auto fault = [](std::string_view spec) { return fault_of({pod("p", {of_group, ", " + std::string(spec)})}); };
  const auto spread = [&](std::string_view rest) {
    return fault(R"("topologySpreadConstraints": [{"topologyKey": "z", )" + std::string(rest) + "}]");
  };
  CHECK(has(spread(R"("maxSkew": 0, "whenUnsatisfiable": "DoNotSchedule")"),
            "spec.topologySpreadConstraints[0].maxSkew: expected at least 1"));
  CHECK(has(spread(R"("maxSkew": 1, "whenUnsatisfiable": "Never")"),
            "expected DoNotSchedule or ScheduleAnyway, found \"Never\""));
  const auto preferred = [&](std::string_view one) {
    return fault(R"("affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [)" +
                 std::string(one) + "]}}");
  };
  CHECK(has(preferred(R"({"weight": 0})"), "weight: expected 1 to 100"));
  CHECK(has(preferred(R"({"weight": 1})"), "podAffinityTerm: expected a term"));
}

TEST_CASE("a pod for a node of a name finds it") {
  const std::string text =
      tables({queue, node("n1"), node("n2"), pod_group("g"),
              pod("p", {of_group, R"(, "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
    {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]}}})"})});
  CHECK(has(row(text, "team/p"), R"x("node_affinity": ["metadata.name in (n2)"])x"));
  CHECK(has(row(text, "n1"), R"("labels": {"metadata.name": "n1"})"));
  CHECK_FALSE(has(row(tables({node("n1")}), "n1"), "labels"));
}

TEST_CASE("order in the group, leaders, nominations, claims") {
  CHECK(has(row_of_pod({of_group + R"(, "labels": {"kai.scheduler/task-priority": "7"})"}), R"("priority": 7)"));
  CHECK(has(row_of_pod({of_group + R"(, "labels": {"ray.io/node-type": "head"})"}), R"("leader": true)"));
  CHECK(
      has(row_of_pod({of_group + R"(, "labels": {"training.kubeflow.org/job-role": "master"})"}), R"("leader": true)"));
  CHECK(
      has(row_of_pod({of_group, "", R"("phase": "Pending", "nominatedNodeName": "n1")"}), R"("nominated_node": "n1")"));
  CHECK_FALSE(has(row_of_pod({of_group, "", R"("nominatedNodeName": "n9")"}), "nominated_node"));
  const std::string text = tables({
      queue,
      pod_group("g"),
      pod("p", {of_group, R"(, "resourceClaims": [{"name": "a", "resourceClaimName": "shared"},
        {"name": "b", "resourceClaimTemplateName": "t"}, {"name": "c", "resourceClaimTemplateName": "t"}])",
                R"("resourceClaimStatuses": [{"name": "b", "resourceClaimName": "p-b"}])"}),
      object("resource.k8s.io/v1", "ResourceClaim", R"("namespace": "team", "name": "shared", "labels": {"l": "1"})",
             R"("spec": {"devices": {"requests": [{"name": "nic", "exactly": {"deviceClassName": "nic", "count": 2}},
        {"name": "gpu", "exactly": {"deviceClassName": "GPU.example.com", "count": 3}}, {"name": "all", "exactly":
        {"deviceClassName": "gpu.example.com", "allocationMode": "All"}}]}}, "status": {"allocation": {"devices": {"results":
        [{"driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}]}}, "reservedFor": [{"resource": "pods", "name": "p"}]})"),
      object("resource.k8s.io/v1beta1", "ResourceClaim", R"("namespace": "team", "name": "old")",
             R"("spec": {"devices": {"requests": [{"name": "nic", "deviceClassName": "nic", "count": 2}]}})"),
  });
  CHECK(has(row(text, "team/p"), R"("claims": ["team/shared", "team/p-b", "team/p:c"])"));
  CHECK(row(text, "team/shared") ==
        R"({"name": "team/shared", "device_class": "GPU.example.com", "count": 4, "labels": {"l": "1"}, )"
        R"("devices": ["gpu.example.com/n1/gpu-0"], "reserved_for": ["team/p"]})");
  CHECK(row(text, "team/old") == R"({"name": "team/old", "device_class": "nic", "count": 2})");
}

TEST_CASE("pods of other schedulers only use their nodes") {
  const auto daemon = [](std::string_view name, std::string_view more, std::string_view phase) {
    return object("v1", "Pod", R"("namespace": "sys", "name": ")" + std::string(name) + "\"",
                  R"("spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}])" + std::string(more) +
                      R"(}, "status": {"phase": ")" + std::string(phase) + "\"}");
  };
  const std::string here = R"(, "nodeName": "n1")";
  const std::string text =
      tables({node("n1"), daemon("on", here, "Running"), daemon("waits", "", "Pending"),
              daemon("done", here, "Succeeded"), daemon("away", R"(, "nodeName": "n2")", "Running")});
  CHECK(
      row(text, "sys/on") ==
      R"({"name": "sys/on", "request": {"cpu": 1000, "pods": 1}, "status": "running", "node": "n1", "qos": "Burstable"})");
  for (const std::string_view name : {"sys/waits", "sys/done", "sys/away"}) CHECK(row(text, name) == "(no row)");
  kube::settings chosen;
  chosen.schedulers.emplace_back("mine");
  CHECK(row(tables({node("n1"), daemon("waits", R"(, "schedulerName": "mine")", "Pending")}, chosen), "sys/waits") !=
        "(no row)");
  const std::string config =
      object("kai.scheduler/v1", "Config", R"("name": "kai-config")",
             R"("spec": {"global": {"schedulerName": "mine", "queueLabelKey": "example.com/queue"}})");
  CHECK(has(tables({config, node("n1"),
                    object("v1", "Pod", R"("name": "p", "labels": {"example.com/queue": "x"})",
                           R"("spec": {"schedulerName": "mine"})")}),
            R"("queue": "x")"));
}

TEST_CASE("pods without a pod group get one as the pod grouper would make it") {
  const auto owned = [](std::string_view kind, std::string_view name, std::string_view labels = "") {
    return R"(, "uid": "u", "ownerReferences": [{"kind": ")" + std::string(kind) + R"(", "name": ")" +
           std::string(name) + R"(", "uid": "o", "controller": true}], "labels": {)" + std::string(labels) + "}";
  };
  const auto group_of = [](std::string_view name, const std::vector<std::string>& objects) {
    const std::string text = tables(objects);
    const std::string at = row(text, name);
    const std::size_t begin = at.find("\"group\": \"") + 10;
    return row(text, at.substr(begin, at.find('"', begin) - begin));
  };
  // Without queues in the text those that are named have no limits.
  const std::string bare = tables({pod("p", {R"(, "uid": "u", "creationTimestamp": "1970-01-01T00:00:01Z")"})});
  CHECK(has(bare, R"({"name": "default-queue"})"));
  CHECK(row(bare, "team/pg-p-u") ==
        R"({"name": "team/pg-p-u", "queue": "default-queue", "created": 1000000000, "namespace": "team"})");
  const auto labelled = [&](std::string_view labels) {
    return group_of("team/p", {pod("p", {R"(, "uid": "u", "labels": {)" + std::string(labels) + "}"})});
  };
  CHECK(has(labelled(R"("kai.scheduler/queue": "a", "project": "b")"), R"("queue": "a")"));
  CHECK(has(labelled(R"("project": "b")"), R"("queue": "b")"));
  kube::settings pool;
  pool.node_pool = "x";
  const std::string of_pool = pod("p", {R"(, "labels": {"project": "b", "kai.scheduler/node-pool": "x"})"});
  CHECK(has(tables({of_pool}, pool), R"("queue": "b-x")"));
  CHECK(row(tables({of_pool}), "team/p") == "(no row)");
  CHECK(has(labelled(R"("priorityClassName": "build")"), R"("priority": 100, "preemptible": false)"));
  CHECK_FALSE(has(labelled(R"("priorityClassName": "unknown")"), "priority"));
  CHECK(has(labelled(R"("kai.scheduler/preemptibility": "non-preemptible")"), R"("preemptible": false)"));
  CHECK(has(labelled(R"("user": "kim")"), R"("user": "kim")"));
  // One per pod of a deployment, one per workload otherwise.
  CHECK(has(group_of("team/p", {pod("p", {owned("ReplicaSet", "d-123", R"("pod-template-hash": "123")")})}),
            R"({"name": "team/pg-p-u", "queue": "default-queue", "priority": 125, "preemptible": false)"));
  const std::string job =
      object("batch/v1", "Job", R"("namespace": "team", "name": "j", "uid": "o", "labels": {"kai.scheduler/queue": "b"},
    "annotations": {"kai.scheduler/batch-min-member": "2", "kai.scheduler/preemption-delay": "1m"})",
             "");
  const std::vector<std::string> pods_of_job{pod("p", {owned("Job", "j")}), pod("r", {owned("Job", "j")}), job};
  CHECK(
      group_of("team/p", pods_of_job) ==
      R"({"name": "team/pg-j-o", "queue": "b", "min_member": 2, "namespace": "team", "preemption_delay": 60000000000})");
  CHECK(group_of("team/p", pods_of_job) == group_of("team/r", pods_of_job));
  CHECK(has(group_of("team/p", {pod("p", {owned("Unheard", "w")})}), R"("team/pg-w-o")"));
  CHECK(has(group_of("team/p", {pod("p", {owned("PyTorchJob", "w")})}), R"("team/pg-p-u")"));
  const std::string cron = object("batch/v1", "Job", R"("namespace": "team", "name": "j", "uid": "o",
    "ownerReferences": [{"kind": "CronJob", "name": "c", "uid": "v"}])",
                                  "");
  CHECK(has(group_of("team/p", {pod("p", {owned("Job", "j")}), cron}), R"("team/pg-j-o")"));
}

TEST_CASE("pools: only what carries the label takes part") {
  const std::string in_a = R"(, "labels": {"kai.scheduler/node-pool": "a"})";
  const std::vector<std::string> objects{node("n1"), node("n2", R"("cpu": "1")", in_a), pod_group("g", "", in_a), queue,
                                         pod_group("h")};
  const std::string without = tables(objects);
  CHECK(row(without, "n2") == "(no row)");
  CHECK(row(without, "team/g") == "(no row)");
  CHECK(row(without, "team/h") != "(no row)");
  std::vector<std::string> with_shard = objects;
  with_shard.push_back(
      object("kai.scheduler/v1", "SchedulingShard", R"("name": "s")", R"("spec": {"partitionLabelValue": "a"})"));
  const std::string shard = tables(read(list({with_shard[0], with_shard[1], with_shard[5]})));
  CHECK(row(shard, "n1") == "(no row)");
  CHECK(row(shard, "n2") != "(no row)");
  // A group that has been given up here waits for another pool.
  const std::string given_up =
      object("scheduling.run.ai/v2alpha2", "PodGroup", R"("namespace": "team", "name": "g")",
             R"("spec": {"queue": "q", "schedulingBackoff": 1}, "status": {"schedulingConditions": [
       {"nodePool": "a", "transitionID": "1"}, {"nodePool": "default", "transitionID": "2"}]})");
  CHECK(row(tables({queue, given_up, pod("p", {of_group})}), "team/g") == "(no row)");
  CHECK(row(tables({queue, given_up, pod("p", {of_group})}), "team/p") == "(no row)");
}

TEST_CASE("zones of nodes and of pods") {
  const std::string zones = object("topology.node.k8s.io/v1alpha2", "NodeResourceTopology", R"("name": "n1")",
                                   R"("topologyPolicies": ["SingleNUMANodePodLevel"], "zones": [
      {"name": "node-0", "type": "Node", "resources": [{"name": "cpu", "capacity": "4", "allocatable": "3500m", "available": "1"}]},
      {"name": "node-1", "type": "Node", "resources": [{"name": "cpu", "allocatable": "4"}]}, {"name": "pci", "type": "Other"}])");
  const std::string text =
      tables({queue, node("n1"), zones, pod_group("g"),
              pod("p", {R"(, "annotations": {"pod-group-name": "g", "kai.scheduler/numa-placement-observed":
        "[{\"zone\": \"node-1\", \"amount\": {\"cpu\": \"1\"}}]"})",
                        R"(, "nodeName": "n1")", R"("phase": "Running")"})});
  CHECK(has(row(text, "n1"), R"("numa_policy": "single-numa-node", "numa_scope": "pod")"));
  CHECK(has(text, R"({"node": "n1", "name": "node-0", "capacity": {"cpu": 3500}, "available": {"cpu": 1000}})"));
  CHECK(has(text, R"({"node": "n1", "name": "node-1", "capacity": {"cpu": 4000}})"));
  CHECK_FALSE(has(text, "pci"));
  CHECK(has(row(text, "team/p"), R"("numa_zones": [1])"));
}

TEST_CASE("faults name the object and the path") {
  CHECK(fault_of({node("n1", R"("cpu": "8 cores")")}) ==
        R"(c.json:1: Node n1: status.allocatable.cpu: expected a quantity such as 500m or 2Gi, found "8 cores")");
  CHECK(fault_of({node("n1", R"("memory": "8Ei")")}) ==
        R"(c.json:1: Node n1: status.allocatable.memory: the quantity "8Ei" exceeds 63 bits)");
  CHECK(fault_of({node("n1", R"("nvidia.com/gpu": "-1")")}) ==
        R"(c.json:1: Node n1: status.allocatable["nvidia.com/gpu"]: the quantity "-1" is negative)");
  CHECK(fault_of({queue, pod("p", {of_group,
                                   R"(, "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Like"}]}]}}})"})}) ==
        "c.json:3: Pod team/p: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
        "nodeSelectorTerms[0].matchExpressions[0].operator: expected In, NotIn, Exists, DoesNotExist, Gt or Lt, found "
        "\"Like\"");
  CHECK(fault_of({queue, pod("p", {of_group,
                                   R"(, "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
    [{"weight": 0, "preference": {}}]}})"})}) ==
        "c.json:3: Pod team/p: spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
        "expected 1 to 100");
  CHECK(
      fault_of({pod(
          "p",
          {"", "", "",
           R"("resources": {"requests": {"cpu": "9223372036854775807m"}}}, {"resources": {"requests": {"cpu": "1m"}})"})}) ==
      "c.json:1: Pod team/p: spec.containers[1]: the sum of cpu exceeds 63 bits");
  CHECK(
      fault_of({object("v1", "Node", R"("name": "n1", "creationTimestamp": "today")", "")}) ==
      R"(c.json:1: Node n1: metadata.creationTimestamp: expected a time such as 2026-01-31T12:00:00Z, found "today")");
  CHECK(fault_of({object("v1", "Node", "", "")}) == "c.json:1: Node: metadata.name is missing");
  CHECK(fault_of({"7"}) == "c.json:1: expected an object of Kubernetes, found 7");
  CHECK(fault_of({R"({"metadata": {}})"}) == "c.json:1: the object has no kind");
  CHECK(fault_of({node("n1", R"("cpu": "\u0000")")}) ==
        R"(c.json:1: Node n1: status.allocatable.cpu: expected a quantity such as 500m or 2Gi, found "\u0000")");
}

TEST_CASE("what cannot be read ends everything or is left out") {
  const io::cluster_input input = read(list({queue, node("n1"), node("n2", R"("cpu": "x")"), pod_group("g"),
                                             pod("p", {of_group, "", R"("phase": "Pending")"})}));
  REQUIRE(input.faults.size() == 1);
  const result<cluster> rejected = io::build_cluster(input, "reject");
  REQUIRE(!rejected);
  CHECK(rejected.failure().message == input.faults.front().message);
  result<cluster> built = io::build_cluster(input);
  REQUIRE(built.ok());
  const std::string text = *io::format_cluster_json(built->take_snapshot(), 0);
  CHECK(row(text, "n1") != "(no row)");
  CHECK(row(text, "n2") == "(no row)");
  CHECK(row(text, "team/p") != "(no row)");
}

TEST_CASE("the clock is the latest time that an object names") {
  CHECK(
      read(
          list(
              {node(
                   "n1", R"("cpu": "1")", R"(, "creationTimestamp": "1970-01-01T00:00:01Z")",
                   R"(, "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "1970-01-01T00:00:05Z"}])"),
               pod("p", {R"(, "deletionTimestamp": "2030-01-01T00:00:00Z")"})}))
          .now == 5'000'000'000);
  kube::settings chosen;
  chosen.now = 7;
  CHECK(read(list({node("n1")}), chosen).now == 7);
}

TEST_CASE("decisions become objects again") {
  const auto on_n1 = [](std::string_view name, std::string_view metadata, std::string_view gpu) {
    return pod(name, {std::string(metadata), R"(, "nodeName": "n1")", R"("phase": "Running")",
                      R"("resources": {"requests": {"nvidia.com/gpu": )" + std::string(gpu) + "}}"});
  };
  const std::string text = list({
      node("n1", R"("cpu": "64", "memory": "64Gi", "nvidia.com/gpu": 2, "pods": 110)"),
      on_n1("old", R"(, "uid": "u0", "annotations": {"gpu-fraction": "0.5"}, "labels": {"runai-gpu-group": "shared"})",
            "0"),
      pod("part", {R"(, "uid": "u1", "annotations": {"gpu-fraction": "0.5"})"}),
      pod("all",
          {R"(, "uid": "u2")", "", R"("phase": "Pending")", R"("resources": {"requests": {"nvidia.com/gpu": 1}})"}),
      pod("cpu", {R"(, "uid": "u3")"}),
      pod("more",
          {R"(, "uid": "u4")", "", R"("phase": "Pending")", R"("resources": {"requests": {"nvidia.com/gpu": 1}})"}),
  });
  const result<kube::translation> read = kube::translate_json(text, "c.json");
  REQUIRE(read.ok());
  result<cluster> built = io::build_cluster(read->input, "reject");
  REQUIRE(built.ok());
  engine decides;
  result<session> run = decides.run(built->take_snapshot(), read->input.now);
  REQUIRE(run.ok());
  const std::string kai = *kube::format_actions(*run, read->names, kube::binding_form::kai);
  const auto spec = [&](std::string_view name) {
    const nlohmann::json parsed = nlohmann::json::parse(kai);
    for (const auto& item : parsed.at("items")) {
      if (item.at("metadata").at("name") == name) return item;
    }
    return nlohmann::json();
  };
  const nlohmann::json part = spec("part");
  CHECK(part.at("kind") == "BindRequest");
  CHECK(part.at("metadata").at("namespace") == "team");
  CHECK(part.at("metadata").at("labels").at("selected-node") == "n1");
  CHECK(part.at("metadata").at("ownerReferences").at(0).at("uid") == "u1");
  CHECK(part.at("spec").at("podName") == "part");
  CHECK(part.at("spec").at("selectedNode") == "n1");
  CHECK(part.at("spec").at("receivedResourceType") == "Fraction");
  CHECK(part.at("spec").at("receivedGPU").dump() == R"({"count":1,"portion":"0.50"})");
  CHECK(part.at("spec").at("selectedGPUGroups").dump() == R"(["shared"])");
  CHECK(spec("all").at("spec").at("receivedResourceType") == "Regular");
  CHECK(spec("all").at("spec").at("receivedGPU").dump() == R"({"count":1,"portion":"1.00"})");
  CHECK_FALSE(spec("all").at("spec").contains("selectedGPUGroups"));
  CHECK(spec("cpu").at("spec").at("receivedGPU").dump() == R"({"count":0,"portion":"0.00"})");
  const nlohmann::json more = spec("more");
  CHECK(more.at("kind") == "Pod");
  CHECK(more.at("status").at("conditions").at(0).at("reason") == "Unschedulable");
  CHECK(has(std::string(more.at("status").at("conditions").at(0).at("message")), "gpu"));

  const std::string plain = *kube::format_actions(*run, read->names, kube::binding_form::kubernetes);
  const nlohmann::json items = nlohmann::json::parse(plain).at("items");
  std::size_t at = 0;  // what a pod that shares has to say stands before its binding
  while (at < items.size() && items.at(at).at("metadata").at("name") != "part") ++at;
  REQUIRE(at + 1 < items.size());
  CHECK(items.at(at).at("kind") == "Pod");
  CHECK(items.at(at).at("metadata").at("labels").dump() == R"({"runai-gpu-group":"shared"})");
  CHECK(items.at(at).at("metadata").at("annotations").dump() ==
        R"({"kaisched.io/gpu-portion":"0.50","received-resource-type":"Fraction"})");
  CHECK(items.at(at + 1).at("kind") == "Binding");
  CHECK(items.at(at + 1).at("metadata").at("name") == "part");
  CHECK(items.at(at + 1).at("target").dump() == R"({"apiVersion":"v1","kind":"Node","name":"n1"})");
  // What has been decided is under way when it is read back.
  const std::string again = tables(read_after(text, kai));
  CHECK(has(row(again, "team/part"), R"("status": "binding", "node": "n1", "devices": [1])"));
}

TEST_CASE("where a pod is in cells is an annotation, and is read from it") {
  const std::string asks = R"("resources": {"requests": {"nvidia.com/gpu": 1}})";
  const std::string gpu_node = node("n1", R"("cpu": "64", "memory": "64Gi", "nvidia.com/gpu": 2, "pods": 110)");
  const std::string text = list({gpu_node, pod("p", {R"(, "uid": "u1")", "", R"("phase": "Pending")", asks})});
  const result<kube::translation> read = kube::translate_json(text, "c.json");
  REQUIRE(read.ok());
  result<cluster> built = io::build_cluster(read->input, "reject");
  REQUIRE(built.ok());
  engine decides(preset("hived").value());
  result<session> run = decides.run(built->take_snapshot(), read->input.now);
  REQUIRE(run.ok());
  const auto items =
      nlohmann::json::parse(*kube::format_actions(*run, read->names, kube::binding_form::kubernetes)).at("items");
  REQUIRE(items.size() == 1);
  const nlohmann::json annotations = items.at(0).at("metadata").at("annotations");
  CHECK(items.at(0).at("kind") == "Binding");  // which hands them on to the pod
  CHECK(annotations.dump() == R"({"kaisched.io/cell":"cell=node,number=0,gpus=0"})");
  const auto again = [&](const std::string& told) {
    return row(tables({gpu_node, pod("p", {R"(, "annotations": {"kaisched.io/cell": ")" + told + R"("})",
                                           R"(, "nodeName": "n1")", R"("phase": "Running")", asks})}),
               "team/p");
  };
  CHECK(has(again("cell=node,number=0,gpus=0"), R"("device_grants": ["cell=node,number=0,gpus=0"])"));
  CHECK_FALSE(has(again("cell=node"), "device_grants"));
}

TEST_CASE("a new shared device has a name that no other one of its node has") {
  // Which device an older group is on nobody knows: it is taken to be on the last one, whatever its name.
  const std::string taken = kube::gpu_group_name("n1", 0);
  const std::string text = list({
      node("n1", R"("cpu": "64", "memory": "64Gi", "nvidia.com/gpu": 2, "pods": 110)"),
      pod("old", {R"(, "annotations": {"gpu-fraction": "0.9"}, "labels": {"runai-gpu-group": ")" + taken + R"("})",
                  R"(, "nodeName": "n1")", R"("phase": "Running")"}),
      pod("several", {R"(, "annotations": {"gpu-fraction": "0.1", "gpu-fraction-num-devices": "2"})"}),
  });
  const result<kube::translation> read = kube::translate_json(text, "c.json");
  REQUIRE(read.ok());
  result<cluster> built = io::build_cluster(read->input, "reject");
  REQUIRE(built.ok());
  engine decides;
  result<session> run = decides.run(built->take_snapshot(), read->input.now);
  REQUIRE(run.ok());
  const auto items =
      nlohmann::json::parse(*kube::format_actions(*run, read->names, kube::binding_form::kubernetes)).at("items");
  const nlohmann::json& labels = items.at(0).at("metadata").at("labels");
  CHECK(labels.size() == 2);
  CHECK(labels.contains("runai-gpu-group/" + taken));
  for (const auto& [key, value] : labels.items()) CHECK(key == "runai-gpu-group/" + value.get<std::string>());
  CHECK(kube::gpu_group_name("n1", 0, 1) != taken);
}

TEST_CASE("names of shared devices are stable") {
  CHECK(kube::gpu_group_name("n1", 0) == kube::gpu_group_name("n1", 0));
  CHECK(kube::gpu_group_name("n1", 0) != kube::gpu_group_name("n1", 1));
  CHECK(kube::gpu_group_name("n1", 0) != kube::gpu_group_name("n2", 0));
  CHECK(kube::gpu_group_name("n1", 0).size() == 36);
  CHECK(kube::gpu_group_name("n1", 0)[14] == '8');
}

TEST_CASE("what was measured of GPUs is an annotation") {
  const auto loaded = [](std::string_view text, int gpus = 2) {
    return R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "annotations": {"kaisched.io/load": ")" +
           std::string(text) + R"("}}, "status": {"allocatable": {"cpu": "1", "nvidia.com/gpu": ")" +
           std::to_string(gpus) + R"("}}})";
  };
  const std::string made = tables({loaded("1=350~50, 5=20")});
  CHECK(made.find(R"({"node": "n", "index": 0})") != std::string::npos);
  CHECK(made.find(R"({"node": "n", "index": 1, "utilization": 350, "deviation": 50})") != std::string::npos);
  CHECK(made.find(R"("index": 2)") == std::string::npos);  // there is no such GPU
  for (const char* const none : {"", "0=5"}) CHECK(tables({loaded(none, 0)}).find("device") == std::string::npos);
  for (const char* wrong : {"a=1", "64=1", "0=1001", "0=5~", "0=5~x", "0=5 6", "-1=5", "0=5~1001"}) {
    const std::string fault = fault_of({loaded(wrong)});
    CHECK(fault.find("Node n: metadata.annotations[\"kaisched.io/load\"]: ") != std::string::npos);
    CHECK(fault.find("expected the index of a GPU and its load per mille such as 0=350~50") != std::string::npos);
  }
}

TEST_CASE("what queues have used is an annotation") {
  const auto used = [](std::string_view text) {
    return R"({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q", "annotations": {"kaisched.io/usage": ")" +
           std::string(text) + R"("}}, "spec": {}})";
  };
  CHECK(tables({used("gpu=0.5, cpu=0.125")}).find(R"("usage": {"cpu": 0.125, "gpu": 0.5})") != std::string::npos);
  CHECK(tables({used("")}).find("usage") == std::string::npos);
  for (const char* wrong : {"gpu=much", "gpu=-1", "gpu=nan", "gpu=1e13", "disk=0.5"}) {
    const std::string fault = fault_of({used(wrong)});
    CHECK(fault.find("Queue q: metadata.annotations[\"kaisched.io/usage\"]: ") != std::string::npos);
    CHECK(fault.find(std::string("expected cpu, memory or gpu and a part of the capacity, found '") + wrong) !=
          std::string::npos);
  }
  CHECK(fault_of({used("gpu")}).find("expected name=value, found 'gpu'") != std::string::npos);
}

TEST_CASE("shapes of levels and positions of nodes are annotations") {
  const std::string topology = R"({"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "t",
    "annotations": {"kaisched.io/shapes": "rack=ring:8, pod=torus:4x4"}},
    "spec": {"levels": [{"nodeLabel": "pod"}, {"nodeLabel": "rack"}]}})";
  const auto placed = [](std::string_view position) {
    return R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "annotations": {"kaisched.io/position": ")" +
           std::string(position) + R"("}}, "status": {"allocatable": {"cpu": "1"}}})";
  };
  const std::string made = tables({topology, placed("rack=3,pod=1x0")});
  CHECK(made.find(R"("shapes": {"pod": "torus:4x4", "rack": "ring:8"})") != std::string::npos);
  CHECK(made.find(R"("position": {"pod": "1x0", "rack": "3"})") != std::string::npos);
  CHECK(made != tables({topology, placed("")}));
  CHECK(fault_of({placed("rack=1, =2")}).find("expected name=value, found '=2'") != std::string::npos);
  CHECK(fault_of({placed("rack")}).find("kaisched.io/position") != std::string::npos);
}

TEST_CASE("what other programs have said about a pod that waits is an annotation") {
  const auto told = [](std::string_view answers, std::string_view spec = "", std::string_view status = "") {
    std::string text;
    for (const char c : answers) text += c == '"' ? std::string("\\\"") : std::string(1, c);
    pod_parts parts;
    parts.metadata = R"(, "annotations": {"pod-group-name": "g", "kaisched.io/extender-answers": ")" + text + "\"}";
    parts.spec = spec;
    parts.status = status;
    return std::vector<std::string>{queue, node("n1"), pod_group("g"), pod("p", parts)};
  };
  const auto seen = [&](std::string_view answers, std::string_view spec = "", std::string_view status = "") {
    return row(tables(told(answers, spec, status)), "team/p");
  };
  CHECK(has(seen(R"({"nodes": ["n1", "n2"]})"), R"x("node_affinity": ["metadata.name in (n1,n2)"])x"));
  CHECK(has(row(tables(told(R"({"except": ["n2"]})")), "n1"), R"("labels": {"metadata.name": "n1"})"));
  CHECK(has(seen(R"({"except": ["n2"]})", R"(, "affinity": {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
      {"matchExpressions": [{"key": "b", "operator": "Exists"}]}]}}})"),
            R"x("node_affinity": ["a,metadata.name notin (n2)", "b,metadata.name notin (n2)"])x"));
  CHECK(has(seen(R"({"nodes": []})"), R"("node_affinity": ["none,!none"])"));
  CHECK(has(seen(R"({"preferences": {"n2": 7, "n1": 7, "n3": 100}})"),
            R"x("node_preferences": ["7: metadata.name in (n2,n1)", "100: metadata.name in (n3)"])x"));
  CHECK(has(seen(R"({"obstacle": "no licence"})"), R"("obstacle": "no licence")"));
  // It says nothing about who runs.
  CHECK_FALSE(has(seen(R"({"obstacle": "no licence"})", R"(, "nodeName": "n1")", R"("phase": "Running")"), "licence"));
  for (const char* wrong : {"", "7", "{", R"({"nodes": "n1"})", R"({"nodes": ["n1),a"]})",
                            R"({"preferences": {"n1": 0}})", R"({"preferences": {"n1": 101}})",
                            R"({"preferences": {"a b": 1}})", R"({"obstacle": 1})", R"({"why": "not"})"}) {
    CHECK(has(fault_of(told(wrong)), "expected nodes, except, preferences or obstacle in JSON"));
  }
}

}  // namespace of_test_io_kubernetes
