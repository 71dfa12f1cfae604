/// A kubelet for tests in other languages: takes registrations in a folder, then does what lines of its input say and
/// answers each with a line. All are JSON.
///   {"allocate": [["GPU-a::0"]]}, {"prefer": {"available": [], "must": [], "size": 1}}, {"list": true}
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "kubelet.hpp"

namespace {

using kubelet_of_tests::connection;
using nlohmann::json;

json fault(const grpc::Status& of) { return {{"error", of.error_code()}, {"message", of.error_message()}}; }

json answer_of(const v1beta1::AllocateResponse& got) {
  json all = json::array();
  for (const v1beta1::ContainerAllocateResponse& one : got.containers()) {
    json container{{"envs", json::object()}, {"mounts", json::object()}, {"devices", json::array()}};
    for (const auto& [name, value] : one.envs()) container["envs"][name] = value;
    for (const v1beta1::Mount& mount : one.mounts())
      container["mounts"][mount.container_path()] = {mount.host_path(), mount.read_only()};
    for (const v1beta1::DeviceNode& device : one.devices()) container["devices"].push_back(device.container_path());
    all.push_back(std::move(container));
  }
  return {{"containers", std::move(all)}};
}

json allocate(connection& to, const json& containers) {
  v1beta1::AllocateResponse got;
  const grpc::Status done =
      kubelet_of_tests::allocate(*to, containers.get<std::vector<std::vector<std::string>>>(), got);
  return done.ok() ? answer_of(got) : fault(done);
}

json prefer(connection& to, const json& wish) {
  v1beta1::PreferredAllocationRequest request;
  auto& one = *request.add_containers();
  for (const auto& id : wish["available"]) one.add_available_ids(id.get<std::string>());
  for (const auto& id : wish["must"]) one.add_must_include_ids(id.get<std::string>());
  one.set_allocation_size(wish["size"].get<int>());
  v1beta1::PreferredAllocationResponse got;
  grpc::ClientContext context;
  const grpc::Status done = (*to).GetPreferredAllocation(&context, request, &got);
  if (!done.ok()) return fault(done);
  json ids = json::array();
  for (const std::string& id : got.containers(0).ids()) ids.push_back(id);
  return {{"ids", std::move(ids)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const kubelet_of_tests::kubelet node(argv[1]);
  while (node.registered().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const v1beta1::RegisterRequest told = node.registered().front();
  std::cout << json{{"resource", told.resource_name()}, {"endpoint", told.endpoint()}} << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
    connection to(argv[1]);  // anew: the plugin may have been started again
    const json what = json::parse(line);
    json answer;
    if (what.contains("allocate")) answer = allocate(to, what["allocate"]);
    if (what.contains("prefer")) answer = prefer(to, what["prefer"]);
    if (what.contains("list")) {
      while (to.lists() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      answer = to.health();
    }
    std::cout << answer << std::endl;
  }
}
