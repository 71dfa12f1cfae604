#include "sharing/reservations.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api_server/requests.hpp"
#include "sharing/shared_pod.hpp"

namespace shim {

namespace {

using nlohmann::json;
using clock = std::chrono::steady_clock;

constexpr const char* reservation_app = "kai-resource-reservation";  // as the engine knows these pods
constexpr std::string_view bind_request_key = "scheduling.run.ai/BindRequest";

bool is_over(const std::string& phase) { return phase == "Succeeded" || phase == "Failed"; }

/// UUIDs stand in variables, between commas.
bool is_device_name(const std::string& text) {
  return text.size() <= 128 && std::ranges::all_of(text, [](char one) {
           return (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
                  one == '-' || one == '_' || one == '.' || one == '/';
         });
}

}  // namespace

bool reservations::is_reservation(const json& pod) const {
  return text_at(pod, "/metadata/namespace") == by_.name_space &&
         text_at(pod, "/metadata/labels/app") == reservation_app;
}

reservations::held reservations::read(const json& pod) {
  return {name_of(pod),
          text_at(pod, "/metadata/uid"),
          text_at(pod, "/spec/nodeName"),
          annotation_of(pod, reserved_gpu_annotation),
          is_over(text_at(pod, "/status/phase")),
          !text_at(pod, "/metadata/deletionTimestamp").empty()};
}

reservations::users_by_group reservations::look() {
  held_.clear();
  users_by_group made;
  std::set<std::string> known;
  store_.each_sharer([&](const json& pod) {
    const std::vector<std::string> groups = gpu_groups_of(pod);
    if (is_reservation(pod)) {
      held one = read(pod);
      known.insert(one.uid);
      if (groups.size() != 1 || removed_.contains(one.uid)) return;
      const auto [place, first] = held_.try_emplace(groups.front(), one);
      if (!first && place->second.device.empty()) place->second = std::move(one);  // of several
      return;
    }
    const std::string phase = text_at(pod, "/status/phase");
    if (text_at(pod, "/spec/nodeName").empty() || is_over(phase)) return;
    for (const std::string& group : groups) {
      users& of = made[group];
      of.any = true;
      const bool stays = text_at(pod, "/metadata/deletionTimestamp").empty();
      const bool ours = text_at(pod, "/spec/schedulerName") == scheduler_name_;
      if (phase == "Running" && stays && ours) of.running.push_back(name_of(pod));
    }
  });
  std::erase_if(removed_, [&](const std::string& uid) { return !known.contains(uid); });
  return made;
}

/// KAI's binder makes a reservation before the pod that it is for has a label.
void reservations::note_requests_of_kai(users_by_group& to) const {
  store_.each(bind_request_key, [&](const json& one) {
    if (is_over(text_at(one, "/status/phase"))) return;
    for (const json& group : list_at(one, "/spec/selectedGPUGroups")) {
      if (group.is_string()) to[group.get<std::string>()].any = true;
    }
  });
}

std::vector<std::string> reservations::sync() {
  failed_.clear();
  users_by_group used = look();
  note_requests_of_kai(used);
  std::erase_if(since_, [&](const auto& one) { return !used.contains(one.first); });
  std::set<std::string> orphans;
  for (const auto& [group, of] : used) {
    if (!held_.contains(group)) orphans.insert(of.running.begin(), of.running.end());
  }
  std::vector<std::string> unused;
  for (const auto& [group, one] : held_) {
    if (!used.contains(group) || one.finished) unused.push_back(group);
  }
  for (const std::string& group : unused) {
    const held one = held_[group];
    if (!remove(one)) continue;
    held_.erase(group);
    if (one.finished && since_.contains(group)) give_up(group, fmt::format("pod {} has ended", one.name));
  }
  return {orphans.begin(), orphans.end()};
}

json reservations::pod_for(const std::string& group, const std::string& node, const json& tolerations) const {
  constexpr std::size_t longest_node = 200;  // of the 253 that a name may have
  const auto field = [](const char* name, const char* path) {
    return json{{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
  };
  json container{
      {"name", "resource-reservation"},
      {"image", by_.image},
      {"imagePullPolicy", "IfNotPresent"},
      {"env", json::array({field("POD_NAME", "metadata.name"), field("POD_NAMESPACE", "metadata.namespace")})},
      {"resources", {{"requests", {{"nvidia.com/gpu", "1"}}}, {"limits", {{"nvidia.com/gpu", "1"}}}}},
      {"securityContext", {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", {"ALL"}}}}}}};
  if (!by_.command.empty()) container["command"] = json::array({by_.command});
  json spec{
      {"nodeName", node}, {"serviceAccountName", by_.account}, {"containers", json::array({std::move(container)})}};
  if (!by_.runtime_class.empty()) spec["runtimeClassName"] = by_.runtime_class;
  if (tolerations.is_array() && !tolerations.empty()) spec["tolerations"] = tolerations;
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"namespace", by_.name_space},
        {"name", fmt::format("gpu-reservation-{}-{:016x}", node.substr(0, longest_node), digest(node + "/" + group))},
        {"labels", {{"app", reservation_app}, {gpu_group_label, group}}},
        {"annotations", {{"karpenter.sh/do-not-disrupt", "true"}}}}},
      {"spec", std::move(spec)}};
}

step reservations::create(const std::string& group, const std::string& node, const json& tolerations) {
  const json pod = pod_for(group, node, tolerations);
  const response reply = send_(with_object("POST", place(resource_of(pod_key), by_.name_space, {}), pod));
  const std::string name = name_of(pod);
  if (reply.ok()) {
    held_[group] = read(json::parse(reply.body));  // not for the store: the watch may have told more about it already
    log_(fmt::format("pod {}: made, to reserve a GPU of {}", name, node));
    return {progress::wait, fmt::format("pod {} has to say its GPU", name)};
  }
  if (reply.status == 409) return adopt(group, place_of(pod_key, name));
  const std::string why = fmt::format("pod {}: {}", name, server_words(reply));
  return {reply.status >= 500 || reply.status == 429 ? progress::wait : progress::failed, why};
}

step reservations::adopt(const std::string& group, const std::string& target) {
  const response reply = send_({.target = target});
  if (!reply.ok()) return {progress::wait, server_words(reply)};  // it has just gone, or comes with the next try
  const json pod = json::parse(reply.body);
  if (!is_reservation(pod) || gpu_groups_of(pod) != std::vector<std::string>{group}) {
    return {progress::failed, fmt::format("pod {}: is no reservation of group {}", name_of(pod), group)};
  }
  held one = read(pod);
  const std::string why = fmt::format("pod {} has to {}", one.name, one.leaving ? "go" : "say its GPU");
  if (!one.leaving && !one.finished) held_[group] = std::move(one);
  return {progress::wait, why};
}

std::string reservations::fault_of(const std::string& group, const held& one) const {
  if (!is_device_name(one.device)) {
    return fmt::format("pod {}: annotation {}: \"{}\" is no GPU", one.name, reserved_gpu_annotation, one.device);
  }
  for (const auto& [other, has] : held_) {
    if (other != group && has.node == one.node && has.device == one.device) {
      return fmt::format("pod {}: annotation {}: {} is reserved by pod {}", one.name, reserved_gpu_annotation,
                         one.device, has.name);
    }
  }
  return {};
}

reservations::answer reservations::reserve(const std::string& group, const std::string& node, const json& tolerations) {
  if (const auto known = failed_.find(group); known != failed_.end()) return {{progress::failed, known->second}};
  const clock::time_point began = since_.try_emplace(group, clock::now()).first->second;
  const auto late = [&] { return clock::now() - began >= by_.allocation_timeout; };
  if (!held_.contains(group)) {
    step made = create(group, node, tolerations);
    if (made.how == progress::failed) return give_up(group, std::move(made.why));
    if (!held_.contains(group)) {
      if (late()) return give_up(group, std::move(made.why));
      return {std::move(made)};
    }
  }
  const held& one = held_[group];
  if (one.device.empty()) (void)adopt(group, place_of(pod_key, one.name));  // the watch may be late
  if (one.node != node) {
    return give_up(group, fmt::format("pod {} reserves a GPU of {}, not of {}", one.name, one.node, node));
  }
  if (!one.leaving && !one.device.empty()) {
    if (std::string fault = fault_of(group, one); !fault.empty()) return give_up(group, std::move(fault));
    since_.erase(group);
    return {{}, one.device};
  }
  if (late()) {
    return give_up(group, fmt::format("pod {} has not said its GPU within {} s", one.name,
                                      std::chrono::duration<double>(by_.allocation_timeout).count()));
  }
  return {{progress::wait, fmt::format("pod {} has to {}", one.name, one.leaving ? "go" : "say its GPU")}};
}

reservations::answer reservations::give_up(const std::string& group, std::string why) {
  since_.erase(group);
  failed_[group] = why;
  return {{progress::failed, std::move(why)}};
}

bool reservations::remove(const held& one) {
  try {
    const response reply = send_(removal_of(place_of(pod_key, one.name), one.uid, 0));
    if (reply.ok() || reply.status == 404 || reply.status == 409) {  // 409: another one has its name
      removed_.insert(one.uid);
      log_(fmt::format("pod {}: removed, it reserved a GPU of {}", one.name, one.node));
      return true;
    }
    log_(fmt::format("pod {}: remove: {}", one.name, server_words(reply)));
  } catch (const no_answer& fault) {
    log_(fmt::format("pod {}: remove: {}", one.name, fault.what()));
  }
  return false;
}

std::optional<clock::time_point> reservations::deadline() const {
  std::optional<clock::time_point> first;
  for (const auto& [group, began] : since_) {
    const clock::time_point end = began + by_.allocation_timeout;
    if (!first || end < *first) first = end;
  }
  return first;
}

}  // namespace shim
