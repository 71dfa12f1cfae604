#include "extender/extender_protocol.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "api_server/bounded_json.hpp"
#include "api_server/credentials.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr int most_points = 10;

json object_of(const std::string& body) {
  json made = parse_bounded(body);
  if (!made.is_object()) throw bad_input("the body is no JSON object");
  return made;
}

std::string required_text(const json& object, const char* name) {
  const json found = member_of(object, name);
  if (!found.is_string() || found.get_ref<const std::string&>().empty()) {
    throw bad_input(fmt::format("{}: expected a text that is not empty", name));
  }
  return found.get<std::string>();
}

void read_whole_nodes(const json& list, extender_question& to) {
  to.whole_nodes = true;
  const json items = list.is_object() ? member_of(list, "items") : json();
  if (items.is_null()) return;
  if (!items.is_array()) throw bad_input("Nodes.items: expected a list");
  for (const json& one : items) {
    const std::string name = one.is_object() ? name_of(one) : std::string();
    if (name.empty()) throw bad_input("Nodes.items: expected nodes with names");
    to.nodes[name] = one;
  }
}

}  // namespace

json member_of(const json& object, std::string_view name) {
  for (const auto& [key, value] : object.items()) {
    const bool same = std::equal(key.begin(), key.end(), name.begin(), name.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    });
    if (same) return value;
  }
  return nullptr;
}

extender_question read_extender_question(const std::string& body) {
  const json args = object_of(body);
  extender_question made;
  made.pod = member_of(args, "Pod");
  if (!made.pod.is_object()) throw bad_input("Pod: is missing");
  for (const char* field : {"/metadata/namespace", "/metadata/name", "/metadata/uid"}) {
    if (text_at(made.pod, field).empty()) throw bad_input(fmt::format("Pod{}: is missing", field));
  }
  made.pod["kind"] = "Pod";
  const json names = member_of(args, "NodeNames");
  if (names.is_array()) {
    for (const json& one : names) {
      if (!one.is_string()) throw bad_input("NodeNames: expected texts");
      made.nodes[one.get<std::string>()] = nullptr;
    }
    return made;
  }
  const json list = member_of(args, "Nodes");
  if (list.is_null()) throw bad_input("Nodes, NodeNames: one of them is needed");
  read_whole_nodes(list, made);
  return made;
}

json filter_answer(const extender_question& asked, const extender_verdict& verdict) {
  const bool none = verdict.node.empty() && (!verdict.why.empty() || !verdict.never.empty());
  json objects = json::array();
  json names = json::array();
  json failed = json::object();
  json never = json::object();
  for (const auto& [name, object] : asked.nodes) {
    if (none) {
      const auto why = verdict.why.find(name);
      (why == verdict.why.end() ? never[name] : failed[name]) = why == verdict.why.end() ? verdict.never : why->second;
    } else if (verdict.node.empty() || name == verdict.node) {
      names.push_back(name);
      if (asked.whole_nodes) objects.push_back(object);
    }
  }
  json made{{"FailedNodes", failed}, {"FailedAndUnresolvableNodes", never}, {"Error", ""}};
  made["NodeNames"] = asked.whole_nodes ? json() : names;
  made["Nodes"] = asked.whole_nodes ? json{{"apiVersion", "v1"}, {"kind", "NodeList"}, {"items", objects}} : json();
  return made;
}

json filter_error(const std::string& why) {
  return {{"Nodes", nullptr},
          {"NodeNames", nullptr},
          {"FailedNodes", json::object()},
          {"FailedAndUnresolvableNodes", json::object()},
          {"Error", why}};
}

json priorities(const std::vector<std::string>& nodes, const std::string& best) {
  json made = json::array();
  for (const std::string& one : nodes) made.push_back({{"Host", one}, {"Score", one == best ? most_points : 0}});
  return made;
}

extender_binding read_extender_binding(const std::string& body) {
  const json args = object_of(body);
  extender_binding made;
  made.pod = required_text(args, "PodName");
  made.name_space = required_text(args, "PodNamespace");
  made.node = required_text(args, "Node");
  const json uid = member_of(args, "PodUID");
  if (uid.is_string()) made.uid = uid.get<std::string>();
  return made;
}

json bind_answer(const std::string& why) { return {{"Error", why}}; }

}  // namespace shim
