// The command that says what was built, and how.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/kaisched.h>
#include <kaisched/version.hpp>

#include "cli/console.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view version_schema = "kaisched-version/1";

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

constexpr bool checks_invariants =
#ifdef KAISCHED_CHECKS
    true;
#else
    false;
#endif

int show_version(console& to) {
  const std::string build = KAISCHED_BUILD_TYPE[0] == '\0' ? "unknown" : KAISCHED_BUILD_TYPE;
  if (to.shows_report()) {
    const terminal& out = to.out();
    out.line(fmt::format("kaisched {}", version_string));
    out.line(fmt::format("  C ABI      {}", KAISCHED_ABI_VERSION));
    out.line(fmt::format("  compiler   {}", compiler()));
    out.line(fmt::format("  build      {}", build));
    out.line(fmt::format("  invariants {}", checks_invariants ? "checked after every commit" : "not checked"));
  }
  return to.finish({{"schema", version_schema},
                    {"version", version_string},
                    {"abi", KAISCHED_ABI_VERSION},
                    {"compiler", compiler()},
                    {"build", build},
                    {"checks_invariants", checks_invariants}});
}

}  // namespace

void add_version(command_list& to) {
  command& c = to.add("version", group::reference, "Version of the program, of its C ABI, and how it was built");
  c.add_example("kaisched version");
  c.runs(show_version);
}

}  // namespace kaisched::cli
