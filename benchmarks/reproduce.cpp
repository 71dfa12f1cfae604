// Reproduces published tables: one subcommand for each.
#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>

#include "benchmarks/fgd/table.hpp"
#include "benchmarks/pollux/table.hpp"
#include "io/files.hpp"

namespace {

constexpr int differs = 1;
constexpr int wrong_usage = 2;

int run_fgd(const kaisched::bench::fgd::table_request& what, const std::string& json) {
  namespace fgd = kaisched::bench::fgd;
  if (what.data.empty()) {
    std::cerr << "reproduce fgd needs --data FOLDER.\n" << fgd::describe_data();
    return wrong_usage;
  }
  const kaisched::result<fgd::table_result> made = fgd::reproduce(what);
  if (!made) {
    std::cerr << "reproduce fgd: " << made.failure().message << "\n";
    return wrong_usage;
  }
  std::cout << fgd::to_text(*made);
  if (!json.empty()) {
    if (const auto written = kaisched::io::write_file(json, fgd::to_json(*made)); !written) {
      std::cerr << "reproduce fgd: " << written.failure().message << "\n";
      return wrong_usage;
    }
  }
  const bool exact = std::all_of(made->runs.begin(), made->runs.end(), [](const auto& one) { return one.is_exact(); });
  return exact ? 0 : differs;
}

int run_pollux(const kaisched::bench::pollux::table_request& what, const std::string& json) {
  namespace pollux = kaisched::bench::pollux;
  if (what.data.empty()) {
    std::cerr << "reproduce pollux needs --data FOLDER.\n" << pollux::describe_data();
    return wrong_usage;
  }
  const kaisched::result<pollux::table_result> made = pollux::reproduce(what);
  if (!made) {
    std::cerr << "reproduce pollux: " << made.failure().message << "\n";
    return wrong_usage;
  }
  std::cout << pollux::to_text(*made);
  if (!json.empty()) {
    if (const auto written = kaisched::io::write_file(json, pollux::to_json(*made)); !written) {
      std::cerr << "reproduce pollux: " << written.failure().message << "\n";
      return wrong_usage;
    }
  }
  const bool exact = std::all_of(made->runs.begin(), made->runs.end(), [](const auto& one) { return one.is_exact(); });
  return exact ? 0 : differs;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reproduces published tables with the engine. Exits with 1 where a number differs.", "reproduce");
  app.require_subcommand(1);
  kaisched::bench::fgd::table_request fgd;
  std::string json;
  CLI::App* const packing = app.add_subcommand("fgd", "packing: Weng et al., USENIX ATC 2023");
  packing->add_option("--data", fgd.data, "folder with the data");
  packing->add_option("--runs", fgd.runs, "only the first runs, seed by seed");
  packing->add_option("--threads", fgd.threads, "runs at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  packing->add_option("--workloads", fgd.workloads, "only these")->delimiter(',');
  packing->add_option("--policies", fgd.policies, "only these")->delimiter(',');
  packing->add_option("--json", json, "writes the result to a file");
  kaisched::bench::pollux::table_request pollux;
  CLI::App* const training = app.add_subcommand("pollux", "elastic training: Qiao et al., OSDI 2021");
  training->add_option("--data", pollux.data, "folder with the data");
  training->add_option("--runs", pollux.runs, "only the first runs, workload by workload");
  training->add_option("--threads", pollux.threads, "runs at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  training->add_option("--workloads", pollux.workloads, "only these")->delimiter(',');
  training->add_option("--policies", pollux.policies, "only these")->delimiter(',');
  training->add_option("--json", json, "writes the result to a file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    const int code = app.exit(failure);
    return code == 0 ? 0 : wrong_usage;
  }
  if (training->parsed()) return run_pollux(pollux, json);
  return run_fgd(fgd, json);
}
