#include "cli/console.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/files.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view input_limit_option = "--most-input-bytes";

color_wish wish_of(std::string_view told) {
  return told == "always" ? color_wish::always : told == "never" ? color_wish::never : color_wish::automatic;
}

}  // namespace

exit_status exit_of(const error& why) {
  switch (why.code) {
    case status::internal:
    case status::plugin:
    case status::no_memory:
      return exit_failure;
    default:
      return exit_usage;
  }
}

void add_common_arguments(command& to, common_arguments& told) {
  to.heading("Output of every command");
  to.option("--json", &told.json_file, file_name({"json"}),
            "Write the result as JSON; without a file to the standard output, and nothing else goes there")
      .or_else("-")
      .writes();
  add_global_arguments(to, told);
}

void add_global_arguments(command& to, common_arguments& told) {
  to.flag("-q,--quiet", told.quiet, "No report and no progress bar; errors and warnings are told");
  to.option("--color", &told.color, one_of("WHEN", {"auto", "always", "never"}),
            "Colours: auto is on a terminal, unless NO_COLOR is set");
  to.option(std::string(input_limit_option), &told.most_input_bytes, any_value("N"),
            "Most bytes of a file that is read, as it is and unpacked")
      .between(1, 1e15);
}

void apply_input_limit(const common_arguments& told) {
  io::set_limit_of_input({static_cast<std::size_t>(told.most_input_bytes), input_limit_option});
}

console::console(common_arguments told)
    : told_(std::move(told)), out_(stdout, wish_of(told_.color)), err_(stderr, wish_of(told_.color)) {
  static_cast<void>(claim("--json", told_.json_file));
}

result<void> console::claim(std::string_view who, std::string_view path) {
  if (path != "-") return {};
  if (taken_) {
    return error{
        status::argument, fmt::format("{} and {} cannot both write to the standard output", taken_by_, who), {}};
  }
  taken_ = true;
  taken_by_ = who;
  return {};
}

result<void> console::write(const std::string& path, std::string_view bytes) const {
  return io::write_file(path, bytes);
}

result<void> console::write_json(const json& what) const { return write(told_.json_file, json_text(what)); }

int console::fail(const error& why, exit_status as) const {
  print_error(why.message);
  return as;
}

int console::finish(const json& what, exit_status as) const {
  if (!wants_json()) return as;
  if (auto written = write_json(what); !written) return fail(written.failure(), exit_failure);
  return as;
}

std::string json_text(const json& what) { return what.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

}  // namespace kaisched::cli
