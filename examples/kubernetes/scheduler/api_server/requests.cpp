#include "api_server/requests.hpp"

#include <utility>

#include "api_server/object_fields.hpp"

namespace shim {

using nlohmann::json;

request with_object(std::string method, std::string target, const json& object) {
  return {.method = std::move(method), .target = std::move(target), .body = one_line(object)};
}

request patch_of(std::string target, const json& change, const char* type) {
  return {.method = "PATCH", .target = std::move(target), .body = one_line(change), .content_type = type};
}

request removal_of(std::string target, const std::string& uid, std::optional<int> grace) {
  json options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", uid}}}};
  if (grace) options["gracePeriodSeconds"] = *grace;
  return with_object("DELETE", std::move(target), options);
}

}  // namespace shim
