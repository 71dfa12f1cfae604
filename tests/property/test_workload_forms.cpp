// Random workloads as CSV: what is written is read as the same jobs, whatever the names are.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <kaisched/quantity.hpp>

#include "draws.hpp"
#include "simulation/amounts.hpp"
#include "simulation/job_list.hpp"
#include "simulation/workload_csv.hpp"

namespace of_test_workload_forms {

using namespace kaisched;
using namespace kaisched::simulation;
using test::draw;
using test::got;

namespace {

/// Texts that a writer of CSV may get wrong.
std::string drawn_text(bool may_be_empty) {
  static const std::vector<std::string> known{"a", "a,b", "\"",    "\"\"", " a",  "a ", "a\"b",
                                              ",", "a|b", "#",     "é,中", "-1",  "0",  "\" \"",
                                              "'", "a;b", "\"a\"", " ",    "job", "\\", "a\"\"b,"};
  if (may_be_empty && draw(0, 2) == 0) return {};
  std::string text = *rc::gen::elementOf(known);
  if (draw(0, 1) == 0) text += *rc::gen::elementOf(known);
  return text;
}

std::int64_t drawn_time() {
  switch (draw(0, 3)) {
    case 0:
      return 0;
    case 1:
      return draw(0, 100'000) * nanoseconds_per_second;
    case 2:
      return *rc::gen::inRange<std::int64_t>(0, max_time);
    default:
      return max_time - draw(0, 2);
  }
}

pod_shape drawn_shape() {
  pod_shape shape;
  shape.count = static_cast<std::uint32_t>(draw(0, 5) == 0 ? max_job_pods / 8 : draw(1, 9));
  shape.cpu = draw(0, 3) == 0 ? max_amount : draw(0, 5000);
  shape.memory = draw(0, 3) == 0 ? std::int64_t{draw(0, 100)} << 30 : draw(0, 100'000);
  if (draw(0, 3) == 0) {
    shape.gpu_memory = std::int64_t{draw(1, 100'000)} << 20;
  } else {
    shape.gpus = draw(0, 2) == 0 ? draw(0, 999) : draw(0, 16) * whole_device;
  }
  return shape;
}

job drawn_job(std::size_t number) {
  job one;
  one.name = drawn_text(true) + std::to_string(number) + drawn_text(true);
  one.queue = drawn_text(true);
  one.user = drawn_text(true);
  one.model = drawn_text(true);
  for (int i = draw(0, 2); i > 0; --i)
    one.gpu_models.push_back(*rc::gen::elementOf(std::vector<std::string>{"A", "B,C", "\"D"}));
  for (int i = draw(0, 2); i > 0; --i)
    one.after.push_back(*rc::gen::elementOf(std::vector<std::string>{"ok:a", "any:b,c", "started:\"d", "failed:e f"}));
  one.speedup = *rc::gen::elementOf(
      std::vector<std::vector<std::string>>{{}, {"4:3.5"}, {"1:1", "2:1.9", "8:5.125"}, {"2:0.001"}});
  one.submit = drawn_time() / 2;
  one.run_time = drawn_time();
  if (draw(0, 1) == 0) one.estimate = drawn_time();
  if (draw(0, 1) == 0) one.deadline = one.submit + drawn_time() / 2;
  if (draw(0, 1) == 0) {
    one.iterations = drawn_time();
    one.iteration_time = drawn_time();
  }
  if (draw(0, 1) == 0) one.priority = draw(-2'000'000'000, 2'000'000'000);
  one.preemptible = draw(0, 1) == 0;
  for (int i = draw(1, 4); i > 0; --i) one.pods.push_back(drawn_shape());
  if (draw(0, 1) == 0) one.min_pods = static_cast<std::uint32_t>(draw(0, static_cast<int>(pods_of(one))));
  return one;
}

}  // namespace

TEST_CASE("a workload survives its CSV") {
  const bool passed = rc::check([] {
    workload drawn;
    for (int i = draw(0, 6); i > 0; --i) drawn.jobs.push_back(drawn_job(drawn.jobs.size()));
    std::stable_sort(drawn.jobs.begin(), drawn.jobs.end(),
                     [](const job& a, const job& b) { return a.submit < b.submit; });
    const std::string text = got(format_workload_csv(drawn));
    const workload read = got(read_workload_csv({"drawn.csv", text}));
    RC_ASSERT(read.jobs.size() == drawn.jobs.size());
    for (std::size_t i = 0; i < read.jobs.size(); ++i) {
      if (read.jobs[i] == drawn.jobs[i]) continue;
      RC_FAIL("job " + std::to_string(i) + " is another one:\n" + text + got(format_workload_csv(read)));
    }
    RC_ASSERT(got(format_workload_csv(read)) == text);
  });
  CHECK(passed);
}

TEST_CASE("times and decimals survive their texts") {
  const bool passed = rc::check([] {
    const std::int64_t time = drawn_time();
    RC_ASSERT(parse_duration(format_decimal(time, nanoseconds_per_second)) == time);
  });
  CHECK(passed);
}

}  // namespace of_test_workload_forms
