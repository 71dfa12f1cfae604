// Claims of Kubernetes: templates, what queues are charged, and what goes back to the API server.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <kaisched/kaisched.hpp>

#include "files/kubernetes_text.hpp"
#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "io/kubernetes/actions.hpp"
#include "io/kubernetes/claim.hpp"
#include "io/kubernetes/translation.hpp"
#include "support.hpp"

namespace of_test_io_kubernetes_claims {

using namespace kaisched;
namespace kube = kaisched::io::kubernetes;
using nlohmann::json;
using test::must;

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string text_of(const std::vector<json>& objects) {
  return json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", objects}}.dump();
}

json device_node(const std::string& name, json allocatable = {{"cpu", "8"}, {"memory", "64Gi"}, {"pods", "110"}}) {
  return {{"kind", "Node"}, {"metadata", {{"name", name}}}, {"status", {{"allocatable", std::move(allocatable)}}}};
}

json gpu_class(json config = nullptr) {
  json spec{{"selectors", json::parse(R"([{"cel": {"expression": "device.driver == 'gpu.example.com'"}}])")}};
  if (!config.is_null()) spec["config"] = std::move(config);
  return {{"kind", "DeviceClass"}, {"metadata", {{"name", "gpu.example.com"}}}, {"spec", std::move(spec)}};
}

json gpu_slice(const std::string& node, json devices, json more = json::object()) {
  json spec{{"driver", "gpu.example.com"},
            {"nodeName", node},
            {"pool", {{"name", node}, {"resourceSliceCount", 1}}},
            {"devices", std::move(devices)}};
  spec.update(more);
  return {{"kind", "ResourceSlice"}, {"metadata", {{"name", node + "-gpus"}}}, {"spec", std::move(spec)}};
}

json devices_named(int count) {
  json devices = json::array();
  for (int i = 0; i < count; ++i) devices.push_back({{"name", "gpu-" + std::to_string(i)}});
  return devices;
}

json one_request(int count) {
  return json::array({{{"name", "r"}, {"exactly", {{"deviceClassName", "gpu.example.com"}, {"count", count}}}}});
}

json claim_template(const std::string& name, json requests, json more = json::object()) {
  json devices{{"requests", std::move(requests)}};
  devices.update(more);
  return {{"kind", "ResourceClaimTemplate"},
          {"metadata", {{"namespace", "team"}, {"name", name}}},
          {"spec", {{"metadata", {{"labels", {{"kai.scheduler/queue", "q"}}}}}, {"spec", {{"devices", devices}}}}}};
}

json claim_object(const std::string& name, json requests, json results = nullptr) {
  json made{{"kind", "ResourceClaim"},
            {"metadata", {{"namespace", "team"}, {"name", name}}},
            {"spec", {{"devices", {{"requests", std::move(requests)}}}}}};
  if (!results.is_null()) made["status"]["allocation"]["devices"]["results"] = std::move(results);
  return made;
}

json device_result(const std::string& request, const std::string& device) {
  return {{"request", request}, {"driver", "gpu.example.com"}, {"pool", "n1"}, {"device", device}};
}

/// A pod that has claims of templates, each under its own name.
json claiming_pod(const std::string& name, const std::vector<std::string>& templates, json more = json::object()) {
  json claims = json::array();
  for (std::size_t i = 0; i < templates.size(); ++i)
    claims.push_back({{"name", "c" + std::to_string(i)}, {"resourceClaimTemplateName", templates[i]}});
  json made{{"kind", "Pod"},
            {"metadata", {{"namespace", "team"}, {"name", name}, {"uid", "uid-" + name}}},
            {"spec", {{"schedulerName", "kai-scheduler"}, {"containers", json::array()}, {"resourceClaims", claims}}}};
  made.merge_patch(more);
  return made;
}

io::cluster_input read_objects(const std::vector<json>& objects) {
  io::cluster_input input = must(kube::parse(text_of(objects), "c.json"));
  for (const error& fault : input.faults) MESSAGE(fault.message);
  return input;
}

/// The cluster in our own format.
json rows_of(const std::vector<json>& objects) {
  const io::cluster_input input = read_objects(objects);
  return json::parse(*io::format_cluster_json(must(io::build_cluster(input)).take_snapshot(), input.now));
}

json row_of(const json& tables, const std::string& kind, std::string_view name) {
  if (!tables.contains(kind)) return nullptr;
  for (const json& row : tables.at(kind)) {
    if (row.at("name") == name) return row;
  }
  return nullptr;
}

/// What is charged for a pod with one claim that asks so.
int charged_for(const json& requests, const json& results = nullptr) {
  const json tables =
      rows_of({device_node("n1"), gpu_class(), gpu_slice("n1", devices_named(8)), claim_object("c", requests, results),
               claiming_pod("p", {}, {{"spec", {{"resourceClaims", {{{"name", "x"}, {"resourceClaimName", "c"}}}}}}})});
  const json pod = row_of(tables, "pod", "team/p");
  const int gpus = pod.value("claimed_gpus", 0);
  CHECK(pod.at("request").value("gpu", 0) == gpus * 1000);
  return gpus;
}

}  // namespace

TEST_CASE("a pod that waits gets claims of its templates") {
  const std::string name = kube::generated_claim_name("team/p", "c0", 0);
  CHECK(name.starts_with("team/p-c0-"));
  CHECK(name.size() == std::string_view("team/p-c0-").size() + 5);
  CHECK(name != kube::generated_claim_name("team/p", "c0", 1));
  CHECK(kube::generated_claim_name("team/a-b", "c", 0) != kube::generated_claim_name("team/a", "b-c", 0));
  const std::string longest = kube::generated_claim_name("team/" + std::string(200, 'p'), std::string(60, 'c'), 0);
  CHECK(longest.size() <= 5 + 63);
  CHECK(has(longest, "pp-cc"));

  const json match = json::parse(R"({"constraints": [{"matchAttribute": "gpu.example.com/numa"}]})");
  for (const std::string version : {"resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"}) {
    json of = claim_template("t", one_request(2), match);
    of["apiVersion"] = version;
    if (version.ends_with("v1beta1"))
      of["spec"]["spec"]["devices"]["requests"] =
          json::parse(R"([{"name": "r", "deviceClassName": "gpu.example.com", "count": 2}])");
    const json tables =
        rows_of({device_node("n1"), gpu_class(), gpu_slice("n1", devices_named(2)), of, claiming_pod("p", {"t", "t"})});
    const json pod = row_of(tables, "pod", "team/p");
    REQUIRE(pod.at("claims").size() == 2);
    CHECK(pod.at("claims")[0] == name);
    CHECK(pod.at("claimed_gpus") == 4);
    const json claim = row_of(tables, "resource_claim", name);
    CHECK(claim.at("from_template") == true);
    CHECK(claim.at("labels").at("kai.scheduler/queue") == "q");
    CHECK(claim.at("constraints") == json::array({"match gpu.example.com/numa"}));
    const json request = row_of(tables, "claim_request", name + "/r");
    CHECK(request.at("claim") == name);
    CHECK(request.at("count") == 2);
    CHECK(row_of(tables, "node", "n1").at("capacity").at("gpu") == 2000);
  }
  // A name that is taken is not given again.
  json taken = claim_object(name.substr(5), one_request(1));
  const json tables = rows_of({taken, claim_template("t", one_request(1)), claiming_pod("p", {"t"})});
  CHECK(row_of(tables, "pod", "team/p").at("claims")[0] == kube::generated_claim_name("team/p", "c0", 1));
}

TEST_CASE("claims that Kubernetes has made are used") {
  const auto claims_of = [](std::vector<json> objects) {
    objects.push_back(claim_template("t", one_request(1)));
    const json tables = rows_of(objects);
    const json claims = row_of(tables, "pod", "team/p").value("claims", json::array());
    const json row = claims.empty() ? json() : row_of(tables, "resource_claim", std::string(claims[0]));
    return std::pair(claims, row);
  };
  const auto told = [](json status) { return claiming_pod("p", {"t"}, {{"status", std::move(status)}}); };
  const json named = json::parse(R"({"resourceClaimStatuses": [{"name": "c0", "resourceClaimName": "made"}]})");
  auto [claims, row] = claims_of({told(named), claim_object("made", one_request(3))});
  CHECK(claims == json::array({"team/made"}));
  CHECK(row.at("count") == 3);
  CHECK(row.at("from_template") == true);
  // It is known by name, but not in the text.
  std::tie(claims, row) = claims_of({told(named)});
  CHECK(claims == json::array({"team/made"}));
  CHECK(row.at("from_template") == true);
  // Kubernetes has found that none is needed.
  std::tie(claims, row) = claims_of({told(json::parse(R"({"resourceClaimStatuses": [{"name": "c0"}]})"))});
  CHECK(claims.empty());
  // It is there, and the status of the pod does not say so yet.
  json fresh = claim_object("fresh", one_request(3));
  fresh["metadata"]["annotations"] = {{"resource.kubernetes.io/pod-claim-name", "c0"}};
  fresh["metadata"]["ownerReferences"] = json::array({{{"kind", "Pod"}, {"name", "p"}, {"uid", "uid-p"}}});
  std::tie(claims, row) = claims_of({told(json::object()), fresh});
  CHECK(claims == json::array({"team/fresh"}));
  CHECK(row.at("from_template") == true);
  fresh["metadata"]["ownerReferences"][0]["uid"] = "of a pod of that name before";
  std::tie(claims, row) = claims_of({told(json::object()), fresh});
  CHECK(claims == json::array({kube::generated_claim_name("team/p", "c0", 0)}));
  json running = told({{"phase", "Running"}});
  running["spec"]["nodeName"] = "n1";
  // A pod that runs has its claims, even if they are not in the text; one without a template has none.
  std::tie(claims, row) = claims_of({device_node("n1"), running});
  CHECK(claims == json::array({"team/p:c0"}));
  CHECK(row.is_null());
  std::tie(claims, row) = claims_of({claiming_pod("p", {"missing"})});
  CHECK(claims == json::array({"team/p:c0"}));
  CHECK(row.is_null());
  const json finished = rows_of({claim_template("t", one_request(1)), told({{"phase", "Succeeded"}})});
  CHECK_FALSE(finished.contains("resource_claim"));
}

TEST_CASE("faults of templates name template and field, and who uses them waits") {
  const auto fault = [](json of) {
    const io::cluster_input input = must(kube::parse(
        text_of({gpu_class(), gpu_slice("n1", devices_named(1)), std::move(of), claiming_pod("p", {"t"})}), "c.json"));
    REQUIRE(input.faults.size() == 1);
    const snapshot s = must(io::build_cluster(input)).take_snapshot();
    const table pods = must(s.to_table(table_kind::pod));
    CHECK(pods.view().find(col::pod_obstacle)->string(0) == "ResourceClaimTemplate team/t cannot be read");
    CHECK(must(s.to_table(table_kind::resource_claim)).rows() == 0);
    return input.faults.front().message;
  };
  json of = claim_template("t", one_request(1));
  json& request = of["spec"]["spec"]["devices"]["requests"][0]["exactly"];
  request["selectors"] = json::array({{{"cel", {{"expression", "'a'.matches('b')"}}}}});
  std::string message = fault(of);
  CHECK(has(message,
            "ResourceClaimTemplate team/t: "
            "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression: "));
  CHECK(has(message, "'matches' is not supported"));
  request.erase("selectors");
  request["count"] = -1;
  CHECK(has(fault(of), "requests[0].exactly.count: expected 1 or more devices, found -1"));
  request["count"] = 1;
  request["capacity"] = {{"requests", {{"memory", "much"}}}};
  CHECK(has(fault(of), "capacity.requests.memory: "));
  request.erase("capacity");
  request["tolerations"] = json::parse(R"([{"key": "k", "operator": "Exists", "effect": "Never"}])");
  CHECK(has(fault(of), "tolerations[0]: "));
  request.erase("tolerations");
  of["spec"]["spec"]["devices"]["constraints"] = json::parse(R"([{"matchAttribute": "numa"}])");
  CHECK(has(fault(of), "spec.spec.devices.constraints[0]: "));
  of["spec"].erase("spec");
  CHECK(has(fault(of), "ResourceClaimTemplate team/t: spec.spec: expected"));
}

TEST_CASE("queues are charged for the GPUs that claims ask for, then for those that they have") {
  CHECK(charged_for(one_request(3)) == 3);
  CHECK(charged_for(json::parse(R"([{"name": "r", "exactly": {"deviceClassName": "GPU-large"}},
    {"name": "n", "exactly": {"deviceClassName": "nic", "count": 4}}])")) == 1);
  CHECK(charged_for(json::parse(R"([{"name": "r", "exactly": {"deviceClassName": "gpu", "adminAccess": true}}])")) ==
        0);
  const json all = json::parse(R"([{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}])");
  CHECK(charged_for(all) == 1);
  CHECK(charged_for(all, {device_result("r", "gpu-0"), device_result("r", "gpu-1")}) == 2);
  const json alternatives = json::parse(R"([{"name": "r", "firstAvailable": [
    {"name": "a", "deviceClassName": "gpu"}, {"name": "b", "deviceClassName": "gpu", "count": 4},
    {"name": "c", "deviceClassName": "cpu", "count": 9}]}])");
  CHECK(charged_for(alternatives) == 4);
  CHECK(charged_for(alternatives, json::array({device_result("r/a", "gpu-0")})) == 1);
  CHECK(charged_for(alternatives, json::array({device_result("r/c", "gpu-0")})) == 0);
  CHECK(charged_for(alternatives, json::array({device_result("gone", "gpu-0")})) == 1);
  json beside = device_result("r", "gpu-1");
  beside["adminAccess"] = true;
  CHECK(charged_for(all, {device_result("r", "gpu-0"), beside}) == 1);
  const json huge = json::parse(R"([{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 9223372036854775807}},
    {"name": "s", "exactly": {"deviceClassName": "gpu", "count": 9223372036854775807}}])");
  const json tables = rows_of({claim_template("t", huge), claiming_pod("p", {"t", "t"})});
  CHECK(row_of(tables, "pod", "team/p").at("claimed_gpus") == 4294967295);
  // Two entries of a pod may be one claim.
  const json twice = json::parse(R"({"spec": {"resourceClaims": [{"name": "x", "resourceClaimName": "c"},
    {"name": "y", "resourceClaimName": "c"}]}})");
  const json shared = rows_of({claim_object("c", one_request(2)), claiming_pod("p", {}, twice)});
  CHECK(row_of(shared, "pod", "team/p").at("claimed_gpus") == 2);
}

TEST_CASE("nodes have the GPUs of their pools, and plugins keep theirs") {
  const auto capacity = [](const json& slice, json allocatable = {{"cpu", "8"}}) {
    return row_of(rows_of({device_node("n1", std::move(allocatable)), slice}), "node", "n1").at("capacity");
  };
  CHECK(capacity(gpu_slice("n1", devices_named(3))).at("gpu") == 3000);
  CHECK(capacity(gpu_slice("n1", devices_named(3)), {{"nvidia.com/gpu", "2"}}).at("gpu") == 5000);
  CHECK_FALSE(capacity(gpu_slice("n2", devices_named(3))).contains("gpu"));
  CHECK_FALSE(capacity(gpu_slice("n1", devices_named(3), {{"driver", "net.example.com"}})).contains("gpu"));
  // Of partitions as many as their counters leave room for: seven small ones, not the whole GPU beside them.
  json partitions = json::array();
  for (int i = 0; i < 8; ++i) {
    partitions.push_back(
        {{"name", "part-" + std::to_string(i)},
         {"consumesCounters",
          {{{"counterSet", "gpu-0"},
            {"counters",
             {{"memory", {{"value", i == 0 ? "80Gi" : "10Gi"}}}, {"engines", {{"value", i == 0 ? "7" : "1"}}}}}}}}});
  }
  const json shared{
      {"sharedCounters",
       {{{"name", "gpu-0"}, {"counters", {{"memory", {{"value", "80Gi"}}}, {"engines", {{"value", "7"}}}}}}}}};
  CHECK(capacity(gpu_slice("n1", partitions, shared)).at("gpu") == 7000);
  // A driver that is restarted has no slices; what pods have is there all the same.
  json runs = claiming_pod("p", {}, json::parse(R"({"spec": {"nodeName": "n1", "resourceClaims": [{"name": "x",
    "resourceClaimName": "c"}]}, "status": {"phase": "Running"}})"));
  const json results = json::array({device_result("r", "gpu-0"), device_result("r", "gpu-1")});
  const json alone = rows_of({device_node("n1"), claim_object("c", one_request(2), results), std::move(runs)});
  CHECK(row_of(alone, "node", "n1").at("capacity").at("gpu") == 2000);
  // Who asks for numbers or parts of GPUs gets those that plugins count.
  const auto counted = [](json more) {
    const json tables = rows_of({device_node("n1", {{"nvidia.com/gpu", "2"}}), gpu_slice("n1", devices_named(3)),
                                 claiming_pod("p", {}, std::move(more))});
    CHECK(row_of(tables, "node", "n1").at("capacity").at("kaisched.io/counted-gpus") == 2000);
    return row_of(tables, "pod", "team/p").at("request").at("kaisched.io/counted-gpus");
  };
  CHECK(counted(json::parse(R"({"spec": {"containers": [{"resources": {"requests": {"nvidia.com/gpu": 2}}}]}})")) ==
        2000);
  CHECK(counted(json::parse(R"({"metadata": {"annotations": {"gpu-fraction": "0.5"}}})")) == 500);
  CHECK(counted(json::parse(R"({"metadata": {"annotations": {"gpu-memory": "1000"}}})")) == 1);
}

TEST_CASE("devices of claims go to the API server and are read back") {
  const json opaque = json::parse(R"([{"opaque": {"driver": "gpu.example.com", "parameters": {"a": 1.5}}}])");
  const std::vector<json> objects{device_node("n1"),
                                  gpu_class(opaque),
                                  gpu_slice("n1", devices_named(3)),
                                  claim_template("t", one_request(2), {{"config", opaque}}),
                                  claim_object("made", one_request(1)),
                                  claiming_pod("p", {"t"}),
                                  claiming_pod("q", {"t"}, json::parse(R"({"status": {"resourceClaimStatuses":
                                    [{"name": "c0", "resourceClaimName": "made"}]}})"))};
  const kube::translation read = must(kube::translate_json(text_of(objects), "c.json"));
  engine decides;
  must(decides.set("mode", "strict"));
  const session run = must(decides.run(must(io::build_cluster(read.input, "reject")).take_snapshot(), 0));

  const json kai = json::parse(must(kube::format_actions(run, read.names, kube::binding_form::kai)));
  REQUIRE(kai.at("items").size() == 2);
  const json& given = kai.at("items")[0].at("spec").at("resourceClaimAllocations");
  REQUIRE(given.size() == 1);
  CHECK(given[0].at("name") == "c0");
  const json& allocation = given[0].at("allocation");
  CHECK(allocation.at("devices").at("results") ==
        json::array({device_result("r", "gpu-0"), device_result("r", "gpu-1")}));
  json from_class = opaque[0];
  from_class["source"] = "FromClass";
  from_class["requests"] = {"r"};
  json from_claim = opaque[0];
  from_claim["source"] = "FromClaim";
  CHECK(allocation.at("devices").at("config") == json::array({from_class, from_claim}));
  CHECK(allocation.at("nodeSelector") == json::parse(R"({"nodeSelectorTerms":
    [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]})"));

  // The other form patches claims, and has all that makes one that is not there.
  const json plain = json::parse(must(kube::format_actions(run, read.names, kube::binding_form::kubernetes)));
  REQUIRE(plain.at("items").size() == 4);
  const json& unmade = plain.at("items")[0];
  CHECK(unmade.at("kind") == "ResourceClaim");
  CHECK("team/" + std::string(unmade.at("metadata").at("name")) == kube::generated_claim_name("team/p", "c0", 0));
  CHECK(unmade.at("metadata").at("labels").at("kai.scheduler/queue") == "q");
  CHECK(unmade.at("metadata").at("annotations").at("resource.kubernetes.io/pod-claim-name") == "c0");
  CHECK(unmade.at("metadata").at("ownerReferences")[0].at("uid") == "uid-p");
  CHECK(unmade.at("spec") == objects[3].at("spec").at("spec"));
  CHECK(unmade.at("status").at("allocation") == allocation);
  CHECK(unmade.at("status").at("reservedFor") == json::parse(R"([{"resource": "pods", "name": "p", "uid": "uid-p"}])"));
  CHECK(plain.at("items")[1].at("kind") == "Binding");
  CHECK(plain.at("items")[2].at("metadata") == json::parse(R"({"namespace": "team", "name": "made"})"));
  CHECK_FALSE(plain.at("items")[2].contains("spec"));
  CHECK(plain.at("items")[2].at("status").at("allocation").at("devices").at("results")[0].at("device") == "gpu-2");

  // What is being carried out holds its devices, whether the claim says so or not.
  std::vector<json> later = objects;
  for (const json& one : kai.at("items")) later.push_back(one);
  const json tables = rows_of(later);
  const json claim = row_of(tables, "resource_claim", kube::generated_claim_name("team/p", "c0", 0));
  CHECK(claim.at("results") == json::array({"r=gpu.example.com/n1/gpu-0", "r=gpu.example.com/n1/gpu-1"}));
  CHECK(claim.at("reserved_for") == json::array({"team/p"}));
  CHECK(row_of(tables, "resource_claim", "team/made").at("devices") == json::array({"gpu.example.com/n1/gpu-2"}));
  CHECK(row_of(tables, "pod", "team/p").at("status") == "binding");
  CHECK(row_of(tables, "pod", "team/p").at("claimed_gpus") == 2);
}

}  // namespace of_test_io_kubernetes_claims
