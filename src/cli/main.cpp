// The program `kaisched`: arguments in, a command out.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kaisched/version.hpp>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "io/column_form.hpp"

namespace kaisched::cli {

namespace {

constexpr const char* description =
    "kaisched decides which pods run where in a GPU cluster, on which devices, and who waits and why.";

constexpr const char* examples =
    "Examples:\n"
    "  kaisched demo                                   an invented cluster, decided and drawn\n"
    "  kaisched generate --out cluster.json            the same cluster as a file\n"
    "  kaisched run --cluster cluster.json --charts    decide over a file\n"
    "  kaisched run --cluster cluster.json --set placement.gpu=spread --decisions decisions.csv\n"
    "\n"
    "Exit status: 0 done (pods that wait are an outcome), 1 failed, 2 wrong arguments or input.";

void add_policy_options(CLI::App& command, policy_arguments& to) {
  constexpr const char* group = "Policy";
  command.add_option("--preset", to.preset, "Policy to start from")->capture_default_str()->group(group);
  command.add_option("--mode", to.mode, "strict: exact arithmetic; compat: as the reference computes")
      ->type_name("strict|compat")
      ->group(group);
  command.add_option("--placement", to.placement, "Fill used nodes first, or prefer empty ones")
      ->type_name("binpack|spread")
      ->group(group);
  command.add_option("--actions", to.actions, "Actions to run, in order, separated by commas")->group(group);
  command.add_option("--set", to.settings, "Sets one option, see `kaisched options`; may be repeated")
      ->type_name("OPTION=VALUE")
      ->expected(1)
      ->take_all()
      ->group(group);
}

void add_cluster_options(CLI::App& command, synthetic_arguments& to) {
  constexpr const char* group = "Cluster";
  command.add_option("--gpus", to.gpus, "Number of GPUs, a multiple of 8")->capture_default_str()->group(group);
  command.add_option("--load", to.load, "GPUs held and asked for, of all; above 1 is contended")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 10.0))
      ->group(group);
  command.add_option("--seed", to.seed, "Every seed is another cluster, the same on every machine")
      ->capture_default_str()
      ->group(group);
}

void add_run(CLI::App& app, run_arguments& to, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("run", "Decide over a cluster from files, and report");
  constexpr const char* input = "Input: --cluster, or both of the others";
  constexpr const char* output = "Output";
  command->add_option("--cluster", to.cluster_file, "Cluster as JSON (kaisched-cluster/1); - is the standard input")
      ->type_name("FILE")
      ->group(input);
  command->add_option("--openb-nodes", to.openb_nodes, "Nodes of an openb trace")->type_name("FILE")->group(input);
  command->add_option("--openb-pods", to.openb_pods, "Pods of that trace, all pending at once")
      ->type_name("FILE")
      ->group(input);
  command->add_option("--decisions", to.decisions_file, "Write the decisions; the ending says the form")
      ->type_name("FILE.json|FILE.csv")
      ->group(output);
  command->add_option("--json", to.json_file, "Write the report as JSON; - is the standard output")
      ->type_name("FILE")
      ->group(output);
  command->add_flag("--charts", to.charts, "Draw queues and racks as well")->group(output);
  command->add_flag("-q,--quiet", to.quiet, "Print nothing")->group(output);
  add_policy_options(*command, to.policy);
  command->callback([&] { chosen = [&] { return run(to); }; });
}

void add_generate(CLI::App& app, synthetic_arguments& to, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("generate", "Write an invented cluster as JSON");
  command->add_option("--out", to.out, "Where to; - is the standard output")->type_name("FILE")->required();
  add_cluster_options(*command, to);
  command->callback([&] { chosen = [&] { return generate(to); }; });
}

void add_test(CLI::App& app, test_arguments& to, std::function<int()>& chosen) {
  CLI::App* command =
      app.add_subcommand("test", "Play scenario files and compare what is decided with what they expect");
  command->add_option("path", to.paths, "Scenario files (.ks), or folders with such files")->required();
  command->add_flag("--update", to.update, "Write what was found into the expectations of the files");
  command->add_option("--set", to.settings, "An option that wins over those of the files; may be repeated")
      ->type_name("OPTION=VALUE")
      ->expected(1)
      ->take_all();
  command->add_option("--json", to.json_file, "Write the results as JSON; - is the standard output")->type_name("FILE");
  command->add_flag("-q,--quiet", to.quiet, "Print failures only");
  command->add_flag("-v,--verbose", to.verbose, "Print every file");
  command->callback([&] { chosen = [&] { return test(to); }; });
}

void add_demo(CLI::App& app, demo_arguments& to, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("demo", "Invent a contended cluster, decide, and draw what happened");
  command->add_option("--out", to.cluster.out, "Also write the cluster as JSON")->type_name("FILE");
  to.cluster.load = 1.3;
  add_cluster_options(*command, to.cluster);
  add_policy_options(*command, to.policy);
  command->callback([&] { chosen = [&] { return demo(to); }; });
}

void add_listings(CLI::App& app, std::string& table, std::function<int()>& chosen) {
  app.add_subcommand("options", "List the options of the policy")->callback([&] {
    chosen = [] { return show_options(); };
  });
  CLI::App* command = app.add_subcommand("schema", "List the tables of the formats, or the columns of one");
  command->add_option("table", table, "Name of a table");
  command->callback([&] { chosen = [&] { return show_schema(table); }; });
}

/// A first word that is no command deserves a better answer than that it was not expected.
bool is_command(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return true;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), words.front()) != names.end()) return true;
  const std::vector<std::string_view> known(names.begin(), names.end());
  print_error(fmt::format("no command is called \"{}\"; {}", words.front(), io::suggestion(words.front(), known)));
  return false;
}

int main_of(std::vector<std::string> words) {
  CLI::App app(description, "kaisched");
  app.set_version_flag("--version", fmt::format("kaisched {}", version_string));
  app.require_subcommand(1);
  app.get_formatter()->column_width(38);

  std::function<int()> chosen;
  run_arguments run_to;
  synthetic_arguments generate_to;
  demo_arguments demo_to;
  std::string schema_table;
  add_demo(app, demo_to, chosen);
  add_run(app, run_to, chosen);
  add_generate(app, generate_to, chosen);
  test_arguments test_to;
  add_test(app, test_to, chosen);
  add_listings(app, schema_table, chosen);
  app.footer(examples);  // last: commands would inherit it

  if (!is_command(app, words)) return exit_usage;
  std::reverse(words.begin(), words.end());  // as the library wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& stop) {
    return app.exit(stop) == 0 ? exit_ok : exit_usage;
  }
  const int done = chosen();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    print_error("cannot write to the standard output");
    return exit_failure;
  }
  return done;
}

}  // namespace

}  // namespace kaisched::cli

int main(int argc, char** argv) {
  try {
    return kaisched::cli::main_of(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& fault) {
    kaisched::cli::print_error(fault.what());
    return kaisched::cli::exit_failure;
  }
}
