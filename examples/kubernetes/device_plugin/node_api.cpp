#include "node_api.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "api_server/object_fields.hpp"
#include "api_server/requests.hpp"
#include "api_server/resources.hpp"

namespace device_plugin {

namespace {

using nlohmann::json;
using shim::place;
using shim::resource_of;

constexpr std::chrono::milliseconds between_tries{100};
constexpr std::chrono::seconds longest_request{5};
constexpr unsigned not_found = 404;
constexpr unsigned conflict = 409;
constexpr unsigned too_many_requests = 429;
constexpr unsigned first_fault = 500;

}  // namespace

node_api::node_api(const shim::credentials& as, std::string node, std::chrono::milliseconds patience)
    : node_(std::move(node)),
      patience_(patience),
      client_(as, std::min<std::chrono::milliseconds>(patience, longest_request)) {}

json node_api::read(const std::string& target, steady::time_point until) {
  for (;;) {
    std::string why;
    try {
      const shim::response got = client_.send({.target = target});
      if (got.ok()) return json::parse(got.body);
      if (got.status == not_found) return nullptr;
      why = shim::server_words(got);
      if (got.status < first_fault && got.status != too_many_requests)
        throw std::runtime_error(fmt::format("{}: {}", target, why));
    } catch (const shim::no_answer& fault) {
      why = fault.what();
    }
    if (steady::now() + between_tries > until) throw shim::no_answer(fmt::format("{}: {}", target, why));
    std::this_thread::sleep_for(between_tries);
  }
}

std::vector<json> node_api::pods(steady::time_point until) {
  const std::string target =
      fmt::format("{}?fieldSelector={}", collection(resource_of("Pod")), shim::encoded("spec.nodeName=" + node_));
  const json list = read(target, until);
  std::vector<json> made;
  for (const json& one : shim::list_at(list, "/items")) {
    if (shim::text_at(one, "/spec/nodeName") == node_) made.push_back(one);
  }
  return made;
}

json node_api::pod(const std::string& name_space, const std::string& name) {
  return read(place(resource_of("Pod"), name_space, name), steady::now() + patience_);
}

json node_api::node() {
  json found = read(place(resource_of("Node"), {}, node_), steady::now() + patience_);
  if (found.is_null()) throw std::runtime_error(fmt::format("node {}: there is none of this name", node_));
  return found;
}

node_api::outcome node_api::annotate_pod(const json& object, const json& annotations) {
  return annotate(
      place(resource_of("Pod"), shim::text_at(object, "/metadata/namespace"), shim::text_at(object, "/metadata/name")),
      object, annotations);
}

node_api::outcome node_api::annotate_node(const json& object, const json& annotations) {
  return annotate(place(resource_of("Node"), {}, node_), object, annotations);
}

node_api::outcome node_api::annotate(const std::string& target, const json& object, const json& annotations) {
  json metadata{{"uid", shim::text_at(object, "/metadata/uid")}, {"annotations", annotations}};
  if (const std::string version = shim::text_at(object, "/metadata/resourceVersion"); !version.empty())
    metadata["resourceVersion"] = version;
  const shim::response sent = client_.send(shim::patch_of(target, {{"metadata", std::move(metadata)}}));
  if (sent.ok()) return outcome::done;
  if (sent.status == conflict || sent.status == not_found) return outcome::changed;
  if (sent.status >= first_fault || sent.status == too_many_requests)
    throw shim::no_answer(fmt::format("{}: {}", target, shim::server_words(sent)));
  throw std::runtime_error(fmt::format("{}: {}", target, shim::server_words(sent)));
}

}  // namespace device_plugin
