/// Nodes that fail, are maintained and come back.
#include <doctest/doctest.h>

#include "simulation/play_support.hpp"

namespace of_test_nodes {

using namespace kaisched;
using namespace kaisched::test;

TEST_CASE("a job whose node fails starts elsewhere") {
  sim::play what = play_of({{"a", 0, 100}});
  const auto with = [&](sim::outage o, sim::simulation_options options = {}) {
    what.outages = {o};
    return played(nodes_with({1, 1}), what, options);
  };
  const sim::simulation_options coarse{.checkpoint_interval = 25 * second};
  SUBCASE("from its last checkpoint") {
    const sim::run_result r = with({"n0", 30 * second, 40 * second}, coarse);
    CHECK(r.jobs[0].failures == 1);
    CHECK(r.jobs[0].evictions == 0);
    CHECK(at(r.jobs[0].end) == 105);
    CHECK(at(r.jobs[0].lost) == 5);
  }
  SUBCASE("or with all its work, if the node is given up in good order") {
    const sim::run_result r = with({"n0", 30 * second, 40 * second, 0, true}, coarse);
    CHECK(at(r.jobs[0].end) == 100);
    CHECK(r.jobs[0].lost == 0);
  }
  SUBCASE("the other node does not matter") {
    const sim::run_result r = with({"n1", 30 * second, 40 * second}, coarse);
    CHECK(r.jobs[0].failures == 0);
    CHECK(at(r.jobs[0].end) == 100);
  }
}

TEST_CASE("without a place a job waits for its node") {
  sim::play what = play_of({{"a", 0, 100}});
  what.outages = {{"n0", 30 * second, 45 * second}};
  const sim::run_result r = played(nodes_with({1}), what);
  CHECK(at(r.jobs[0].end) == 115);
  CHECK(r.timeline[1] == sim::sample{30 * second, 0, 1000, 0, 0, 1});
  CHECK(r.timeline[2] == sim::sample{45 * second, 1000, 0, 1000, 1, 0});
}

TEST_CASE("a node that does not come back") {
  sim::play what = play_of({{"a", 0, 100}, {"b", 0, 10}});
  what.outages = {{"n0", 30 * second, sim::never}};
  const sim::run_result r = played(nodes_with({2}), what);
  CHECK(r.jobs[0].end == sim::never);
  CHECK(at(r.jobs[1].end) == 10);
}

TEST_CASE("before maintenance a node takes no new pods") {
  sim::play what = play_of({{"a", 15, 100}, {"b", 41, 5}});
  what.outages = {{"n0", 20 * second, 40 * second, 10 * second}};
  const sim::run_result r = played(nodes_with({1}), what);
  CHECK(at(r.jobs[0].first_start) == 40);
  CHECK(r.jobs[0].failures == 0);
  CHECK(at(r.jobs[1].first_start) == 140);
}

TEST_CASE("who waits for a reservation to end starts then") {
  const auto reserved = [](std::int64_t every) {
    cluster c = nodes_with({1});
    must(c.apply(rows(table_kind::reservation, table_op::add, {"name", "start", "end", "every"})
                     .add({"maint", 20 * second, 40 * second, every})));
    return c;
  };
  const sim::run_result once = played(reserved(unset), play_of({{"a", 15, 100}, {"b", 41, 5}}));
  CHECK(at(once.jobs[0].first_start) == 40);
  CHECK(at(once.jobs[1].first_start) == 140);
  CHECK(once.counts.evictions == 0);
  const sim::simulation_options exact{.estimates = sim::told_times::exact};
  const sim::run_result again =
      played(reserved(30 * second), play_of({{"a", 12, 10}, {"b", 13, 8}, {"c", 14, 3}}), exact);
  CHECK(at(again.jobs[0].first_start) == 40);  // between two times, which are ten seconds apart
  CHECK(at(again.jobs[1].first_start) == 70);
  CHECK(at(again.jobs[2].first_start) == 14);
  // Who never fits waits, and the play comes to its end.
  const sim::run_result never = played(reserved(30 * second), play_of({{"a", 0, 11}}), exact);
  CHECK(never.jobs[0].first_start == 0);
  const sim::run_result waits = played(reserved(30 * second), play_of({{"a", 10, 11}}), exact);
  CHECK(waits.jobs[0].first_start == sim::never);
}

TEST_CASE("others leave a node when it is reserved, also if nobody waits") {
  const auto reserved = [] {
    cluster c = nodes_with({1});
    must(c.apply(rows(table_kind::reservation, table_op::add, {"name", "start", "end", "every", "evict_before"})
                     .add({"maint", 20 * second, 40 * second, 100 * second, 5 * second})));
    return c;
  };
  sim::play what = play_of({{"a", 0, 100}});
  what.jobs.jobs[0].estimate = 10 * second;  // it says too little
  const sim::run_result stays = played(reserved(), what);
  CHECK(stays.jobs[0].evictions == 0);
  CHECK(at(stays.jobs[0].end) == 100);
  const sim::run_result r = played(reserved(), what, {}, engine_with({{"actions", "vacate,allocate"}}));
  CHECK(r.jobs[0].evictions == 1);
  CHECK(at(r.jobs[0].end) == 120);  // it ran until 20, and from 40 on
}

TEST_CASE("one pod of a gang on a node that fails stops the gang") {
  sim::play what = play_of({{"gang", 0, 100, 2, 1}});
  what.outages = {{"n1", 30 * second, 50 * second}};
  const sim::run_result r = played(nodes_with({1, 1}), what);
  CHECK(r.jobs[0].failures == 1);
  CHECK(at(r.jobs[0].end) == 120);
  CHECK(r.jobs[0].gpu_time == (30 * 2 + 20 + 70 * 2) * 1'000'000);
}

TEST_CASE("what is left of a gang goes when it is stale") {
  sim::play what = play_of({{"gang", 0, 100, 2, 1}, {"x", 40, 10}});
  what.outages = {{"n1", 30 * second, 500 * second}};
  const sim::run_result r =
      played(nodes_with({1, 1}), what, {.wake = 5 * second}, engine_with({{"actions", "stalegangeviction,allocate"}}));
  CHECK(at(r.jobs[1].first_start) >= 90);
  CHECK(at(r.jobs[1].first_start) <= 95);
}

TEST_CASE("outages that touch are one") {
  sim::play what = play_of({{"a", 0, 15}, {"b", 21, 5}});
  SUBCASE("away twice") { what.outages = {{"n0", 10 * second, 20 * second}, {"n0", 20 * second, 40 * second}}; }
  SUBCASE("announced when it comes back") {
    what.outages = {{"n0", 10 * second, 20 * second}, {"n0", 30 * second, 40 * second, 10 * second}};
  }
  const sim::run_result r = played(nodes_with({1}), what);
  CHECK(at(r.jobs[0].end) == 45);
  CHECK(at(r.jobs[1].first_start) == 45);
  for (const sim::sample& s : r.timeline) CHECK(s.gpus_held <= s.gpus_there);
}

}  // namespace of_test_nodes
