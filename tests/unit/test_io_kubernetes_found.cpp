// Devices that nobody registers: what a node says -> devices, what pods ask, decisions as annotations and back again.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <kaisched/kaisched.hpp>

#include "unit/hami_objects.hpp"

namespace of_test_io_kubernetes_found {

using namespace kaisched;
using namespace kaisched::hami_objects;

namespace {

constexpr std::string_view drs_capacity = R"({"devices": [{"index": "0", "minor": "7", "capacity": 6},
  {"index": "x", "capacity": " 6 "}], "profiles": {"1g.6gb": "a", "2G.12GB": "b", "6g.36gb": "f", "odd": "z"}})";
constexpr std::string_view metax_devices = R"([
  {"uuid": "GPU-a", "model": "C500", "totalDevCount": 16, "totalCompute": 100, "totalVRam": 65536, "numa": -1,
   "healthy": true, "qosPolicy": "best-effort", "linkZone": 2},
  {"uuid": "GPU-b", "totalDevCount": 16, "totalCompute": 100, "totalVRam": 65536, "numa": 1}])";

json neuron_node(const std::string& name, int devices, int cores, const std::string& kind) {
  json made =
      make_node(name, json::object(), {{"aws.amazon.com/neuron", devices}, {"aws.amazon.com/neuroncore", cores}});
  made["metadata"]["labels"] = {{"node.kubernetes.io/instance-type", kind}};
  return made;
}

/// A node of each vendor, and what it is.
struct vendor_case {
  std::string key;
  json node;
  std::vector<std::string> devices;
  json limits;
  std::string request;  ///< behind the vendor
  std::int64_t gpu = 0;
  std::map<std::string, std::string> patch;
  std::size_t room = 0;  ///< for such pods
};

std::vector<vendor_case> vendor_cases() {
  return {
      {"MLU",
       make_node("n", json::object(),
                 {{"cambricon.com/vmlu", 300},
                  {"cambricon.com/mlu.smlu.vcore", 250},
                  {"cambricon.com/mlu.smlu.vmemory", 300}}),
       // What is left over is a device, and all have equal parts of the memory: 300 of 256 MiB, 100 of 250 cores.
       {"id=n-cambricon-mlu-0,type=MLU,index=0,numa=0,slots=100,memory=32212254720,cores=100",
        "id=n-cambricon-mlu-1,type=MLU,index=1,numa=0,slots=100,memory=32212254720,cores=100",
        "id=n-cambricon-mlu-2,type=MLU,index=2,numa=0,slots=100,memory=32212254720,cores=100"},
       {{"cambricon.com/vmlu", 1}, {"cambricon.com/mlu.smlu.vmemory", 10}, {"cambricon.com/mlu.smlu.vcore", 25}},
       "count=1,memory=2684354560,cores=25",
       83,
       {{"hami.io/cambricon-mlu-devices-to-allocate", ";n-cambricon-mlu-2,MLU,2560,25:;"},
        {"hami.io/cambricon-mlu-devices-allocated", ";n-cambricon-mlu-2,MLU,2560,25:;"},
        {"CAMBRICON_DSMLU_ASSIGNED", "false"},
        {"CAMBRICON_DSMLU_PROFILE", "2_25_10"}},
       12},
      {"Mthreads",
       make_node("n", json::object(), {{"mthreads.com/sgpu-core", 32}, {"mthreads.com/sgpu-memory", 192}}),
       {"id=n-mthreads-0,type=Mthreads,index=0,numa=0,slots=100,memory=51539607552,cores=16",
        "id=n-mthreads-1,type=Mthreads,index=1,numa=0,slots=100,memory=51539607552,cores=16"},
       {{"mthreads.com/vgpu", 2}},
       "count=2,memory=51539607552,cores=16",
       2000,
       {{"hami.io/mthreads-vgpu-devices-allocated", ";n-mthreads-1,Mthreads,49152,16:n-mthreads-0,Mthreads,49152,16:;"},
        {"mthreads.com/gpu-index", "1,0"},
        {"mthreads.com/predicate-node", "n"}},
       1},
      {"GCU",
       make_node("n", json::object(), {{"enflame.com/gcu", 2}}),
       {"id=n-GCU-0,type=GCU,index=0,numa=0,slots=1,memory=104857600,cores=100",
        "id=n-GCU-1,type=GCU,index=1,numa=0,slots=1,memory=104857600,cores=100"},
       {{"enflame.com/gcu", 1}},
       "count=1,memory=104857600,memory_permille=1000,cores=100",
       1000,
       {{"hami.io/enflame-gcu-devices-to-allocate", ";n-GCU-1,GCU,100,100:;"},
        {"hami.io/enflame-gcu-devices-allocated", ";n-GCU-1,GCU,100,100:;"}},
       2},
      {"Enflame",
       make_node("n", {{"enflame.com/gcu-drs-capacity", drs_capacity}}, {{"enflame.com/drs-gcu", 12}}),
       {"id=n-enflame-drs-0,type=Enflame,index=0,numa=0,slots=6,memory=38654705664,cores=100,"
        "profiles=1g.6gb/1/6442450944:2G.12GB/2/12884901888:6g.36gb/6/38654705664",
        "id=n-enflame-drs-1,type=Enflame,index=1,numa=0,slots=6,memory=38654705664,cores=100,"
        "profiles=1g.6gb/1/6442450944:2G.12GB/2/12884901888:6g.36gb/6/38654705664"},
       {{"enflame.com/drs-gcu", 2}},
       "count=1,slices=2",
       333,
       {{"hami.io/enflame-vgpu-devices-allocated", ";n-enflame-drs-1,Enflame,12288,34:;"},
        {"enflame.com/gcu-assigned", "false"},
        {"enflame.com/gcu-assigned-id", "1"},
        {"enflame.com/gcu-assigned-index", "1"},
        {"enflame.com/gcu-assigned-minor", "1"},
        {"enflame.com/gcu-request-size", "2"},
        {"assigned-containers", R"({"main":{"allocated":false,"request":2,"profileID":"b","profileName":"2G.12GB"}})"}},
       4},
      {"Metax-GPU",
       make_node("n", json::object(), {{"metax-tech.com/gpu", 2}}),
       {"id=n-metax-0,type=Metax-GPU,index=0,numa=0,slots=1,memory=68719476736,cores=100",
        "id=n-metax-1,type=Metax-GPU,index=1,numa=0,slots=1,memory=68719476736,cores=100"},
       {{"metax-tech.com/gpu", 2}},
       "count=2,memory_permille=1000,cores=100",
       2000,
       {{"hami.io/metax-gpu-devices-to-allocate", ";n-metax-1,Metax-GPU,65536,100:n-metax-0,Metax-GPU,65536,100:;"},
        {"hami.io/metax-gpu-devices-allocated", ";n-metax-1,Metax-GPU,65536,100:n-metax-0,Metax-GPU,65536,100:;"}},
       1},
      {"Metax-SGPU",
       make_node("n", {{"metax-tech.com/node-gpu-devices", metax_devices}}, {{"metax-tech.com/sgpu", 32}}),
       {"id=GPU-a,type=Metax-SGPU,index=0,numa=0,slots=16,memory=68719476736,cores=100,attribute.LinkZone=2,"
        "attribute.QosPolicy=best-effort",
        "id=GPU-b,type=Metax-SGPU,index=1,numa=1,slots=16,memory=68719476736,cores=100,healthy=0,attribute.LinkZone=0,"
        "attribute.QosPolicy="},
       {{"metax-tech.com/sgpu", 1}, {"metax-tech.com/vmemory", "8Gi"}, {"metax-tech.com/vcore", 20}},
       "count=1,memory=8589934592,cores=20",
       125,
       {{"hami.io/metax-sgpu-devices-to-allocate", ";GPU-a,Metax-SGPU,8192,20:;"},
        {"hami.io/metax-sgpu-devices-allocated", ";GPU-a,Metax-SGPU,8192,20:;"},
        {"metax-tech.com/gpu-devices-allocated", R"([[],[{"uuid":"GPU-a","compute":20,"vRam":8192}]])"}},
       5},
      {"AWSNeuron",
       neuron_node("n", 2, 4, "inf2.24xlarge"),
       {"id=n-AWSNeuron-0,type=AWSNeuron,index=0,numa=0,slots=2,memory=0,cores=3,attribute.AWSNodeType=inf2.24xlarge",
        "id=n-AWSNeuron-1,type=AWSNeuron,index=1,numa=0,slots=2,memory=0,cores=3,attribute.AWSNodeType=inf2.24xlarge"},
       {{"aws.amazon.com/neuron", 1}},
       "count=1,cores=2",
       1000,
       {{"hami.io/aws-neuron-devices-allocated", ";n-AWSNeuron-1,AWSNeuron,0,3:;"},
        {"AWS_NEURON_IDS", "1"},
        {"NEURON_ALLOCATED", "false"},
        {"aws.amazon.com/predicate-node", "n"}},
       2},
      {"kunlun",
       make_node("n", json::object(), {{"kunlunxin.com/xpu", 3}}),
       {"id=n-kunlun-0,type=kunlun,index=0,numa=0,slots=100,memory=103079215104,cores=100",
        "id=n-kunlun-1,type=kunlun,index=1,numa=1,slots=100,memory=103079215104,cores=100",
        "id=n-kunlun-2,type=kunlun,index=2,numa=1,slots=100,memory=103079215104,cores=100"},
       {{"kunlunxin.com/xpu", 1}},
       "count=1,memory_permille=1000",
       1000,
       {{"hami.io/kunlun-allocated", ";n-kunlun-0,kunlun,98304,100:;"}, {"BAIDU_COM_DEVICE_IDX", "0"}},
       3},
  };
}

/// The container that asks stands behind one that does not.
json second_asks(const json& limits) {
  return make_pod("p", json::array({make_container("log", json::object()), make_container("main", limits)}));
}

std::string changed(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The message about a node with one annotation or resource, without the place.
std::string fault_of(const json& annotations, const json& resources) {
  const std::string text = fault_in({make_node("n", annotations, resources), asking("p", json::object())});
  const std::size_t at = text.find("]: ");
  return at == std::string::npos ? text : text.substr(at + 3);
}

}  // namespace

TEST_CASE("devices follow from what nodes say") {
  for (const vendor_case& one : vendor_cases()) {
    CAPTURE(one.key);
    const json objects{one.node, asking("other", json::object())};
    const json row = row_in(read_objects(objects), "node", "n");
    CHECK(row.at("vendor_devices") == json(one.devices));
    // What plugins count for HAMi is no resource any more; devices that are ill are none.
    const auto ill = static_cast<std::int64_t>(one.key == "Metax-SGPU" ? 1 : 0);
    const std::int64_t gpus = (static_cast<std::int64_t>(one.devices.size()) - ill) * 1000;
    CHECK(row.at("capacity").dump() ==
          R"({"cpu":64000,"memory":274877906944,"gpu":)" + std::to_string(gpus) + R"(,"pods":110})");
  }
}

TEST_CASE("resources ask for devices that are found") {
  for (const vendor_case& one : vendor_cases()) {
    CAPTURE(one.key);
    const json row = pod_row_of({one.node, asking("p", one.limits)}, "p");
    CHECK(requests_in(row) == R"(["container=0,vendor=)" + one.key + "," + one.request + "\"]");
    CHECK(row.at("request") == json{{"gpu", one.gpu}, {"pods", 1}});
    CHECK(obstacle_in(row).empty());
  }
}

TEST_CASE("grants become what plugins of these vendors read, and these the same grants") {
  for (const vendor_case& one : vendor_cases()) {
    CAPTURE(one.key);
    json objects{one.node, second_asks(one.limits)};
    const translation read = read_objects(objects);
    const played made = play(read, "hami-spread");
    REQUIRE(made.nodes.count("team/p") == 1);
    const json patch = patches_of(made, read).at("team/p");
    std::map<std::string, std::string> more;
    for (const auto& [key, value] : patch.items()) {
      if (key != "hami.io/vgpu-node" && key != "hami.io/bind-phase") more[key] = value;
    }
    CHECK(more == one.patch);
    objects[1] = running(objects[1], "n", patch);
    CHECK(pod_row_of(objects, "p").at("device_grants") == json(made.grants.at("team/p")));
    // What it has is in use: the others get what is left.
    for (std::size_t i = 0; i <= one.room; ++i) objects.push_back(asking("p" + std::to_string(i), one.limits));
    for (const char* preset : {"kai", "hami"}) CHECK(play(read_objects(objects), preset).nodes.size() == one.room - 1);
  }
}

TEST_CASE("without HAMi the resources of these plugins are amounts") {
  settings always;
  REQUIRE(set(always, "find_devices", "true"));
  settings never;
  REQUIRE(set(never, "find_devices", "false"));
  CHECK(set(never, "find_devices", "yes").failure().message == "find_devices: expected true or false, found \"yes\"");
  json node = neuron_node("n", 2, 4, "inf2.24xlarge");
  const json limits{{"aws.amazon.com/neuron", 1}};
  const json pod = make_pod("p", json::array({make_container("main", limits)}), "kai-scheduler");
  const auto finds = [](const json& objects, const settings& chosen) {
    return row_in(read_objects(objects, chosen), "node", "n").contains("vendor_devices");
  };
  CHECK_FALSE(finds({node, pod}, {}));
  CHECK(pod_row_of({node, pod}, "p").at("request") == json{{"pods", 1}, {"aws.amazon.com/neuron", 1}});
  CHECK(finds({node, pod}, always));
  CHECK(finds({node, asking("q", json::object())}, {}));
  CHECK_FALSE(finds({node, asking("q", json::object())}, never));
  json annotated = pod;
  annotated["metadata"]["annotations"] = {{"hami.io/bind-phase", "success"}};
  CHECK(finds({node, annotated}, {}));
  CHECK(finds({node, make_node("m", {{"hami.io/node-handshake", "x"}})}, {}));
  // Of none there is none.
  CHECK_FALSE(finds(json::array({neuron_node("n", 0, 0, "")}), always));
  CHECK_FALSE(finds(json::array({make_node("n", json::object())}), always));
}

TEST_CASE("what a node says about devices and cannot be read is a fault") {
  const auto drs = [](std::string_view from, std::string_view to) {
    return fault_of({{"enflame.com/gcu-drs-capacity", changed(std::string(drs_capacity), from, to)}}, json::object());
  };
  const auto metax = [](std::string_view from, std::string_view to) {
    return fault_of({{"metax-tech.com/node-gpu-devices", changed(std::string(metax_devices), from, to)}},
                    json::object());
  };
  CHECK(drs("{", "").starts_with("expected JSON with a list of devices, found "));
  CHECK(drs("\"devices\"", "\"device\"").starts_with("expected JSON with a list of devices, found "));
  CHECK(drs("\"profiles\"", "\"profile\"") == "expected profiles of the devices");
  CHECK(drs(R"("1g.6gb": "a", "2G.12GB": "b", "6g.36gb": "f")", R"("g.6gb": "a", "-1g.6gb": "b")") ==
        "expected a profile such as 2g.12gb");
  CHECK(drs("6g.36gb", "6g.9000000000gb") == "a profile has too much memory");
  CHECK(drs("\"capacity\": 6", "\"capacity\": 0") == "expected a device to have at least one slot");
  CHECK(drs("\"capacity\": 6", "\"capacity\": \"six\"") ==
        "expected \"capacity\" of a device (slots) to be an integer that is not negative");
  CHECK(drs("\"index\": \"x\"", "\"index\": \"0\"") == "device \"n-enflame-drs-0\" is registered twice");
  CHECK(drs("{\"index\": \"0\", \"minor\": \"7\", \"capacity\": 6}", "5") == "expected devices as objects, found 5");
  CHECK(metax("[", "{\"a\": [").starts_with("expected JSON with a list of devices, found "));
  CHECK(metax("65536", "-1") == "expected \"totalVRam\" of a device (memory) to be an integer that is not negative");
  CHECK(metax("65536", "9000000000000000000") == "a device has too much memory");
  CHECK(metax("GPU-a", "GPU,a=1").find("GPU,a=1") != std::string::npos);
  CHECK(metax("GPU-a", "GPU\\u0000a") == "the character U+0000 is not allowed");
  CHECK(drs("6g.36gb", "6g.36gb.\\u0000") == "the character U+0000 is not allowed");
  CHECK(metax("\"uuid\": \"GPU-a\",", "").find("id must not be empty") != std::string::npos);
  CHECK(fault_of(json::object(), {{"enflame.com/gcu", 1025}}) == "expected at most 1024 devices of GCU");
  CHECK(fault_of(json::object(), {{"cambricon.com/mlu.smlu.vcore", "8E"}}) == "expected at most 1024 devices of MLU");
  CHECK(fault_of(json::object(), {{"cambricon.com/mlu.smlu.vcore", 800}, {"cambricon.com/mlu.smlu.vmemory", "8E"}}) ==
        "a device has too much memory");
  CHECK(fault_in({make_node("n", json::object(), {{"enflame.com/gcu", 1025}}), asking("p", json::object())}) ==
        R"(c.json:1: Node n: status.allocatable["enflame.com/gcu"]: expected at most 1024 devices of GCU)");
}

TEST_CASE("profiles serve requests by slices, memory and cores") {
  const json node = vendor_cases()[3].node;
  struct expected_grant {
    json limits;
    std::string request;
    std::int64_t gpu;
    std::string grant;
  };
  for (const expected_grant& one : std::vector<expected_grant>{
           {{{"enflame.com/gcu-memory", 8}},
            "count=1,amount=8",
            222,
            "memory=12884901888,cores=34,slots=2,profile=2G.12GB"},
           // Far above any profile it is MiB.
           {{{"enflame.com/gcu-memory", 8192}},
            "count=1,amount=8192",
            222,
            "memory=12884901888,cores=34,slots=2,profile=2G.12GB"},
           {{{"enflame.com/gcu-core", 17}},
            "count=1,cores=17",
            170,
            "memory=6442450944,cores=17,slots=1,profile=1g.6gb"},
           {{{"enflame.com/gcu-core", 40}, {"enflame.com/gcu-memory", 1}},
            "count=1,cores=40,amount=1",
            400,
            "memory=38654705664,cores=100,slots=6,profile=6g.36gb"},
       }) {
    CAPTURE(one.limits.dump());
    const json objects{node, asking("p", one.limits)};
    const json row = pod_row_of(objects, "p");
    CHECK(requests_in(row) == R"(["container=0,vendor=Enflame,)" + one.request + "\"]");
    CHECK(gpu_in(row) == one.gpu);
    for (const char* preset : {"hami", "kai"}) {
      const played made = play(read_objects(objects), preset);
      REQUIRE(made.grants.count("team/p") == 1);
      CHECK(made.grants.at("team/p").front().find("," + one.grant + ",start=0,size=0") != std::string::npos);
    }
  }
  CHECK(play(read_objects({node, asking("p", {{"enflame.com/drs-gcu", 3}})}), "hami").nodes.empty());
  // A device of six slices has three of two, whoever has them.
  json objects = json::array({make_node(
      "n", {{"enflame.com/gcu-drs-capacity",
             R"({"devices": [{"index": "0", "capacity": 6}], "profiles": {"2g.12gb": "b", "6g.36gb": "f"}})"}})});
  for (int i = 0; i < 4; ++i) objects.push_back(asking("p" + std::to_string(i), {{"enflame.com/drs-gcu", 2}}));
  CHECK(play(read_objects(objects), "kai").nodes.size() == 2);  // 34 percent each
}

TEST_CASE("cores of Neuron devices are given one by one, and named by their number on the node") {
  json objects{neuron_node("n", 2, 4, "trn1.32xlarge"), asking("a", {{"aws.amazon.com/neuroncore", 1}}),
               asking("b", {{"aws.amazon.com/neuroncore", 1}}), asking("c", {{"aws.amazon.com/neuroncore", 2}}),
               asking("d", {{"aws.amazon.com/neuroncore", 1}})};
  CHECK(gpu_in(pod_row_of(objects, "a")) == 500);
  const translation read = read_objects(objects);
  const played made = play(read, "hami-binpack");
  REQUIRE(made.nodes.size() == 3);
  const std::map<std::string, json> patches = patches_of(made, read);
  std::map<std::string, std::string> ids;
  for (const auto& [name, patch] : patches) {
    ids[name] = patch.at("AWS_NEURON_IDS");
    CHECK(patch.at("NEURON_RESOURCE_TYPE") == "aws.amazon.com/neuroncore");
  }
  CHECK(ids == std::map<std::string, std::string>{{"team/a", "2"}, {"team/b", "3"}, {"team/c", "0,1"}});
  for (json& one : objects) {
    const std::string name = "team/" + one.at("metadata").at("name").get<std::string>();
    if (patches.count(name) == 1) one = running(one, "n", patches.at(name));
  }
  CHECK(pod_row_of(objects, "b").at("device_grants") == json(made.grants.at("team/b")));
  CHECK(play(read_objects(objects), "kai").nodes.empty());
  // Only the first two cores of a device are given, as HAMi's annotation names no others.
  const json wide = neuron_node("n", 1, 4, "inf1.xlarge");
  CHECK(
      row_in(read_objects({wide, asking("a", json::object())}), "node", "n").at("vendor_devices") ==
      json{
          "id=n-AWSNeuron-0,type=AWSNeuron,index=0,numa=0,slots=4,memory=0,cores=3,attribute.AWSNodeType=inf1.xlarge"});
}

TEST_CASE("vendors of one's own may be found, too") {
  settings chosen;
  REQUIRE(set(chosen, "find_devices", "true"));
  REQUIRE(set(chosen, "vendors", R"({"schema": "kaisched-vendor/1", "vendors": [{
    "key": "Acme", "resources": {"count": "acme.com/npu"}, "annotations": {"allocated": "acme.com/has"},
    "found": {"count": {"resource": "acme.com/all", "per_device": 4}, "id": "<node>/npu<index>", "slots": 2,
              "attributes": [{"name": "rack", "label": "acme.com/rack", "otherwise": "r-<node>-<index>"}]},
    "tells": [{"annotation": "acme.com/is", "text": "<node>"},
              {"annotation": "acme.com/racks", "of": "devices", "text": "<rack>:<type>"}],
    "requests": {"default_permille": 1000}, "memory": "none", "checks": ["health", "slots"]}]})"));
  json objects{make_node("n", json::object(), {{"acme.com/all", 5}}), asking("p", {{"acme.com/npu", 2}})};
  const translation read = read_objects(objects, chosen);
  CHECK(row_in(read, "node", "n").at("vendor_devices") ==
        json{"id=n/npu0,type=Acme,index=0,numa=0,slots=2,memory=0,cores=0",
             "id=n/npu1,type=Acme,index=1,numa=0,slots=2,memory=0,cores=0"});
  CHECK_FALSE(row_in(read, "node", "n").at("capacity").contains("acme.com/all"));
  const json patch = patches_of(play(read, "hami"), read).at("team/p");
  CHECK(patch.at("acme.com/is") == "n");
  CHECK(patch.at("acme.com/racks") == "r-n-1:Acme,r-n-0:Acme");
}

TEST_CASE("GPUs that are asked for in amounts are not devices of others") {
  const json other = make_node("other", json::object(), {{"enflame.com/gcu", 2}});
  const json dcu = make_node("dcu", {{"hami.io/node-dcu-register", "DCU-0,4,32768,100,DCU-Z100,0,true:"}});
  const json plain = make_node("plain", json::object(), {{"nvidia.com/gpu", 1}});
  const auto whole = [](const std::string& name) {
    return make_pod(name, json::array({make_container("main", {{"nvidia.com/gpu", 1}})}), "kai-scheduler");
  };
  json part = make_pod("part", json::array({make_container("main", json::object())}), "kai-scheduler");
  part["metadata"]["annotations"] = {{"gpu-fraction", "0.5"}};
  json chosen = whole("chosen");
  chosen["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      json::array({json{{"matchExpressions", json::array({json{{"key", "a"}, {"operator", "DoesNotExist"}}})}}});
  for (const char* preset : {"kai", "hami"}) {
    CHECK(play(read_objects({other, dcu, whole("a"), part, chosen}), preset).nodes.empty());
    const played made = play(read_objects({other, dcu, plain, whole("a"), whole("b"), part, chosen}), preset);
    REQUIRE(made.nodes.size() == 1);
    CHECK(made.nodes.begin()->second == "plain");
    CHECK(play(read_objects({other, dcu, gpu_node("n", 2), part}), preset).nodes.at("team/part") == "n");
  }
  CHECK(pod_row_of({other, chosen}, "chosen").at("node_affinity") == json::array({"!a"}));  // nothing of HAMi
  const json row = pod_row_of({dcu, chosen}, "chosen");
  CHECK(row.at("node_affinity") == json::array({"!a,!kaisched.io/other-devices"}));
  CHECK(row_in(read_objects({dcu, chosen}), "node", "dcu").at("labels") == json{{"kaisched.io/other-devices", "true"}});
  CHECK_FALSE(row_in(read_objects({dcu, asking("p", {{"hygon.com/dcunum", 1}})}), "node", "dcu").contains("labels"));
}

}  // namespace of_test_io_kubernetes_found
