#include "sharing/gpu_sharing.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api_server/requests.hpp"
#include "api_server/text_parts.hpp"
#include "sharing/shared_pod.hpp"

namespace shim {

namespace {

using nlohmann::json;

/// What is decided about a pod that shares; null for others, and for those whose parts a plug-in of their node gives.
const json* sharing_of(const binding& of, const json& pod) {
  if (!asks_for_gpu_part(pod)) return nullptr;
  const auto found = std::ranges::find_if(of.before, [](const json& one) { return !gpu_groups_of(one).empty(); });
  return found == of.before.end() ? nullptr : &*found;
}

/// What an answer means that is not the one that was wanted. Requests are the same when they are sent again.
step trouble(const std::string& what, const response& answer) {
  const bool again = answer.status >= 500 || answer.status == 429;
  return {again ? progress::wait : progress::failed, fmt::format("{}: {}", what, server_words(answer))};
}

std::optional<std::int64_t> whole(const std::string& text) {
  const auto number = read_number<std::int64_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

/// MiB of one device of a node, as KAI reads the label.
std::optional<std::int64_t> device_memory(const json& node) {
  constexpr std::int64_t most_mebibytes = std::int64_t{1} << 30U;  // beyond that they are bytes
  std::optional<std::int64_t> memory = whole(text_at(node, "/metadata/labels/nvidia.com~1gpu.memory"));
  if (memory && *memory > most_mebibytes) *memory >>= 20U;
  return memory && *memory > 0 ? memory : std::nullopt;
}

/// Hundredths of `0.25`.
std::int64_t hundredths(const std::string& portion) {
  std::string digits = portion;
  std::erase(digits, '.');
  return whole(digits).value_or(0);
}

bool is_owned_by(const json& object, const std::string& uid) {
  return std::ranges::any_of(list_at(object, "/metadata/ownerReferences"),
                             [&](const json& one) { return one.is_object() && one.value("uid", "") == uid; });
}

std::string place_of_map(const binding& of, const std::string& name = {}) {
  std::string target = fmt::format("/api/v1/namespaces/{}/configmaps", encoded(split_name(of.pod).first));
  if (!name.empty()) target += fmt::format("/{}", encoded(name));
  return target;
}

}  // namespace

bool gpu_sharing::takes(const json& object) const {
  return object.value("kind", "") == "Pod" && !gpu_groups_of(object).empty();
}

step gpu_sharing::prepare(const binding& of) {
  const json pod = store_.find(pod_key, of.pod);
  const json* const decided = sharing_of(of, pod);
  if (decided == nullptr) return {};
  const devices reserved = reserve(of, gpu_groups_of(*decided), pod);
  if (reserved.state.how != progress::done) return reserved.state;
  if (step labelled = label(of, *decided, pod); labelled.how != progress::done) return labelled;
  try {
    return tell_container(of, *decided, pod, reserved.names);
  } catch (const bad_input& fault) {
    return {progress::failed, fault.what()};
  }
}

/// All at once, so that their devices come in the time of one.
gpu_sharing::devices gpu_sharing::reserve(const binding& of, const std::vector<std::string>& groups, const json& pod) {
  const json::json_pointer path("/spec/tolerations");
  const json tolerations = pod.contains(path) ? pod[path] : json();
  devices made;
  for (const std::string& group : groups) {
    reservations::answer one = from_.reserve(group, of.node, tolerations);
    if (one.state.how == progress::failed) return {std::move(one.state), {}};
    if (one.state.how == progress::wait && made.state.how == progress::done) made.state = std::move(one.state);
    made.names.push_back(std::move(one.device));
  }
  return made;
}

step gpu_sharing::label(const binding& of, const json& decided, const json& pod) {
  json metadata{{"labels", decided["metadata"]["labels"]}, {"annotations", decided["metadata"]["annotations"]}};
  for (const std::string& key : gpu_group_labels_of(pod)) {
    if (!metadata["labels"].contains(key)) metadata["labels"][key] = nullptr;  // of an older decision
  }
  bool is_there = true;
  for (const auto& [part, entries] : metadata.items()) {
    const json::json_pointer path(fmt::format("/metadata/{}", part));
    const json has = pod.contains(path) ? pod[path] : json::object();
    for (const auto& [key, value] : entries.items()) {
      is_there = is_there && (value.is_null() ? !has.contains(key) : has.contains(key) && has[key] == value);
    }
  }
  if (is_there) return {};
  const response answer = patch_metadata(of, std::move(metadata));
  return answer.ok() ? step{} : trouble("labels", answer);
}

response gpu_sharing::patch_metadata(const binding& of, json metadata) {
  metadata["uid"] = of.uid;
  response answer = send_(patch_of(place_of(pod_key, of.pod), {{"metadata", std::move(metadata)}}));
  if (answer.ok()) store_.put_newer(resource_of(pod_key), json::parse(answer.body));
  return answer;
}

json gpu_sharing::limits(const binding& of, const json& pod, const json& container, const std::string& portion) const {
  std::optional<std::int64_t> limit;
  if (annotation_of(pod, gpu_fraction_annotation).empty()) limit = whole(annotation_of(pod, gpu_memory_annotation));
  if (!limit) {
    if (const auto memory = device_memory(store_.find("Node", of.node))) limit = *memory * hundredths(portion) / 100;
  }
  json made = json::object();
  for (const char* key : {memory_limit, cuda_memory_limit}) {
    if (limit) {
      made[key] = fmt::format("{}m", *limit);
    } else if (refers_to_map(container, key)) {
      throw bad_input(
          fmt::format("node {}: label nvidia.com/gpu.memory is missing: how much memory the pod may use "
                      "nobody knows",
                      of.node));
    }
  }
  return made;
}

step gpu_sharing::tell_container(const binding& of, const json& decided, const json& pod,
                                 const std::vector<std::string>& names) {
  const container_place at = fraction_container(pod);
  const map_names maps = shared_map_names(pod, at);
  if (maps.capabilities.empty())
    return {progress::failed, fmt::format("annotation {} is missing", shared_map_annotation)};
  const json& container = pod[at.path()];
  const std::string portion = annotation_of(decided, portion_annotation);
  std::vector<std::string> shown;
  for (const std::string& one : names) shown.push_back(by_.cdi ? "k8s.device-plugin.nvidia.com/gpu=" + one : one);

  json capabilities = limits(of, pod, container, portion);
  json variables = json::object();
  capabilities[gpu_portion] = portion;
  capabilities[number_of_gpus] = portion;
  (refers_to_map(container, visible_devices) ? capabilities : variables)[visible_devices] =
      fmt::format("{}", fmt::join(shown, ","));
  if (step made = write_map(of, maps.capabilities, capabilities); made.how != progress::done) return made;
  return write_map(of, maps.variables, variables);
}

step gpu_sharing::write_map(const binding& of, const std::string& name, const json& data) {
  const auto [name_space, pod] = split_name(of.pod);
  const json map{
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata",
       {{"namespace", name_space},
        {"name", name},
        {"ownerReferences", json::array({{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", pod}, {"uid", of.uid}}})}}},
      {"data", data}};
  const std::string words = fmt::format("config map {}/{}", name_space, name);
  const response answer = send_(with_object("POST", place_of_map(of), map));
  if (answer.ok()) return {};
  if (answer.status != 409) return trouble(words, answer);
  // Of an earlier try, else somebody else's, which a pod must not make this program write.
  const std::string target = place_of_map(of, name);
  const response there = send_({.target = target});
  if (there.status == 404) return {progress::wait, words + ": goes"};
  if (!there.ok()) return trouble(words, there);
  if (!is_owned_by(json::parse(there.body), of.uid)) return {progress::failed, words + ": is there and not the pod's"};
  const response patched = send_(patch_of(target, {{"data", data}}));
  return patched.ok() ? step{} : trouble(words, patched);
}

void gpu_sharing::drop_map(const binding& of, const std::string& name) {
  if (name.empty()) return;
  request what{.target = place_of_map(of, name)};
  const response there = send_(what);
  if (!there.ok() || !is_owned_by(json::parse(there.body), of.uid)) return;
  what.method = "DELETE";
  const response answer = send_(what);
  if (!answer.ok() && answer.status != 404) log_(fmt::format("config map {}: {}", name, server_words(answer)));
}

void gpu_sharing::undo(const binding& of) {
  const json pod = store_.find(pod_key, of.pod);
  // Without labels it has not come to config maps; those of a pod that is gone go with it.
  if (text_at(pod, "/metadata/uid") != of.uid || !text_at(pod, "/spec/nodeName").empty()) return;
  const std::vector<std::string> labels = gpu_group_labels_of(pod);
  if (sharing_of(of, pod) == nullptr || labels.empty()) return;
  try {
    const map_names maps = shared_map_names(pod, fraction_container(pod));
    drop_map(of, maps.variables);
    drop_map(of, maps.capabilities);
    json metadata{{"annotations", {{"received-resource-type", nullptr}, {portion_annotation, nullptr}}}};
    for (const std::string& key : labels) metadata["labels"][key] = nullptr;
    const response answer = patch_metadata(of, std::move(metadata));
    if (!answer.ok() && answer.status != 404) {
      log_(fmt::format("pod {}: labels: {}", of.pod, server_words(answer)));
    }
  } catch (const cancelled&) {
    throw;
  } catch (const std::exception& fault) {  // what is left behind is written over by the next try
    log_(fmt::format("pod {}: undo: {}", of.pod, fault.what()));
  }
}

}  // namespace shim
