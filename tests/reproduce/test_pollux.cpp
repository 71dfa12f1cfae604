// The elastic training benchmark of OSDI 2021: all runs second by second, and small ones worked out by hand.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "benchmarks/pollux/table.hpp"
#include "pollux_support.hpp"
#include "support.hpp"

namespace of_test_pollux {

using namespace kaisched;
using namespace kaisched::bench;
using test::must;

namespace {

using times = std::vector<std::int64_t>;

/// Empty where the data is not here.
std::string pollux_folder() {
  const char* named = std::getenv("KAISCHED_SHARED");  // NOLINT(concurrency-mt-unsafe): there is one thread
  const auto folder = std::filesystem::path(named != nullptr ? named : KAISCHED_SHARED_DEFAULT) / "data" / "pollux";
  if (std::filesystem::exists(folder)) return folder.string();
  MESSAGE("skipped: " << folder << " is not here (set KAISCHED_SHARED)");
  return {};
}

/// Two jobs with two GPUs each on a node with two: 800 to learn, 4 a second.
struct two_jobs {
  pollux::measurements measured = test::one_application(400);
  pollux::workload jobs{"w", {{"first", 0, 0, 2, 4}, {"second", 0, 100, 2, 4}}};
  pollux::artefact as;

  two_jobs() {
    measured.steps[{0, "2", 2}] = {0.25, 0.125};
    as.nodes = 1;
    as.gpus_per_node = 2;
    as.demotion = 240;
  }
};

/// Two jobs that learn 1 a second with one GPU and 2 with two, nothing more with three.
struct two_elastic_jobs {
  pollux::measurements measured = test::one_application(100);
  pollux::workload jobs{"w", {{"first", 0, 0, 1, 4}, {"second", 0, 0, 1, 4}}};
  pollux::artefact as;

  two_elastic_jobs() {
    measured.steps[{0, "1", 4}] = {1, 0};
    measured.steps[{0, "1", 2}] = {0.75, 0};
    measured.steps[{0, "2", 2}] = {0.5, 0};
    measured.steps[{0, "3", 2}] = {0.5, 0};
    as.nodes = 1;
    as.gpus_per_node = 3;
  }
};

}  // namespace

TEST_CASE("all jobs of all workloads take as many seconds as published") {
  const std::string folder = pollux_folder();
  if (folder.empty()) return;
  const pollux::table_result made = must(pollux::reproduce({folder, 0, 2, {}, {}}));
  REQUIRE(made.runs.size() == 16);
  for (const pollux::run_result& one : made.runs) {
    CAPTURE(one.workload);
    CAPTURE(one.policy);
    REQUIRE(one.jobs.size() == 160);
    for (std::size_t i = 0; i < one.jobs.size(); ++i) {
      CAPTURE(one.jobs[i]);
      REQUIRE(one.ours.times[i] == one.published[i]);
    }
    CHECK(one.is_exact());
  }
  CHECK(pollux::to_text(made).find("completion times: 2560 of 2560 equal\nexact runs: 16 of 16 ") != std::string::npos);
  const auto json = nlohmann::json::parse(pollux::to_json(made));
  CHECK(json["runs"] == 16);
  CHECK(json["exact_runs"] == 16);
  CHECK(json["equal_jobs"] == 2560);
  CHECK(json["table"][0]["mean_s"] == 2473.65);  // as the paper's data has it
  CHECK(json["table"][0]["published_mean_s"] == 2473.65);
}

TEST_CASE("with another part the table is another one, and so it is without a quirk of the simulator") {
  const std::string folder = pollux_folder();
  if (folder.empty()) return;
  const pollux::table_request what{folder, 0, 1, {"workload-1"}, {"tiresias"}};
  pollux::policy_name swapped = test::policy("tiresias");
  swapped.plan = "fifo";
  const pollux::table_result made = must(pollux::reproduce(what, {swapped}));
  REQUIRE(made.runs.size() == 1);
  CHECK_FALSE(made.runs[0].is_exact());
  CHECK(pollux::to_text(made).find("exact runs: 0 of 1 ") != std::string::npos);
  CHECK(pollux::to_text(made).find("differs: workload-1 tiresias ") != std::string::npos);
  CHECK(nlohmann::json::parse(pollux::to_json(made))["table"][0]["different"].size() ==
        made.runs[0].jobs.size() - made.runs[0].equal_jobs());
  pollux::artefact as;
  as.ends_at_whole_seconds = false;
  CHECK_FALSE(must(pollux::reproduce(what, pollux::policies(), as)).runs[0].is_exact());
}

TEST_CASE("one job: the first plan after a minute, 30 seconds to start, epochs that end at whole seconds") {
  pollux::measurements measured = test::one_application(201);
  measured.steps[{0, "1", 4}] = {0.5, 0};
  const pollux::workload jobs{"w", {{"only", 0, 10, 1, 4}}};
  pollux::artefact as;
  as.nodes = 1;
  as.gpus_per_node = 1;
  // From second 90 on it learns 2 a second: 180 until 180, the other 21 in 10.5 s. 10 s count, and the next 201 begin
  // at 190: 100 until 240, then 50.5 s, of which 50 count: it ends at 290, 280 s after its arrival.
  const pollux::outcome made = must(pollux::play(measured, jobs, test::policy("tiresias"), as));
  CHECK(made.times == times{280});
  CHECK(made.moves == 2);
  CHECK(made.steps == 5);
  as.ends_at_whole_seconds = false;
  CHECK(must(pollux::play(measured, jobs, test::policy("tiresias"), as)).times == times{281});
  as.ends_at_whole_seconds = true;
  // From second 60 on: 40 of 40.5 s to 160, then 241 until 180, 361 until 240, and 20 of 20.5 s.
  as.restart = 0;
  CHECK(must(pollux::play(measured, jobs, test::policy("tiresias"), as)).times == times{250});
  // Planned at second 30.
  as.step = 30;
  CHECK(must(pollux::play(measured, jobs, test::policy("tiresias"), as)).times[0] < 250);
}

TEST_CASE("a job that has had its GPU time goes behind the others, and comes back when they have had theirs") {
  two_jobs in;
  // The first one runs from 90 and is in the second queue at 180 (120 s with 2 GPUs), the second one from 210 to 300;
  // then they are in the order in which they came there: 360 + 440 and 360 + 440 learnt.
  const pollux::outcome made = must(pollux::play(in.measured, in.jobs, test::policy("tiresias"), in.as));
  CHECK(made.times == times{440, 520});
  CHECK(made.moves == 8);
  in.as.demotion = 10'000;
  CHECK(must(pollux::play(in.measured, in.jobs, test::policy("tiresias"), in.as)).times == times{290, 430});
}

TEST_CASE("another order of groups makes another table") {
  two_jobs in;
  pollux::policy_name swapped = test::policy("tiresias");
  swapped.plan = "fifo";
  CHECK(must(pollux::play(in.measured, in.jobs, swapped, in.as)).times == times{290, 430});
  two_elastic_jobs elastic;
  // Surplus of the first group before the gang of the second: three GPUs for 100 s, then the other.
  swapped = test::policy("optimus");
  swapped.plan = "fifo";
  CHECK(must(pollux::play(elastic.measured, elastic.jobs, swapped, elastic.as)).times == times{190, 370});
}

TEST_CASE("GPUs go where they save most, and nowhere where they save nothing") {
  two_elastic_jobs in;
  // At 60 both would save as much: the first has two GPUs and is in its second epoch at 140. One iteration is expected
  // of it then, so at 180 the second one has two. At 230 and 265 they end, and nobody has had a third one.
  const pollux::outcome made = must(pollux::play(in.measured, in.jobs, test::policy("optimus"), in.as));
  CHECK(made.times == times{230, 265});
  CHECK(made.moves == 6);
  in.as.lone_apps = {"a"};
  CHECK(must(pollux::play(in.measured, in.jobs, test::policy("optimus"), in.as)).times == times{290, 290});
}

TEST_CASE("a job takes all of the node with most free GPUs before it goes to the next one") {
  pollux::measurements measured = test::one_application(300);
  measured.steps[{0, "1", 4}] = {1, 0};
  measured.steps[{0, "14", 1}] = {0.5, 0};
  measured.steps[{0, "23", 1}] = {1, 0};
  const pollux::workload jobs{"w", {{"small", 0, 0, 1, 4}, {"large", 0, 0, 5, 4}}};
  pollux::artefact as;
  as.nodes = 2;
  // The small one is on the first node, so the large one takes the second one whole: 600 at 2 a second.
  CHECK(must(pollux::play(measured, jobs, test::policy("tiresias"), as)).times == times{690, 390});
  pollux::policy_name swapped = test::policy("tiresias");
  swapped.place = "two_queues,nodeplacement";  // GPU by GPU to the node with most: 3 and 2
  CHECK(must(pollux::play(measured, jobs, swapped, as)).times == times{690, 690});
}

TEST_CASE("batches are split as they fit, and by what Optimus expects one GPU always splits") {
  const pollux::application app{"a", 4, 40, 1, 8};
  const auto split = [&](std::int64_t batch, std::int64_t replicas, bool alone) {
    const pollux::batch_split made = pollux::split_batch(app, batch, replicas, alone);
    return std::pair(made.local, made.parts);
  };
  CHECK(split(8, 1, false) == std::pair<std::int64_t, std::int64_t>(8, 1));
  CHECK(split(8, 1, true) == std::pair<std::int64_t, std::int64_t>(4, 2));
  CHECK(split(8, 2, true) == std::pair<std::int64_t, std::int64_t>(4, 1));
  CHECK(split(17, 2, false) == std::pair<std::int64_t, std::int64_t>(5, 2));
  CHECK(split(40, 3, false) == std::pair<std::int64_t, std::int64_t>(6, 2));  // 7 would be 42 samples
  two_elastic_jobs in;
  pollux::artefact as;
  const pollux::job_spec& job = in.jobs.jobs[0];
  CHECK(must(pollux::expected_time(in.measured, as, job, 1)) == 1.5);
  CHECK(must(pollux::expected_time(in.measured, as, job, 2)) == 0.5);
  CHECK(must(pollux::expected_iterations(in.measured, as, job, 0)) == 100);
  CHECK(must(pollux::expected_iterations(in.measured, as, job, 1)) == 1);
  as.expects_lone_split = false;
  as.skips_present_epoch = false;
  CHECK(must(pollux::expected_time(in.measured, as, job, 1)) == 1);
  CHECK(must(pollux::expected_iterations(in.measured, as, job, 0)) == 200);
  CHECK(must(pollux::expected_iterations(in.measured, as, job, 1)) == 100);
}

TEST_CASE("the gain of a batch, and the time of the parts that are not exchanged") {
  pollux::measurements measured = test::one_application(70);
  measured.apps[0].most_local = 2;
  measured.gradients[{0, 6, 0}] = measured.gradients[{0, 6, 1}] = {2, 3};
  measured.steps[{0, "1", 2}] = {0.75, 0.5};
  pollux::workload jobs{"w", {{"only", 0, 0, 1, 6}}};
  pollux::artefact as;
  as.nodes = 1;
  as.gpus_per_node = 1;
  // Three parts of 2: 0.75 + 2 x 0.25 s. 5 / (3 / 1.5 + 2) = 1.25 a batch, so 1 a second: 140 s.
  CHECK(must(pollux::play(measured, jobs, test::policy("tiresias"), as)).times == times{230});
}

TEST_CASE("what is missing or cannot be is named") {
  two_jobs in;
  const auto failure_of = [&](const pollux::policy_name& policy) {
    const auto made = pollux::play(in.measured, in.jobs, policy, in.as);
    REQUIRE_FALSE(made.ok());
    return made.failure().message;
  };
  const pollux::policy_name tiresias = test::policy("tiresias");
  in.jobs.jobs[1].replicas = 3;
  CHECK(failure_of(tiresias) == "job 'second': 3 replicas, of 2 at most");
  in.jobs.jobs[1].replicas = 1;
  CHECK(failure_of(tiresias) == "application 'a': no step time on GPUs '1' with a local batch of 4");
  CHECK(failure_of(test::policy("optimus")).find("application 'a': no step time on GPUs '1' with a local batch of 2") !=
        std::string::npos);
  in.jobs.jobs[1] = {"second", 0, -1, 1, 4};
  CHECK(failure_of(tiresias) == "job 'second': comes at -1");
  in.jobs.jobs[1] = {"second", 1, 0, 1, 4};
  CHECK(failure_of(tiresias) == "job 'second': there is no such application");
  in.jobs.jobs[1] = {"second", 0, 0, 1, 0};
  CHECK(failure_of(tiresias) == "job 'second': a batch of 0");
  in.jobs.jobs.pop_back();
  in.measured.gradients[{0, 4, 0}] = {0, 0};
  CHECK(failure_of(tiresias) == "application 'a': no speed follows from a batch of 4 in epoch 0");
  in.as.step = 0;
  CHECK(failure_of(tiresias) == "step: 0");
  in.as.step = 60;
  in.as.gpus_per_node = 10;
  CHECK(failure_of(tiresias) == "gpus_per_node: 10");
}

TEST_CASE("of this table, too, files with other bytes are refused and wrong names are named") {
  const auto folder = std::filesystem::temp_directory_path() / "kaisched_reproduce_pollux";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "app_limits.csv")
      << "app,init_batch_size,max_batch_size,min_local_bsz,max_local_bsz\na,1,1,1,1\n";
  const auto read = pollux::read_trace(folder.string());
  REQUIRE_FALSE(read.ok());
  CHECK(read.failure().message.find("app_limits.csv: its SHA-256 is ") == 0);
  std::filesystem::remove_all(folder);
  pollux::table_request what;
  what.workloads = {"workload-9"};
  CHECK(pollux::reproduce(what).failure().message == "there is no workload 'workload-9'");
  what.workloads = {};
  what.policies = {"pollux"};
  CHECK(pollux::reproduce(what).failure().message == "there is no policy 'pollux'");
}

}  // namespace of_test_pollux
