// Readers of traces over the files that docs/data.md names: numbers of jobs and sums that another program counted.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include <doctest/doctest.h>

#include <kaisched/quantity.hpp>

#include "base/int128.hpp"
#include "io/cluster_input.hpp"
#include "io/files.hpp"
#include "simulation/amounts.hpp"
#include "simulation/job_list.hpp"
#include "simulation/traces/lingjun.hpp"
#include "simulation/traces/traces.hpp"
#include "simulation/workload_csv.hpp"

namespace of_test_public_files {

using namespace kaisched;
using namespace kaisched::simulation;

namespace {

std::filesystem::path data_folder() {
  const char* named = std::getenv("KAISCHED_SHARED");
  return std::filesystem::path(named != nullptr ? named : KAISCHED_SHARED_DEFAULT) / "data";
}

bool absent() {
  if (std::filesystem::exists(data_folder())) return false;
  MESSAGE("skipped: shared data absent");
  return true;
}

std::string text_of(std::string_view file) {
  result<std::string> text = io::read_file((data_folder() / file).string());
  if (!text) FAIL(text.failure().message);
  return std::move(text).value();
}

workload good(result<workload> made) {
  if (!made) FAIL(made.failure().message);
  return std::move(made).value();
}

workload read(std::string_view form, std::string_view file, const trace_options& options = {}) {
  const std::string text = text_of(file);
  return good(find_trace_form(form)->read({file, text}, {}, options));
}

/// Milli-GPU nanoseconds.
base::int128 work_of(const workload& of) {
  base::int128 sum = 0;
  for (const job& one : of.jobs) sum += base::int128{gpus_of(one)} * one.run_time;
  return sum;
}
std::int64_t gpu_seconds(const workload& of) {
  const base::int128 unit = base::int128{whole_device} * nanoseconds_per_second;
  return static_cast<std::int64_t>((work_of(of) + unit / 2) / unit);
}

/// The same after a way through our own CSV, whatever the splitting was.
void check_survives(const workload& of) {
  const result<std::string> text = format_workload_csv(of);
  REQUIRE(text.ok());
  const workload again = good(read_workload_csv({"again.csv", *text}));
  CHECK(again.jobs == of.jobs);
}

}  // namespace

TEST_CASE("philly") {
  if (absent()) return;
  const workload made = read("philly", "philly/philly_jobs_pollux_subset.csv");
  CHECK(made.jobs.size() == 82'247);
  CHECK(gpu_seconds(made) == 3'521'082'502);
  CHECK(made.jobs.front().submit == 37'841 * nanoseconds_per_second);
  check_survives(made);
}

TEST_CASE("itp") {
  if (absent()) return;
  const workload all = read("itp", "itp/itp_jobs.csv");
  CHECK(all.jobs.size() == 69'351);
  CHECK(gpu_seconds(all) == 5'877'791'065);
  const std::array<std::size_t, 10> jobs{1595, 5778, 3011, 15802, 3629, 2396, 12699, 13047, 11134, 260};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    trace_options one;
    one.part = std::to_string(i + 1);
    CHECK(read("itp", "itp/itp_jobs.csv", one).jobs.size() == jobs[i]);
  }
}

TEST_CASE("muri: the sums are those of the published lower bounds") {
  if (absent()) return;
  struct expectation {
    std::string_view file;
    std::size_t jobs;
    std::int64_t work;
  };
  for (const expectation& one : {expectation{"trace1", 1494, 1'400'674'094}, expectation{"trace2", 5755, 3'011'188'024},
                                 expectation{"trace3", 992, 426'383'084}, expectation{"trace4", 2638, 748'710'938}}) {
    for (const std::string_view ending : {".csv", "_pr.csv"}) {
      const workload made = read("muri", "muri/" + std::string(one.file) + std::string(ending));
      CHECK(made.jobs.size() == one.jobs);
      CHECK(gpu_seconds(made) == one.work);
      CHECK((made.jobs.back().submit == 0) == (ending == "_pr.csv"));
    }
  }
}

TEST_CASE("openb") {
  if (absent()) return;
  const workload made = read("openb", "fgd/pods_default.csv");
  CHECK(made.jobs.size() == 7'255);
  CHECK(made.left_out == 897);
  CHECK(work_of(made) == base::int128{185'294'426'970} * nanoseconds_per_second);
  check_survives(made);
}

TEST_CASE("shockwave: iterations take as long as the file says") {
  if (absent()) return;
  // The trace of 120 jobs was made with other speeds than the rest.
  for (const auto& [name, jobs, table] : {std::tuple{"120", 120, "tacc"},
                                          {"220", 220, "wisr"},
                                          {"460", 460, "wisr"},
                                          {"900_100", 900, "wisr"},
                                          {"900_1000", 900, "wisr"}}) {
    const std::string speeds = text_of("shockwave/" + std::string(table) + "_throughputs_isolated.csv");
    const std::string file = "shockwave/trace_" + std::string(name) + "_jobs.csv";
    const std::string text = text_of(file);
    const workload made = good(read_shockwave({file, text}, {"speeds", speeds}));
    CHECK(made.jobs.size() == static_cast<std::size_t>(jobs));
    for (const job& one : made.jobs) {
      const double iterated = static_cast<double>(one.iterations) * static_cast<double>(one.iteration_time);
      CHECK(iterated / static_cast<double>(one.run_time) == doctest::Approx(1).epsilon(1e-3));
    }
  }
}

TEST_CASE("pollux: no job ends before its run time in what Tiresias was measured to do") {
  if (absent()) return;
  const std::array<std::string, 6> texts{text_of("pollux/workloads_load1.0.csv"), text_of("pollux/app_limits.csv"),
                                         text_of("pollux/completion_epoch.csv"),  text_of("pollux/grad_stats.csv"),
                                         text_of("pollux/progress.csv"),          text_of("pollux/step_times.csv")};
  const pollux_profiles profiles{{"a", texts[1]}, {"c", texts[2]}, {"g", texts[3]}, {"p", texts[4]}, {"s", texts[5]}};
  const workload made = good(read_pollux({"workloads", texts[0]}, profiles));
  REQUIRE(made.jobs.size() == 1280);
  CHECK(gpu_seconds(made) == 33'812'428);
  std::map<std::string, std::int64_t> run_times;
  for (const job& one : made.jobs) run_times[one.name] = one.run_time;
  const std::string results = text_of("pollux/jcts_load1.0.csv");
  constexpr std::array<std::string_view, 4> columns{"policy", "workload", "job", "jct_s"};
  io::csv_file csv({"jcts", results}, columns);
  std::int64_t compared = 0;
  std::int64_t shorter = 0;
  while (csv.next()) {
    if (csv.text(0) != "tiresias") continue;
    const std::string name = std::string(csv.text(1)) + "-" + std::string(csv.text(2));
    REQUIRE(run_times.count(name) == 1);
    ++compared;
    // A restart of 30 seconds comes first; three jobs got GPUs on more nodes than they need and were faster there.
    if (csv.integer(3, 0, 1'000'000) * nanoseconds_per_second < run_times[name]) ++shorter;
  }
  CHECK(compared == 1280);
  CHECK(shorter == 3);
}

TEST_CASE("lingjun") {
  if (absent()) return;
  const std::string text = text_of("topo/lingjun2023_hosts.csv");
  const result<io::cluster_input> input = read_lingjun_hosts({"hosts", text});
  REQUIRE(input.ok());
  result<cluster> built = io::build_cluster(*input);
  REQUIRE(built.ok());
  CHECK(built->take_snapshot().count(entity_kind::node) == 847);
}

}  // namespace of_test_public_files
