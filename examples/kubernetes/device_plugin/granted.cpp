#include "granted.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api_server/object_fields.hpp"
#include "api_server/text_parts.hpp"
#include "hami/hami_annotations.hpp"
#include "hami/hami_grants.hpp"

namespace device_plugin {

namespace {

using nlohmann::json;
namespace hami = shim::hami;

std::string annotation(const json& pod, const char* key) { return shim::annotations_of(pod).value(key, ""); }

/// Neither started nor given up.
bool is_coming(const json& pod) {
  const std::string phase = shim::text_at(pod, "/status/phase");
  return phase.empty() || phase == "Pending";
}

bool is_allocating(const json& pod, const std::string& node) {
  return is_coming(pod) && annotation(pod, hami::bind_phase) == "allocating" &&
         annotation(pod, hami::assigned_node) == node;
}

/// In the order in which they were bound.
std::vector<json> allocating(const std::vector<json>& pods, const std::string& node) {
  std::vector<std::pair<hami::time_point, json>> found;
  for (const json& one : pods) {
    if (is_allocating(one, node))
      found.emplace_back(hami::read_seconds(annotation(one, hami::bind_time)).value_or(hami::time_point::max()), one);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, shim::name_of(a.second)) < std::pair(b.first, shim::name_of(b.second));
  });
  std::vector<json> made;
  for (auto& [unused, pod] : found) made.push_back(std::move(pod));
  return made;
}

/// The first container that has devices in the annotation. Errors: refused for what nobody can read.
granted_container next_of(const json& pod) {
  const std::string name = shim::name_of(pod);
  if (shim::annotations_of(pod).contains("hami.io/vgpu-mig-allocations"))
    throw refused(grpc::StatusCode::FAILED_PRECONDITION,
                  fmt::format("pod {}: hami.io/vgpu-mig-allocations: instances are not made here", name));
  const std::string text = annotation(pod, hami::to_allocate);
  const std::optional<hami::container_grants> grants = hami::read_grants(text);
  if (!grants)
    throw refused(grpc::StatusCode::FAILED_PRECONDITION,
                  fmt::format("pod {}: {}: \"{}\" cannot be read", name, hami::to_allocate, text));
  for (std::size_t place = 0; place < grants->size(); ++place) {
    if (!(*grants)[place].empty()) return {pod, place, (*grants)[place]};
  }
  throw refused(grpc::StatusCode::FAILED_PRECONDITION,
                fmt::format("pod {}: {}: has no devices for a container", name, hami::to_allocate));
}

std::string given_key(std::size_t place) { return fmt::format("{}{}", hami::given_devices, place); }

std::string text_of_ids(std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  return fmt::format("{}", fmt::join(ids, ","));
}

/// The place of the container that the kubelet knows by these devices.
std::optional<std::size_t> place_given(const json& pod, const std::string& ids) {
  const json annotations = shim::annotations_of(pod);
  for (const auto& [key, value] : annotations.items()) {
    if (!key.starts_with(hami::given_devices) || value != ids) continue;
    const std::string_view digits = std::string_view(key).substr(std::string_view(hami::given_devices).size());
    if (const auto place = shim::read_number<std::size_t>(digits)) return place;
  }
  return std::nullopt;
}

/// Devices of init containers come again with those that follow them.
bool may_come_again(const json& pod, std::size_t place) {
  const json spec = shim::section(pod, "/spec");
  return spec.contains("initContainers") && place < spec["initContainers"].size();
}

/// What the container got before, if the kubelet asks for it once more.
std::optional<granted_container> given_before(const json& pod, const std::string& ids, const std::string& node) {
  const std::optional<std::size_t> place = place_given(pod, ids);
  if (!place || (may_come_again(pod, *place) && is_allocating(pod, node))) return std::nullopt;
  const auto grants = hami::read_grants(annotation(pod, hami::allocated));
  if (!grants || *place >= grants->size() || (*grants)[*place].empty()) return std::nullopt;
  return granted_container{pod, *place, (*grants)[*place]};
}

}  // namespace

granted::found granted::find(const std::vector<std::string>& ids) {
  const std::vector<json> pods = api_.pods();
  const std::string text = text_of_ids(ids);
  for (const json& one : pods) {
    if (!is_coming(one)) continue;
    if (auto before = given_before(one, text, api_.node_name())) return {std::move(*before), true};
  }
  const std::vector<json> waiting = allocating(pods, api_.node_name());
  std::string why;
  for (const json& one : waiting) {
    granted_container next;
    try {
      next = next_of(one);
    } catch (const refused& fault) {
      fail(one, fault.what());
      throw;
    }
    if (next.devices.size() == ids.size()) return {std::move(next), false};
    if (why.empty())
      why = fmt::format("pod {}: {} devices were chosen for its container, the kubelet asks for {}", shim::name_of(one),
                        next.devices.size(), ids.size());
  }
  if (waiting.empty())
    throw refused(grpc::StatusCode::NOT_FOUND,
                  fmt::format("no pod on node {} waits for devices that were chosen for it", api_.node_name()));
  fail(waiting.front(), why);
  throw refused(grpc::StatusCode::FAILED_PRECONDITION, why);
}

std::vector<std::string> granted::give(const std::vector<std::string>& ids, const std::vector<card>& cards,
                                       v1beta1::ContainerAllocateResponse& to) {
  const std::scoped_lock lock(mutex_);
  try {
    found one = find(ids);
    try {
      std::vector<std::string> uuids = set_up(one.what, api_.node_name(), cards, by_, to);
      if (!one.again) take_out(one.what, text_of_ids(ids));
      json after = shim::annotations_of(one.what.pod);
      after[hami::to_allocate] = hami::without_container(annotation(one.what.pod, hami::to_allocate), one.what.place);
      if (!hami::has_devices_left(after)) give_back_lock(one.what.pod);
      log_(fmt::format("pod {}: container {}: {}{}", shim::name_of(one.what.pod),
                       shim::text_at(one.what.specification(), "/name"), fmt::join(uuids, ","),
                       one.again ? ", once more" : ""));
      return uuids;
    } catch (const std::exception& fault) {
      fail(one.what.pod, fault.what());
      throw;
    }
  } catch (const shim::no_answer& fault) {
    log_(fmt::format("no devices are given: {}", fault.what()));
    throw refused(grpc::StatusCode::UNAVAILABLE, fault.what());
  }
}

void granted::take_out(granted_container& what, const std::string& ids) {
  const node_api::steady::time_point until = node_api::steady::now() + api_.patience();
  for (std::string why = "it changes all the time";;) {
    json changes{{hami::to_allocate, hami::without_container(annotation(what.pod, hami::to_allocate), what.place)},
                 {given_key(what.place), ids}};
    json after = shim::annotations_of(what.pod);
    after.update(changes);
    if (!hami::has_devices_left(after)) changes[hami::bind_phase] = "success";
    try {
      if (api_.annotate_pod(what.pod, changes) == node_api::outcome::done) return;
    } catch (const shim::no_answer& fault) {
      why = fault.what();
    }
    if (node_api::steady::now() > until) throw shim::no_answer(why);
    json now = api_.pod(shim::text_at(what.pod, "/metadata/namespace"), shim::text_at(what.pod, "/metadata/name"));
    if (annotation(now, given_key(what.place).c_str()) == ids) return;  // no answer came, but it was written
    const bool same = shim::text_at(now, "/metadata/uid") == shim::text_at(what.pod, "/metadata/uid");
    if (!same || !is_allocating(now, api_.node_name()) || next_of(now).place != what.place)
      throw refused(grpc::StatusCode::FAILED_PRECONDITION,
                    fmt::format("pod {}: is not waiting for its devices any more", shim::name_of(what.pod)));
    what.pod = std::move(now);
  }
}

void granted::give_back_lock(const json& pod) {
  try {
    locks_.give_back({hami::node_lock}, api_.node_name(), shim::text_at(pod, "/metadata/namespace"),
                     shim::text_at(pod, "/metadata/name"));
  } catch (const shim::no_answer& fault) {  // whoever looks after the node does it later
    log_(fmt::format("node {}: lock: {}", api_.node_name(), fault.what()));
  }
}

void granted::fail(json pod, const std::string& why) {
  log_(fmt::format("pod {}: gets no devices: {}", shim::name_of(pod), why));
  pod["metadata"].erase("resourceVersion");  // whatever else has changed
  try {
    (void)api_.annotate_pod(pod, {{hami::bind_phase, "failed"}});
  } catch (const std::exception& fault) {
    log_(fmt::format("pod {}: {}", shim::name_of(pod), fault.what()));
  }
  give_back_lock(pod);
}

std::vector<std::string> granted::next_cards(std::size_t count) noexcept {
  try {
    for (const json& one : allocating(api_.pods(node_api::steady::now()), api_.node_name())) {
      const granted_container next = next_of(one);
      if (next.devices.size() != count) continue;
      std::vector<std::string> cards;
      for (const hami::device_grant& device : next.devices) cards.push_back(device.id);
      return cards;
    }
  } catch (const std::exception&) {  // it is a hint; who gives devices says what is wrong
  }
  return {};
}

}  // namespace device_plugin
