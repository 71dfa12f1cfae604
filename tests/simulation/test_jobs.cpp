/// What jobs go through: waiting, running, losing work, ending.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulation/play_support.hpp"

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
  SUBCASE("or what its curve says") {
    what.profiles = {{"", {{1, 400'000}, {3, 900'000}}, sim::never, sim::never}};
    const sim::run_result r = played(nodes_with({4}), what);  // two pods: half way between the points
    CHECK(at(r.jobs[0].end) == 40 + (100 - 40 * 0.65));
  }
}

TEST_CASE("sessions are held at multiples of the period") {
  const sim::run_result r = played(nodes_with({1}), play_of({{"a", 3, 10}, {"b", 4, 10}}), {.period = 10 * second});
  CHECK(at(r.jobs[0].first_start) == 10);
  CHECK(at(r.jobs[1].first_start) == 20);
  CHECK(r.counts.sessions == 2);
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
