#include "hami/node_lock.hpp"

#include <algorithm>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api_server/object_fields.hpp"
#include "api_server/requests.hpp"
#include "api_server/resources.hpp"

namespace shim {

namespace {

using nlohmann::json;
using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_tries{100};

request ask_for_node(const std::string& name) { return {.target = place(resource_of("Node"), {}, name)}; }

/// What the annotation says; nothing: it is free.
std::optional<std::string> lock_text(const json& node, const std::string& key) {
  const json::json_pointer path("/metadata/annotations");
  if (!node.contains(path) || !node[path].contains(key)) return std::nullopt;
  const json& text = node[path][key];
  return text.is_string() ? text.get<std::string>() : std::string();
}

std::string pod_name(const std::string& name_space, const std::string& pod) {
  return fmt::format("{}/{}", name_space, pod);
}

bool is_of(const std::optional<hami::lock>& held, const std::string& name_space, const std::string& pod) {
  return held && held->name_space == name_space && held->pod == pod;
}

}  // namespace

std::string node_locks::take(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                             const std::string& pod, steady::time_point until, const std::function<bool()>& go_on) {
  std::string why;
  while (go_on()) {
    const outcome ended = try_once(form, node, name_space, pod, why);
    if (ended == outcome::done) {
      const std::scoped_lock lock(mutex_);
      in_use_[{form.key, node}] = pod_name(name_space, pod);
      return {};
    }
    if (steady::now() >= until) return why;
    std::this_thread::sleep_for(std::min<steady::duration>(between_tries, until - steady::now()));
  }
  return fmt::format("node {}: lock {}: given up", node, form.key);
}

node_locks::outcome node_locks::try_once(const hami::lock_form& form, const std::string& node,
                                         const std::string& name_space, const std::string& pod, std::string& why) {
  const response found = client_.send(ask_for_node(node));
  if (!found.ok()) {
    why = fmt::format("node {}: {}", node, server_words(found));
    return outcome::again;
  }
  const json object = json::parse(found.body);
  if (const auto text = lock_text(object, form.key)) {
    const bool own = form.names_owner && is_of(hami::read_lock(*text), name_space, pod);
    if (const auto other = in_use_by(form, node); !own && other && *other != pod_name(name_space, pod)) {
      why = fmt::format("node {}: locked for pod {}", node, *other);
      return outcome::held;
    }
    if (!own && is_held(form, *text, node, why)) return outcome::held;
  }
  const response written =
      write(form, object, hami::write_lock(form, std::chrono::system_clock::now(), name_space, pod));
  if (written.ok()) return outcome::done;
  why = fmt::format("node {}: lock {}: {}", node, form.key, server_words(written));
  return outcome::again;
}

std::string node_locks::keep(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                             const std::string& pod) {
  constexpr int most_tries = 5;
  std::string why;
  for (int i = 0; i < most_tries; ++i) {
    const response found = client_.send(ask_for_node(node));
    if (!found.ok()) return fmt::format("node {}: {}", node, server_words(found));
    const json object = json::parse(found.body);
    const auto text = lock_text(object, form.key);
    const std::optional<hami::lock> held = text ? hami::read_lock(*text) : std::nullopt;
    if (!held || (form.names_owner && !is_of(held, name_space, pod))) {
      return fmt::format("node {}: lock {}: was taken away", node, form.key);
    }
    const auto now = std::chrono::system_clock::now();
    if (now - held->since < form.expiry / 2) return {};
    const response written = write(form, object, hami::write_lock(form, now, name_space, pod));
    if (written.ok()) return {};
    why = fmt::format("node {}: lock {}: {}", node, form.key, server_words(written));
  }
  return why;
}

void node_locks::let_go(const std::string& name_space, const std::string& pod) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(in_use_, [&](const auto& one) { return one.second == pod_name(name_space, pod); });
}

std::optional<std::string> node_locks::in_use_by(const hami::lock_form& form, const std::string& node) const {
  const std::scoped_lock lock(mutex_);
  const auto found = in_use_.find({form.key, node});
  return found == in_use_.end() ? std::nullopt : std::optional(found->second);
}

bool node_locks::is_held(const hami::lock_form& form, const std::string& text, const std::string& node,
                         std::string& why) {
  const std::optional<hami::lock> held = hami::read_lock(text);
  if (!held) {  // by whom or since when nobody can say, so it never ends by itself
    why = fmt::format("node {}: lock {}: \"{}\" is no lock", node, form.key, text);
    return true;
  }
  if (std::chrono::system_clock::now() - held->since > form.expiry) return false;
  why = fmt::format("node {}: locked{}{}", node, held->pod.empty() ? "" : " for pod ",
                    held->pod.empty() ? "" : held->name_space + "/" + held->pod);
  if (held->pod.empty()) return true;
  return client_.send({.target = place(resource_of("Pod"), held->name_space, held->pod)}).status != 404;
}

response node_locks::write(const hami::lock_form& form, const json& node, const json& value) {
  // With the version that was read: of two that try at once one is refused.
  return client_.send(patch_of(
      place(resource_of("Node"), {}, text_at(node, "/metadata/name")),
      {{"metadata",
        {{"resourceVersion", text_at(node, "/metadata/resourceVersion")}, {"annotations", {{form.key, value}}}}}}));
}

void node_locks::give_back(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                           const std::string& pod) {
  constexpr int most_tries = 5;
  for (int i = 0; i < most_tries; ++i) {
    const response found = client_.send(ask_for_node(node));
    if (!found.ok()) return;
    const json object = json::parse(found.body);
    const auto text = lock_text(object, form.key);
    if (!text || (form.names_owner && !is_of(hami::read_lock(*text), name_space, pod))) return;
    if (write(form, object, nullptr).ok()) return;
  }
}

}  // namespace shim
