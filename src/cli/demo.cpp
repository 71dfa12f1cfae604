// The command that shows what the library does.
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include <kaisched/version.hpp>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/outcome.hpp"
#include "cli/report.hpp"
#include "cli/terminal.hpp"
#include "io/cluster_json.hpp"
#include "io/files.hpp"

namespace kaisched::cli {

namespace {

int fail(const error& why, int exit) {
  print_error(why.message);
  return exit;
}

result<void> write_cluster(const loaded_cluster& cluster, const std::string& path) {
  const result<std::string> text = io::format_cluster_json(cluster.state, cluster.now);
  if (!text) return text.failure();
  return io::write_file(path, *text);
}

}  // namespace

int demo(const demo_arguments& arguments) {
  const result<engine> with = make_engine(arguments.policy);
  if (!with) return fail(with.failure(), exit_usage);
  const result<loaded_cluster> loaded = invent_cluster(arguments.cluster);
  if (!loaded) return fail(loaded.failure(), exit_usage);
  if (!arguments.cluster.out.empty()) {
    if (auto written = write_cluster(*loaded, arguments.cluster.out); !written) {
      return fail(written.failure(), exit_failure);
    }
  }
  const result<decided> ran = decide(*with, loaded->state, loaded->now);
  if (!ran) return fail(ran.failure(), exit_failure);

  const terminal out(stdout);
  print_report(out, ran->figures,
               fmt::format("kaisched {}: an invented cluster, seed {}", version_string, arguments.cluster.seed),
               report_detail::charts);
  out.line();
  out.line("Next: kaisched demo --out cluster.json");
  out.line("      kaisched run --cluster cluster.json --placement spread --charts --decisions decisions.csv");
  return exit_ok;
}

}  // namespace kaisched::cli
