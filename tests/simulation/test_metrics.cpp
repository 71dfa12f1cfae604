/// Figures of runs, and runs as CSV, against runs that can be added up by hand.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulation/metrics.hpp"
#include "simulation/outcome_csv.hpp"
#include "simulation/plain_cluster.hpp"
#include "simulation/play_support.hpp"

namespace of_test_metrics {

using namespace kaisched;
using namespace kaisched::test;

TEST_CASE("percentiles are nearest ranks") {
  const sim::distribution d = sim::distribution_of({4 * second, 1 * second, 3 * second, 2 * second});
  CHECK(d.count == 4);
  CHECK(d.mean == 2.5);
  CHECK(d.p50 == 2);
  CHECK(d.p90 == 4);
  CHECK(d.most == 4);
  std::vector<std::int64_t> hundred;
  for (std::int64_t i = 100; i > 0; --i) hundred.push_back(i * second);
  CHECK(sim::distribution_of(hundred).p50 == 50);
  CHECK(sim::distribution_of(hundred).p90 == 90);
  CHECK(sim::distribution_of(hundred).p99 == 99);
  CHECK(sim::distribution_of({}).count == 0);
  CHECK(sim::distribution_of({}).mean == 0);
}

TEST_CASE("figures of a run") {
  // On one GPU: a from 10 to 20, b from 20 to 25, c never.
  const sim::play what = play_of({{"a", 10, 10}, {"b", 15, 5}, {"c", 15, 5, 1, 2}});
  const sim::run_result r = played(nodes_with({1}), what);
  const sim::metrics m = sim::metrics_of(what.jobs, r);
  CHECK(m.jobs == 3);
  CHECK(m.ended == 2);
  CHECK(m.never_started == 1);
  CHECK(m.completion.mean == 10);
  CHECK(m.waiting.mean == 2.5);
  CHECK(m.waiting.count == 2);
  CHECK(m.makespan == 15);
  CHECK(m.utilisation == 1);
  CHECK(m.utilisation_of_arrivals == 1);
  CHECK(m.gpu_hours == doctest::Approx(15.0 / 3600));
  CHECK(m.lost_gpu_hours == 0);
  // Slowdowns 1 and 2. From 15 to 20 four GPUs are wanted or held, from 20 to 25 three: b has its part and more.
  CHECK(m.jain == doctest::Approx(9.0 / (2 * 5)));
  CHECK(m.worst_fairness == doctest::Approx(2 / 3.5).epsilon(1e-9));
  CHECK(m.unfair == 0);
}

TEST_CASE("a job that waits beside a free GPU is treated unfairly") {
  // b wants both GPUs of a node, of which a has one.
  const sim::play what = play_of({{"a", 0, 100}, {"b", 0, 10, 1, 2}});
  const sim::run_result r = played(nodes_with({2}), what);
  const sim::metrics m = sim::metrics_of(what.jobs, r);
  CHECK(m.worst_fairness == doctest::Approx(11 / ((100 * 1.5 + 10 * 1.0) / 110)));
  CHECK(m.unfair == 0.5);
}

TEST_CASE("figures of what was lost") {
  sim::play what = play_of({{"low", 0, 100}, {"high", 30, 50, 1, 1, 80}});
  what.outages = {{"n0", 40 * second, 50 * second}};
  const sim::run_result r =
      played(nodes_with({1}), what, {.keeps_work = false}, engine_with({{"actions", "allocate,preempt"}}));
  const sim::metrics m = sim::metrics_of(what.jobs, r);
  CHECK(m.evictions == 1);
  CHECK(m.failures == 1);
  CHECK(m.lost_gpu_hours == doctest::Approx(40.0 / 3600));
  CHECK(m.makespan == 200);
  CHECK(m.utilisation == 1);  // of what was there
}

TEST_CASE("nothing is counted beyond the end of a play") {
  const sim::play what = play_of({{"a", 0, 50}, {"b", 10, 500}, {"c", 1000, 1}});
  const sim::metrics m = sim::metrics_of(what.jobs, played(nodes_with({4}), what, {.horizon = 60 * second}));
  CHECK(m.utilisation == doctest::Approx(100.0 / 240));
  CHECK(m.utilisation_of_arrivals == doctest::Approx(100.0 / 240));
  CHECK(m.never_started == 0);  // c never came
}

TEST_CASE("no jobs, no figures") {
  const sim::run_result r = played(nodes_with({1}), {});
  CHECK(r.timeline.empty());
  CHECK(sim::metrics_of({}, r).ended == 0);
  CHECK(sim::pieces_of(r, sim::series::held, 4).empty());
}

TEST_CASE("pieces of the timeline") {
  const sim::run_result r = played(nodes_with({2}), play_of({{"a", 10, 20}, {"b", 20, 30}}));
  using values = std::vector<double>;
  CHECK(sim::pieces_of(r, sim::series::held, 4) == values{1, 2, 1, 1});
  CHECK(sim::pieces_of(r, sim::series::held, 1) == values{1.25});
  CHECK(sim::pieces_of(r, sim::series::there, 2) == values{2, 2});
  CHECK(sim::pieces_of(r, sim::series::wanted, 2) == values{0, 0});
  CHECK(sim::pieces_of(r, sim::series::running, 4) == values{1, 2, 1, 1});
}

TEST_CASE("a run as CSV") {
  sim::play what = play_of({{"a,b", 0, 100}, {"high", 30, 50, 1, 1, 80}, {"wide", 31, 1, 3}});
  what.jobs.jobs[0].run_time += 250'000'000;
  const sim::run_result r =
      played(nodes_with({1}), what, {.start_overhead = second}, engine_with({{"actions", "allocate,preempt"}}));
  CHECK(sim::format_outcomes(what.jobs, r) ==
        "job,submit,start,end,running,lost,gpu_seconds,lost_gpu_seconds,starts,evictions,failures,distance,"
        "partial_gang_gpu_seconds,stale_gang_gpu_seconds\n"
        "\"a,b\",0,0,153.25,102.25,2,102.25,2,2,1,0,0,0,0\n"
        "high,30,30,81,51,1,51,1,1,0,0,0,0,0\n"
        "wide,31,,,0,0,0,0,0,0,0,0,0,0\n");
  CHECK(sim::format_timeline(r) ==
        "time,gpus_held,gpus_wanted,gpus_there,jobs_running,jobs_waiting,gpus_fragmented,gpus_misplaced\n"
        "0,1,0,1,1,0,0,0\n"
        "30,1,1,1,1,1,0,0\n"
        "31,1,4,1,1,2,0,0\n"
        "81,1,3,1,1,1,0,0\n"
        "153.25,0,3,1,0,1,0,0\n");
}

TEST_CASE("a report makes names harmless for spreadsheets") {
  for (const std::string name : {"=1+1", "+1", "-1", "@sum"}) {
    CAPTURE(name);
    sim::play what = play_of({{name, 0, 10}});
    const std::string text = sim::format_outcomes(what.jobs, played(nodes_with({1}), what));
    CHECK(text.find("\n'" + name + ",0,0,10,") != std::string::npos);
  }
}

TEST_CASE("plain clusters of many nodes") {
  const sim::play what = play_of({{"a", 0, 10, 1, 8}});
  for (const char* const nodes : {"4096x8", "4097x8", "5000x8", "60000x8,40000x4"}) {
    CAPTURE(nodes);
    cluster c = must(io::build_cluster(must(sim::plain_cluster(nodes, what.jobs, "default", "gpu.model"))));
    CHECK(at(must(sim::simulate(c, what, engine{}, {})).jobs[0].end) == 10);
  }
  const io::cluster_input most = must(sim::plain_cluster("1000000x8", what.jobs, "default", "gpu.model"));
  const auto nodes = std::find_if(most.tables.begin(), most.tables.end(), [](const table& one) {
    return one.view().kind == static_cast<std::uint32_t>(table_kind::node);
  });
  REQUIRE(nodes != most.tables.end());
  const auto capacity =
      nodes->view().find(col::node_capacity)->values<std::int64_t>(nodes->rows() * built_in_dimensions);
  CHECK(nodes->rows() == 1'000'000);
  CHECK(capacity[dim_memory] >= std::int64_t{1} << 40);
  CHECK(capacity[dim_memory] <= (std::int64_t{1} << 62) / 1'000'000);
}

TEST_CASE("racks of plain clusters, and jobs that ask for one of them") {
  // The first job takes a node of the first rack: a pair is beside it and in the second rack, unless it is to be near.
  const sim::play what = play_of({{"a", 0, 100, 1, 1}, {"pair", 1, 10, 2, 1}});
  const auto distance = [&](const sim::simulation_options& options, std::int64_t nodes_per_rack) {
    cluster c = must(
        io::build_cluster(must(sim::plain_cluster("4x1", what.jobs, "default", "gpu.model", false, nodes_per_rack))));
    const sim::run_result r = must(sim::simulate(c, what, engine{}, options));
    CHECK(r.jobs[1].end != sim::never);
    return r.jobs[1].distance;
  };
  CHECK(distance({}, 2) == 2);
  CHECK(distance({.near = true}, 2) == 1);
  CHECK(distance({.preferred_level = "rack"}, 2) == 1);
  CHECK(distance({.near = true}, 0) == 1);  // without a topology all nodes are equally far apart
  CHECK(distance({.near = true}, 1) == 2);  // no rack has several nodes
}

TEST_CASE("plain clusters") {
  sim::play what = play_of({{"a", 0, 10, 1, 4}, {"b", 0, 10, 1, 2}});
  what.jobs.jobs[0].queue = "q";
  what.jobs.jobs[1].gpu_models = {"T4"};
  const auto text_of = [&](std::string_view nodes) {
    const result<io::cluster_input> made = sim::plain_cluster(nodes, what.jobs, "default", "gpu.model");
    return made ? std::string() : made.failure().message;
  };
  cluster c = must(io::build_cluster(must(sim::plain_cluster("1x4:V100,2x2:T4", what.jobs, "default", "gpu.model"))));
  const snapshot s = c.take_snapshot();
  CHECK(s.count(entity_kind::node) == 3);
  CHECK(s.count(entity_kind::queue) == 2);
  const sim::run_result r = must(sim::simulate(c, what, engine{}, {}));
  CHECK(at(r.jobs[0].end) == 10);
  CHECK(at(r.jobs[1].end) == 10);
  what.jobs.jobs[1].gpu_models = {"A100"};
  cluster other = must(io::build_cluster(must(sim::plain_cluster("8x8:V100", what.jobs, "default", "gpu.model"))));
  CHECK(must(sim::simulate(other, what, engine{}, {})).jobs[1].first_start == sim::never);
  for (const char* const bad :
       {"", "8", "x8", "8x", "0x8", "8x8:", "8x8,", "8x65", "-1x8", "1000001x1", "600000x1,600000x1", "8 x8"}) {
    CAPTURE(bad);
    CHECK(text_of(bad).find("expected nodes as NUMBERxGPUS") != std::string::npos);
  }
}

}  // namespace of_test_metrics
