#include "api_server/object_fields.hpp"

#include <string_view>

namespace shim {

using nlohmann::json;

namespace {

/// What is there, or null. Without making a pointer of the text, where no list and no escape is on the way.
const json* find_at(const json& object, std::string_view pointer) {
  const json* at = &object;
  for (std::string_view left = pointer; !left.empty();) {
    left.remove_prefix(1);
    const std::string_view key = left.substr(0, left.find('/'));
    left.remove_prefix(key.size());
    if (at->is_array() || key.find('~') != std::string_view::npos) {
      const json::json_pointer path{std::string(pointer)};
      return object.contains(path) ? &object[path] : nullptr;
    }
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

}  // namespace

std::string text_at(const json& object, const char* pointer) {
  const json* const found = find_at(object, pointer);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string{};
}

std::string name_of(const json& object) {
  const std::string name_space = text_at(object, "/metadata/namespace");
  const std::string name = text_at(object, "/metadata/name");
  return name_space.empty() ? name : name_space + "/" + name;
}

json section(const json& of, const char* pointer) {
  const json* const found = find_at(of, pointer);
  return found != nullptr && found->is_object() ? *found : json::object();
}

const json& list_at(const json& object, const char* pointer) {
  static const json none = json::array();
  const json* const found = find_at(object, pointer);
  return found != nullptr && found->is_array() ? *found : none;
}

json annotations_of(const json& object) { return section(object, "/metadata/annotations"); }

std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char one : text) hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3U;
  return hash;
}

void add_gate(json& pod, const std::string& gate) {
  json& spec = pod["spec"];
  if (!spec.is_object()) return;  // nothing can be made of it anyway
  json& gates = spec["schedulingGates"];
  if (!gates.is_array()) gates = json::array();
  gates.push_back({{"name", gate}});
}

}  // namespace shim
