/// What queues have had lately, and policies that look at it.
#include <doctest/doctest.h>

#include "model/snapshot_access.hpp"
#include "simulation/play_support.hpp"
#include "simulation/usage_meter.hpp"

namespace of_test_usage {

using namespace kaisched;
using namespace kaisched::test;

namespace {

cluster with_queues() {
  cluster c;
  rows queues(table_kind::queue, table_op::add, {"name", "parent", "quota"});
  queues.add({"all", "", numbers{-1, -1, 0}});
  for (const char* name : {"a", "b"}) queues.add({name, "all", numbers{0, 0, 0}});
  must(c.apply(queues));
  must(c.apply(rows(table_kind::node, table_op::add, {"name", "capacity"})
                   .add({"n0", numbers{64'000, std::int64_t{1} << 40, 4000, 110}})));
  return c;
}

}  // namespace

TEST_CASE("half of what a queue has had counts after the half-life") {
  cluster c = with_queues();
  const snapshot s = c.take_snapshot();
  const std::int64_t half_life = 64 * 60 * second;
  sim::usage_meter meter(model::state_of(s), {"a", "b"}, half_life, 4000);
  meter.hold(0, 2000, 0);
  const auto part = [&](std::string_view name, std::int64_t now) {
    for (const sim::usage_meter::entry& one : meter.until(now)) {
      if (one.name == name) return meter.part_of(one);
    }
    return -1.0;
  };
  CHECK(part("a", half_life) == doctest::Approx(0.5));
  CHECK(part("all", half_life) == doctest::Approx(0.5));
  CHECK(part("b", half_life) == 0);
  meter.hold(0, -2000, half_life);
  meter.hold(1, 4000, half_life);
  // Of the time until now the older half counts half: a has had half of a third, b two thirds.
  CHECK(part("a", 2 * half_life) == doctest::Approx(0.5 / 3).epsilon(1e-6));
  CHECK(part("b", 2 * half_life) == doctest::Approx(2.0 / 3).epsilon(1e-6));
  CHECK(part("all", 2 * half_life) == doctest::Approx(0.5 / 3 + 2.0 / 3).epsilon(1e-6));
  // Within a step nothing has decayed yet, and after very long only what is held counts.
  CHECK(part("b", 2 * half_life + 30 * second) > 2.0 / 3);
  CHECK(part("b", 1'000'000 * half_life) == doctest::Approx(1));
  CHECK(part("a", 1'000'000 * half_life) == 0);
}

TEST_CASE("who has had more of the last days gets less") {
  // Queue a has had the cluster alone for a day. Then both want all of it.
  sim::play what;
  for (int i = 0; i < 40; ++i) {
    sim::job one =
        job_of({(i < 8 ? "early-" : "late-") + std::to_string(i), i < 8 ? 0 : 86'400, i < 8 ? 43'200 : 3'600});
    one.queue = i < 8 || i % 2 == 0 ? "a" : "b";
    what.jobs.jobs.push_back(one);
  }
  const auto gpu_time_of_b = [&](std::string_view k, std::int64_t half_life) {
    const engine with = engine_with({{"actions", "allocate"}, {"proportion.k", k}});
    const sim::run_result r =
        played(with_queues(), what, {.usage_half_life = half_life, .horizon = (86'400 + 4 * 3'600) * second}, with);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < what.jobs.jobs.size(); ++i) {
      if (what.jobs.jobs[i].queue == "b") sum += r.jobs[i].gpu_time;
    }
    return sum;
  };
  const std::int64_t day = 86'400 * second;
  CHECK(gpu_time_of_b("1", 0) == gpu_time_of_b("0", day));
  CHECK(gpu_time_of_b("1", day) > gpu_time_of_b("1", 0));
}

}  // namespace of_test_usage
