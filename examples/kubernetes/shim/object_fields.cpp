#include "object_fields.hpp"

namespace shim {

using nlohmann::json;

std::string text_at(const json& object, const char* pointer) {
  const json::json_pointer path(pointer);
  if (!object.contains(path)) return {};
  const json& found = object[path];
  return found.is_string() ? found.get<std::string>() : std::string{};
}

std::string name_of(const json& object) {
  const std::string name_space = text_at(object, "/metadata/namespace");
  const std::string name = text_at(object, "/metadata/name");
  return name_space.empty() ? name : name_space + "/" + name;
}

json section(const json& of, const char* pointer) {
  const json::json_pointer path(pointer);
  return of.contains(path) && of[path].is_object() ? of[path] : json::object();
}

json annotations_of(const json& object) { return section(object, "/metadata/annotations"); }

}  // namespace shim
