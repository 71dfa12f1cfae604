// Reproduces published tables: one subcommand for each.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "benchmarks/fgd/own.hpp"
#include "benchmarks/fgd/table.hpp"
#include "io/files.hpp"

namespace {

constexpr int differs = 1;
constexpr int wrong_usage = 2;

namespace fgd = kaisched::bench::fgd;

int fail(std::string_view verb, std::string_view why) {
  std::cerr << "reproduce " << verb << ": " << why << "\n";
  return wrong_usage;
}

/// Prints a result and writes it to a file, if one is named.
template <class Result>
int tell(std::string_view verb, const Result& made, const std::string& json, bool holds) {
  std::cout << fgd::to_text(made);
  if (!json.empty()) {
    if (const auto written = kaisched::io::write_file(json, fgd::to_json(made)); !written)
      return fail(verb, written.failure().message);
  }
  return holds ? 0 : differs;
}

int run_fgd(const fgd::table_request& what, const std::string& json) {
  const kaisched::result<fgd::table_result> made = fgd::reproduce(what);
  if (!made) return fail("fgd", made.failure().message);
  const bool exact = std::all_of(made->runs.begin(), made->runs.end(), [](const auto& one) { return one.is_exact(); });
  return tell("fgd", *made, json, exact);
}

int run_own(const fgd::own_request& what, const std::string& json) {
  const kaisched::result<fgd::own_result> made = fgd::compare(what);
  if (!made) return fail("own", made.failure().message);
  return tell("own", *made, json, made->holds());
}

/// "47-51" or "47".
bool read_seeds(const std::string& text, fgd::own_request& to) {
  const auto read = [](std::string_view digits, std::int64_t& number) {
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return failure == std::errc{} && end == digits.data() + digits.size();
  };
  const std::string_view all = text;
  const std::size_t dash = all.find('-');
  if (!read(all.substr(0, dash), to.seed_from)) return false;
  to.seed_to = to.seed_from;
  return dash == std::string_view::npos || read(all.substr(dash + 1), to.seed_to);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reproduces published tables with the engine. Exits with 1 where a number differs.", "reproduce");
  app.require_subcommand(1);
  fgd::table_request table;
  fgd::own_request own;
  std::string json;
  std::string own_seeds = "47-51";
  std::vector<std::string> own_options;
  CLI::App* const packing = app.add_subcommand("fgd", "packing: Weng et al., USENIX ATC 2023");
  packing->add_option("--data", table.data, "folder with the data");
  packing->add_option("--runs", table.runs, "only the first runs, seed by seed");
  packing->add_option("--threads", table.threads, "runs at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  packing->add_option("--workloads", table.workloads, "only these")->delimiter(',');
  packing->add_option("--policies", table.policies, "only these")->delimiter(',');
  packing->add_option("--json", json, "writes the result to a file");
  CLI::App* const ours = app.add_subcommand("own", "a part of the library against fgd, on the same pods");
  ours->add_option("--data", own.data, "folder with the data");
  ours->add_option("--part", own.part, "name of the part")->capture_default_str();
  ours->add_option("--set", own_options, "option=value for that part, any number of times");
  ours->add_option("--seeds", own_seeds, "from-to")->capture_default_str();
  ours->add_option("--orders", own.orders, "orders of nodes in which ties are decided, 1 to 3")->capture_default_str();
  ours->add_option("--threads", own.threads, "runs at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  ours->add_option("--workloads", own.workloads, "only these")->delimiter(',');
  ours->add_option("--bounds", own.bounds, "CSV file with workload, seed, lp_prefix_gpu_pct");
  ours->add_option("--json", json, "writes the result to a file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    const int code = app.exit(failure);
    return code == 0 ? 0 : wrong_usage;
  }
  const std::string verb = ours->parsed() ? "own" : "fgd";
  if ((ours->parsed() ? own.data : table.data).empty()) {
    std::cerr << "reproduce " << verb << " needs --data FOLDER.\n" << fgd::describe_data();
    return wrong_usage;
  }
  if (!ours->parsed()) return run_fgd(table, json);
  if (!read_seeds(own_seeds, own)) return fail(verb, "--seeds is not FROM-TO: '" + own_seeds + "'");
  for (const std::string& one : own_options) {
    const std::size_t is = one.find('=');
    if (is == std::string::npos) return fail(verb, "--set is not OPTION=VALUE: '" + one + "'");
    own.options.emplace_back(one.substr(0, is), one.substr(is + 1));
  }
  return run_own(own, json);
}
