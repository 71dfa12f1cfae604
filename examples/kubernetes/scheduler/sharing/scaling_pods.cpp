#include "sharing/scaling_pods.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "api_server/clock_text.hpp"
#include "api_server/requests.hpp"
#include "api_server/text_parts.hpp"
#include "binding/explainer.hpp"
#include "sharing/shared_pod.hpp"

namespace shim {

namespace {

using nlohmann::json;
using clock = std::chrono::steady_clock;

// As KAI calls them.
constexpr const char* scaling_app = "scaling-pod";
constexpr const char* source_name = "shared-gpu-pod-name";
constexpr const char* source_namespace = "shared-gpu-pod-namespace";

constexpr const char* source_uid = "kaisched.io/shared-gpu-pod-uid";
constexpr std::int64_t one_device = 1'000'000;  // in millionths

/// What is left of containers that are never run.
json asking(const json& containers, const std::string& image) {
  json made = json::array();
  if (!containers.is_array()) return made;
  for (const json& one : containers) {
    json left{{"name", fmt::format("{}-{}", scaling_app, made.size())}, {"image", image}};
    const json requests = section(one, "/resources/requests");
    if (!requests.empty()) left["resources"]["requests"] = requests;
    if (one.is_object() && one.contains("restartPolicy")) left["restartPolicy"] = one["restartPolicy"];
    made.push_back(std::move(left));
  }
  return made;
}

/// Terms about pods that name no namespace mean that of the pod itself.
void name_namespaces(json& affinity, const std::string& name_space) {
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    if (!affinity.contains(kind) || !affinity[kind].is_object()) continue;
    for (auto& [form, terms] : affinity[kind].items()) {
      if (!terms.is_array()) continue;
      for (json& weighted : terms) {
        if (!weighted.is_object()) continue;
        json& term = weighted.contains("podAffinityTerm") ? weighted["podAffinityTerm"] : weighted;
        if (!term.contains("namespaces") && !term.contains("namespaceSelector"))
          term["namespaces"] = json::array({name_space});
      }
    }
  }
}

bool says_that_it_waits(const json& pod) {
  const json conditions = section(pod, "/status").value("conditions", json());
  return std::any_of(conditions.begin(), conditions.end(),
                     [](const json& one) { return text_at(one, "/type") == "PodScheduled"; });
}

}  // namespace

scaling_pods::scaling_pods(const configuration& by, object_store& store, send_function send, log_function log)
    : by_(by), store_(store), send_(std::move(send)), log_(std::move(log)), scheduler_(by.scheduler_name) {
  if (!by.node_pool.empty()) scheduler_ += "-" + by.node_pool;
  scheduler_ += "-scaling";
}

std::optional<scaling_pods::source> scaling_pods::read_source(const json& pod) const {
  constexpr std::int64_t most_devices = 1024;
  if (!asks_for_gpu_part(pod)) return std::nullopt;
  const std::string count = annotation_of(pod, "gpu-fraction-num-devices");
  const std::optional<std::int64_t> devices = count.empty() ? 1 : read_number<std::int64_t>(count);
  if (!devices || *devices < 1 || *devices > most_devices) return std::nullopt;
  std::int64_t part = by_.scaling.memory_percent * (one_device / 100);
  if (const std::string share = annotation_of(pod, gpu_fraction_annotation); !share.empty()) {
    const std::optional<double> read = read_number<double>(share);
    if (!read || !(*read > 0 && *read <= 1)) return std::nullopt;
    part = std::llround(*read * one_device);
  }
  return source{text_at(pod, "/metadata/uid"), *devices, part * *devices};
}

/// Those that autoscalers are told of: not if the group waits for other pods, and not if it says that it is none of
/// their business.
std::map<std::string, scaling_pods::source> scaling_pods::sources(const decision& what) const {
  std::map<std::string, source> made;
  for (const auto& [group, why] : what.waiting) {
    const auto times = what.groups.find(group);
    if (times == what.groups.end() || what.missing.contains(group)) continue;
    bool counts = true;
    store_.look_at(pod_group_key, group, [&](const json& seen) { counts = marks_pods(seen); });
    if (!counts) continue;
    for (const std::string& pod : times->second.waiting) {
      store_.look_at(pod_key, pod, [&](const json& seen) {
        if (const std::optional<source> one = read_source(seen)) made.emplace(pod, *one);
      });
    }
  }
  return made;
}

std::map<std::string, scaling_pods::stand_in> scaling_pods::look() const {
  std::map<std::string, stand_in> made;
  store_.each(pod_key, [&](const json& pod) {
    if (text_at(pod, "/metadata/namespace") != by_.scaling.name_space ||
        text_at(pod, "/spec/schedulerName") != scheduler_ || !text_at(pod, "/metadata/deletionTimestamp").empty()) {
      return;
    }
    stand_in one{
        text_at(pod, "/metadata/uid"),
        fmt::format("{}/{}", annotation_of(pod, source_namespace), annotation_of(pod, source_name)),
        annotation_of(pod, source_uid),
        read_number<std::int64_t>(text_at(pod, "/spec/containers/0/resources/requests/nvidia.com~1gpu")).value_or(0),
        says_that_it_waits(pod)};
    made.emplace(name_of(pod), std::move(one));
  });
  return made;
}

void scaling_pods::sync(const decision& what, std::chrono::system_clock::time_point when,
                        const std::function<bool()>& go_on) {
  const std::map<std::string, source> wanted = sources(what);
  std::int64_t shown = 0;    // devices that autoscalers see
  std::int64_t largest = 0;  // of one of the stand-ins
  std::map<std::string, bool> stands;
  for (const auto& [name, one] : look()) {
    if (!go_on()) return;
    const auto of = wanted.find(one.of);
    if (of == wanted.end() || of->second.uid != one.of_uid) {
      if (remove(name, one)) removed_ = clock::now();
      continue;
    }
    if (!one.is_marked) mark(name, one.uid, one.of, when);
    stands[one.of] = true;
    shown += one.devices;
    largest = std::max(largest, one.devices);
  }
  // Nodes that have come are filled first.
  if (removed_ && clock::now() < *removed_ + by_.scaling.cool_down) return;
  std::int64_t millionths = 0;
  for (const auto& [pod, one] : wanted) millionths += one.millionths;
  const std::int64_t needed = (millionths + one_device - 1) / one_device;
  for (const auto& [pod, one] : wanted) {
    if (!go_on()) return;
    if (stands.contains(pod) || (needed <= shown && one.devices <= largest)) continue;
    create(pod, one, when);
    shown += one.devices;
    largest = std::max(largest, one.devices);
  }
}

json scaling_pods::pod_for(const std::string& name, const json& from, std::int64_t devices) const {
  const std::string name_space = text_at(from, "/metadata/namespace");
  const json of = section(from, "/spec");
  json spec{{"schedulerName", scheduler_},
            {"containers", asking(of.value("containers", json()), by_.scaling.image)},
            {"terminationGracePeriodSeconds", 0}};
  const std::string number = std::to_string(devices);
  json& first = spec["containers"][0]["resources"];
  first["requests"]["nvidia.com/gpu"] = number;
  first["limits"]["nvidia.com/gpu"] = number;
  if (json early = asking(of.value("initContainers", json()), by_.scaling.image); !early.empty()) {
    for (std::size_t i = 0; i < early.size(); ++i) early[i]["name"] = fmt::format("{}-init-{}", scaling_app, i);
    spec["initContainers"] = std::move(early);
  }
  for (const char* key : {"nodeSelector", "tolerations", "affinity"}) {
    if (of.contains(key)) spec[key] = of[key];
  }
  if (spec.contains("affinity")) name_namespaces(spec["affinity"], name_space);
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"namespace", by_.scaling.name_space},
            {"name", name},
            {"labels", {{"app", scaling_app}, {"hami.io/webhook", "ignore"}}},
            {"annotations",
             {{source_namespace, name_space},
              {source_name, text_at(from, "/metadata/name")},
              {source_uid, text_at(from, "/metadata/uid")}}}}},
          {"spec", std::move(spec)}};
}

void scaling_pods::create(const std::string& pod, const source& of, std::chrono::system_clock::time_point when) {
  constexpr std::size_t longest = 200;  // of the 253 that a name may have
  const json object = store_.find(pod_key, pod);
  if (object.is_null()) return;
  const auto [name_space, base] = split_name(pod);
  const std::string name =
      fmt::format("{}-{:016x}", fmt::format("{}-{}", name_space, base).substr(0, longest), digest(pod + "/" + of.uid));
  const response answer = ask(
      fmt::format("pod {}: a pod that stands in for it", pod),
      with_object("POST", place(resource_of(pod_key), by_.scaling.name_space, {}), pod_for(name, object, of.devices)));
  if (!answer.ok()) return;
  json made = json::parse(answer.body);
  const std::string uid = text_at(made, "/metadata/uid");
  store_.put_newer(resource_of(pod_key), std::move(made));
  log_(fmt::format("pod {}/{}: made, to show what pod {} needs", by_.scaling.name_space, name, pod));
  mark(fmt::format("{}/{}", by_.scaling.name_space, name), uid, pod, when);
}

void scaling_pods::mark(const std::string& name, const std::string& uid, const std::string& pod,
                        std::chrono::system_clock::time_point when) {
  const json condition{{"type", "PodScheduled"},
                       {"status", "False"},
                       {"reason", "Unschedulable"},
                       {"message", fmt::format("stands in for pod {}, which asks for a part of a GPU", pod)},
                       {"lastTransitionTime", clock_text(when)}};
  (void)ask(fmt::format("pod {}: condition", name),
            patch_of(place_of(pod_key, name, "status"),
                     {{"metadata", {{"uid", uid}}}, {"status", {{"conditions", json::array({condition})}}}},
                     strategic_patch_type));
}

bool scaling_pods::remove(const std::string& name, const stand_in& one) {
  const response answer = ask(fmt::format("pod {}: remove", name), removal_of(place_of(pod_key, name), one.uid, 0));
  if (!answer.ok()) return false;
  log_(fmt::format("pod {}: removed, pod {} no longer waits", name, one.of));
  return true;
}

response scaling_pods::ask(const std::string& words, const request& what) {
  try {
    response answer = send_(what);
    // 404: gone already; 409: there already. What the watch says decides in the next cycle.
    if (!answer.ok() && answer.status != 404 && answer.status != 409) {
      log_(fmt::format("{}: {}", words, server_words(answer)));
    }
    return answer;
  } catch (const no_answer& fault) {
    log_(fmt::format("{}: {}", words, fault.what()));
    return {};
  }
}

}  // namespace shim
