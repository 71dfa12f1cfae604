/// Jobs that come after others, in virtual time.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulation/play_support.hpp"

namespace of_test_after {

using namespace kaisched;
using namespace kaisched::test;

namespace {

sim::play chained(std::initializer_list<small_job> jobs,
                  const std::vector<std::pair<std::size_t, std::vector<std::string>>>& after) {
  sim::play made = play_of(jobs);
  for (const auto& [job, entries] : after) made.jobs.jobs[job].after = entries;
  return made;
}

}  // namespace

TEST_CASE("a job starts once what it comes after has ended, also when that has long been gone") {
  const sim::run_result r = played(
      nodes_with({8}), chained({{"data", 0, 10}, {"train", 1, 5}, {"eval", 2, 5}, {"late", 60, 5}},
                               {{1, {"ok:data"}}, {2, {"any:train", "ok:data"}}, {3, {"ok:train", "any:eval"}}}));
  CHECK(at(r.jobs[1].first_start) == 10);
  CHECK(at(r.jobs[2].first_start) == 15);
  CHECK(at(r.jobs[3].first_start) == 60);
  CHECK(at(r.end) == 65);
}

TEST_CASE("a job starts with what it comes after, or never") {
  const sim::run_result r = played(
      nodes_with({2}),
      chained({{"long", 0, 20, 1, 2}, {"data", 1, 10}, {"beside", 1, 5}, {"clean-up", 2, 5}, {"too-late", 50, 5}},
              {{2, {"started:data"}}, {3, {"failed:data"}}, {4, {"failed:data"}}}));
  CHECK(at(r.jobs[1].first_start) == 20);
  CHECK(at(r.jobs[2].first_start) == 20);
  CHECK(at(r.jobs[3].first_start) == -1);
  CHECK(at(r.jobs[4].first_start) == -1);
}

TEST_CASE("who waits for others takes nobody's place, and circles wait") {
  const engine with = engine_with({{"actions", "allocate,preempt"}});
  const sim::run_result r =
      played(nodes_with({1}),
             chained({{"low", 0, 10, 1, 1, 10}, {"high", 1, 5, 1, 1, 90}, {"a", 2, 5}, {"b", 3, 5}},
                     {{1, {"any:low"}}, {2, {"any:b"}}, {3, {"any:a"}}}),
             {}, with);
  CHECK(r.jobs[0].evictions == 0);
  CHECK(at(r.jobs[1].first_start) == 10);
  CHECK(at(r.jobs[2].first_start) == -1);
  CHECK(at(r.jobs[3].first_start) == -1);
}

TEST_CASE("jobs come after jobs that are there") {
  const auto fault = [](const std::string& entry) {
    cluster over = nodes_with({1});
    const result<sim::run_result> done =
        sim::simulate(over, chained({{"a", 0, 10}, {"b", 1, 5}}, {{1, {entry}}}), engine{}, {});
    return done ? std::string() : done.failure().message;
  };
  CHECK(fault("ok:a").empty());
  CHECK(fault("ok:c") == "job 'b' comes after 'c', of which there is none");
  CHECK(fault("soon:a").find("job 'b': after: ") == 0);
}

TEST_CASE("sessions are told how often a job has lost pods, and spare it at last") {
  const engine with = engine_with({{"actions", "allocate,preempt"}, {"victims.most_evictions", "1"}});
  const sim::play what = play_of({{"low", 0, 30, 1, 1, 10}, {"high", 5, 10, 1, 1, 90}, {"higher", 20, 10, 1, 1, 95}});
  const sim::run_result r = played(nodes_with({1}), what, {}, with);
  CHECK(r.jobs[0].evictions == 1);
  CHECK(at(r.jobs[2].first_start) == 40);
  const sim::run_result again = played(nodes_with({1}), what, {}, engine_with({{"actions", "allocate,preempt"}}));
  CHECK(again.jobs[0].evictions == 2);
  CHECK(at(again.jobs[2].first_start) == 20);
}

TEST_CASE("an elastic job that loses some of its pods has been evicted") {
  const engine with = engine_with({{"actions", "allocate,preempt"}, {"victims.most_evictions", "1"}});
  const sim::play what = play_of({{"low", 0, 30, 2, 1, 10, 1}, {"high", 5, 50, 1, 1, 90}, {"more", 6, 10, 1, 1, 90}});
  const sim::run_result r = played(nodes_with({2}), what, {}, with);
  CHECK(at(r.jobs[1].first_start) == 5);
  CHECK(r.jobs[0].evictions == 0);  // it went on
  CHECK(at(r.jobs[2].first_start) == at(r.jobs[0].end));
}

}  // namespace of_test_after
