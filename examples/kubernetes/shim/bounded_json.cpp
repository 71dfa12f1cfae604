#include "bounded_json.hpp"

#include <fmt/format.h>

#include "credentials.hpp"

namespace shim {

nlohmann::json parse_bounded(const std::string& text) {
  const auto look = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > deepest_json) throw bad_input(fmt::format("JSON of more than {} levels", deepest_json));
    return true;
  };
  nlohmann::json made = nlohmann::json::parse(text, look, false);
  if (made.is_discarded()) throw bad_input("the body is no JSON object");
  return made;
}

}  // namespace shim
