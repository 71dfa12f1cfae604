// A part of the library against fgd on the pods of the packing benchmark: some runs.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "benchmarks/fgd/own.hpp"
#include "support.hpp"

namespace of_test_own {

using namespace kaisched;
using namespace kaisched::bench;
using test::must;

namespace {

/// One seed and one order of two workloads; the folder is empty where the data is not here.
fgd::own_request short_request() {
  const char* named = std::getenv("KAISCHED_SHARED");
  const auto folder = std::filesystem::path(named != nullptr ? named : KAISCHED_SHARED_DEFAULT) / "data" / "fgd";
  fgd::own_request what;
  what.seed_to = what.seed_from;
  what.orders = 1;
  what.workloads = {"cpu250", "gpuspec20"};
  if (std::filesystem::exists(folder))
    what.data = folder.string();
  else
    MESSAGE("skipped: " << folder << " is not here (set KAISCHED_SHARED)");
  return what;
}

}  // namespace

TEST_CASE("least_waste allocates more than fgd, and scarce models last longer; best_fit does not") {
  fgd::own_request what = short_request();
  if (what.data.empty()) return;
  const auto bounds = std::filesystem::temp_directory_path() / "kaisched_own_bounds.csv";
  std::ofstream(bounds) << "workload,seed,lp_prefix_gpu_pct\ngpuspec20,47,96.97\n";
  what.bounds = bounds.string();
  const fgd::own_result made = must(fgd::reproduce(what));
  REQUIRE(made.rows.size() == 2);
  CHECK(made.ahead() == 2);
  CHECK(made.scarce() == 1);
  CHECK(made.scarce_met() == 1);
  const fgd::own_row& scarce = made.rows[1];
  CHECK(scarce.workload == "gpuspec20");
  CHECK(scarce.runs == 1);
  CHECK(scarce.ours.ahead == 1);
  CHECK(scarce.fgd.ahead == 0);
  CHECK(scarce.ours.at_100 > scarce.fgd.at_100 + 0.5);
  CHECK(scarce.fgd.first_failed < 20);
  CHECK(scarce.bound == doctest::Approx(96.97));
  CHECK(scarce.below_bound == doctest::Approx(100 * (1 - scarce.ours.first_failed / 96.97)));
  CHECK(fgd::to_text(made).find("more at a load of 100 %: 2 of 2 workloads: yes") != std::string::npos);
  CHECK(fgd::to_json(made).find("\"scarce_met\": 1,") != std::string::npos);

  // What is published of fgd is what it is compared with.
  const fgd::trace in = must(fgd::read_trace(what.data, what.workloads));
  const auto published = in.published.find({{"gpuspec20", "FGD"}, what.seed_from});
  REQUIRE(published != in.published.end());
  CHECK(scarce.fgd.at_100 == doctest::Approx(static_cast<double>(published->second.allocated[100]) / 100));

  // Without a price on scarce models they are gone long before.
  what.workloads = {"gpuspec20"};
  what.options = {{"least_waste.scarcity", "0"}};
  const fgd::own_result free_for_all = must(fgd::reproduce(what));
  CHECK(free_for_all.rows[0].ours.first_failed < scarce.ours.first_failed - 10);
  CHECK_FALSE(free_for_all.keeps_scarce());
  what.options = {{"least_waste.scarcity", "much"}};
  CHECK_FALSE(fgd::reproduce(what).ok());
  what.options = {};

  what.workloads = {"cpu250", "gpuspec20"};
  what.part = "best_fit";
  const fgd::own_result worse = must(fgd::reproduce(what));
  CHECK(worse.ahead() == 0);
  CHECK(worse.scarce_met() == 0);
  CHECK_FALSE(worse.holds());
  std::filesystem::remove(bounds);
}

TEST_CASE("where CPU runs out the first pod that does not fit comes later than with fgd") {
  fgd::own_request what = short_request();
  if (what.data.empty()) return;
  what.seed_from = 42;
  what.seed_to = 46;
  what.workloads = {"cpu250"};
  const fgd::own_result made = must(fgd::reproduce(what));
  REQUIRE(made.rows.size() == 1);
  CHECK(made.rows[0].runs == 5);
  // Where the measure has no CPU it is 0.4 points.
  CHECK(made.rows[0].ours.first_failed > made.rows[0].fgd.first_failed + 0.8);
  CHECK(made.fails_no_sooner());
  CHECK(made.allocates_more());
}

TEST_CASE("orders of ties are other orders of the same nodes") {
  const fgd::own_request what = short_request();
  if (what.data.empty()) return;
  const std::vector<std::string> only{"gpuspec20"};
  const fgd::trace in = must(fgd::read_trace(what.data, only));
  std::array<std::map<std::string, std::size_t>, fgd::tie_orders.size()> rank_of;
  for (std::size_t order = 0; order < rank_of.size(); ++order) {
    cluster made = must(fgd::build_cluster(in, in.workloads[0], 5, order));
    const snapshot base = made.take_snapshot();
    std::set<std::size_t> ranks;
    for (node_row row = 0; row < in.nodes.size(); ++row) {
      const std::string name(base.node_name(row));
      const std::size_t rank = std::stoul(name.substr(0, 4));
      rank_of[order][name.substr(5)] = rank;
      ranks.insert(rank);
    }
    REQUIRE(ranks.size() == 1213);
    CHECK(*ranks.rbegin() == 1212);
  }
  for (std::size_t i = 0; i < in.nodes.size(); ++i) {
    const std::size_t rank = rank_of[0].at(in.nodes[i].name);
    CHECK(rank == in.workloads[0].ranks[5][i]);
    CHECK(rank_of[1].at(in.nodes[i].name) == rank * 500 % 1213);
    CHECK(rank_of[2].at(in.nodes[i].name) == rank * 777 % 1213);
  }
}

TEST_CASE("wrong requests and bounds are named") {
  fgd::own_request what;
  what.workloads = {"defualt"};
  CHECK(fgd::reproduce(what).failure().message == "there is no workload 'defualt'");
  what.workloads = {};
  what.seed_to = 52;
  CHECK(fgd::reproduce(what).failure().message == "seeds 47-52 are not within 42-51");
  what.seed_to = 51;
  what.orders = 4;
  CHECK(fgd::reproduce(what).failure().message == "orders are 1 to 3");
  what.orders = 1;
  const auto file = std::filesystem::temp_directory_path() / "kaisched_own_bad.csv";
  std::ofstream(file) << "workload,seed,lp_prefix_gpu_pct\ndefault,47,much\n";
  what.bounds = file.string();
  CHECK(fgd::reproduce(what).failure().message.find("lp_prefix_gpu_pct") != std::string::npos);
  std::filesystem::remove(file);
  CHECK_FALSE(fgd::reproduce(what).ok());
}

}  // namespace of_test_own
