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
#include "benchmarks/muri/table.hpp"
#include "benchmarks/pollux/table.hpp"
#include "benchmarks/shockwave/table.hpp"
#include "io/files.hpp"

namespace {

namespace fgd = kaisched::bench::fgd;
namespace muri = kaisched::bench::muri;
namespace pollux = kaisched::bench::pollux;
namespace shockwave = kaisched::bench::shockwave;

constexpr int differs = 1;
constexpr int wrong_usage = 2;

/// Prints a table, and writes it as JSON where it is asked for. @param agrees whether it is as it was published
template <class Request, class Table>
int run_table(const CLI::App& command, const Request& what, std::string (*describe_data)(), const std::string& json,
              Table&& agrees) {
  const std::string name = "reproduce " + command.get_name();
  if (what.data.empty()) {
    std::cerr << name << " needs --data FOLDER.\n" << describe_data();
    return wrong_usage;
  }
  const auto made = reproduce(what);
  if (!made) {
    std::cerr << name << ": " << made.failure().message << "\n";
    return wrong_usage;
  }
  std::cout << to_text(*made);
  if (!json.empty()) {
    if (const auto written = kaisched::io::write_file(json, to_json(*made)); !written) {
      std::cerr << name << ": " << written.failure().message << "\n";
      return wrong_usage;
    }
  }
  return agrees(*made) ? 0 : differs;
}

/// Seeds as "47-51" or "47", options as "name=value". What is wrong, or nothing.
std::string read_own(const std::string& seeds, const std::vector<std::string>& options, fgd::own_request& to) {
  const auto read = [](std::string_view digits, std::int64_t& number) {
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return failure == std::errc{} && end == digits.data() + digits.size();
  };
  const std::string_view all = seeds;
  const std::size_t dash = all.find('-');
  const bool from = read(all.substr(0, dash), to.seed_from);
  to.seed_to = to.seed_from;
  if (!from || (dash != std::string_view::npos && !read(all.substr(dash + 1), to.seed_to)))
    return "--seeds is not FROM-TO: '" + seeds + "'";
  for (const std::string& one : options) {
    const std::size_t is = one.find('=');
    if (is == std::string::npos) return "--set is not OPTION=VALUE: '" + one + "'";
    to.options.emplace_back(one.substr(0, is), one.substr(is + 1));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reproduces published tables with the engine. Exits with 1 where a number differs.", "reproduce");
  app.require_subcommand(1);
  std::string json;
  const auto add = [&](const std::string& name, const std::string& title, std::string& data) {
    CLI::App* const made = app.add_subcommand(name, title);
    made->add_option("--data", data, "folder with the data");
    made->add_option("--json", json, "writes the result to a file");
    return made;
  };
  /// Tables of workloads and policies, played several runs at a time.
  const auto add_runs = [](CLI::App* to, auto& what) {
    to->add_option("--runs", what.runs, "only the first runs");
    to->add_option("--threads", what.threads, "runs at a time")->capture_default_str()->check(CLI::Range(1, 1024));
    to->add_option("--workloads", what.workloads, "only these")->delimiter(',');
    to->add_option("--policies", what.policies, "only these")->delimiter(',');
  };
  fgd::table_request of_fgd;
  CLI::App* const packing = add("fgd", "packing: Weng et al., USENIX ATC 2023", of_fgd.data);
  add_runs(packing, of_fgd);
  fgd::own_request of_own;
  std::string own_seeds = "47-51";
  std::vector<std::string> own_options;
  CLI::App* const own = add("own", "a part of the library against fgd, on the same pods", of_own.data);
  own->add_option("--part", of_own.part, "name of the part")->capture_default_str();
  own->add_option("--set", own_options, "option=value for that part, any number of times");
  own->add_option("--seeds", own_seeds, "from-to")->capture_default_str();
  own->add_option("--orders", of_own.orders, "orders of nodes in which ties are decided, 1 to 3")
      ->capture_default_str();
  own->add_option("--threads", of_own.threads, "runs at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  own->add_option("--workloads", of_own.workloads, "only these")->delimiter(',');
  own->add_option("--bounds", of_own.bounds, "CSV file with workload, seed, lp_prefix_gpu_pct");
  muri::table_request of_muri;
  CLI::App* const times = add("muri", "time until the end: Zhao et al., SIGCOMM 2022", of_muri.data);
  add_runs(times, of_muri);
  pollux::table_request of_pollux;
  CLI::App* const training = add("pollux", "elastic training: Qiao et al., OSDI 2021", of_pollux.data);
  add_runs(training, of_pollux);
  shockwave::table_request of_shockwave;
  CLI::App* const rounds = add("shockwave", "time in rounds: Zheng et al., NSDI 2023, to 5 %", of_shockwave.data);
  rounds->add_option("--speeds", of_shockwave.speeds, "tacc_throughputs.json: speeds with all digits");
  rounds->add_option("--policies", of_shockwave.policies, "only these")->delimiter(',');
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    const int code = app.exit(failure);
    return code == 0 ? 0 : wrong_usage;
  }
  const auto all_exact = [](const auto& made) {
    return std::all_of(made.runs.begin(), made.runs.end(), [](const auto& run) { return run.is_exact(); });
  };
  const auto all_near = [](const auto& made) {
    return std::all_of(made.runs.begin(), made.runs.end(), [](const auto& run) { return run.is_near(); });
  };
  const auto published_exact = [](const muri::table_result& made) { return exact_runs(made) == published_runs(made); };
  if (packing->parsed()) return run_table(*packing, of_fgd, fgd::describe_data, json, all_exact);
  if (own->parsed()) {
    if (const std::string wrong = read_own(own_seeds, own_options, of_own); !wrong.empty()) {
      std::cerr << "reproduce own: " << wrong << "\n";
      return wrong_usage;
    }
    return run_table(*own, of_own, fgd::describe_data, json, [](const auto& made) { return made.holds(); });
  }
  if (times->parsed()) return run_table(*times, of_muri, muri::describe_data, json, published_exact);
  if (training->parsed()) return run_table(*training, of_pollux, pollux::describe_data, json, all_exact);
  return run_table(*rounds, of_shockwave, shockwave::describe_data, json, all_near);
}
