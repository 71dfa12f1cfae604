#include "sharing/scaling_fields.hpp"

#include "configuration/fields.hpp"

namespace shim {

void read_scaling(const YAML::Node& value, scaling_settings& to) {
  using settings = scaling_settings;
  using namespace std::chrono_literals;
  static const fields<settings> known{
      {"image", [](settings& in, const YAML::Node& given) { in.image = some_text(given); }},
      {"namespace", [](settings& in, const YAML::Node& given) { in.name_space = some_text(given); }},
      {"memory_percent", [](settings& in, const YAML::Node& given) { in.memory_percent = number(given, 1, 100); }},
      {"cool_down", [](settings& in, const YAML::Node& given) { in.cool_down = duration(given, 0ms); }},
  };
  read_fields(value, known, to);
  if (!to.enabled()) throw bad_input("image: is missing");
}

}  // namespace shim
