// Plays the quality table, writes it, and says what has changed.
#include <iostream>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/quality/table.hpp"
#include "io/files.hpp"

namespace {

void say_speed(std::string_view what, std::uint64_t jobs, double seconds) {
  std::cerr << fmt::format("{}: {} jobs in {:.3f} s of a thread, {:.0f} jobs/s\n", what, jobs, seconds,
                           static_cast<double>(jobs) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  namespace quality = kaisched::bench::quality;
  constexpr int differs = 1;
  constexpr int wrong_usage = 2;
  CLI::App app("Workloads under policies. Exits with 1 where the table that is compared with differs.", "quality");
  quality::table_request what;
  std::string output;
  std::string check;
  bool tells_speed = false;
  app.add_option("--data", what.data, "folder with the public traces; without it invented workloads alone");
  app.add_option("--workloads", what.workloads, "only these")->delimiter(',');
  app.add_option("--policies", what.policies, "only these")->delimiter(',');
  app.add_option("--threads", what.threads, "plays at a time; 0: as many as there are cores")
      ->check(CLI::Range(0, 1024));
  app.add_option("--output", output, "writes the table");
  app.add_option("--check", check, "compares with a table that is known");
  app.add_flag("--speed", tells_speed, "says of each play how fast it was, in seconds that its thread computed");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    return app.exit(failure) == 0 ? 0 : wrong_usage;
  }
  const auto fail = [](const kaisched::error& why) {
    std::cerr << "quality: " << why.message << "\n";
    return wrong_usage;
  };
  const auto made = quality::play_table(what);
  if (!made) return fail(made.failure());
  if (made->rows.empty())
    return fail({kaisched::status::argument, "nothing is asked for that can be played: --data names the traces", {}});
  std::uint64_t jobs = 0;
  double seconds = 0;
  double computed = 0;
  for (const quality::table_row& row : made->rows) {
    jobs += row.jobs;
    seconds += row.seconds;
    computed += row.thread_seconds;
    if (tells_speed) say_speed(fmt::format("{} under {}", row.workload, row.policy), row.jobs, row.thread_seconds);
  }
  if (tells_speed) say_speed("all", jobs, computed);
  std::cerr << fmt::format("{} plays, {} jobs in {:.2f} s on {} threads: {:.0f} jobs/s, {:.0f} on one of them\n",
                           made->rows.size(), jobs, made->seconds, made->threads,
                           static_cast<double>(jobs) / made->seconds, static_cast<double>(jobs) / seconds);
  if (!output.empty()) {
    if (const auto written = kaisched::io::write_file(output, quality::to_csv(*made)); !written)
      return fail(written.failure());
  }
  if (check.empty()) {
    if (output.empty()) std::cout << quality::to_csv(*made);
    return 0;
  }
  const auto known = kaisched::io::read_file(check);
  if (!known) return fail(known.failure());
  const std::vector<std::string> found = quality::differences(*made, *known);
  for (const std::string& one : found) std::cout << one << "\n";
  std::cout << fmt::format("{} of {} rows as in {}\n", made->rows.size() - std::min(found.size(), made->rows.size()),
                           made->rows.size(), check);
  return found.empty() ? 0 : differs;
}
