// The simulations of Muri (SIGCOMM 2022): rules by hand, and one of its traces job by job.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "benchmarks/muri/bound.hpp"
#include "benchmarks/muri/sharing_groups.hpp"
#include "benchmarks/muri/table.hpp"
#include "support.hpp"

namespace of_test_muri {

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

TEST_CASE("how long a round of jobs takes that share GPUs") {
  const muri::stage_times reads{1, 0, 0};
  const muri::stage_times computes{0, 1, 0};
  const muri::stage_times sends{0, 0, 1};
  const double two = 1.33 / 1.015;
  const double three = 1.5 / 1.015;
  const double four = 1.37 / 1.015;
  const auto round = [](const std::vector<muri::stage_times>& jobs) { return muri::shared_iteration(jobs); };
  // Who needs the same thing takes turns, who does not goes on at the same time.
  CHECK(round({computes, computes}) == 2 * two);
  CHECK(round({sends, sends}) == 2 * two);
  CHECK(round({reads, computes}) == 1 * two);
  CHECK(round({computes, sends}) == 1 * two);
  CHECK(round({computes, computes, computes}) == 3 * three);
  CHECK(round({reads, computes, sends}) == 1 * three);
  CHECK(round({computes, computes, computes, computes}) == 4 * four);
  CHECK(round({computes, sends, computes, sends}) == 2 * four);
  // Storage and CPU are two slots, of which neighbours have one in common and others none.
  CHECK(round({reads, reads}) == 1 * two);
  CHECK(round({reads, reads, reads, reads}) == 2 * four);
  // One slot apart (2, 2, 2) and (4, 1, 1) take 4 + 2 or 5 + 2 seconds; two apart they take 2 + 4.
  CHECK(round({{2, 2, 2}, {4, 1, 1}}) == 6 * two);
  // One slot apart 9 + 1 or 5 + 5 seconds, two apart the longer ones of 4, 2 and of 4, 6.
  CHECK(round({{4, 1, 5}, {4, 1, 1}}) == doctest::Approx(10 * two));
  CHECK(std::isinf(round({{0, 0, 0}, {0, 0, 0}})));
}

TEST_CASE("times of sets of kinds are those of their jobs") {
  muri::shared_times times;
  const std::vector<muri::job_kind> kinds{{7, {1, 2, 4}}, {10, {8, 1, 0}}, {9, {0, 6, 3}}, {8, {3, 3, 2}}};
  for (std::uint32_t i = 0; i < kinds.size(); ++i) CHECK(times.add(kinds[i]) == i);
  CHECK(times.add(kinds[2]) == 2);
  for (int again = 0; again < 2; ++again) {
    for (std::uint32_t a = 0; a < 4; ++a) {
      CHECK(times.iteration(std::array{a}) == kinds[a].alone);
      for (std::uint32_t b = a; b < 4; ++b) {
        CHECK(times.iteration(std::array{a, b}) ==
              muri::shared_iteration(std::array{kinds[a].stages, kinds[b].stages}));
        for (std::uint32_t c = b; c < 4; ++c) {
          const std::array three{kinds[a].stages, kinds[b].stages, kinds[c].stages};
          CHECK(times.iteration(std::array{a, b, c}) == muri::shared_iteration(three));
          for (std::uint32_t d = c; d < 4; ++d) {
            const std::array four{three[0], three[1], three[2], kinds[d].stages};
            CHECK(times.iteration(std::array{a, b, c, d}) == muri::shared_iteration(four));
          }
        }
      }
    }
  }
}

TEST_CASE("jobs share GPUs where that ends more of them sooner") {
  muri::loop_rules rules = plain();
  rules.sharers = 4;
  const muri::stage_times reads{1, 0, 0};
  const muri::stage_times computes{0, 1, 0};
  const auto like = [](muri::trace_job one, const muri::stage_times& stages) {
    one.stages = stages;
    return one;
  };
  const double two = 1.33 / 1.015;
  // Together both are a third slower, one after the other the second waits for 100 seconds.
  const times together = ends({like(job(4, 0, 100), reads), like(job(4, 0, 100), computes)}, "interleave", rules);
  CHECK(together[0] == doctest::Approx(100 * two));
  CHECK(together[1] == doctest::Approx(100 * two));
  // What both need is the same: one after the other.
  CHECK(ends({like(job(4, 0, 100), computes), like(job(4, 0, 100), computes)}, "interleave", rules) == times{100, 200});
  // Two GPUs are enough for each; jobs of other sizes do not share.
  CHECK(ends({like(job(2, 0, 100), reads), like(job(2, 0, 100), computes)}, "interleave", rules) == times{100, 100});
  CHECK(ends({like(job(4, 0, 100), reads), like(job(2, 0, 10), computes)}, "interleave", rules) == times{110, 10});
  // Both lose the time of both restarts, at the start and when the third one comes.
  const times restarted =
      ends({like(job(4, 0, 100, 10), reads), like(job(4, 0, 200, 5), computes), like(job(4, 50, 5000, 1), computes)},
           "interleave", rules);
  CHECK(restarted[0] == doctest::Approx(50 + (100 - (50 - 15) / two) * two));
  rules.restarts_at_every_event = false;
  const times once =
      ends({like(job(4, 0, 100, 10), reads), like(job(4, 0, 200, 5), computes), like(job(4, 50, 5000, 1), computes)},
           "interleave", rules);
  CHECK(once[0] == doctest::Approx(15 + 100 * two));
}

TEST_CASE("who shares: the pair that fits, and the third waits") {
  muri::shared_times times;
  const std::uint32_t reads = times.add({1, {1, 0, 0}});
  const std::uint32_t computes = times.add({1, {0, 1, 0}});
  const auto groups = [&](const std::vector<muri::sharing_candidate>& jobs, std::int64_t gpus) {
    std::vector<std::vector<std::uint32_t>> made;
    for (muri::sharing_group& one : muri::choose_groups(jobs, gpus, times)) {
      std::sort(one.jobs.begin(), one.jobs.end());
      made.push_back(std::move(one.jobs));
    }
    std::sort(made.begin(), made.end());
    return made;
  };
  using jobs_of_groups = std::vector<std::vector<std::uint32_t>>;
  CHECK(groups({{1, 2, computes, 100}, {2, 2, computes, 110}, {3, 2, reads, 120}}, 2) == jobs_of_groups{{1, 3}});
  CHECK(groups({{1, 2, computes, 100}, {2, 2, computes, 110}, {3, 2, reads, 120}}, 4) == jobs_of_groups{{1}, {2, 3}});
  CHECK(groups({{1, 2, computes, 100}, {2, 2, computes, 110}, {3, 2, reads, 120}}, 6) == jobs_of_groups{{1}, {2}, {3}});
  CHECK(groups({{1, 8, computes, 100}, {2, 2, computes, 110}}, 4) == jobs_of_groups{{2}});
  CHECK(groups({}, 4).empty());
}

TEST_CASE("an end close to an arrival happens with it where rules say so") {
  muri::loop_rules rules = plain();
  const std::vector<muri::trace_job> jobs{job(1, 0, 10), job(1, 10.00005, 10)};
  CHECK(ends(jobs, "srtf", rules)[0] == 10);
  rules.ends_with_arrivals = 1e-4;
  CHECK(ends(jobs, "srtf", rules)[0] == 10.00005);
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
  rules = plain();
  rules.sharers = 5;
  CHECK(muri::play({job(1, 0, 1)}, "srtf", rules).failure().message == "1 to 4 jobs share GPUs");
  // A part that does not know of it lets jobs of two sizes share.
  rules.sharers = 2;
  CHECK(muri::play({job(2, 0, 1), job(1, 0, 2)}, "srtf", rules).failure().message ==
        "jobs 0 and 1 share some of their GPUs only");
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

TEST_CASE("jobs that share GPUs end sooner than under the published policy that shares, and its part decides it") {
  const std::string folder = muri_folder();
  if (folder.empty()) return;
  muri::table_request what{folder, 0, 2, {"trace3"}, {"SRSF", "interleave"}};
  const muri::table_result made = must(muri::reproduce(what));
  REQUIRE(made.runs.size() == 2);
  const double shared = made.runs[1].mean.ours;
  CHECK(shared < 0.5 * made.runs[0].mean.ours);
  CHECK(shared < made.runs[1].published_sharing);
  CHECK(made.runs[1].lower_bound == 0);
  CHECK(muri::to_text(made).find("of Muri-S as published") != std::string::npos);
  CHECK(muri::to_json(made).find("percent_of_published_muri_s") != std::string::npos);

  std::vector<muri::policy_entry> swapped = muri::policies();
  swapped.back().part = "srsf";
  swapped.back().rules.sharers = 1;
  what.policies = {"interleave"};
  const muri::table_result other = must(muri::reproduce(what, swapped));
  REQUIRE(other.runs.size() == 1);
  CHECK(other.runs[0].mean.ours == made.runs[0].mean.ours);
}

}  // namespace of_test_muri
