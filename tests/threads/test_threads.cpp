// Threads change nothing: those of hosts that use several engines and sessions at once, and those that a host gives to
// an engine. The thread sanitizer runs these as well.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/executor.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/many_classes.hpp"
#include "benchmarks/scenarios.hpp"
#include "benchmarks/thread_pool.hpp"
#include "determinism/plays.hpp"

using namespace kaisched;
using namespace kaisched::determinism;

namespace {

constexpr std::uint64_t samples = KAISCHED_SAMPLES;  // fewer where a sanitizer is slow
constexpr bool is_slow = samples < 200;

/// The large inputs with their numbers; a part of them where a sanitizer is slow, of every size and scenario some.
void for_large_inputs(const std::function<void(const input&, std::uint64_t)>& visit) {
  std::uint64_t number = 0;
  for (const input& from : large_inputs()) {
    if (!is_slow || number % 4 == 0) visit(from, number);
    ++number;
  }
}

/// Every input with a number of its own; random ones in samples.
void for_inputs(const std::function<void(const input&, std::uint64_t)>& visit) {
  for_large_inputs(visit);
  for (std::uint64_t seed = 1000; seed < 1000 + samples; ++seed) visit(random_input(seed), seed);
}

/// What two threads make that do the same at once, as strings that are to be `expected`.
template <class Work>
void check_in_two_threads(const std::vector<std::string>& expected, const Work& work) {
  std::vector<std::vector<std::string>> found(2);
  std::vector<std::thread> threads;
  for (std::vector<std::string>& mine : found) threads.emplace_back([&mine, &work] { mine = work(); });
  for (std::thread& t : threads) t.join();
  CHECK(found[0] == expected);
  CHECK(found[1] == expected);
}

/// One thread that does the last piece first.
class backwards : public executor {
 public:
  void run(std::size_t count, const std::function<void(std::size_t)>& work) override {
    ++calls;
    for (std::size_t i = count; i-- > 0;) work(i);
  }
  [[nodiscard]] std::size_t width() const override { return 3; }
  int calls = 0;
};

/// An executor for every way in which pieces can be done.
std::vector<std::shared_ptr<executor>> executors() {
  std::vector<std::shared_ptr<executor>> all{std::make_shared<backwards>()};
  const std::vector<std::size_t> widths = is_slow ? std::vector<std::size_t>{3} : std::vector<std::size_t>{1, 2, 3, 8};
  for (const std::size_t width : widths) all.push_back(std::make_shared<bench::thread_pool>(width));
  return all;
}

}  // namespace

TEST_CASE("two threads with engines of their own decide what one does") {
  const auto stories = [] {
    std::vector<std::string> lines;
    for_inputs([&](const input& from, std::uint64_t number) {
      for (const std::string& line : story(from, number)) lines.push_back(line);
    });
    return lines;
  };
  check_in_two_threads(stories(), stories);
}

TEST_CASE("two threads may use one engine and one snapshot") {
  const input from = std::move(large_inputs().back());
  const snapshot base = build(from.tables).take_snapshot();
  const engine shared(variant(1));
  const auto decide = [&] {
    std::vector<std::string> digests;
    for (int i = 0; i < 5; ++i) digests.push_back(must(shared.run(base, from.now)).digest());
    return digests;
  };
  check_in_two_threads(decide(), decide);
}

TEST_CASE("two threads may ask forks of one session") {
  std::vector<input> all = large_inputs();
  // Not the largest: searches for victims over free nodes, which nobody makes, are long.
  const input from = std::move(*std::ranges::find(all, "synthetic-256-3-130", &input::name));
  const snapshot base = build(from.tables).take_snapshot();
  const engine shared(variant(1));
  const std::vector<std::string> actions{"reclaim", "preempt", "consolidation"};
  std::vector<std::string> expected;
  for (const std::string& action : actions) {
    session alone = must(shared.open(base, from.now));
    must(alone.run(action));
    expected.push_back(alone.digest());
  }
  const session opened = must(shared.open(base, from.now));
  check_in_two_threads(expected, [&] {
    std::vector<std::string> digests;
    for (const std::string& action : actions) {
      session fork = opened.fork();
      digests.push_back(fork.run(action).ok() ? fork.digest() : std::string());
    }
    return digests;
  });
}

TEST_CASE("an executor of any width changes no decision") {
  const auto check = [](const snapshot& base, std::int64_t now, std::uint64_t number) {
    CAPTURE(number);
    engine e(variant(number));
    const session alone = must(e.run(base, now));
    for (const std::shared_ptr<executor>& threads : executors()) {
      e.set_executor(threads);
      const session with = must(e.run(base, now));
      CHECK(with.digest() == alone.digest());
      CHECK(with.state_digest() == alone.state_digest());
    }
  };
  check(bench::many_classes(300, 40).take_snapshot(), 0, 0);
  for_large_inputs([&](const input& from, std::uint64_t number) {
    check(build(from.tables).take_snapshot(), from.now, number + 1);
  });
}

TEST_CASE("pods of many classes are what threads are used for") {
  engine e;
  const snapshot base = bench::many_classes(300, 40).take_snapshot();
  const auto threads = std::make_shared<backwards>();
  e.set_executor(threads);
  const session ran = must(e.run(base, 0));
  CHECK(threads->calls > 0);
  CHECK_FALSE(ran.decisions().empty());
}

TEST_CASE("questions about many groups have the answers of one thread") {
  const bench::scenario_input input = bench::build("reclaim_many", 60);
  cluster c;
  for (const table& t : bench::to_tables(input)) must(c.apply(t));
  const snapshot base = c.take_snapshot();
  std::vector<group_row> waiting;
  for (const bench::scenario_job& job : input.jobs) {
    if (job.nodes.empty()) waiting.push_back(must(c.find(entity_kind::pod_group, job.name)).slot());
  }
  engine e;
  const session alone = must(e.open(base, bench::scenario_now));
  const auto expected = must(alone.ask("reclaim", waiting));
  REQUIRE(expected.size() == waiting.size());
  for (const std::shared_ptr<executor>& threads : executors()) {
    e.set_executor(threads);
    const session with = must(e.open(base, bench::scenario_now));
    const auto found = must(with.ask("reclaim", waiting));
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].group == waiting[i]);
      REQUIRE_FALSE(expected[i].decisions.empty());
      REQUIRE(found[i].decisions.size() == expected[i].decisions.size());
      for (std::size_t d = 0; d < found[i].decisions.size(); ++d) {
        CHECK(found[i].decisions[d].kind == expected[i].decisions[d].kind);
        CHECK(found[i].decisions[d].pod == expected[i].decisions[d].pod);
        CHECK(found[i].decisions[d].node == expected[i].decisions[d].node);
      }
    }
    CHECK(with.decisions().empty());
  }
}

TEST_CASE("the error of the first group that has one is that of all questions") {
  engine e;
  e.set_executor(std::make_shared<backwards>());
  const session opened = must(e.open(bench::many_classes(4, 3).take_snapshot(), 0));
  const std::vector<group_row> groups{0, 900, 1, 901};
  const auto answers = opened.ask("allocate", groups);
  REQUIRE_FALSE(answers.ok());
  CHECK(answers.failure().message == "there is no pod group in this row");
  CHECK(opened.ask("alocate", std::vector<group_row>{0}).failure().message ==
        "there is no action 'alocate'; did you mean 'allocate'?");
  CHECK(must(opened.ask("allocate", {})).empty());
}
