#include "webhook/share_admission.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string_view>

#include <fmt/format.h>

#include "api_server/object_fields.hpp"
#include "api_server/text_parts.hpp"
#include "sharing/shared_pod.hpp"
#include "watch/object_store.hpp"

namespace shim {

namespace {

using nlohmann::json;

bool has_annotation(const json& pod, const char* key) {
  const json::json_pointer path("/metadata/annotations");
  return pod.contains(path) && pod[path].is_object() && pod[path].contains(key);
}

bool is_count(const std::string& text) { return read_number<std::uint64_t>(text).value_or(0) > 0; }

bool is_part(const std::string& text) {
  const double number = read_number<double>(text).value_or(0);
  return number > 0 && number < 1;
}

bool asks_for_whole_gpu(const json& pod) {
  const json::json_pointer limit("/resources/limits/nvidia.com~1gpu");
  return std::ranges::any_of(std::array{"/spec/initContainers", "/spec/containers"}, [&](const char* list) {
    return std::ranges::any_of(list_at(pod, list), [&](const json& one) { return one.contains(limit); });
  });
}

/// Of a config map and, with more behind it, of a volume: 63 characters, and no dots.
std::string new_prefix(const json& pod) {
  constexpr std::size_t longest = 30;
  constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
  std::string base;
  for (const char* path : {"/metadata/ownerReferences/0/name", "/metadata/name", "/metadata/generateName"}) {
    if (base = text_at(pod, path); !base.empty()) break;
  }
  base = base.empty() ? "pod" : base.substr(0, longest);
  std::ranges::replace(base, '.', '-');
  std::random_device source;
  std::uniform_int_distribution<std::size_t> drawn(0, letters.size() - 1);
  base += '-';
  for (int i = 0; i < 7; ++i) base += letters[drawn(source)];
  return base + "-shared-gpu";
}

/// In place of what the pod says about it.
void refer(json& container, const char* variable, const std::string& map) {
  const json wanted{{"name", variable}, {"valueFrom", {{"configMapKeyRef", {{"name", map}, {"key", variable}}}}}};
  json kept = json::array();
  if (container.contains("env") && container["env"].is_array()) {
    for (json& one : container["env"]) {
      if (one == wanted) return;
      if (!one.is_object() || one.value("name", "") != variable) kept.push_back(one);
    }
  }
  kept.push_back(wanted);
  container["env"] = std::move(kept);
}

void add_once(json& list, json what) {
  if (list.is_null()) list = json::array();
  if (std::find(list.begin(), list.end(), what) == list.end()) list.push_back(std::move(what));
}

}  // namespace

std::string fault_of_sharer(const json& pod) {
  constexpr const char* count = "gpu-fraction-num-devices";
  const bool by_part = has_annotation(pod, gpu_fraction_annotation);
  const bool by_memory = has_annotation(pod, gpu_memory_annotation);
  if (by_part && by_memory) return "annotations gpu-fraction and gpu-memory: only one of them may be there";
  if (asks_for_whole_gpu(pod)) return "resources.limits.nvidia.com/gpu: not together with a part of a GPU";
  const auto wrong = [&](const char* key, const char* expected) {
    return fmt::format("metadata.annotations.{}: expected {}, found \"{}\"", key, expected, annotation_of(pod, key));
  };
  if (by_part && !is_part(annotation_of(pod, gpu_fraction_annotation)))
    return wrong(gpu_fraction_annotation, "a number between 0 and 1");
  if (by_memory && !is_count(annotation_of(pod, gpu_memory_annotation)))
    return wrong(gpu_memory_annotation, "a number of MiB");
  if (has_annotation(pod, count) && !is_count(annotation_of(pod, count))) return wrong(count, "a number of devices");
  return {};
}

std::string admit_sharer(const share_admission& by, json& pod) {
  if (annotation_of(pod, shared_map_annotation).empty()) {
    pod["metadata"]["annotations"][shared_map_annotation] = new_prefix(pod);
  }
  const container_place at = fraction_container(pod);
  const map_names maps = shared_map_names(pod, at);
  json& container = pod[at.path()];
  for (const char* variable : {visible_devices, number_of_gpus, gpu_portion}) {
    refer(container, variable, maps.capabilities);
  }
  add_once(container["envFrom"], {{"configMapRef", {{"name", maps.variables}, {"optional", false}}}});
  add_once(pod["spec"]["volumes"],
           {{"name", maps.capabilities + "-vol"}, {"configMap", {{"name", maps.capabilities}}}});
  if (!by.runtime_class.empty() && text_at(pod, "/spec/runtimeClassName").empty()) {
    pod["spec"]["runtimeClassName"] = by.runtime_class;
  }
  return maps.capabilities;
}

}  // namespace shim
