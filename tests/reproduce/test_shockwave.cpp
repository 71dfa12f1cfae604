// The set of 120 jobs of NSDI 2023 in rounds: the published table, and what changes it.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "benchmarks/shockwave/table.hpp"
#include "support.hpp"

namespace of_test_shockwave {

using namespace kaisched;
using namespace kaisched::bench;
using test::must;

namespace {

/// Empty where the data is not here.
std::string shockwave_folder() {
  const char* named = std::getenv("KAISCHED_SHARED");
  const auto folder = std::filesystem::path(named != nullptr ? named : KAISCHED_SHARED_DEFAULT) / "data" / "shockwave";
  if (std::filesystem::exists(folder)) return folder.string();
  MESSAGE("skipped: " << folder << " is not here (set KAISCHED_SHARED)");
  return {};
}

}  // namespace

TEST_CASE("six policies are within 5 % of their published figures") {
  const std::string folder = shockwave_folder();
  if (folder.empty()) return;
  const shockwave::table_result made = must(shockwave::reproduce({folder, {}, {}}));
  REQUIRE(made.runs.size() == 6);
  for (const shockwave::run_result& one : made.runs) {
    CAPTURE(one.policy);
    CHECK(one.is_near());
    CHECK(one.ours.completion_times.size() == 120);
  }
  CHECK(shockwave::to_text(made).find("within 5 %: 6 of 6 ") != std::string::npos);
  CHECK(shockwave::to_json(made).find("\"exact_runs\": 6,") != std::string::npos);

  // Those that the solver leaves little choice agree round by round.
  for (std::size_t i = 0; i < 3; ++i) {
    const shockwave::run_result& one = made.runs[i];
    CAPTURE(one.policy);
    CHECK(one.ours.rounds == one.published.rounds);
    CHECK(one.ours.makespan == doctest::Approx(one.published.makespan).epsilon(0.001));
    CHECK(one.ours.average == doctest::Approx(one.published.average).epsilon(0.001));
    CHECK(one.ours.worst_fairness == doctest::Approx(one.published.worst_fairness).epsilon(0.001));
    CHECK(one.equal_jobs() >= 90);
    CHECK(one.ours.unfair == doctest::Approx(one.published.unfair).epsilon(0.01));
  }
}

TEST_CASE("a run is near if all of its figures are") {
  const shockwave::published_run published{1000, 100, 2, 50, 10, {90, 110}};
  CHECK(shockwave::run_result{"p", published, published}.is_near());
  for (double shockwave::published_run::* one :
       {&shockwave::published_run::makespan, &shockwave::published_run::average,
        &shockwave::published_run::worst_fairness}) {
    for (const double factor : {0.94, 1.06}) {
      shockwave::run_result run{"p", published, published};
      run.ours.*one *= factor;
      CHECK_FALSE(run.is_near());
      run.ours.*one = published.*one * (factor < 1 ? 0.96 : 1.04);
      CHECK(run.is_near());
    }
  }
  shockwave::published_run other = published;
  other.completion_times[1] += 0.02;
  const shockwave::run_result run{"p", other, published};
  CHECK(run.equal_jobs() == 1);
  const std::string json = shockwave::to_json({{run}, 0});
  CHECK(json.find("\"worst_ftf\": 2.0,") != std::string::npos);
  CHECK(json.find("\"equal_jobs\": 1") != std::string::npos);
  CHECK(shockwave::to_text({{run}, 0}).find("1 of 2") != std::string::npos);
}

TEST_CASE("the table follows the part, and each habit of the rounds") {
  const std::string folder = shockwave_folder();
  if (folder.empty()) return;
  const shockwave::table_request what{folder, {}, {"gandiva_fair"}};
  const shockwave::table_result swapped = must(shockwave::reproduce(what, {{"gandiva_fair", "fifo", nullptr}}));
  REQUIRE(swapped.runs.size() == 1);
  CHECK_FALSE(swapped.runs[0].is_near());
  CHECK(shockwave::to_text(swapped).find("within 5 %: 0 of 1 ") != std::string::npos);
  CHECK(shockwave::to_json(swapped).find("\"exact_runs\": 0,") != std::string::npos);
  CHECK_FALSE(shockwave::reproduce(what, {{"gandiva_fair", "no_such_part", nullptr}}).ok());

  const shockwave::round_options usual;
  const std::size_t equal = must(shockwave::reproduce(what)).runs[0].equal_jobs();
  const auto equal_with = [&](auto change) {
    shockwave::round_options options = usual;
    change(options);
    return must(shockwave::reproduce(what, shockwave::policies(), options)).runs[0].equal_jobs();
  };
  CHECK(equal > 2 * equal_with([](auto& o) { o.restart = 0; }));
  CHECK(equal > 2 * equal_with([](auto& o) { o.restart_margin = 0; }));
  CHECK(equal > 2 * equal_with([](auto& o) { o.between_shares = 0; }));
  CHECK(equal > 2 * equal_with([](auto& o) { o.newcomers_idle = false; }));
  CHECK(equal > 2 * equal_with([](auto& o) { o.changing_batches = false; }));
  CHECK(equal > 2 * equal_with([](auto& o) { o.round = 60; }));
  CHECK(equal == equal_with([](auto& o) { o.gpus_per_node = 4; }));  // speeds know no places
}

TEST_CASE("other bytes are refused and wrong names are named") {
  const auto folder = std::filesystem::temp_directory_path() / "kaisched_reproduce_shockwave";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "trace_120_jobs.csv") << "job,job_type\n";
  const auto read = shockwave::read_trace(folder.string());
  REQUIRE_FALSE(read.ok());
  CHECK(read.failure().message.find("trace_120_jobs.csv: its SHA-256 is ") == 0);
  std::filesystem::remove_all(folder);
  CHECK(shockwave::reproduce({{}, {}, {"gandiva"}}).failure().message == "there is no policy 'gandiva'");
  const std::string data = shockwave_folder();
  if (data.empty()) return;
  const auto speeds = shockwave::read_trace(data, data + "/tacc_throughputs_isolated.csv");
  REQUIRE_FALSE(speeds.ok());
  CHECK(speeds.failure().message.find("tacc_throughputs.json: its SHA-256 is ") == 0);
}

}  // namespace of_test_shockwave
