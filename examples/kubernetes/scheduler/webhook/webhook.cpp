#include "webhook/webhook.hpp"

#include <openssl/evp.h>
#include <utility>

#include <fmt/format.h>

#include "api_server/bounded_json.hpp"
#include "api_server/credentials.hpp"
#include "sharing/shared_pod.hpp"
#include "watch/object_store.hpp"
#include "webhook/isolation.hpp"
#include "webhook/share_admission.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr const char* reaches_all = "a container is privileged: it reaches all devices of its node";

bool is_privileged(const json& container) {
  const json::json_pointer path("/securityContext/privileged");
  return container.contains(path) && container[path].is_boolean() && container[path].get<bool>();
}

/// Whose schedulerName may be set: pods that name no scheduler have the default one before webhooks are asked.
bool is_free(const std::string& scheduler, const webhook_settings& by) {
  return scheduler.empty() || scheduler == "default-scheduler" || by.scheduler.empty() || scheduler == by.scheduler;
}

std::string in_base64(const std::string& text) {
  std::string made((text.size() + 2) / 3 * 4 + 1, '\0');  // with the zero that is written behind it
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(made.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  made.resize(static_cast<std::size_t>(size));
  return made;
}

/// Calls `see` with each container, those that run first first, and its place among all.
template <class Function>
void each_container(json& pod, Function see) {
  std::size_t place = 0;
  for (const char* list : {"initContainers", "containers"}) {
    json& spec = pod["spec"];
    if (!spec.contains(list) || spec[list].is_null()) continue;
    if (!spec[list].is_array()) throw bad_input(fmt::format("spec.{}: expected a list", list));
    for (json& one : spec[list]) {
      if (!one.is_object()) throw bad_input(fmt::format("spec.{}: expected containers", list));
      see(one, place++);
    }
  }
}

/// Whether the pod wants the guard in front of its driver.
bool is_guarded(const json& pod, const webhook_settings& by) {
  return by.isolation && text_at(pod, "/metadata/annotations/kaisched.io~1isolation") != "false";
}

/// A pod of the program's own scheduler that asks for a part of a GPU in KAI's way.
admission admit_in_the_way_of_kai(const webhook_settings& by, const json& pod) {
  admission made{fault_of_sharer(pod), pod, {}};
  if (!made.denied.empty()) return made;
  const std::string map = admit_sharer(by.shares, made.pod);
  const json::json_pointer at = fraction_container(made.pod).path();
  bool privileged = false;
  std::size_t place = 0;
  each_container(made.pod, [&](json& container, std::size_t number) {
    privileged = privileged || is_privileged(container);
    if (&container == &made.pod[at]) place = number;
  });
  if (privileged) {
    if (by.privileged == privileged_pods::deny) made.denied = reaches_all;
    if (is_guarded(pod, by)) made.warnings.push_back(std::string(reaches_all) + "; no limits are kept");
    return made;
  }
  if (!is_guarded(pod, by)) return made;
  gpu_part part;
  part.config_map = map;
  isolation guard(by, made.pod);
  guard.add_to(made.pod[at], place, part, made.warnings);
  guard.add_volumes();
  return made;
}

json answer_to(const json& review, const webhook_settings& by) {
  const json& request = review.at("request");
  json response{{"uid", request.at("uid")}, {"allowed", true}};
  const bool of_pods = text_at(request, "/kind/kind") == "Pod" && text_at(request, "/kind/group").empty() &&
                       text_at(request, "/subResource").empty();
  if (of_pods && text_at(request, "/operation") == "CREATE") {
    const json& pod = request.at("object");
    admission made;
    try {
      made = admit(by, pod);
    } catch (const bad_input& fault) {  // a pod that nobody understands must not come in without its limits
      made = {};
      made.denied = fault.what();
    }
    if (!made.warnings.empty()) response["warnings"] = made.warnings;
    if (!made.denied.empty()) {
      response["allowed"] = false;
      response["status"] = {{"code", 403}, {"message", made.denied}};
    } else if (made.pod != pod) {
      response["patchType"] = "JSONPatch";
      response["patch"] = in_base64(json::diff(pod, made.pod).dump());
    }
  }
  return {{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", std::move(response)}};
}

}  // namespace

admission admit(const webhook_settings& by, const json& pod) {
  admission made{{}, pod, {}};
  if (!pod.is_object() || !pod.contains("spec") || !pod["spec"].is_object()) throw bad_input("spec: is missing");
  if (text_at(pod, "/metadata/labels/hami.io~1webhook") == "ignore") return made;
  const std::string scheduler = text_at(pod, "/spec/schedulerName");
  if (!by.shares.scheduler.empty() && scheduler == by.shares.scheduler && asks_for_gpu_part(pod)) {
    return admit_in_the_way_of_kai(by, pod);
  }
  if (!is_free(scheduler, by)) return made;

  bool privileged = false;
  std::vector<std::pair<std::size_t, gpu_part>> parts;
  each_container(made.pod, [&](json& container, std::size_t place) {
    privileged = privileged || is_privileged(container);
    if (std::optional<gpu_part> part = read_gpu_part(container)) parts.emplace_back(place, *std::move(part));
  });
  if (parts.empty()) return made;
  if (privileged) {
    if (by.privileged == privileged_pods::deny) {
      made.denied = reaches_all;
    } else {
      made.warnings.push_back(std::string(reaches_all) + "; nothing was added");
    }
    return made;
  }
  if (!by.scheduler.empty()) {
    if (!text_at(pod, "/spec/nodeName").empty()) {
      made.denied = "spec.nodeName: devices are chosen by a scheduler";
      return made;
    }
    made.pod["spec"]["schedulerName"] = by.scheduler;
  }
  const bool guarded = is_guarded(pod, by);
  isolation guard(by, made.pod);
  each_container(made.pod, [&](json& container, std::size_t place) {
    for (const auto& [at, part] : parts) {
      if (at != place) continue;
      ask_for_device(container, part);
      if (guarded) guard.add_to(container, place, part, made.warnings);
    }
  });
  guard.add_volumes();
  return made;
}

void serve_webhook(const webhook_settings& by, http_server& on, std::function<void(const std::string&)> log) {
  on.route("POST", "/webhook", access::everybody, [&by, log = std::move(log)](const incoming& what) -> reply {
    try {
      const json answer = answer_to(parse_bounded(what.body), by);
      return {200, one_line(answer) + "\n", "application/json", {}};
    } catch (const std::exception& fault) {
      log(fmt::format("webhook: {}", fault.what()));
      return {400, fmt::format("{}\n", fault.what()), "text/plain", {}};
    }
  });
}

}  // namespace shim
