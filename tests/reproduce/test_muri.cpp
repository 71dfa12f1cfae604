// The simulations of Muri (SIGCOMM 2022): rules by hand, and one of its traces job by job.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "benchmarks/muri/bound.hpp"
#include "benchmarks/muri/table.hpp"
#include "support.hpp"

using namespace kaisched;
using namespace kaisched::bench;
using test::must;

namespace {

constexpr double no_overhead = 0;

/// Of one iteration a second.
muri::trace_job job(std::int64_t gpus, double submit, double seconds, double overhead = no_overhead) {
  return {0, gpus, submit, seconds, 1000, overhead};
}

/// One node of four GPUs, and iterations as fast as measured.
muri::loop_rules plain() {
  muri::loop_rules rules;
  rules.nodes = 1;
  rules.gpus_per_node = 4;
  rules.slowdown = 1;
  return rules;
}

using times = std::vector<double>;

times ends(const std::vector<muri::trace_job>& jobs, const std::string& part, const muri::loop_rules& rules) {
  return must(muri::play(jobs, part, rules)).ends;
}

/// Empty where the data is not here.
std::string muri_folder() {
  const char* named = std::getenv("KAISCHED_SHARED");
  const auto folder = std::filesystem::path(named != nullptr ? named : KAISCHED_SHARED_DEFAULT) / "data" / "muri";
  if (std::filesystem::exists(folder)) return folder.string();
  MESSAGE("skipped: " << folder << " is not here (set KAISCHED_SHARED)");
  return {};
}

}  // namespace

TEST_CASE("a restart is charged at every event, or at every start") {
  // The first has done 20 of 100 seconds when the second one stops it; the second none when the third one comes.
  const std::vector<muri::trace_job> jobs{job(4, 0, 100, 10), job(4, 30, 20, 10), job(4, 40, 500, 10)};
  CHECK(ends(jobs, "srtf", plain()) == times{140, 60, 640});
  muri::loop_rules once = plain();
  once.restarts_at_every_event = false;
  CHECK(ends(jobs, "srtf", once) == times{150, 60, 660});
}

TEST_CASE("every iteration is slower by a factor") {
  muri::loop_rules rules = plain();
  rules.slowdown = 1.25;
  const std::vector<muri::trace_job> jobs{job(4, 0, 8), job(4, 0, 16)};
  const muri::outcome made = must(muri::play(jobs, "srtf", rules));
  CHECK(made.ends == times{10, 30});
  CHECK(made.mean == 20);
  CHECK(made.makespan == 30);
  CHECK(made.p99 == 30);
  CHECK(made.sessions == 3);  // at 0, 10 and 30
}

TEST_CASE("ends that are close are one event") {
  const std::vector<muri::trace_job> jobs{job(1, 0, 100), {1, 1, 0, 1, 100'000.00005, 0}};
  CHECK(ends(jobs, "srtf", plain()) == times{100, 100});
  muri::loop_rules exact = plain();
  exact.same_time_of_ends = false;
  CHECK(ends(jobs, "srtf", exact) == times{100, 100.00000005});
}

TEST_CASE("the part decides who runs") {
  // Shorter is wider: 50 seconds of four GPUs, or 100 of one.
  const std::vector<muri::trace_job> wide_and_narrow{job(4, 0, 50), job(1, 0, 100)};
  CHECK(ends(wide_and_narrow, "srtf", plain()) == times{50, 150});
  CHECK(ends(wide_and_narrow, "sjf", plain()) == times{50, 150});
  CHECK(ends(wide_and_narrow, "srsf", plain()) == times{150, 100});
  // 1/50 a second is more than 1/100.
  CHECK(ends(wide_and_narrow, "completion_rate", plain()) == times{50, 150});
  // 2/70 a second is more than 1/40.
  const std::vector<muri::trace_job> one_or_two{job(4, 0, 40), job(2, 0, 70), job(2, 0, 70)};
  CHECK(ends(one_or_two, "srtf", plain()) == times{40, 110, 110});
  CHECK(ends(one_or_two, "completion_rate", plain()) == times{110, 70, 70});
}

TEST_CASE("what is left decides, not what there was") {
  // After 60 seconds the first has 40 left, the second has 50.
  const std::vector<muri::trace_job> jobs{job(4, 0, 100), job(4, 60, 50)};
  CHECK(ends(jobs, "srtf", plain()) == times{100, 150});
  CHECK(ends(jobs, "srsf", plain()) == times{100, 150});
}

TEST_CASE("gangs take whole nodes, others the first node with room, and a pool has no nodes") {
  muri::loop_rules rules = plain();
  rules.nodes = 2;
  // 3 and 3 leave one GPU on each node.
  const std::vector<muri::trace_job> pieces{job(3, 0, 10), job(3, 0, 20), job(2, 0, 30)};
  CHECK(ends(pieces, "srtf", rules) == times{10, 20, 40});
  // The first takes one GPU of the first node, the second the other node and two GPUs of the first.
  CHECK(ends({job(1, 0, 10), job(6, 0, 20)}, "srtf", rules) == times{10, 20});
  CHECK(ends({job(3, 0, 10), job(6, 0, 20)}, "srtf", rules) == times{10, 30});
  rules.counts_gpus_only = true;
  CHECK(ends(pieces, "srtf", rules) == times{10, 20, 30});
}

TEST_CASE("queues by GPU time: an event at the limit, and who runs stays") {
  muri::loop_rules rules = plain();
  rules.counts_gpus_only = true;
  rules.queue_limits = {20};
  // After five seconds of four GPUs the first is in the second queue.
  const std::vector<muri::trace_job> jobs{job(4, 0, 100), job(4, 1, 4)};
  CHECK(ends(jobs, "las_2d", rules) == times{104, 9});
  // The third waits behind the second, which has run before it came.
  CHECK(ends({job(4, 0, 100), job(4, 1, 4), job(4, 6, 2)}, "las_2d", rules) == times{106, 9, 11});
  rules.wakes_at_limits = false;
  CHECK(ends(jobs, "las_2d", rules) == times{100, 104});
}

TEST_CASE("in a queue who runs goes on, though wider ones came before") {
  muri::loop_rules rules = plain();
  rules.counts_gpus_only = true;
  rules.queue_limits = {1000};
  // The third runs beside the first. When that one ends the second would fit in its place, but for the third.
  CHECK(ends({job(2, 0, 10), job(4, 0, 5), job(2, 0, 30)}, "las_2d", rules) == times{10, 35, 30});
}

TEST_CASE("who was stopped stands before those who never ran in its queue") {
  muri::loop_rules rules = plain();
  rules.counts_gpus_only = true;
  rules.queue_limits = {8, 40};
  // The first is in the second queue after two seconds, as is the second after two more; there the first comes first:
  // it runs until the third one comes, and again when that one has joined the queue behind both.
  CHECK(ends({job(4, 0, 9), job(4, 0, 9), job(4, 6, 3)}, "las_2d", rules) == times{13, 20, 21});
}

TEST_CASE("what cannot be played is named") {
  const auto played = muri::play({job(5, 0, 1)}, "srtf", plain());
  REQUIRE_FALSE(played.ok());
  CHECK(played.failure().message == "jobs wait for ever: some are too large");
  CHECK_FALSE(muri::play({job(1, 0, 1)}, "no_such_part", plain()).ok());
  muri::loop_rules rules = plain();
  rules.gpus_per_node = 65;
  CHECK(muri::play({job(1, 0, 1)}, "srtf", rules).failure().message == "nodes and GPUs of a node are 1 to 64");
  rules.gpus_per_node = 40;
  rules.nodes = 2;
  rules.counts_gpus_only = true;
  CHECK(muri::play({job(1, 0, 1)}, "srtf", rules).failure().message == "a pool has 64 GPUs at most");
  muri::table_request what;
  what.workloads = {"trace5"};
  CHECK(muri::reproduce(what).failure().message == "there is no trace 'trace5'");
  what.workloads = {};
  what.policies = {"Themis"};
  CHECK(muri::reproduce(what).failure().message == "there is no policy 'Themis'");
}

TEST_CASE("what no policy can do better than") {
  // Four GPUs. Alone a job is not faster than it is.
  CHECK(muri::least_mean(std::vector{job(4, 3, 100)}, plain()) == 100);
  CHECK(muri::least_mean(std::vector{job(1, 0, 100)}, plain()) == 62.5);  // a quarter at once, then half of 100
  // 40 GPU seconds, then 200: means of the moments at 5 and 35, ends five and 25 seconds later.
  CHECK(muri::least_mean(std::vector{job(4, 0, 50), job(4, 0, 10)}, plain()) == 35);
  // The second one from 10 to 20, ten seconds after it came; the first before and after, at 33 in the mean: 58.
  CHECK(muri::least_mean(std::vector{job(4, 0, 50), job(4, 10, 10)}, plain()) == 34);
  CHECK(muri::least_mean(std::vector<muri::trace_job>{}, plain()) == 0);
}

TEST_CASE("a figure is equal if all published decimals are") {
  CHECK(muri::compared{1.2346, "1.23"}.is_equal());
  CHECK_FALSE(muri::compared{1.2351, "1.23"}.is_equal());
  CHECK(muri::compared{12.4, "12"}.is_equal());
  CHECK_FALSE(muri::compared{12.4, ""}.is_equal());
}

TEST_CASE("traces with other bytes are refused") {
  const auto folder = std::filesystem::temp_directory_path() / "kaisched_reproduce_muri";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "restart_overhead_s.csv") << "model,g1,g2,g4,g8,g16,g32\nbert,1,1,1,1,1,1\n";
  const auto read = muri::read_trace(folder.string());
  REQUIRE_FALSE(read.ok());
  CHECK(read.failure().message.find("restart_overhead_s.csv: its SHA-256 is ") == 0);
  std::filesystem::remove_all(folder);
}

TEST_CASE("trace3 comes out job by job, and with another part it does not") {
  const std::string folder = muri_folder();
  if (folder.empty()) return;
  muri::table_request what{folder, 0, 2, {"trace3"}, {}};
  const muri::table_result made = must(muri::reproduce(what));
  REQUIRE(made.runs.size() == 3);
  for (const muri::run_result& one : made.runs) {
    CAPTURE(one.policy);
    CHECK(one.is_exact());
    CHECK(one.compared_jobs == 992);
  }
  CHECK(muri::to_text(made).find("exact runs: 3 of 3 ") != std::string::npos);
  CHECK(muri::to_json(made).find("\"exact_runs\": 3,") != std::string::npos);

  std::vector<muri::policy_entry> swapped = muri::policies();
  swapped[0].part = "srsf";
  what.policies = {"SRTF"};
  const muri::table_result other = must(muri::reproduce(what, swapped));
  REQUIRE(other.runs.size() == 1);
  CHECK_FALSE(other.runs[0].is_exact());
  CHECK(other.runs[0].mean.ours == made.runs[1].mean.ours);
  CHECK(muri::to_text(other).find("exact runs: 0 of 1 ") != std::string::npos);
}

TEST_CASE("quirks of the artefact decide the table") {
  const std::string folder = muri_folder();
  if (folder.empty()) return;
  muri::table_request what{folder, 0, 2, {"trace3"}, {"SRTF"}};
  std::vector<muri::policy_entry> changed(2, muri::policies()[0]);
  changed[0].rules.slowdown = 1;
  changed[1].rules.restarts_at_every_event = false;
  for (const muri::run_result& one : must(muri::reproduce(what, changed)).runs) CHECK_FALSE(one.is_exact());
}

TEST_CASE("the own policy is better than the better of SRTF and SRSF") {
  const std::string folder = muri_folder();
  if (folder.empty()) return;
  const muri::table_request what{folder, 0, 2, {"trace3"}, {"SRTF", "SRSF", "completion_rate"}};
  const muri::table_result made = must(muri::reproduce(what));
  REQUIRE(made.runs.size() == 3);
  CHECK(made.runs[2].mean.ours < 0.94 * made.runs[1].mean.ours);
  CHECK(made.runs[2].mean.ours > made.runs[2].lower_bound);
  CHECK(muri::to_text(made).find("% of the better of SRTF and SRSF") != std::string::npos);
  CHECK(muri::to_text(made).find("exact runs: 2 of 2 ") != std::string::npos);
}
