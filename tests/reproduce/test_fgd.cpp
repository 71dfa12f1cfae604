// The packing benchmark of USENIX ATC 2023: some runs, pod by pod.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "benchmarks/fgd/table.hpp"
#include "support.hpp"

namespace of_test_fgd {

using namespace kaisched;
using namespace kaisched::bench;
using test::must;

namespace {

/// Empty where the data is not here.
std::string data_folder() {
  const char* named = std::getenv("KAISCHED_SHARED");
  const auto folder = std::filesystem::path(named != nullptr ? named : KAISCHED_SHARED_DEFAULT) / "data" / "fgd";
  if (std::filesystem::exists(folder)) return folder.string();
  MESSAGE("skipped: " << folder << " is not here (set KAISCHED_SHARED)");
  return {};
}

std::string told(const std::vector<fgd::placement>& all, std::size_t at) {
  return all[at].node + " " + std::to_string(all[at].devices);
}

}  // namespace

TEST_CASE("of the workload default every pod goes to the node and the devices that it went to") {
  const std::string folder = data_folder();
  if (folder.empty()) return;
  const std::vector<std::string> only{"default"};
  const fgd::trace in = must(fgd::read_trace(folder, only));
  REQUIRE(in.workloads.size() == 1);
  for (const fgd::policy_name& policy : fgd::policies()) {
    CAPTURE(policy.part);
    const std::vector<fgd::placement> expected = must(fgd::read_placements(folder, policy.published));
    const std::vector<fgd::placement> ours = must(fgd::place_all(in, in.workloads[0], 0, policy.part));
    REQUIRE(ours.size() == expected.size());
    REQUIRE(ours.size() > 10'000);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      CAPTURE(i);
      REQUIRE(told(ours, i) == told(expected, i));
    }
  }
}

TEST_CASE("curves and states at the end, and what they are with another part") {
  const std::string folder = data_folder();
  if (folder.empty()) return;
  fgd::table_request what{folder, 10, 2, {"gpuspec33", "multigpu50"}, {}};
  const fgd::table_result made = must(fgd::reproduce(what));
  REQUIRE(made.runs.size() == 10);
  for (const fgd::run_result& one : made.runs) {
    CAPTURE(one.workload);
    CAPTURE(one.policy);
    CHECK(one.seed == fgd::first_seed);
    CHECK(one.is_exact());
    CHECK(one.equal_points(&fgd::curves::lost_of_all) == fgd::loads);
    CHECK(one.equal_points(&fgd::curves::lost_of_idle) == fgd::loads);
  }
  CHECK(fgd::to_text(made).find("exact runs: 10 of 10 ") != std::string::npos);
  CHECK(fgd::to_json(made).find("\"exact_runs\": 10,") != std::string::npos);

  what.policies = {"FGD"};
  const fgd::table_result swapped = must(fgd::reproduce(what, {{"FGD", "best_fit"}}));
  REQUIRE(swapped.runs.size() == 10);
  for (const fgd::run_result& one : swapped.runs) CHECK_FALSE(one.is_exact());
  CHECK(fgd::to_text(swapped).find("exact runs: 0 of 10 ") != std::string::npos);
  CHECK_FALSE(fgd::reproduce(what, {{"FGD", "no_such_part"}}).ok());
}

TEST_CASE("files with other bytes are refused, and wrong names are named") {
  const auto folder = std::filesystem::temp_directory_path() / "kaisched_reproduce_fgd";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "nodes.csv") << "name,gpu_model,gpu_count,cpu_milli,memory_mib\nn,A,1,1,1\n";
  const auto read = fgd::read_trace(folder.string());
  REQUIRE_FALSE(read.ok());
  CHECK(read.failure().message.find("nodes.csv: its SHA-256 is ") == 0);
  std::filesystem::remove_all(folder);
  fgd::table_request what;
  what.workloads = {"defualt"};
  CHECK(fgd::reproduce(what).failure().message == "there is no workload 'defualt'");
  what.workloads = {};
  what.policies = {"Random"};
  CHECK(fgd::reproduce(what).failure().message == "there is no policy 'Random'");
}

}  // namespace of_test_fgd
