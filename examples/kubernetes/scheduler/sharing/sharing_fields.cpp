#include "sharing/sharing_fields.hpp"

#include "configuration/fields.hpp"

namespace shim {

void read_sharing(const YAML::Node& value, sharing_settings& to) {
  using settings = sharing_settings;
  using namespace std::chrono_literals;
  static const fields<settings> known{
      {"image", [](settings& in, const YAML::Node& given) { in.image = some_text(given); }},
      {"command", [](settings& in, const YAML::Node& given) { in.command = scalar(given); }},
      {"namespace", [](settings& in, const YAML::Node& given) { in.name_space = some_text(given); }},
      {"service_account", [](settings& in, const YAML::Node& given) { in.account = some_text(given); }},
      {"runtime_class", [](settings& in, const YAML::Node& given) { in.runtime_class = scalar(given); }},
      {"allocation_timeout",
       [](settings& in, const YAML::Node& given) { in.allocation_timeout = duration(given, 1s); }},
      {"cdi", [](settings& in, const YAML::Node& given) { in.cdi = truth(given); }},
      {"orphans",
       [](settings& in, const YAML::Node& given) {
         in.orphans = one_of<orphan_form>(given, {{"delete", orphan_form::remove}, {"keep", orphan_form::keep}});
       }},
  };
  read_fields(value, known, to);
  if (!to.enabled()) throw bad_input("image: is missing");
}

}  // namespace shim
