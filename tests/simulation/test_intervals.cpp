/// Who was where, and what queues held: the intervals and samples that reports are drawn from.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "property/draws.hpp"
#include "simulation/intervals.hpp"
#include "simulation/play_support.hpp"

namespace of_test_intervals {

using namespace kaisched;
using namespace kaisched::test;

namespace {

sim::run_result noted(cluster over, const sim::play& what, sim::simulation_options options = {},
                      const engine& with = engine{}) {
  options.notes_changes = true;
  return played(std::move(over), what, options, with);
}

/// In few words: job@node from-to pods*gpus [devices].
std::vector<std::string> words_of(const sim::run_result& run) {
  std::vector<std::string> made;
  for (const sim::interval& i : sim::intervals_of(run)) {
    made.push_back(std::to_string(i.job) + "@" + std::to_string(i.node) + " " + std::to_string(i.from / second) + "-" +
                   std::to_string(i.to / second) + " " + std::to_string(i.pods) + "*" + std::to_string(i.gpus) + " " +
                   std::to_string(i.devices));
  }
  return made;
}

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("pods that come to a node and leave it together are one interval, with their devices") {
  sim::play what = play_of({{"a", 0, 10, 2, 1}, {"b", 0, 5, 1, 2}, {"c", 2, 10, 1, 1}});
  CHECK(words_of(noted(nodes_with({4}), what)) ==
        strings{"0@0 0-10 2*2000 3", "1@0 0-5 1*2000 12", "2@0 5-15 1*1000 4"});
  CHECK(played(nodes_with({4}), what).stays.empty());  // unless they are asked for
}

TEST_CASE("what goes on when the play ends lasts until then, and what never lasted is left out") {
  CHECK(words_of(noted(nodes_with({1}), play_of({{"a", 0, 100}, {"b", 1, 0}}), {.horizon = 30 * second})) ==
        strings{"0@0 0-30 1*1000 1"});
  CHECK(words_of(noted(nodes_with({1}), play_of({{"a", 0, 0}}))).empty());
}

TEST_CASE("a job that is stopped has an interval for each time that it ran") {
  const engine preempting = engine_with({{"actions", "allocate,preempt"}});
  const sim::play what = play_of({{"low", 0, 10, 1, 1, 50}, {"high", 4, 3, 1, 1, 80}});
  CHECK(words_of(noted(nodes_with({1}), what, {}, preempting)) ==
        strings{"0@0 0-4 1*1000 1", "1@0 4-7 1*1000 1", "0@0 7-13 1*1000 1"});
}

TEST_CASE("queues hold, wait for and are due what the samples say") {
  cluster c = nodes_with({4});
  must(c.apply(rows(table_kind::queue, table_op::add, {"name"}).add({"x"}).add({"y"})));
  sim::play what = play_of({{"a", 0, 10, 1, 3}, {"b", 2, 10, 1, 2}});
  what.jobs.jobs[0].queue = "y";
  what.jobs.jobs[1].queue = "x";
  what.shares = {{"x", 2 * whole_device}, {"y", 2 * whole_device}};
  const engine allocating = engine_with({{"actions", "allocate"}});
  const sim::run_result run = noted(std::move(c), what, {}, allocating);
  REQUIRE(run.queues.size() == 2);
  CHECK(run.queues[0].queue == "x");
  CHECK(run.queues[1].quota == 2 * whole_device);
  std::vector<std::string> told;
  for (const sim::queue_sample& s : run.queue_timeline) {
    told.push_back(std::to_string(s.time / second) + " " + run.queues[s.queue].queue + " " + std::to_string(s.held) +
                   " " + std::to_string(s.wanted) + " " + std::to_string(s.fair));
  }
  CHECK(told == strings{"0 y 3000 0 3000", "2 x 0 2000 1500", "2 y 3000 0 1500", "10 x 2000 0 2000", "10 y 0 0 0",
                        "20 x 0 0 0"});
}

TEST_CASE("intervals and samples of queues add up to the timeline") {
  const auto holds = rc::check("sums", [] {
    std::vector<small_job> jobs;
    std::int64_t submit = 0;
    for (int i = draw(1, 20); i > 0; --i) {
      submit += draw(0, 1) * draw(0, 9);
      small_job j{"j" + std::to_string(i), submit, draw(0, 30)};
      j.pods = static_cast<std::uint32_t>(draw(1, 3));
      j.gpus = draw(0, 3);
      j.priority = draw(0, 2) * 40;
      jobs.push_back(j);
    }
    sim::play what;
    for (const small_job& one : jobs) what.jobs.jobs.push_back(job_of(one));
    const bool replan = draw(0, 1) == 1;
    const engine with = engine_with({{"actions", replan ? "allocate" : "allocate,preempt"}});
    const sim::run_result run = noted(nodes_with({4, 3}), what, {.replan = replan}, with);
    const std::vector<sim::interval> all = sim::intervals_of(run);
    for (const sim::sample& s : run.timeline) {
      std::int64_t held = 0;
      for (const sim::interval& i : all) held += i.from <= s.time && s.time < i.to ? i.gpus : 0;
      RC_ASSERT(held == s.gpus_held);
    }
    for (const sim::interval& a : all) {
      for (const sim::interval& b : all) {  // whole GPUs: nobody shares one
        const bool meet = &a != &b && a.node == b.node && a.from < b.to && b.from < a.to;
        RC_ASSERT(!meet || (a.devices & b.devices) == 0);
      }
    }
    std::uint64_t pods = 0;
    for (const sim::interval& i : all) pods += i.pods;
    RC_ASSERT(pods <= run.counts.starts);  // who goes on is not cut in two
    std::map<std::uint32_t, sim::queue_sample> now;
    std::size_t next = 0;
    for (const sim::sample& s : run.timeline) {
      for (; next < run.queue_timeline.size() && run.queue_timeline[next].time <= s.time; ++next) {
        now[run.queue_timeline[next].queue] = run.queue_timeline[next];
      }
      std::int64_t held = 0;
      std::int64_t fair = 0;
      for (const auto& [queue, one] : now) {
        held += one.held;
        fair += one.fair;
      }
      RC_ASSERT(held == s.gpus_held);
      RC_ASSERT(fair == held);
    }
  });
  CHECK(holds);
}

}  // namespace of_test_intervals
