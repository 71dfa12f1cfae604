#include "sharing/shared_pod.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "api_server/credentials.hpp"
#include "api_server/object_fields.hpp"

namespace shim {

namespace {

using nlohmann::json;

const json* map_of(const json& object, const char* part) {
  const json::json_pointer path(fmt::format("/metadata/{}", part));
  return object.contains(path) && object[path].is_object() ? &object[path] : nullptr;
}

}  // namespace

std::vector<std::string> gpu_group_labels_of(const json& object) {
  std::vector<std::string> keys;
  const json* const labels = map_of(object, "labels");
  if (labels == nullptr) return keys;
  const std::string_view prefix = gpu_group_label;
  for (const auto& [key, value] : labels->items()) {
    const bool is_one = key.starts_with(prefix) && (key.size() == prefix.size() || key[prefix.size()] == '/');
    if (is_one && value.is_string()) keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> gpu_groups_of(const json& object) {
  std::vector<std::string> groups;
  for (const std::string& key : gpu_group_labels_of(object)) {
    groups.push_back(object["metadata"]["labels"][key].get<std::string>());
  }
  std::ranges::sort(groups);
  const auto [first, last] = std::ranges::unique(groups);
  groups.erase(first, last);
  return groups;
}

std::string annotation_of(const json& object, const std::string& key) {
  const json* const annotations = map_of(object, "annotations");
  if (annotations == nullptr) return {};
  const auto found = annotations->find(key);
  return found != annotations->end() && found->is_string() ? found->get<std::string>() : std::string{};
}

bool asks_for_gpu_part(const json& pod) {
  const json* const annotations = map_of(pod, "annotations");
  return annotations != nullptr &&
         (annotations->contains(gpu_fraction_annotation) || annotations->contains(gpu_memory_annotation));
}

json::json_pointer container_place::path() const { return json::json_pointer(fmt::format("/spec/{}/{}", list, index)); }

container_place fraction_container(const json& pod) {
  constexpr const char* key = "gpu-fraction-container-name";
  const std::string named = annotation_of(pod, key);
  for (const char* list : {"initContainers", "containers"}) {
    const json& all = list_at(pod, fmt::format("/spec/{}", list).c_str());
    if (named.empty() && std::string_view(list) == "containers" && !all.empty()) return {list, 0};
    if (named.empty()) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].is_object() && all[i].value("name", "") == named) return {list, i};
    }
  }
  if (named.empty()) throw bad_input("spec.containers: is empty");
  throw bad_input(fmt::format("metadata.annotations.{}: there is no container \"{}\"", key, named));
}

map_names shared_map_names(const json& pod, const container_place& at) {
  const std::string prefix = annotation_of(pod, shared_map_annotation);
  if (prefix.empty()) return {};
  const bool init = std::string_view(at.list) == "initContainers";
  const std::string capabilities = fmt::format("{}-{}{}", prefix, init ? "i" : "", at.index);
  return {capabilities, capabilities + "-evar"};
}

bool refers_to_map(const json& container, const std::string& variable) {
  if (!container.contains("env") || !container["env"].is_array()) return false;
  return std::any_of(container["env"].begin(), container["env"].end(), [&](const json& one) {
    return one.is_object() && one.value("name", "") == variable &&
           one.contains(json::json_pointer("/valueFrom/configMapKeyRef"));
  });
}

}  // namespace shim
