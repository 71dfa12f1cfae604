// Reproduces published tables: one subcommand for each.
#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>

#include "benchmarks/fgd/table.hpp"
#include "benchmarks/shockwave/table.hpp"
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

int run_shockwave(const kaisched::bench::shockwave::table_request& what, const std::string& json) {
  namespace shockwave = kaisched::bench::shockwave;
  if (what.data.empty()) {
    std::cerr << "reproduce shockwave needs --data FOLDER.\n" << shockwave::describe_data();
    return wrong_usage;
  }
  const kaisched::result<shockwave::table_result> made = shockwave::reproduce(what);
  if (!made) {
    std::cerr << "reproduce shockwave: " << made.failure().message << "\n";
    return wrong_usage;
  }
  std::cout << shockwave::to_text(*made);
  if (!json.empty()) {
    if (const auto written = kaisched::io::write_file(json, shockwave::to_json(*made)); !written) {
      std::cerr << "reproduce shockwave: " << written.failure().message << "\n";
      return wrong_usage;
    }
  }
  const bool near = std::all_of(made->runs.begin(), made->runs.end(), [](const auto& one) { return one.is_near(); });
  return near ? 0 : differs;
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
  kaisched::bench::shockwave::table_request shockwave;
  CLI::App* const rounds = app.add_subcommand("shockwave", "time in rounds: Zheng et al., NSDI 2023, to 5 %");
  rounds->add_option("--data", shockwave.data, "folder with the data");
  rounds->add_option("--speeds", shockwave.speeds, "tacc_throughputs.json: speeds with all digits");
  rounds->add_option("--policies", shockwave.policies, "only these")->delimiter(',');
  rounds->add_option("--json", json, "writes the result to a file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    const int code = app.exit(failure);
    return code == 0 ? 0 : wrong_usage;
  }
  return rounds->parsed() ? run_shockwave(shockwave, json) : run_fgd(fgd, json);
}
