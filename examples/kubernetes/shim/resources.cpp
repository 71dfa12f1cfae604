#include "resources.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "http_client.hpp"

namespace shim {

namespace {

constexpr std::array<resource, 10> watched{{
    {"Node", "v1", "nodes", true},
    {"PriorityClass", "scheduling.k8s.io/v1", "priorityclasses", true},
    {"Queue", "scheduling.run.ai/v2", "queues", false},
    {"Topology", "kai.scheduler/v1alpha1", "topologies", false},
    {"PodGroup", "scheduling.run.ai/v2alpha2", "podgroups", false},
    {"Job", "batch/v1", "jobs", false},
    {"ReplicaSet", "apps/v1", "replicasets", false},
    {"StatefulSet", "apps/v1", "statefulsets", false},
    {"BindRequest", "scheduling.run.ai/v1alpha2", "bindrequests", false},
    {"Pod", "v1", "pods", true},
}};

}  // namespace

std::span<const resource> watched_resources() { return watched; }

std::string collection(const resource& of) { return place(of, {}, {}); }

std::string place(const resource& of, std::string_view name_space, std::string_view name) {
  std::string target = fmt::format("/{}/{}", of.version == "v1" ? "api" : "apis", of.version);
  if (!name_space.empty()) target += fmt::format("/namespaces/{}", encoded(name_space));
  target += fmt::format("/{}", of.plural);
  if (!name.empty()) target += fmt::format("/{}", encoded(name));
  return target;
}

const resource& resource_of(std::string_view kind) {
  const auto* const found =
      std::find_if(watched.begin(), watched.end(), [&](const resource& one) { return one.kind == kind; });
  if (found == watched.end()) throw std::logic_error(fmt::format("no such kind: {}", kind));
  return *found;
}

}  // namespace shim
