/// Two plays side by side.
#include <doctest/doctest.h>

#include "simulation/comparison.hpp"
#include "simulation/metrics.hpp"
#include "simulation/play_support.hpp"

namespace of_test_comparison {

using namespace kaisched;
using namespace kaisched::test;

namespace {

sim::run_result noted(const sim::play& what, const engine& with) {
  return played(nodes_with({2}), what, {.notes_changes = true}, with);
}

std::optional<sim::parting> parting_of(const sim::play& what, const sim::run_result& a, const sim::run_result& b) {
  cluster c = nodes_with({2});
  return sim::part_of_plays(what.jobs, c.take_snapshot(), a, b);
}

engine with_order(std::string_view part) {
  return engine_with({{"actions", "allocate"}, {"parts", "predicates," + std::string(part) + ",nodeavailability"}});
}

}  // namespace

TEST_CASE("who wins and who loses, by how much, when and why") {
  sim::play what = play_of({{"a", 0, 10, 1, 2}, {"low", 5, 100, 1, 2, 10}, {"high", 6, 20, 1, 2, 90}, {"z", 200, 5}});
  what.jobs.jobs[2].queue = "default";
  const sim::run_result old_first = noted(what, with_order("fifo"));
  const sim::run_result high_first = noted(what, with_order("priority"));
  const sim::comparison c = sim::compare_runs(what.jobs, old_first, high_first, "default", 4);
  CHECK(c.all.jobs == 4);
  CHECK(c.all.sooner == 1);
  CHECK(c.all.later == 1);
  // low ends at 110 or 130, high at 130 or 30; a and z take 10 and 5 seconds either way.
  CHECK(c.all.first == (10 + 105 + 124 + 5) * second / 4);
  CHECK(c.all.second == (10 + 125 + 24 + 5) * second / 4);
  REQUIRE(c.jobs.size() == 2);
  CHECK(c.jobs[0].job == 2);
  CHECK(c.jobs[0].end == -100 * second);
  CHECK(c.jobs[0].start == -100 * second);
  CHECK(c.jobs[1].job == 1);
  CHECK(c.jobs[1].end == 20 * second);
  REQUIRE(c.queues.size() == 1);
  CHECK(c.queues[0].name == "default");
  REQUIRE(c.parts.size() == 4);
  CHECK(c.parts[0].jobs == 3);
  CHECK(c.parts[3].jobs == 1);
  CHECK(c.parts[3].from == 150 * second);
  CHECK(c.parts[3].to == 200 * second);

  const auto parts = parting_of(what, old_first, high_first);
  REQUIRE(parts);
  CHECK(at(parts->time) == 10);
  CHECK(parts->first == std::vector<std::string>{"starts low on n0"});
  CHECK(parts->second == std::vector<std::string>{"starts high on n0"});

  std::vector<sim::question> questions{{1, 10 * second, {}}, {3, 10 * second, {}}};
  cluster again = nodes_with({2});
  (void)must(
      sim::simulate(again, what, with_order("priority"), {}, sim::answer(questions, what.jobs, high_first.sessions)));
  CHECK(questions[0].answer.find("gpu") != std::string::npos);
  CHECK(questions[1].answer.empty());  // it had not come
}

TEST_CASE("plays that decide the same do not part") {
  const sim::play what = play_of({{"a"}, {"b", 3}});
  const sim::run_result x = noted(what, with_order("fifo"));
  const sim::run_result y = noted(what, with_order("priority"));
  CHECK(x.digest == y.digest);
  CHECK(!parting_of(what, x, y));
  CHECK(sim::compare_runs(what.jobs, x, y, "default", 2).jobs.empty());
}

TEST_CASE("placing anew who runs is no difference, nor is the order at one moment") {
  const sim::play what = play_of({{"a", 0, 100}, {"b", 0, 50}, {"c", 20, 10}});
  const sim::run_result plain = noted(what, with_order("fifo"));
  const sim::run_result anew =
      played(nodes_with({2}), what, {.replan = true, .notes_changes = true}, with_order("fifo"));
  CHECK(plain.digest == anew.digest);
  CHECK(!parting_of(what, plain, anew));
  sim::run_result other = plain;
  std::swap(other.changes[0], other.changes[1]);
  CHECK(!parting_of(what, plain, other));
  other.changes.pop_back();
  const auto parts = parting_of(what, plain, other);
  REQUIRE(parts);
  CHECK(parts->first == std::vector<std::string>{"starts c on n0"});
  CHECK(parts->second.empty());
}

TEST_CASE("jobs that end in one play only") {
  const sim::play what = play_of({{"a", 0, 10}, {"b", 0, 100}});
  cluster c = nodes_with({1});
  const sim::run_result all = must(sim::simulate(c, what, engine{}));
  cluster d = nodes_with({1});
  const sim::run_result some = must(sim::simulate(d, what, engine{}, {.horizon = 50 * second}));
  const sim::comparison made = sim::compare_runs(what.jobs, all, some, "default", 1);
  CHECK(made.only_first == 1);
  CHECK(made.only_second == 0);
  CHECK(made.all.ended_in_both == 1);
  CHECK(sim::compare_runs({}, {}, {}, "default", 3).parts.empty());
}

TEST_CASE("a watcher that fails ends the play") {
  cluster c = nodes_with({1});
  const auto r = sim::simulate(c, play_of({{"a"}}), engine{}, {}, [](const session&, std::int64_t) -> result<void> {
    return error{status::limit, "enough", {}};
  });
  REQUIRE(!r);
  CHECK(r.failure().message == "enough");
}

}  // namespace of_test_comparison
