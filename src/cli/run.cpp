// The command that decides over a cluster from files.
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kaisched/version.hpp>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/outcome.hpp"
#include "cli/report.hpp"
#include "cli/terminal.hpp"
#include "io/decisions_text.hpp"
#include "io/files.hpp"

namespace kaisched::cli {

namespace {

int fail(const error& why, int exit) {
  print_error(why.message);
  return exit;
}

/// Errors of the host's input; everything else is the engine's.
int exit_of(const error& why) {
  switch (why.code) {
    case status::internal:
    case status::plugin:
    case status::no_memory:
      return exit_failure;
    default:
      return exit_usage;
  }
}

result<void> write_decisions(const decided& run, const std::string& path) {
  const bool csv = path.ends_with(".csv");
  const result<std::string> text = csv ? io::format_decisions_csv(run.over)
                                       : io::format_decisions_json(run.over, run.figures.preset, run.figures.mode);
  if (!text) return text.failure();
  return io::write_file(path, *text);
}

result<void> check_decisions_file(const std::string& path) {
  if (path.empty() || path.ends_with(".json") || path.ends_with(".csv") || path == "-") return {};
  return error{status::argument, fmt::format("--decisions {}: expected a name that ends with .json or .csv", path), {}};
}

std::string input_name(const run_arguments& arguments) {
  if (!arguments.cluster_file.empty()) return arguments.cluster_file;
  return fmt::format("{} and {}", arguments.openb_nodes, arguments.openb_pods);
}

}  // namespace

int run(const run_arguments& arguments) {
  if (auto known = check_decisions_file(arguments.decisions_file); !known) return fail(known.failure(), exit_usage);
  const result<engine> with = make_engine(arguments.policy);
  if (!with) return fail(with.failure(), exit_usage);
  const result<loaded_cluster> loaded = load_cluster(arguments);
  if (!loaded) return fail(loaded.failure(), exit_of(loaded.failure()));
  result<decided> ran = decide(*with, loaded->state, loaded->now);
  if (!ran) return fail(ran.failure(), exit_of(ran.failure()));
  ran->figures.load_seconds = loaded->seconds;

  if (!arguments.decisions_file.empty()) {
    if (auto written = write_decisions(*ran, arguments.decisions_file); !written) {
      return fail(written.failure(), exit_failure);
    }
  }
  if (!arguments.json_file.empty()) {
    if (auto written = io::write_file(arguments.json_file, report_json(ran->figures)); !written) {
      return fail(written.failure(), exit_failure);
    }
  }
  const bool to_stdout = arguments.json_file == "-" || arguments.decisions_file == "-";
  if (!arguments.quiet && !to_stdout) {
    print_report(terminal(stdout), ran->figures, fmt::format("kaisched {}: {}", version_string, input_name(arguments)),
                 arguments.charts ? report_detail::charts : report_detail::figures);
  }
  return exit_ok;
}

}  // namespace kaisched::cli
