/// Figures of a day beside times: what decisions cost, what waited for what, and the window that they are taken over.
/// Every expected value is counted by hand.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulation/metrics.hpp"
#include "simulation/plain_cluster.hpp"
#include "simulation/play_support.hpp"
#include "simulation/policies.hpp"

namespace of_test_day_figures {

using namespace kaisched;
using namespace kaisched::test;

constexpr std::int64_t gpu_second = 1'000'000;  ///< in milli-GPU milliseconds

TEST_CASE("GPUs of a gang that has lost a pod are lost until it goes on") {
  // From 40 to 50 one of two nodes is away: the pod on the other one holds its GPU for nothing.
  sim::play what = play_of({{"gang", 0, 100, 2}});
  what.outages = {{"n1", 40 * second, 50 * second}};
  const sim::run_result r = played(nodes_with({1, 1}), what);
  CHECK(at(r.jobs[0].end) == 110);
  CHECK(r.jobs[0].stale_gpu_time == 10 * gpu_second);
  CHECK(r.jobs[0].partial_gpu_time == 0);
  CHECK(r.jobs[0].lost_gpu_time == 10 * gpu_second);
  CHECK(r.jobs[0].gpu_time == (40 * 2 + 10 + 60 * 2) * gpu_second);
  const sim::metrics m = sim::metrics_of(what.jobs, r);
  CHECK(m.stale_gang_gpu_hours == doctest::Approx(10.0 / 3600));
  CHECK(m.partial_gang_gpu_hours == 0);
  CHECK(m.lost_gpu_hours == doctest::Approx(10.0 / 3600));
  CHECK(m.restarts == 1);
}

TEST_CASE("what is left of a gang when the play ends is counted") {
  // Another job goes on, so the play goes on.
  sim::play what = play_of({{"gang", 0, 100, 2}, {"other", 0, 200}});
  what.outages = {{"n1", 40 * second, sim::never}};
  const sim::run_result r = played(nodes_with({1, 1, 1}), what, {.horizon = 60 * second});
  CHECK(r.jobs[0].stale_gpu_time == 20 * gpu_second);
}

TEST_CASE("GPUs of a gang that has too few places to begin are lost") {
  // kube-scheduler places pods one by one: from 10 to 100 one pod of the gang waits on n1 for the other one.
  const sim::play what = play_of({{"a", 0, 100}, {"gang", 10, 20, 2}});
  const sim::run_result r = played(nodes_with({1, 1}), what, {}, engine_with({{"preset", "kube-default"}}));
  CHECK(at(r.jobs[1].first_start) == 100);
  CHECK(at(r.jobs[1].end) == 120);
  CHECK(r.jobs[1].partial_gpu_time == 90 * gpu_second);
  CHECK(r.jobs[1].stale_gpu_time == 0);
  CHECK(r.jobs[1].lost_gpu_time == 90 * gpu_second);
}

TEST_CASE("restarts and evictions") {
  // low from 0, high from 30, a failure of the node from 40 to 50, high again until 90, low again.
  sim::play what = play_of({{"low", 0, 100}, {"high", 30, 50, 1, 1, 80}});
  what.outages = {{"n0", 40 * second, 50 * second}};
  const sim::metrics m =
      sim::metrics_of(what.jobs, played(nodes_with({1}), what, {}, engine_with({{"actions", "allocate,preempt"}})));
  CHECK(m.restarts == 2);
  CHECK(m.evictions == 1);
  CHECK(m.pods_evicted == 1);
  CHECK(m.failures == 1);
  CHECK(m.moves == 0);
  CHECK(m.withdrawn_starts == 0);
}

TEST_CASE("moves") {
  // From 30 on one GPU of each node is free, and r wants two of one node: one pod moves.
  const sim::play what = play_of({{"x", 0, 10}, {"y", 0, 100}, {"p", 1, 100}, {"q", 1, 29}, {"r", 40, 10, 1, 2}});
  const sim::run_result r = played(nodes_with({2, 2}), what, {}, engine_with({{"actions", "allocate,consolidation"}}));
  CHECK(at(r.jobs[4].first_start) == 40);
  CHECK(sim::metrics_of(what.jobs, r).moves == 1);
}

TEST_CASE("how long queues wait within their quotas") {
  // Two queues are owed two GPUs each. Queue a holds all four until 100. Queue b asks for two from 10 on.
  sim::play what = play_of({{"a0", 0, 100, 1, 4}, {"b0", 10, 50, 1, 2}, {"b1", 200, 10, 1, 3}});
  what.jobs.jobs[0].queue = "a";
  what.jobs.jobs[1].queue = "b";
  what.jobs.jobs[2].queue = "b";
  const auto claims = [&](const sim::simulation_options& options) {
    cluster c = must(io::build_cluster(must(sim::plain_cluster("1x4", what.jobs, "default", "gpu.model", true))));
    const sim::run_result r = must(sim::simulate(c, what, engine_with({{"actions", "allocate"}}), options));
    return r.quota_claims;
  };
  const auto seconds = [](std::int64_t t) { return t * second; };
  const std::vector<sim::quota_claim> all = claims({});
  REQUIRE(all.size() == 2);
  // Four GPUs are more than the quota of a: it never waits within it.
  CHECK(all[0] == sim::quota_claim{"a", 2 * whole_device, 0, 0, 0, 0, false});
  // The job of three GPUs of b starts at once, and would be no claim if it waited.
  CHECK(all[1] == sim::quota_claim{"b", 2 * whole_device, 1, seconds(90), seconds(90), seconds(90), false});
  CHECK(claims({.horizon = 50 * second})[1] ==
        sim::quota_claim{"b", 2 * whole_device, 1, seconds(40), seconds(40), seconds(40), true});
}

TEST_CASE("several claims of a queue: the first, the longest, and all") {
  // One node of two GPUs, one of each queue: b0 waits from 5 to 10, b1 from 20 to 40.
  sim::play what = play_of({{"a0", 0, 10, 1, 2}, {"b0", 5, 5}, {"a1", 15, 25, 1, 2}, {"b1", 20, 5}});
  for (sim::job& one : what.jobs.jobs) one.queue = one.name.substr(0, 1);
  cluster c = must(io::build_cluster(must(sim::plain_cluster("1x2", what.jobs, "default", "gpu.model", true))));
  const sim::run_result r = must(sim::simulate(c, what, engine_with({{"actions", "allocate"}})));
  REQUIRE(r.quota_claims.size() == 2);
  CHECK(r.quota_claims[1] == sim::quota_claim{"b", whole_device, 2, 5 * second, 20 * second, 25 * second, false});
  const sim::metrics m = sim::metrics_of(what.jobs, r);
  CHECK(m.quota_claims == 2);
  CHECK(m.longest_quota_claim == 20);
}

TEST_CASE("without quotas there are no claims") {
  CHECK(played(nodes_with({1}), play_of({{"a", 0, 10}, {"b", 0, 10}})).quota_claims.empty());
}

TEST_CASE("GPUs that are idle while jobs that fit wait: behind the head of the line") {
  // fifo: b wants both GPUs from 1 on and waits for a until 100. From 2 on c would fit on the free one.
  const sim::play what = play_of({{"a", 0, 100}, {"b", 1, 10, 1, 2}, {"c", 2, 10}});
  engine fifo;
  sim::simulation_options options;
  must(sim::apply_policy(*sim::find_policy("fifo"), fifo, options));
  const sim::run_result r = played(nodes_with({2}), what, options, fifo);
  CHECK(at(r.jobs[2].first_start) == 110);
  REQUIRE(r.idle_refusals.size() == 1);
  CHECK(r.idle_refusals[0] == sim::idle_refusal{constraint::not_tried, "", 98 * gpu_second});
  CHECK(sim::metrics_of(what.jobs, r).idle_fitting_gpu_hours == doctest::Approx(98.0 / 3600));
}

TEST_CASE("GPUs that are idle while jobs that fit wait: beyond a limit") {
  // The queue may have one GPU. The free one is idle while b waits, from 5 to 20; then a is gone, and no job waits.
  cluster c = nodes_with({2});
  must(c.apply(rows(table_kind::queue, table_op::change, {"name", "limit"})
                   .add({"default", numbers{unlimited, unlimited, whole_device}})));
  const sim::play what = play_of({{"a", 0, 20}, {"b", 5, 10}});
  const sim::run_result r = played(std::move(c), what);
  CHECK(at(r.jobs[1].first_start) == 20);
  REQUIRE(r.idle_refusals.size() == 1);
  CHECK(r.idle_refusals[0] == sim::idle_refusal{constraint::queue_limit, "", 15 * gpu_second});
}

TEST_CASE("GPUs that are idle while jobs that fit wait: a plug-in that lets no more jobs in") {
  // Two nodes of five GPUs, of which a and b hold three each. The queue has ten: with what runs and large, which wants
  // four of one node, they are all spoken for. y would fit on a free one from 2 on, z on two of the other node from 3
  // on.
  const sim::play what = play_of(
      {{"a", 0, 100, 1, 3}, {"b", 0, 100, 1, 3}, {"large", 1, 10, 1, 4}, {"y", 2, 200, 1, 1}, {"z", 3, 10, 1, 2}});
  const sim::run_result r = played(nodes_with({5, 5}), what, {}, engine_with({{"preset", "volcano-default"}}));
  CHECK(at(r.jobs[3].first_start) == 100);
  CHECK(at(r.jobs[4].first_start) == 100);
  REQUIRE(r.idle_refusals.size() == 1);
  CHECK(r.idle_refusals[0] == sim::idle_refusal{constraint::not_tried, "proportion", (98 + 2 * 97) * gpu_second});
}

TEST_CASE("jobs that do not fit leave no GPU idle") {
  // b wants two GPUs of one node: each node has one. And what waits fits once: two such jobs share one free GPU.
  const sim::play pieces = play_of({{"a", 0, 100}, {"a2", 0, 100}, {"b", 1, 10, 1, 2}});
  const engine spread = engine_with({{"placement.gpu", "spread"}});
  CHECK(played(nodes_with({2, 2}), pieces, {.horizon = 50 * second}, spread).idle_refusals.empty());
}

TEST_CASE("a free GPU is idle once, however many jobs would fit on it") {
  cluster c = nodes_with({2});
  must(c.apply(rows(table_kind::queue, table_op::change, {"name", "limit"})
                   .add({"default", numbers{unlimited, unlimited, whole_device}})));
  const sim::play what = play_of({{"a", 0, 20}, {"b", 5, 10}, {"c", 5, 10}});
  const sim::run_result r = played(std::move(c), what, {.horizon = 15 * second});
  REQUIRE(r.idle_refusals.size() == 1);
  CHECK(r.idle_refusals[0].gpu_time == 10 * gpu_second);
}

TEST_CASE("the contended window") {
  // Two GPUs: long holds one until 1000, b the other one from 10 to 30, c waits for it from 15 on and holds it
  // until 50.
  const sim::play what = play_of({{"long", 0, 1000}, {"b", 10, 20}, {"c", 15, 20}});
  const sim::run_result r = played(nodes_with({2}), what);
  CHECK(sim::contended_window(r) == sim::time_window{15 * second, 30 * second});
  const sim::metrics m = sim::metrics_of(what.jobs, r);
  CHECK(m.contended_from == 15);
  CHECK(m.contended_until == 30);
  CHECK(m.utilisation == 1);
  CHECK(m.utilisation_of_span == doctest::Approx(0.52));
  using values = std::vector<double>;
  CHECK(sim::pieces_of(r, sim::series::held, 3, {5 * second, 20 * second}) == values{1, 2, 2});
  CHECK(sim::pieces_of(r, sim::series::waiting, 2, *sim::contended_window(r)) == values{1, 1});
}

TEST_CASE("what is never contended is told over the whole time") {
  const sim::play what = play_of({{"a", 10, 20}, {"b", 50, 10}});
  const sim::run_result r = played(nodes_with({2}), what);
  CHECK_FALSE(sim::contended_window(r).has_value());
  const sim::metrics m = sim::metrics_of(what.jobs, r);
  CHECK(m.contended_from == 10);
  CHECK(m.contended_until == 60);
  CHECK(m.utilisation == doctest::Approx(0.3));
  CHECK(m.utilisation_of_span == m.utilisation);
}

TEST_CASE("CPU time of sessions is that of the clock that is given") {
  const sim::play what = play_of({{"a", 0, 10}, {"b", 20, 10}});
  std::int64_t now = 0;
  std::int64_t step = 0;
  sim::simulation_options options;
  options.cpu_clock = [&] { return now += step += 1000; };  // 1, 3, 6, 10: two sessions of 2 and 4 microseconds
  const sim::run_result timed = played(nodes_with({1}), what, options);
  CHECK(timed.counts.sessions == 2);
  CHECK(timed.session_cpu == std::vector<std::int64_t>{2000, 4000});
  const sim::run_result plain = played(nodes_with({1}), what);
  CHECK(plain.session_cpu.empty());
  CHECK(plain.digest == timed.digest);
}

}  // namespace of_test_day_figures
