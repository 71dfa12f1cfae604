/// Sessions that place all jobs anew, and orders that need it.
#include <doctest/doctest.h>

#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "simulation/play_support.hpp"

namespace of_test_replan {

using namespace kaisched;
using namespace kaisched::test;

namespace {

engine ordered_by(std::string_view part) {
  return engine_with({{"actions", "allocate"},
                      {"parts", "predicates," + std::string(part) + ",nominatednode,nodeavailability,nodeplacement"}});
}

}  // namespace

TEST_CASE("least attained service stops who has had most") {
  // b comes after ten seconds and has had nothing. From 20 on both have had the same: the older one goes first.
  const sim::play what = play_of({{"a", 0, 30}, {"b", 10, 30}});
  const sim::simulation_options options{.wake = 10 * second, .replan = true};
  const sim::run_result r = played(nodes_with({1}), what, options, ordered_by("las"));
  CHECK(at(r.jobs[0].first_start) == 0);
  CHECK(at(r.jobs[1].first_start) == 10);
  CHECK(at(r.jobs[0].end) == 50);
  CHECK(at(r.jobs[1].end) == 60);
  CHECK(r.jobs[0].evictions == 2);
  CHECK(r.jobs[1].evictions == 2);
  CHECK(r.jobs[0].starts == 3);
}

TEST_CASE("who keeps its node goes on") {
  const sim::play what = play_of({{"a", 0, 100}, {"b", 10, 5}, {"c", 20, 5}});
  const sim::simulation_options options{.start_overhead = second, .replan = true};
  const sim::run_result r = played(nodes_with({1, 1}), what, options, ordered_by("fifo"));
  CHECK(r.jobs[0].starts == 1);
  CHECK(at(r.jobs[0].end) == 101);
  CHECK(at(r.jobs[1].end) == 16);
  CHECK(at(r.jobs[2].end) == 26);
  CHECK(r.counts.evictions == 0);
}

TEST_CASE("who is placed elsewhere starts again there") {
  // The job of two GPUs is older when it comes back to the order: it takes n0 whole, and a moves to n1.
  sim::play what = play_of({{"a", 0, 100}, {"wide", 10, 20, 1, 2, 90}});
  cluster c = nodes_with({2, 1});
  engine with = engine_with({{"actions", "allocate"}, {"parts", "predicates,priority,nodeavailability"}});
  const sim::simulation_options options{
      .start_overhead = 3 * second, .checkpoint_interval = 4 * second, .replan = true};
  const sim::run_result r = played(std::move(c), what, options, with);
  CHECK(at(r.jobs[1].first_start) == 10);
  CHECK(r.jobs[0].starts == 2);
  CHECK(r.jobs[0].evictions == 0);
  CHECK(at(r.jobs[0].lost) == 3 + 3 + 3);  // two starts, and from the checkpoint at 4 s to the 7 s that it had done
  CHECK(at(r.jobs[0].end) == 109);
}

TEST_CASE("who may not be stopped is left alone") {
  sim::play what = play_of({{"a", 0, 50}, {"b", 10, 10, 1, 1, 90}});
  what.jobs.jobs[0].preemptible = false;
  const sim::run_result r = played(nodes_with({1}), what, {.replan = true}, ordered_by("priority"));
  CHECK(r.jobs[0].starts == 1);
  CHECK(at(r.jobs[1].first_start) == 50);
}

TEST_CASE("places are given anew at once") {
  cluster c = nodes_with({1});
  const auto refused = sim::simulate(c, play_of({{"a"}}), engine{}, {.grace = second, .replan = true});
  REQUIRE(!refused);
  CHECK(refused.failure().message.find("option replan") == 0);
}

TEST_CASE("all jobs in one queue") {
  sim::play what = play_of({{"a", 0, 10}, {"b", 0, 10}});
  what.jobs.jobs[0].queue = "x";
  what.jobs.jobs[1].queue = "y";
  const sim::run_result r = played(nodes_with({1}), what, {.one_queue = true});
  CHECK(at(r.jobs[1].end) == 20);
}

TEST_CASE("estimates that are drawn are too long by a factor that is bounded") {
  sim::play what = play_of({{"a", 0, 100}, {"b", 0, 100}});
  std::vector<std::int64_t> seen;
  const sim::session_watcher watch = [&](const session& held, std::int64_t) -> result<void> {
    const model::cluster_state& state = model::state_of(held.base());
    seen.clear();
    for (group_row g = 0; g < state.group_slots; ++g) seen.push_back(state.group_extras[g].runtime_estimate);
    return {};
  };
  cluster c = nodes_with({2});
  const sim::simulation_options options{.estimates = sim::told_times::drawn, .estimate_factor = 3, .estimate_seed = 7};
  (void)must(sim::simulate(c, what, engine{}, options, watch));
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] != seen[1]);
  for (const std::int64_t estimate : seen) {
    CHECK(estimate > 100 * second);
    CHECK(estimate <= 300 * second);
  }
}

}  // namespace of_test_replan
