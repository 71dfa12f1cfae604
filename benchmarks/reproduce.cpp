// Reproduces published tables: one subcommand for each.
#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "benchmarks/fgd/table.hpp"
#include "benchmarks/muri/table.hpp"
#include "io/files.hpp"

namespace {

constexpr int differs = 1;
constexpr int wrong_usage = 2;

bool is_exact(const kaisched::bench::fgd::table_result& made) {
  return std::all_of(made.runs.begin(), made.runs.end(), [](const auto& one) { return one.is_exact(); });
}
bool is_exact(const kaisched::bench::muri::table_result& made) { return exact_runs(made) == published_runs(made); }

/// What all tables have in common. `made` is the result of their runs.
template <class Result>
int show(std::string_view table, const Result& made, const std::string& json) {
  if (!made) {
    std::cerr << "reproduce " << table << ": " << made.failure().message << "\n";
    return wrong_usage;
  }
  std::cout << to_text(*made);
  if (!json.empty()) {
    if (const auto written = kaisched::io::write_file(json, to_json(*made)); !written) {
      std::cerr << "reproduce " << table << ": " << written.failure().message << "\n";
      return wrong_usage;
    }
  }
  return is_exact(*made) ? 0 : differs;
}

int lacks_data(std::string_view table, const std::string& where_it_is) {
  std::cerr << "reproduce " << table << " needs --data FOLDER.\n" << where_it_is;
  return wrong_usage;
}

/// `Request` has the same members for every table.
template <class Request>
void add_options(CLI::App& to, Request& what, std::string& json, const char* runs) {
  to.add_option("--data", what.data, "folder with the data");
  to.add_option("--runs", what.runs, runs);
  to.add_option("--threads", what.threads, "runs at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  to.add_option("--workloads", what.workloads, "only these")->delimiter(',');
  to.add_option("--json", json, "writes the result to a file");
}

}  // namespace

int main(int argc, char** argv) {
  namespace fgd = kaisched::bench::fgd;
  namespace muri = kaisched::bench::muri;
  CLI::App app("Reproduces published tables with the engine. Exits with 1 where a number differs.", "reproduce");
  app.require_subcommand(1);
  std::string json;
  fgd::table_request packing;
  CLI::App* const fgd_command = app.add_subcommand("fgd", "packing: Weng et al., USENIX ATC 2023");
  add_options(*fgd_command, packing, json, "only the first runs, seed by seed");
  fgd_command->add_option("--policies", packing.policies, "only these")->delimiter(',');
  muri::table_request times;
  CLI::App* const muri_command = app.add_subcommand("muri", "time until the end: Zhao et al., SIGCOMM 2022");
  add_options(*muri_command, times, json, "only the first runs, trace by trace");
  muri_command
      ->add_option("--policies", times.policies,
                   "only these: SRTF, SRSF, Tiresias-L(2D-LAS), and beside the table completion_rate")
      ->delimiter(',');
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    const int code = app.exit(failure);
    return code == 0 ? 0 : wrong_usage;
  }
  if (fgd_command->parsed()) {
    return packing.data.empty() ? lacks_data("fgd", fgd::describe_data()) : show("fgd", fgd::reproduce(packing), json);
  }
  return times.data.empty() ? lacks_data("muri", muri::describe_data()) : show("muri", muri::reproduce(times), json);
}
