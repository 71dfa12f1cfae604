#include "extender/extender_fields.hpp"

#include <fmt/format.h>

#include "configuration/engine_options.hpp"
#include "server/listener_fields.hpp"

namespace shim {

namespace {

std::set<std::string, std::less<>> resource_set(const YAML::Node& value) {
  if (!value.IsSequence()) throw bad_input("expected a list of names");
  std::set<std::string, std::less<>> names;
  for (const YAML::Node& one : value) names.insert(some_text(one));
  return names;
}

const fields<extender_settings>& extender_field_list() {
  using namespace std::chrono_literals;
  using node = YAML::Node;
  using settings = extender_settings;
  static const fields<settings> all = with_listener<settings>({
      {"resources", [](settings& to, const node& value) { to.resources = resource_set(value); }},
      {"lock_wait", [](settings& to, const node& value) { to.lock_wait = duration(value, 0ms); }},
      {"handshake", [](settings& to, const node& value) { to.handshake = duration(value, 0ms); }},
      {"engine",
       [](settings& to, const node& value) { to.engine = engine_options(value, extender_settings{}.engine); }},
  });
  return all;
}

}  // namespace

void read_extender(const YAML::Node& value, extender_settings& to) {
  read_fields(value, extender_field_list(), to);
  check_listener(to);
}

void read_extender_argument(const std::string& text, extender_settings& to) {
  try {
    read_listen(text, to);
  } catch (const bad_input& fault) {
    throw bad_input(fmt::format("--extender: {}", fault.what()));
  }
}

}  // namespace shim
