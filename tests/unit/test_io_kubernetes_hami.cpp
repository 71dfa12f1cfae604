// Annotations of HAMi: what is written is read back, what HAMi takes is taken, what breaks a form is not written.
// Clusters of HAMi as objects: what nodes register, pods ask for and have, and decisions back again.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <kaisched/kaisched.hpp>

#include "io/kubernetes/hami.hpp"
#include "unit/hami_objects.hpp"

namespace of_test_io_kubernetes_hami {

using namespace kaisched;
using namespace kaisched::io::kubernetes;
using namespace kaisched::hami_objects;

namespace {

class drawing {
 public:
  explicit drawing(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t count) { return random_() % count; }
  std::int64_t number() { return static_cast<std::int64_t>(below(3) == 0 ? below(3) : below(2'147'483'648U)); }
  bool flag() { return below(2) == 0; }
  /// Characters that have a meaning in one form or the other, but none of `without`.
  std::string text(std::string_view without) {
    constexpr std::string_view letters = "abcXYZ019-_./ \"\\{}[]|,:;\n\xC3\xA9";
    std::string made;
    for (std::size_t size = below(12); size > 0; --size) {
      const char c = letters[below(letters.size() - 2)];
      made += without.find(c) == std::string_view::npos ? std::string(1, c) : "\xC3\xA9";
    }
    return made;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("registrations are read as HAMi reads them") {
  const std::vector<hami_device> one{{"GPU-1", 0, 10, 40960, 100, "NVIDIA-A100", 1, true, "hami-core"}};
  std::vector<hami_device> with_property = one;
  with_property.front().attributes = {{"x", "1"}};
  CHECK(decode_hami_devices("GPU-1,10,40960,100,NVIDIA-A100,1,true:") == one);
  CHECK(decode_hami_devices(":GPU-1,10,40960,100,NVIDIA-A100,1,T,0,hami-core::") == one);
  CHECK(decode_hami_devices(R"( [{"id": "GPU-1", "count": 10, "devmem": 40960, "devcore": 100, "type": "NVIDIA-A100",
    "numa": 1, "health": true, "mode": "hami-core", "custominfo": {"x": 1}, "migProfiles": null}])") == with_property);
  CHECK(decode_hami_devices("[]") == std::vector<hami_device>{});
  CHECK(decode_hami_devices("[{}]") == std::vector<hami_device>(1));
  for (const std::string_view wrong :
       {"", "GPU-1,10,40960,100,A,1,true", "GPU-1,10,40960,100,A,1:", "GPU-1:", "GPU-1,x,40960,100,A,1,true:",
        "GPU-1,10,99999999999,100,A,1,true:", "GPU-1,10,1,100,A,1,maybe:", "GPU-1,10,1,100,A,1,true,-1,m:", "[", "[1]",
        "[{\"id\": 1}]", "[{\"index\": -1}]", "[{\"devmem\": 1.5}]", "[{\"health\": \"yes\"}]",
        "[{\"type\": \"\\u0000\"}]"}) {
    CAPTURE(wrong);
    CHECK_FALSE(decode_hami_devices(wrong).has_value());
  }
}

TEST_CASE("what would break a form is not written") {
  for (const std::string_view wrong : {"a,b", "a:b", "a;b"}) {
    CHECK_FALSE(encode_hami_grants({{{std::string(wrong), "t", 1, 1}}}).ok());
    CHECK_FALSE(encode_hami_grants({{{"u", std::string(wrong), 1, 1}}}).ok());
  }
  CHECK(encode_hami_grants({{{"a,b", "t", 1, 1}}}).failure().message == "\"a,b\" holds the separator \",\"");
}

TEST_CASE("grants survive, empty containers included") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    drawing from(seed);
    hami_grants grants(1 + from.below(4));
    for (auto& container : grants) {
      for (std::size_t n = from.below(3); n > 0; --n) {
        container.push_back({from.text(",:;"), from.text(",:;"), from.number(), from.number()});
      }
    }
    const result<std::string> text = encode_hami_grants(grants);
    REQUIRE(text.ok());
    CAPTURE(*text);
    CHECK(decode_hami_grants(*text) == grants);
  }
  CHECK(*encode_hami_grants({{{"u1", "NVIDIA", 1000, 30}, {"u2", "NVIDIA", 1000, 30}}, {}, {{"u3", "NVIDIA", 5, 0}}}) ==
        "u1,NVIDIA,1000,30:u2,NVIDIA,1000,30:;;u3,NVIDIA,5,0:;");
  CHECK(decode_hami_grants("") == hami_grants{});
  CHECK(decode_hami_grants(";") == hami_grants(1));
  CHECK(decode_hami_grants("u,t,1,2,more:") == hami_grants{{{"u", "t", 1, 2}}});
  CHECK(decode_hami_grants("u,t,1,2;junk") == hami_grants{{{"u", "t", 1, 2}}, {}});
  for (const std::string_view wrong : {"u,t,1:;", "u,t,x,1:;", "u,t,1,x:;", "u,t,,1:;", "u,t,3000000000,1:;"}) {
    CHECK_FALSE(decode_hami_grants(wrong).has_value());
  }
}

TEST_CASE("handshakes are read") {
  CHECK(decode_hami_handshake("Requesting_2026-03-07 12:00:00") ==
        hami_handshake{hami_handshake_state::requesting, "2026-03-07 12:00:00"});
  CHECK(decode_hami_handshake("Deleted_2026-03-07 12:00:00").state == hami_handshake_state::deleted);
  CHECK(decode_hami_handshake("Reported 2026-03-07 12:00:00") ==
        hami_handshake{hami_handshake_state::reported, "2026-03-07 12:00:00"});
  CHECK(decode_hami_handshake("anything") == hami_handshake{});
}

// ---- clusters ----------------------------------------------------------------------------------------------------

TEST_CASE("devices that plugins register") {
  json records =
      json::array({gpu_record("GPU-0", 0, 40960), gpu_record("GPU-1", 1, 40960), gpu_record("GPU-2", 2, 40960)});
  records[1]["health"] = false;
  const json n1 = make_node(
      "n1",
      {{"hami.io/node-nvidia-register", records.dump()},
       {"hami.io/node-nvidia-score", R"([{"uuid": "GPU-0", "score": {"GPU-1": 100, "GPU-2": 20, "GPU-9": 5}}])"},
       {"hami.io/device-cordon", "GPU-9, GPU-2"},
       {"hami.io/node-register-Ascend910B3",
        R"([{"id": "npu-0", "count": 4, "devmem": 65536, "devcore": 20, "type": "Ascend910B3", "numa": -1,
                       "health": true, "custominfo": {"NetworkID": 7, "other": "x"}}])"},
       {"hami-vnpu-core", "true"},
       {"hami.io/node-dcu-register", "DCU-0,4,32768,100,DCU-Z100,0,true:"},
       {"hami.io/node-handshake-dcu", "Deleted_2026-03-07 12:00:00"}},
      {{"nvidia.com/gpu", 30}, {"huawei.com/Ascend910B3", 4}, {"hygon.com/dcunum", 4}});
  const translation read =
      read_objects({n1, gpu_node("n2", 1, 1024), make_node("n3", json::object(), {{"nvidia.com/gpu", 4}})});
  const json row = row_in(read, "node", "n1");
  // GPU-0 and the NPU are in order; the resources of plugins count sharers.
  CHECK(row.at("capacity").dump() == R"({"cpu":64000,"memory":274877906944,"gpu":2000,"pods":110})");
  CHECK(
      row.at("vendor_devices") ==
      json{"id=npu-0,type=Ascend910B3,index=0,numa=0,slots=4,memory=68719476736,cores=20,attribute.NetworkID=7",
           "id=DCU-0,type=DCU-Z100,mode=hami-core,index=0,numa=0,slots=4,memory=34359738368,cores=100,healthy=0",
           "id=GPU-0,type=NVIDIA-A100,mode=hami-core,index=0,numa=0,slots=10,memory=42949672960,cores=100,links=0:0:0:"
           "100:20",
           "id=GPU-1,type=NVIDIA-A100,mode=hami-core,index=1,numa=1,slots=10,memory=42949672960,cores=100,healthy=0",
           "id=GPU-2,type=NVIDIA-A100,mode=hami-core,index=2,numa=0,slots=10,memory=42949672960,cores=100,cordoned=1"});
  CHECK(row.at("device_settings") == json::array({"soft_division=1"}));
  CHECK(row_in(read, "node", "n2").at("gpu_memory") == 1024 * 1024 * 1024);
  const json plain = row_in(read, "node", "n3");
  CHECK(plain.at("capacity").at("gpu") == 4000);
  CHECK_FALSE(plain.contains("vendor_devices"));
}

TEST_CASE("registrations that cannot be read name node and annotation") {
  const auto fault = [](const json& annotations) { return fault_in({make_node("n1", annotations)}); };
  const std::string at = R"(c.json:1: Node n1: metadata.annotations["hami.io/node-nvidia-register"]: )";
  CHECK(fault({{"hami.io/node-nvidia-register", "GPU-0"}}) ==
        at + "expected devices as HAMi registers them, found \"GPU-0\"");
  CHECK(fault({{"hami.io/node-nvidia-register", "G,1,-5,100,NVIDIA,0,true:"}}) ==
        at + "expected memory that is not negative");
  CHECK(fault({{"hami.io/node-nvidia-register", "G,1,5,100,NVIDIA,0,true:G,1,5,100,NVIDIA,0,true:"}}) ==
        at + "device \"G\" is registered twice");
  CHECK(fault({{"hami.io/node-nvidia-register", R"([{"id": "a,cores=9", "type": "NVIDIA"}])"}}).starts_with(at));
  CHECK(fault({{"hami.io/node-nvidia-register", "[{}]"}}).starts_with(at));
  std::string many;
  for (int i = 0; i < 1025; ++i) many += "G" + std::to_string(i) + ",1,5,100,NVIDIA,0,true:";
  CHECK(fault({{"hami.io/node-nvidia-register", many}}) == at + "expected at most 1024 devices");
  CHECK(fault({{"hami.io/node-nvidia-register", "[]"}, {"hami.io/node-nvidia-score", "7"}}) ==
        R"(c.json:1: Node n1: metadata.annotations["hami.io/node-nvidia-score"]: )"
        "expected scores of pairs of devices, found \"7\"");
}

TEST_CASE("resources become requests by the templates of vendors") {
  const json nodes = json::array(
      {gpu_node("n1", 2), gpu_node("n2", 1, 20480),
       make_node(
           "n3",
           {{"hami.io/node-dcu-register", "DCU-0,4,32768,100,DCU-Z100,0,true:"},
            {"hami.io/node-register-Ascend910B3",
             R"([{"id": "npu-0", "count": 4, "devmem": 65536, "devcore": 20, "type": "Ascend910B3", "health": true}])"},
            {"hami.io/node-amd-register",
             R"([{"id": "amd-0", "count": 4, "devmem": 65536, "devcore": 304, "type": "AMD-MI300X", "health": true}])"},
            {"hami.io/node-biren-register",
             R"([{"id": "br-0", "count": 4, "devmem": 0, "devcore": 100, "type": "Biren166M", "health": true}])"}})});
  struct expected_request {
    json limits;
    std::string row;
    std::int64_t gpu;
  };
  const std::string start = R"(["container=0,vendor=)";
  for (const expected_request& one : std::vector<expected_request>{
           // A part in MiB is charged by the largest device.
           {{{"nvidia.com/gpu", 2}, {"nvidia.com/gpumem", 3000}, {"nvidia.com/gpucores", 30}},
            "NVIDIA,count=2,memory=3145728000,cores=30",
            146},
           {{{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem-percentage", 25}}, "NVIDIA,count=1,memory_permille=250", 250},
           // The webhook adds the device, and keeps others off a whole one.
           {{{"nvidia.com/gpumem", "1k"}, {"nvidia.com/priority", 1}}, "NVIDIA,count=1,memory=1048576000", 24},
           {whole_device_limits, "NVIDIA,count=1,memory_permille=1000,cores=100", 1000},
           {{{"nvidia.com/gpu", 3}, {"nvidia.com/gpucores", 10}}, "NVIDIA,count=3,memory_permille=1000,cores=10", 3000},
           {{{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", 1}}, "NVIDIA,count=1,memory=1048576", 1},
           {{{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", 999999}}, "NVIDIA,count=1,memory=1048574951424", 1000},
           {{{"hygon.com/dcunum", 1}, {"hygon.com/dcumem", 8192}, {"hygon.com/dcucores", 20}},
            "DCU,count=1,memory=8589934592,cores=20",
            250},
           // Rounded up to a template.
           {{{"huawei.com/Ascend910B3", 1}, {"huawei.com/Ascend910B3-memory", 10000}},
            "Ascend910B3,count=1,memory=17179869184",
            250},
           {{{"amd.com/gpu", 1}, {"amd.com/gpucores", 50}}, "AMD,count=1,cores=50", 1000},
           // Without memory it is the sharers that count.
           {{{"birentech.com/gpu", 2}}, "Biren,count=2,memory_permille=1000", 500},
       }) {
    CAPTURE(one.limits.dump());
    json objects = nodes;
    objects.push_back(asking("p", one.limits));
    const json row = pod_row_of(objects, "p");
    CHECK(requests_in(row) == start + one.row + "\"]");
    CHECK(row.at("request") == json{{"gpu", one.gpu}, {"pods", 1}});
    CHECK(obstacle_in(row).empty());
  }
}

TEST_CASE("what the webhook would refuse waits, and says why") {
  for (const auto& [limits, why] : std::vector<std::pair<json, std::string>>{
           {{{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem-percentage", 120}},
            "container 'main': nvidia.com/gpumem-percentage is 120, expected from 0 to 100"},
           {{{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", "1.5"}},
            "container 'main': its resources are no request for devices of NVIDIA"},
           {{{"nvidia.com/gpu", 70000}}, "container 'main': it asks for 70000 devices"},
           {{{"nvidia.com/gpu", 1}, {"nvidia.com/gpucores", "1T"}},
            "container 'main': nvidia.com/gpucores is 1000000000000, which is too much"},
       }) {
    const json row = pod_row_of({gpu_node("n1"), asking("p", limits)}, "p");
    CHECK(obstacle_in(row) == why);
    CHECK(requests_in(row) == "[]");
  }
  CHECK(fault_in({gpu_node("n1"), asking("p", {{"nvidia.com/gpu", "x"}})}) ==
        R"(c.json:1: Pod team/p: spec.containers[0].resources.limits["nvidia.com/gpu"]: )"
        "expected a quantity such as 500m or 2Gi, found \"x\"");
}

TEST_CASE("clusters without registrations stay what they are") {
  const json plain = make_node("n1", json::object(), {{"nvidia.com/gpu", 4}});
  const json whole = make_pod("p", json::array({make_container("main", {{"nvidia.com/gpu", 2}})}), "kai-scheduler");
  CHECK(requests_in(pod_row_of({plain, whole}, "p")) == "[]");
  CHECK(gpu_in(pod_row_of({plain, whole}, "p")) == 2000);
  CHECK(pod_row_of({plain, asking("p", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", 1000}})}, "p").at("gpu_memory") ==
        1000 * 1024 * 1024);
  // Devices of one vendor say nothing about another's.
  const json dcu = make_node("n2", {{"hami.io/node-dcu-register", "DCU-0,4,32768,100,DCU-Z100,0,true:"}});
  CHECK(requests_in(pod_row_of({plain, dcu, whole}, "p")) == "[]");
  // Where some nodes register GPUs and others have them without, whole ones are for both; HAMi sees only its own.
  CHECK(requests_in(pod_row_of({plain, gpu_node("n2"), whole}, "p")) == "[]");
  CHECK(requests_in(pod_row_of({gpu_node("n2"), whole}, "p")) != "[]");
  CHECK(requests_in(pod_row_of({plain, gpu_node("n2"), asking("p", {{"nvidia.com/gpu", 2}})}, "p")) != "[]");
  CHECK(obstacle_in(pod_row_of({gpu_node("n2"), asking("p", {{"nvidia.com/gpu", 2}, {"amd.com/gpu", 1}})}, "p")) ==
        "GPUs that are registered and GPUs that are not cannot be for one pod");
}

TEST_CASE("containers keep their places") {
  json pod = make_pod("p", {make_container("a", whole_device_limits), make_container("b", json::object()),
                            make_container("c", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem-percentage", 30}})});
  json sidecar = make_container("sidecar", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem-percentage", 20}});
  sidecar["restartPolicy"] = "Always";
  pod["spec"]["initContainers"] = json::array({sidecar, make_container("first", {{"nvidia.com/gpu", 2}})});
  const json objects{gpu_node("n1", 4), pod};
  const json row = pod_row_of(objects, "p");
  CHECK(requests_in(row) == R"(["container=0,init=1,vendor=NVIDIA,count=2,memory_permille=1000,cores=100",)"
                            R"("container=1,vendor=NVIDIA,count=1,memory_permille=200",)"
                            R"("container=2,vendor=NVIDIA,count=1,memory_permille=1000,cores=100",)"
                            R"("container=4,vendor=NVIDIA,count=1,memory_permille=300"])");
  CHECK(gpu_in(row) == 2000);  // of the one that runs first, as the others have 1500 together
  const translation read = read_objects(objects);
  const played made = play(read, "kai");
  const std::string text = patches_of(made, read).at("team/p").at("hami.io/vgpu-devices-allocated");
  const std::optional<hami_grants> grants = decode_hami_grants(text);
  REQUIRE(grants);
  REQUIRE(grants->size() == 5);
  std::vector<std::size_t> counts;
  for (const auto& container : *grants) counts.push_back(container.size());
  CHECK(counts == std::vector<std::size_t>{1, 2, 1, 0, 1});
  CHECK(grants->at(0).front().memory == 8192);
  CHECK(grants->at(4).front().type == "NVIDIA");
  std::set<std::string> distinct;
  for (const auto& container : *grants) {
    for (const hami_grant& one : container) distinct.insert(one.id);
  }
  const json kai = json::parse(*format_actions(made.run, read.names, binding_form::kai));
  const json& request = kai.at("items").at(1);
  CHECK(request.at("kind") == "BindRequest");
  CHECK(request.at("spec").at("receivedGPU").at("count") == distinct.size());
}

TEST_CASE("only annotations that rules read are kept") {
  json pod = asking("p", whole_device_limits);
  pod["metadata"]["annotations"] = {{"nvidia.com/use-gputype", "A100"},
                                    {"hami.io/gpu-scheduler-policy", "binpack"},
                                    {"hygon.com/use-dcutype", "Z100"},
                                    {"example.com/commit", "1234"}};
  CHECK(pod_row_of({gpu_node("n1"), pod}, "p").at("annotations") ==
        json{"hami.io/gpu-scheduler-policy=binpack", "nvidia.com/use-gputype=A100"});
}

TEST_CASE("what pods have") {
  const json part{{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", 1000}};
  const auto has = [&](const json& pod) { return pod_row_of({gpu_node("n1"), pod}, "p"); };
  const json here{{"hami.io/vgpu-devices-allocated", "n1-GPU-1,NVIDIA,1000,30:;"}};
  CHECK(has(running(asking("p", part), "n1", here)).at("device_grants") ==
        json::array({"container=0,device=n1-GPU-1,memory=1048576000,cores=30,slots=1"}));
  // Other schedulers' pods use devices too, even where their resources say nothing.
  const json other = has(
      running(make_pod("p", json::array({make_container("main", json::object())}), "default-scheduler"), "n1", here));
  CHECK(other.at("device_grants") == json::array({"container=0,device=n1-GPU-1,memory=1048576000,cores=30,slots=1"}));
  CHECK(requests_in(other) == R"(["container=0,vendor=NVIDIA,count=1,memory=1048576000,cores=30"])");
  // Of devices that are gone nothing is left; what cannot be read is as if it were not there.
  for (const char* text : {"GPU-9,NVIDIA,1000,0:;", "n1-GPU-1,NVIDIA,x,0:;", ""}) {
    const json row = has(running(asking("p", part), "n1", {{"hami.io/vgpu-devices-allocated", text}}));
    CHECK_FALSE(row.contains("device_grants"));
  }
  // A divided device.
  json records = json::array({gpu_record("n1-GPU-0", 0, 81920, "mig")});
  records[0]["type"] = "NVIDIA-A100-SXM4-80GB";
  const json divided = make_node("n1", {{"hami.io/node-nvidia-register", records.dump()}});
  const json on_it = running(asking("p", part), "n1",
                             {{"hami.io/vgpu-devices-allocated", "n1-GPU-0,NVIDIA,9856,14:;"},
                              {"hami.io/vgpu-mig-allocations",
                               R"([{"containerIndex": 0, "deviceIndex": 0, "gpuUUID": "n1-GPU-0", "profile": "1g.10gb",
                                    "placement": {"start": 6, "size": 1}}])"}});
  CHECK(
      pod_row_of({divided, on_it}, "p").at("device_grants") ==
      json::array({"container=0,device=n1-GPU-0,memory=10334765056,cores=14,slots=1,profile=1g.10gb,start=6,size=1"}));
}

TEST_CASE("use by pods of other schedulers is use") {
  const json whole = make_pod("other", json::array({make_container("main", whole_device_limits)}), "default-scheduler");
  json objects{gpu_node("n1", 1),
               running(whole, "n1", {{"hami.io/vgpu-devices-allocated", "n1-GPU-0,NVIDIA,40960,100:;"}}),
               asking("p", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", 1000}})};
  CHECK(play(read_objects(objects), "hami").nodes.empty());
  const json part =
      make_pod("other", json::array({make_container("main", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", 30000}})}),
               "default-scheduler");
  objects[1] = running(part, "n1", {{"hami.io/vgpu-devices-allocated", "n1-GPU-0,NVIDIA,30000,0:;"}});
  CHECK(play(read_objects(objects), "hami").nodes.count("team/p") == 1);
}

TEST_CASE("a pod that is being bound keeps its devices") {
  json pod = asking("p", whole_device_limits);
  json n1 = gpu_node("n1", 1);
  n1["status"]["conditions"] =
      json::array({json{{"type", "Ready"}, {"status", "True"}, {"lastHeartbeatTime", "2026-03-07T12:00:00Z"}}});
  const auto status = [&](const std::string& phase, std::int64_t since) {
    pod["metadata"]["annotations"] = {{"hami.io/vgpu-node", "n1"},
                                      {"hami.io/vgpu-time", std::to_string(since)},
                                      {"hami.io/bind-phase", phase},
                                      {"hami.io/vgpu-devices-allocated", "n1-GPU-0,NVIDIA,40960,100:;"}};
    return pod_row_of({n1, pod}, "p").value("status", std::string("pending"));
  };
  CHECK(status("allocating", 1'772'884'750) == "binding");
  CHECK(status("failed", 1'772'884'750) == "pending");
  CHECK(status("allocating", 1'772'884'400) == "pending");  // given up
}

TEST_CASE("quotas of namespaces") {
  const auto quota = [](const std::string& name, const json& hard) {
    return json{{"apiVersion", "v1"},
                {"kind", "ResourceQuota"},
                {"metadata", {{"namespace", "team"}, {"name", name}}},
                {"spec", {{"hard", hard}}}};
  };
  const json objects{gpu_node("n1"), asking("p", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", 3000}}),
                     quota("a", {{"limits.nvidia.com/gpumem", 2000}, {"limits.cpu", 3}}),
                     quota("b", {{"limits.nvidia.com/gpumem", 4000}, {"limits.nvidia.com/gpucores", 50}}),
                     quota("c", {{"requests.nvidia.com/gpu", 1}})};
  const translation read = read_objects(objects);
  const json all = json::parse(*io::format_cluster_json(cluster_of(read).take_snapshot(), 0));
  CHECK(all.at("device_quota").dump() == R"([{"namespace":"team","vendor":"NVIDIA","memory":2097152000,"cores":50}])");
  CHECK(play(read, "hami").nodes.empty());
  CHECK(fault_in({gpu_node("n1"), quota("a", {{"limits.nvidia.com/gpumem", "5P"}})}) ==
        R"(c.json:1: ResourceQuota team/a: spec.hard["limits.nvidia.com/gpumem"]: the quantity "5P" is too large)");
}

TEST_CASE("vendors of one's own") {
  settings chosen;
  REQUIRE(set(chosen, "vendors", R"({"schema": "kaisched-vendor/1", "vendors": [{
    "key": "Acme", "resources": {"count": "acme.com/npu", "memory": "acme.com/blocks"},
    "annotations": {"registered": "acme.com/npus", "allocated": "acme.com/has"},
    "requests": {"memory_unit_mib": 128, "default_permille": 1000}, "checks": ["health", "slots", "memory"]}]})"));
  const json objects{make_node("n1", {{"acme.com/npus", "a,2,1024,0,Acme-1,0,true:"}}),
                     asking("p", {{"acme.com/npu", 1}, {"acme.com/blocks", 2}})};
  CHECK(requests_in(pod_row_of(objects, "p", chosen)) == R"(["container=0,vendor=Acme,count=1,memory=268435456"])");
  CHECK(gpu_in(pod_row_of(objects, "p", chosen)) == 250);
  CHECK(requests_in(pod_row_of(objects, "p")) == "[]");
  CHECK(set(chosen, "vendors", "{}").failure().message.starts_with("vendors:1: schema"));
}

TEST_CASE("decisions become annotations, and these the same grants") {
  int bound = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    drawing from(seed);
    json objects = json::array();
    for (int n = 0; n < 3; ++n) {
      const int mebibytes = from.flag() ? 40960 : 24576;
      objects.push_back(gpu_node("n" + std::to_string(n), 1 + static_cast<int>(from.below(4)), mebibytes));
    }
    json records = json::array({gpu_record("n3-GPU-0", 0, 81920, "mig")});
    records[0]["type"] = "NVIDIA-A100-SXM4-80GB";
    objects.push_back(make_node("n3", {{"hami.io/node-nvidia-register", records.dump()},
                                       {"hami.io/node-dcu-register", "D0,4,32768,100,DCU-Z100,0,true:"}}));
    for (int p = 0; p < 8; ++p) {
      json containers = json::array();
      for (std::size_t c = 1 + from.below(3); c > 0; --c) {
        json limits = json::object();
        if (from.below(5) == 0) {
          limits = {{"hygon.com/dcunum", 1}, {"hygon.com/dcumem", 1 + from.below(20000)}};
        } else if (from.below(4) != 0) {
          limits["nvidia.com/gpu"] = 1 + from.below(2);
          if (from.flag()) {
            limits["nvidia.com/gpumem"] = 1 + from.below(20000);
          } else if (from.flag()) {
            limits["nvidia.com/gpumem-percentage"] = 1 + from.below(100);
          }
          if (from.flag()) limits["nvidia.com/gpucores"] = from.below(101);
        }
        containers.push_back(make_container("c" + std::to_string(c), limits));
      }
      json pod = make_pod("p" + std::to_string(p), containers, from.flag() ? "hami-scheduler" : "kai-scheduler");
      if (from.below(3) == 0)
        pod["spec"]["initContainers"] = json::array({make_container("first", whole_device_limits)});
      objects.push_back(std::move(pod));
    }
    const translation read = read_objects(objects);
    const played made = play(read, seed % 3 == 0 ? "kai" : seed % 3 == 1 ? "hami-binpack" : "hami-spread");
    const std::map<std::string, json> patches = patches_of(made, read);
    for (json& one : objects) {
      const std::string name = "team/" + one.at("metadata").at("name").get<std::string>();
      if (one.at("kind") != "Pod") continue;
      const json row = row_in(read, "pod", name);
      std::int64_t devices = 0;
      for (const json& text : row.value("device_requests", json::array())) {
        const std::string request = text;
        devices += std::stoll(request.substr(request.find("count=") + 6));
      }
      CHECK(gpu_in(row) <= devices * 1000);
      CHECK((gpu_in(row) >= 1) == (devices > 0));
      if (made.nodes.count(name) == 0) continue;
      one = running(one, made.nodes.at(name), patches.count(name) == 0 ? json::object() : patches.at(name));
    }
    const translation again = read_objects(objects);
    for (const auto& [name, node] : made.nodes) {
      const json row = row_in(again, "pod", name);
      CAPTURE(row.dump());
      const auto had = made.grants.find(name);
      CHECK(row.value("device_grants", json::array()) ==
            (had == made.grants.end() ? json::array() : json(had->second)));
      bound += had == made.grants.end() ? 0 : 1;
    }
    // What is decided once holds: nobody else gets what these have.
    const played more = play(again, "kai");
    for (const auto& [name, node] : more.nodes) CHECK(made.nodes.count(name) == 0);
  }
  CHECK(bound > 100);
}

}  // namespace of_test_io_kubernetes_hami
