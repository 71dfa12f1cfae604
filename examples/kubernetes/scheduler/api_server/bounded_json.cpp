#include "api_server/bounded_json.hpp"

#include <fmt/format.h>

#include "api_server/credentials.hpp"

namespace shim {

namespace {

using nlohmann::json;

bool is_deeper(const json& value, int than) {
  if (!value.is_structured()) return false;
  if (than == 0) return true;
  for (const json& one : value) {
    if (is_deeper(one, than - 1)) return true;
  }
  return false;
}

}  // namespace

nlohmann::json parse_bounded(const std::string& text) {
  const auto look = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > deepest_json) throw bad_input(fmt::format("JSON of more than {} levels", deepest_json));
    return true;
  };
  nlohmann::json made = nlohmann::json::parse(text, look, false);
  if (made.is_discarded()) throw bad_input("the body is no JSON object");
  return made;
}

json parse_lenient(std::string_view text) {
  if (json made = json::parse(text, nullptr, false); !made.is_discarded()) return made;
  const std::string quoted = json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(json::parse(quoted).get<std::string>());
}

bool is_too_deep(const json& value) { return is_deeper(value, deepest_json); }

}  // namespace shim
