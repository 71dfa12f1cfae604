// Presets are files: every line of them is understood, and says what the options of the preset are.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <kaisched/options.hpp>

#include "engine/presets.hpp"
#include "support.hpp"

namespace of_test_presets {

using namespace kaisched;
using test::must;

TEST_CASE("every line of a preset is a comment, an alias or what an option of it is") {
  std::set<std::string_view> names;
  for (const engine_detail::preset_file& file : engine_detail::preset_files()) {
    const policy_options made = must(preset(file.name));
    CHECK(made.preset == file.name);
    CHECK(names.insert(file.name).second);
    CHECK(file.text.starts_with("# "));
    CHECK(file.text.ends_with("\n"));
    for (std::string_view rest = file.text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      INFO(file.name, ": ", line);
      if (line.starts_with("#")) continue;
      const std::size_t at = line.find(" = ");
      REQUIRE(at != std::string_view::npos);
      const std::string_view value = line.substr(at + 3);
      if (line.substr(0, at) == "alias") {
        CHECK(names.insert(value).second);
        CHECK(must(preset(value)).preset == file.name);
      } else {
        CHECK(must(made.get(line.substr(0, at))) == value);
      }
    }
  }
  CHECK(preset_names().size() == engine_detail::preset_files().size());
  CHECK(std::ranges::is_sorted(preset_names()));
}

TEST_CASE("the options of a preset are those of an engine without one, but for its lines") {
  for (const std::string_view name : preset_names()) {
    const policy_options made = must(preset(name));
    const policy_options plain;
    for (const option_info& option : option_list()) {
      if (option.applies_to != option_target::engine || option.name == "preset") continue;
      const std::string value = must(made.get(option.name));
      const auto& files = engine_detail::preset_files();
      const auto file = std::ranges::find(files, name, &engine_detail::preset_file::name);
      const bool has_line = file->text.find("\n" + std::string(option.name) + " = ") != std::string_view::npos;
      INFO(name, ": ", option.name);
      CHECK((has_line || value == must(plain.get(option.name))));
    }
  }
}

}  // namespace of_test_presets
