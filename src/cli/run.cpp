// The command that decides over a cluster from files.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/version.hpp>

#include "cli/console.hpp"
#include "cli/input.hpp"
#include "cli/outcome.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "io/decisions_text.hpp"

namespace kaisched::cli {

namespace {

struct run_arguments {
  input_arguments input;
  policy_arguments policy;
  std::string decisions_file;
  bool charts = false;
};

result<void> write_decisions(const console& to, const decided& run, const std::string& path) {
  const bool csv = path.ends_with(".csv");
  const result<std::string> text = csv ? io::format_decisions_csv(run.over)
                                       : io::format_decisions_json(run.over, run.figures.preset, run.figures.mode);
  if (!text) return text.failure();
  return to.write(path, *text);
}

result<void> check_decisions_file(const std::string& path) {
  if (path.empty() || path.ends_with(".json") || path.ends_with(".csv") || path == "-") return {};
  return error{status::argument, fmt::format("--decisions {}: expected a name that ends with .json or .csv", path), {}};
}

int run(const run_arguments& told, console& to) {
  if (auto known = check_decisions_file(told.decisions_file); !known) return to.fail(known.failure(), exit_usage);
  if (auto free = to.claim("--decisions", told.decisions_file); !free) return to.fail(free.failure(), exit_usage);
  const result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  progress shown(to, load_steps + decide_steps(*with));
  const result<loaded_cluster> loaded = load_cluster(told.input, shown);
  if (!loaded) return to.fail(loaded.failure());
  result<decided> ran = decide(*with, loaded->state, loaded->now, shown);
  if (!ran) return to.fail(about_input(told.input, ran.failure()));
  shown.finish();
  ran->figures.load_seconds = loaded->seconds;
  ran->figures.left_out = loaded->left_out;

  if (!told.decisions_file.empty()) {
    if (auto written = write_decisions(to, *ran, told.decisions_file); !written) {
      return to.fail(written.failure(), exit_failure);
    }
  }
  if (to.shows_report()) {
    print_report(to.out(), ran->figures, fmt::format("kaisched {}: {}", version_string, input_name(told.input)),
                 told.charts ? report_detail::charts : report_detail::figures);
  }
  return to.finish(report_json(ran->figures));
}

}  // namespace

void add_run(command_list& to) {
  command& c = to.add("run", group::decide, "Decide over a cluster, and report what starts, what waits and why");
  auto& told = c.keep<run_arguments>();
  c.explain(
      "Opens one session over the cluster, runs the actions of the policy and reports. Nothing in the cluster file "
      "changes; --decisions writes what was decided.");
  add_input_arguments(c, told.input);
  add_policy_arguments(c, told.policy);
  c.heading("Output");
  c.option("--decisions", &told.decisions_file, file_name({"json", "csv"}),
           "Write the decisions; the ending says the form, - is JSON on the standard output")
      .writes();
  c.flag("--charts", told.charts, "Draw queues and racks as well");
  c.add_example("kaisched run cluster.json --charts");
  c.add_example("kaisched run cluster.json --placement spread --decisions decisions.csv");
  c.add_example("kaisched run cluster.json --set proportion.k=0.5 --json", "the report for programs");
  c.runs([&told](console& out) { return run(told, out); });
}

}  // namespace kaisched::cli
