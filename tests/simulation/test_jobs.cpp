/// What jobs go through: waiting, running, losing work, ending.
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulation/metrics.hpp"
#include "simulation/play_support.hpp"

namespace of_test_jobs {

using namespace kaisched;
using namespace kaisched::test;

TEST_CASE("a job starts when it comes and ends when it has run") {
  const sim::run_result r = played(nodes_with({8}), play_of({{"a", 5, 10}}));
  CHECK(at(r.jobs[0].first_start) == 5);
  CHECK(at(r.jobs[0].end) == 15);
  CHECK(at(r.jobs[0].running) == 10);
  CHECK(r.jobs[0].lost == 0);
  CHECK(r.jobs[0].gpu_time == 10'000'000);
  CHECK(at(r.end) == 15);
  REQUIRE(r.timeline.size() == 2);
  CHECK(r.timeline[0] == sim::sample{5 * second, 1000, 0, 8000, 1, 0});
  CHECK(r.timeline[1] == sim::sample{15 * second, 0, 0, 8000, 0, 0});
}

TEST_CASE("a job waits for its place") {
  const sim::run_result r = played(nodes_with({1}), play_of({{"a", 0, 10}, {"b", 3, 10}, {"c", 4, 1}}));
  CHECK(at(r.jobs[1].first_start) == 10);
  CHECK(at(r.jobs[2].first_start) == 20);
  CHECK(at(r.jobs[2].end) == 21);
}

TEST_CASE("the shortest job starts first where sessions know run times") {
  const sim::play what = play_of({{"a", 0, 10}, {"long", 1, 20}, {"short", 2, 5}});
  for (const std::string part : {"sjf", "srtf", "srsf", "completion_rate"}) {
    CAPTURE(part);
    const engine with = engine_with({{"parts", "predicates,proportion," + part + ",nodeavailability"}});
    sim::simulation_options options;
    options.estimates = sim::told_times::exact;
    const sim::run_result known = played(nodes_with({1}), what, options, with);
    CHECK(at(known.jobs[2].first_start) == 10);
    CHECK(at(known.jobs[1].first_start) == 15);
    options.estimates = sim::told_times::none;
    const sim::run_result unknown = played(nodes_with({1}), what, options, with);
    CHECK(at(unknown.jobs[1].first_start) == 10);
    CHECK(at(unknown.jobs[2].first_start) == 30);
  }
}

TEST_CASE("a gang waits until all its pods have places") {
  const sim::run_result r = played(nodes_with({2, 2}), play_of({{"a", 0, 10, 1, 2}, {"gang", 1, 5, 2, 2}}));
  CHECK(at(r.jobs[1].first_start) == 10);
  CHECK(at(r.jobs[1].end) == 15);
  CHECK(r.counts.starts == 3);
}

TEST_CASE("a job that never fits does not end") {
  const sim::run_result r = played(nodes_with({2}), play_of({{"large", 0, 10, 1, 3}, {"a", 0, 10}}));
  CHECK(r.jobs[0].first_start == sim::never);
  CHECK(r.jobs[0].end == sim::never);
  CHECK(at(r.jobs[1].end) == 10);
}

TEST_CASE("jobs without work end when they start") {
  const sim::run_result r = played(nodes_with({1}), play_of({{"a", 2, 0}, {"b", 2, 0}, {"c", 2, 7}}));
  CHECK(at(r.jobs[0].end) == 2);
  CHECK(at(r.jobs[1].end) == 2);
  CHECK(at(r.jobs[2].end) == 9);
}

namespace {

const engine& preempting() {
  static const engine made = engine_with({{"actions", "allocate,preempt"}});
  return made;
}

}  // namespace

TEST_CASE("a job that is stopped goes on from its last checkpoint") {
  const sim::play what = play_of({{"low", 0, 100}, {"high", 30, 50, 1, 1, 80}});
  const auto with = [&](sim::simulation_options options) {
    return played(nodes_with({1}), what, options, preempting());
  };

  SUBCASE("nothing is lost") {
    const sim::run_result r = with({});
    CHECK(at(r.jobs[1].first_start) == 30);
    CHECK(at(r.jobs[0].end) == 150);
    CHECK(r.jobs[0].lost == 0);
    CHECK(r.jobs[0].evictions == 1);
    CHECK(r.jobs[0].starts == 2);
    CHECK(at(r.jobs[0].first_start) == 0);
  }
  SUBCASE("what is beyond the checkpoint is done again") {
    const sim::run_result r = with({.checkpoint_interval = 20 * second});
    CHECK(at(r.jobs[0].end) == 160);
    CHECK(at(r.jobs[0].lost) == 10);
    CHECK(at(r.jobs[0].running) == 110);
    CHECK(r.jobs[0].gpu_time == 110'000'000);
    CHECK(r.jobs[0].lost_gpu_time == 10'000'000);
  }
  SUBCASE("without checkpoints it begins again") {
    const sim::run_result r = with({.keeps_work = false});
    CHECK(at(r.jobs[0].end) == 180);
    CHECK(at(r.jobs[0].lost) == 30);
  }
  SUBCASE("every start takes time") {
    const sim::run_result r = with({.start_overhead = 4 * second});
    CHECK(at(r.jobs[1].end) == 84);
    CHECK(at(r.jobs[0].end) == 84 + 4 + 74);
    CHECK(at(r.jobs[0].lost) == 8);
  }
  SUBCASE("the place is free after the grace period") {
    const sim::run_result r = with({.grace = 3 * second});
    CHECK(at(r.jobs[1].first_start) == 33);
    CHECK(at(r.jobs[0].end) == 153);
    CHECK(at(r.jobs[0].running) == 100);
  }
  SUBCASE("a job may be stopped while it starts") {
    const sim::run_result r = with({.start_overhead = 40 * second});
    CHECK(at(r.jobs[1].first_start) == 30);
    CHECK(at(r.jobs[1].end) == 120);
    CHECK(at(r.jobs[0].end) == 260);
    CHECK(at(r.jobs[0].lost) == 70);
  }
}

TEST_CASE("a job that one session starts and stops counts both") {
  // In `compat` allocate starts the job of a, and reclaim takes its GPUs back in the same session for the other queue.
  cluster over = nodes_with({2});
  rows queues(table_kind::queue, table_op::add, {"name", "quota"});
  queues.add({"a", numbers{-1, -1, whole_device}}).add({"b", numbers{-1, -1, whole_device}});
  must(over.apply(queues));
  sim::play what =
      play_of({{"1-wide-a", 0, 200, 1, 2, 75}, {"2-wide-b", 0, 200, 1, 2, 75}, {"3-narrow-b", 0, 50, 1, 1, 75}});
  for (sim::job& one : what.jobs.jobs) one.queue = one.name.back();
  const engine with = engine_with({{"mode", "compat"}, {"actions", "allocate,reclaim,preempt"}});
  const sim::run_result r = played(std::move(over), what, {}, with);
  std::uint64_t starts = 0;
  std::uint64_t evictions = 0;
  for (const sim::job_outcome& one : r.jobs) {
    starts += one.starts;
    evictions += one.evictions;
  }
  CHECK(r.counts.evictions > 0);
  CHECK(evictions == r.counts.evictions);
  CHECK(starts == r.counts.starts);
}

TEST_CASE("a profile says what the jobs of a model lose, and how fast they are") {
  sim::play what = play_of({{"low", 0, 100, 1, 1, 50, 0, "gpt"}, {"high", 30, 50, 1, 1, 80, 0, "bert"}});
  what.profiles = {{"gpt", {}, 2 * second, 10 * second}};
  const sim::run_result r =
      played(nodes_with({1}), what, {.start_overhead = 1 * second, .keeps_work = true}, preempting());
  CHECK(at(r.jobs[1].end) == 81);
  CHECK(at(r.jobs[0].lost) == 2 + 8 + 2);
  CHECK(at(r.jobs[0].end) == 81 + 2 + 80);
}

TEST_CASE("an elastic job goes on with less than all its pods") {
  sim::play what = play_of({{"elastic", 0, 100, 4, 1, 50, 2}, {"other", 0, 40, 1, 2, 90}});
  SUBCASE("half of its pods are half of its speed") {
    const sim::run_result r = played(nodes_with({4}), what);
    CHECK(at(r.jobs[0].first_start) == 0);
    CHECK(at(r.jobs[0].end) == 40 + 80);
    CHECK(r.jobs[0].starts == 1);
    CHECK(r.jobs[0].gpu_time == (40 * 2 + 80 * 4) * 1'000'000);
  }
  SUBCASE("and stops for the others as for a start") {
    const sim::run_result r = played(nodes_with({4}), what, {.start_overhead = 10 * second});
    // From 10 to 50 with two pods, from 60 with four.
    CHECK(at(r.jobs[0].end) == 60 + 80);
    CHECK(at(r.jobs[0].lost) == 20);
    CHECK(r.jobs[0].lost_gpu_time == (10 * 2 + 10 * 4) * 1'000'000);
    CHECK(r.jobs[0].starts == 1);
  }
  SUBCASE("or what its curve says") {
    what.profiles = {{"", {{1, 400'000}, {3, 900'000}}, sim::never, sim::never}};
    const sim::run_result r = played(nodes_with({4}), what);  // two pods: half way between the points
    CHECK(at(r.jobs[0].end) == 40 + (100 - 40 * 0.65));
  }
}

TEST_CASE("a job is as fast as its slowest node") {
  cluster over = nodes_with({1, 1, 2});
  rows labels(table_kind::node, table_op::change, {"name", "labels"});
  labels.add({"n0", texts{"gpu.model", "T4"}}).add({"n1", texts{"gpu.model", "H100"}});
  must(over.apply(labels));
  sim::play what = play_of({{"narrow", 0, 100, 1, 1, 50, 0, "gpt"}, {"wide", 0, 100, 2, 1, 50, 0, "gpt"}});
  what.profiles = {{"gpt", {}, sim::never, sim::never, {{"T4", 250'000}, {"H100", 2'000'000}}}};
  what.jobs.jobs[0].gpu_models = {"H100"};
  SUBCASE("nodes of which nothing is said have full speed") {
    what.jobs.jobs[1].pods = {{1, 1000, 0, 2 * whole_device, 0}};
    const sim::run_result r = played(std::move(over), what);
    CHECK(at(r.jobs[0].end) == 50);
    CHECK(at(r.jobs[1].end) == 100);
  }
  SUBCASE("pods wait for each other") {
    what.jobs.jobs[1].gpu_models = {"T4", "H100"};
    const sim::run_result r = played(std::move(over), what);
    CHECK(at(r.jobs[1].first_start) == 50);
    CHECK(at(r.jobs[1].end) == 50 + 400);
  }
  SUBCASE("jobs of other models do not ask") {
    what.jobs.jobs[0].model = "bert";
    CHECK(at(played(std::move(over), what).jobs[0].end) == 100);
  }
}

TEST_CASE("sessions are held at multiples of the period") {
  const sim::run_result r = played(nodes_with({1}), play_of({{"a", 3, 10}, {"b", 4, 10}}), {.period = 10 * second});
  CHECK(at(r.jobs[0].first_start) == 10);
  CHECK(at(r.jobs[1].first_start) == 20);
  CHECK(r.counts.sessions == 2);
}

namespace {

/// Sessions that a play holds, and those of the same play with somebody who looks at each of them.
struct session_counts {
  std::uint64_t alone = 0;
  std::uint64_t watched = 0;
};
session_counts counts_of(const sim::play& what, const sim::simulation_options& options = {},
                         std::string_view actions = "allocate") {
  const engine with = engine_with({{"actions", actions}});
  const sim::run_result alone = played(nodes_with({4}), what, options, with);
  cluster again = nodes_with({4});
  const sim::run_result watched =
      must(sim::simulate(again, what, with, options, [](const session&, std::int64_t) -> result<void> { return {}; }));
  CHECK(alone.digest == watched.digest);
  CHECK(alone.jobs == watched.jobs);
  CHECK(alone.timeline == watched.timeline);
  return {alone.counts.sessions, watched.counts.sessions};
}

}  // namespace

TEST_CASE("no session is held for jobs that need more GPUs than are free") {
  const sim::play full = play_of({{"a", 0, 10, 1, 4}, {"b", 1, 10, 1, 2}, {"c", 2, 10, 2, 1}});
  SUBCASE("while all are taken") {
    const session_counts found = counts_of(full);
    CHECK(found.alone == 2);
    CHECK(found.watched == 4);
  }
  SUBCASE("while a gang needs more than there are") {
    const session_counts found = counts_of(play_of({{"a", 0, 10, 1, 2}, {"gang", 1, 10, 3, 1}}));
    CHECK(found.alone == 2);
    CHECK(found.watched == 3);
  }
  SUBCASE("an elastic job needs those of one pod") {
    const session_counts found = counts_of(play_of({{"a", 0, 10, 1, 2}, {"elastic", 1, 10, 4, 1, 50, 3}}));
    CHECK(found.alone == found.watched);
  }
  SUBCASE("pods without GPUs are always asked for") {
    const session_counts found = counts_of(play_of({{"a", 0, 10, 1, 4}, {"none", 1, 10, 1, 0}}));
    CHECK(found.alone == found.watched);
  }
  SUBCASE("unless somebody could make room") {
    const session_counts found = counts_of(full, {}, "allocate,preempt");
    CHECK(found.alone == found.watched);
  }
  SUBCASE("or the clock may matter") {
    const session_counts found = counts_of(full, {.wake = 4 * second});
    CHECK(found.alone == found.watched);
  }
}

TEST_CASE("nothing is played beyond the horizon") {
  const sim::run_result r = played(nodes_with({1}), play_of({{"a", 0, 10}, {"b", 0, 10}}), {.horizon = 15 * second});
  CHECK(at(r.jobs[0].end) == 10);
  CHECK(r.jobs[1].end == sim::never);
  CHECK(at(r.jobs[1].running) == 5);
  CHECK(at(r.end) == 15);
}

TEST_CASE("rules that look at the clock are asked while somebody waits") {
  const engine with = engine_with({{"actions", "runtimelimit,allocate"}});
  cluster c = nodes_with({1});
  must(c.apply(rows(table_kind::queue, table_op::change, {"name", "max_runtime"}).add({"default", 20 * second})));
  const sim::play what = play_of({{"a", 0, 50}, {"b", 1, 5, 1, 1, 80}});
  const sim::run_result r = must(sim::simulate(c, what, with, {.wake = 10 * second}));
  CHECK(r.jobs[0].evictions == 2);
  CHECK(at(r.jobs[1].first_start) == 21);
}

TEST_CASE("the end is the last moment at which something changed") {
  SUBCASE("not that of a plan that was given up") {
    const sim::run_result r =
        played(nodes_with({4}), play_of({{"elastic", 0, 100, 4, 1, 50, 2}, {"other", 0, 40, 1, 2, 90}}));
    CHECK(at(r.end) == 120);
  }
  SUBCASE("not that of sessions that found nothing") {
    const sim::run_result r =
        played(nodes_with({1}), play_of({{"a", 0, 100}, {"wide", 0, 100, 4}}), {.wake = 3600 * second});
    CHECK(at(r.end) == 100);
  }
}

TEST_CASE("a job counts as stopped when it stops, whatever happened to it in the same session") {
  const engine& with = preempting();
  SUBCASE("a pod of it had just started") {
    const sim::play what =
        play_of({{"x", 0, 10, 1, 1, 80}, {"elastic", 0, 100, 2, 1, 50, 1}, {"high", 10, 50, 2, 1, 90}});
    const sim::run_result r = played(nodes_with({2}), what, {.keeps_work = false}, with);
    CHECK(r.jobs[1].starts == 2);
    CHECK(r.jobs[1].evictions == 1);
  }
  SUBCASE("it goes on with fewer pods") {
    const sim::play what = play_of({{"elastic", 0, 100, 2, 1, 50, 1}, {"high", 10, 50, 1, 1, 90}});
    const sim::run_result r = played(nodes_with({2}), what, {}, with);
    CHECK(r.jobs[0].starts == 1);
    CHECK(r.jobs[0].evictions == 0);
    CHECK(r.counts.evictions == 1);
    CHECK(at(r.jobs[0].end) == 125);
  }
  SUBCASE("and stops for it, and when it has them again, but has lost nothing of its work") {
    const sim::play what = play_of({{"elastic", 0, 100, 2, 1, 50, 1}, {"high", 10, 50, 1, 1, 90}});
    const sim::run_result r =
        played(nodes_with({2}), what, {.start_overhead = 4 * second, .checkpoint_interval = 20 * second}, with);
    // 6 by the time 10, 25 from 14 to 64, and the rest from 68.
    CHECK(at(r.jobs[0].end) == 68 + 69);
    CHECK(at(r.jobs[0].lost) == 12);
  }
}

TEST_CASE("no more is lost than was had") {
  // Pods with and without GPUs: the job had no GPU when it was stopped.
  sim::play what = play_of({{"other", 0, 50, 2, 2, 50}, {"mixed", 1, 200}, {"high", 30, 5, 1, 0, 99}});
  what.jobs.jobs[1].pods = {{1, 60'000, 0, 0, 0}, {1, 1000, 0, 2000, 0}};
  what.jobs.jobs[1].min_pods = 1;
  what.jobs.jobs[2].pods[0].cpu = 60'000;
  const sim::run_result r = played(nodes_with({4}), what, {.keeps_work = false}, preempting());
  for (const sim::job_outcome& o : r.jobs) CHECK(o.lost_gpu_time <= o.gpu_time);
}

TEST_CASE("work that was saved is not lost by a later stop") {
  sim::play what = play_of({{"a", 0, 100}});
  what.outages = {{"n0", 37 * second, 38 * second, 0, true}, {"n0", 40 * second, 41 * second}};
  const sim::run_result r = played(nodes_with({1}), what, {.checkpoint_interval = 20 * second});
  CHECK(at(r.jobs[0].lost) == 2);  // from 37 to 39
  CHECK(at(r.jobs[0].end) == 104);
}

TEST_CASE("a job that never gets on ends the play with its name") {
  cluster c = nodes_with({1});
  must(c.apply(rows(table_kind::queue, table_op::change, {"name", "max_runtime"}).add({"default", 20 * second})));
  const engine with = engine_with({{"actions", "runtimelimit,allocate"}});
  const sim::play what = play_of({{"a", 0, 50}, {"b", 0, 50}});
  const result<sim::run_result> r =
      sim::simulate(c, what, with, {.wake = 10 * second, .keeps_work = false, .most_stops = 25});
  REQUIRE(!r.ok());
  CHECK(r.failure().code == status::limit);
  CHECK(r.failure().message.find("has been stopped 25 times and does not get on") != std::string::npos);
}

TEST_CASE("time ends after 73 years") {
  sim::play what = play_of({{"a", 0, 26'000L * 86'400}, {"b", 0, 26'000L * 86'400}, {"c", 0, 26'000L * 86'400}});
  what.jobs.jobs[2].pods[0].count = 1000;
  what.jobs.jobs[2].min_pods = 1;
  const sim::run_result r = played(nodes_with({1}), what, {.begin = 1000 * second});
  CHECK(r.jobs[0].end == what.jobs.jobs[0].run_time);
  CHECK(r.jobs[1].end == sim::never);
  CHECK(r.jobs[2].end == sim::never);
  CHECK(r.end == sim::latest_time - 1000 * second);
}

TEST_CASE("pods of the cluster stay, or the play ends with the name of one") {
  const auto play_beside = [](bool preemptible, std::int64_t priority) {
    cluster c = nodes_with({1});
    must(c.apply(rows(table_kind::pod_group, table_op::add, {"name", "queue", "preemptible"})
                     .add({"old", "default", preemptible ? 1 : 0})));
    must(c.apply(rows(table_kind::pod, table_op::add, {"name", "group", "request", "status", "node"})
                     .add({"old-0", "old", numbers{1000, 0, 1000}, pod_status::running, "n0"})));
    return sim::simulate(c, play_of({{"a", 0, 10, 1, 1, priority}}), preempting(), {.wake = 10 * second});
  };
  CHECK(must(play_beside(false, 90)).jobs[0].first_start == sim::never);
  CHECK(must(play_beside(true, 50)).jobs[0].first_start == sim::never);
  const result<sim::run_result> r = play_beside(true, 90);
  REQUIRE(!r.ok());
  CHECK(r.failure().code == status::unsupported);
  CHECK(r.failure().message.find("pod 'old-0'") != std::string::npos);
}

TEST_CASE("one line of the timeline for a moment") {
  const sim::run_result r = played(nodes_with({1}), play_of({{"a", 2, 0}, {"b", 2, 0}, {"c", 2, 7}}));
  CHECK(r.timeline.size() == 2);
}

TEST_CASE("stays of pods on nodes are noted, those that go on at the end as well") {
  const sim::play what = play_of({{"a", 0, 10}, {"b", 5, 30}, {"c", 6, 100}});
  const sim::run_result run = played(nodes_with({1}), what, {.notes_changes = true, .horizon = 60 * second});
  REQUIRE(run.stays.size() == 3);
  const double from[] = {0, 10, 40};
  const double to[] = {10, 40, -1};
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(run.stays[i].job == i);
    CHECK(at(run.stays[i].from) == from[i]);
    CHECK(at(run.stays[i].to) == to[i]);
  }
  CHECK(run.stays[2].gpus == whole_device);
  CHECK(played(nodes_with({1}), what).stays.empty());
}

TEST_CASE("a job goes on at the speed that its curve has for its pods") {
  sim::play what = play_of({{"a", 0, 30, 4, 1, 50, 1}, {"b", 0, 10}});
  what.jobs.jobs[0].speedup = {"1:1", "2:1.5", "4:2"};
  // Two pods until the other one ends: 7.5 of 30 seconds are done. Three have 1.75 of 2.
  const sim::run_result r = played(nodes_with({3}), what);
  CHECK(at(r.jobs[1].end) == 10);
  CHECK(at(r.jobs[0].end) == doctest::Approx(10 + 22.5 / 0.875));
  what.jobs.jobs[0].speedup = {"2:1", "1:1"};
  const result<sim::run_result> wrong = sim::simulate(*std::make_unique<cluster>(nodes_with({3})), what, engine{});
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.failure().message.find("job 'a': speedup: '1:1'") != std::string::npos);
}

TEST_CASE("nodes draw power for what is used of them") {
  cluster c = nodes_with({2});
  must(c.apply(rows(table_kind::node, table_op::change, {"name", "power_idle", "power_max", "power_feeds"})
                   .add({"n0", 100'000, 164'000, texts{"pdu:1000000"}})));
  must(c.apply(rows(table_kind::device, table_op::add, {"node", "index", "power_idle", "power_max"})
                   .add({"n0", 0, 50'000, 450'000})
                   .add({"n0", 1, 50'000, 450'000})));
  // 200 W idle; a core of 64 adds 1 W, a GPU 400 W.
  const sim::run_result r = played(std::move(c), play_of({{"a", 0, 3600}, {"b", 1800, 1800}}));
  REQUIRE(r.power.known);
  CHECK(r.power.energy == doctest::Approx(0.601 + 0.5 * 0.401));
  CHECK(r.power.peak == doctest::Approx(1002));
  REQUIRE(r.power.feeds.size() == 1);
  CHECK(r.power.feeds[0] == sim::feed_use{"pdu", 1'000'000, 1002});
  CHECK(sim::metrics_of(play_of({{"a", 0, 3600}, {"b", 1800, 1800}}).jobs, r).fullest_feed == doctest::Approx(1.002));
  CHECK_FALSE(played(nodes_with({2}), play_of({{"a"}})).power.known);
}

}  // namespace of_test_jobs
