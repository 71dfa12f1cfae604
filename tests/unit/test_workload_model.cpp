// Invented workloads: exact arithmetic, the laws that are promised, equal bytes; and figures of workloads.
#include <cmath>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <kaisched/quantity.hpp>

#include "base/sha256.hpp"
#include "simulation/amounts.hpp"
#include "simulation/draws.hpp"
#include "simulation/job_list.hpp"
#include "simulation/workload_csv.hpp"
#include "simulation/workload_figures.hpp"
#include "simulation/workload_model.hpp"

namespace of_test_workload_model {

using namespace kaisched;
using namespace kaisched::simulation;

namespace {

constexpr std::int64_t s = nanoseconds_per_second;
constexpr std::int64_t hour = 3600 * s;

workload made(const generator_options& options) {
  result<workload> one = generate_workload(options);
  if (!one) FAIL(one.failure().message);
  return std::move(one).value();
}

generator_options like(std::string_view name) {
  REQUIRE(find_workload_model(name) != nullptr);
  return options_of(*find_workload_model(name));
}

std::string digest_of(const workload& of) {
  base::sha256 hash;
  hash.update(*format_workload_csv(of));
  return base::sha256::hex(hash.finish()).substr(0, 16);
}

std::string fault_of(const generator_options& options) {
  const result<workload> one = generate_workload(options);
  return one ? "(no fault)" : one.failure().message;
}

}  // namespace

TEST_CASE("logarithm and exponential are those of mathematics") {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    CAPTURE(x);
    CHECK(std::abs(log_of(x) - std::log(x)) <= 4e-16 * std::max(1.0, std::abs(std::log(x))));
  }
  for (double x = -700; x < 700; x += 0.731) {
    CAPTURE(x);
    CHECK(std::abs(exp_of(x) / std::exp(x) - 1) <= 2e-15);
  }
  CHECK(log_of(1) == 0);
  CHECK(exp_of(0) == 1);
}

TEST_CASE("numbers are those of SplitMix64, and have the moments that they should") {
  draws one(1, 0);
  draws other(1, 1);
  CHECK(one.next() != other.next());
  draws from(7, 3);
  double sum = 0;
  double squares = 0;
  double waits = 0;
  constexpr int count = 200'000;
  for (int i = 0; i < count; ++i) {
    const double x = from.normal();
    sum += x;
    squares += x * x;
    waits += from.exponential();
  }
  CHECK(std::abs(sum / count) < 0.01);
  CHECK(std::abs(squares / count - 1) < 0.02);
  CHECK(std::abs(waits / count - 1) < 0.01);
}

TEST_CASE("equal options give equal bytes on every machine") {
  CHECK(digest_of(made(like("philly"))) == "26c997b6bfb6fd91");
  CHECK(digest_of(made(like("itp"))) == "148b6a8c52199c1d");
  CHECK(digest_of(made(like("gavel"))) == "1a2c383b881e4dd9");
  generator_options other = like("gavel");
  other.seed = 2;
  CHECK(digest_of(made(other)) != digest_of(made(like("gavel"))));
}

TEST_CASE("one property can change without the others") {
  generator_options options = like("philly");
  options.jobs = 50;
  const workload before = made(options);
  options.run_times = *parse_run_times("log-normal:10:0");
  options.queues = 3;
  const workload after = made(options);
  for (std::size_t i = 0; i < before.jobs.size(); ++i) {
    CHECK(after.jobs[i].submit == before.jobs[i].submit);
    CHECK(after.jobs[i].pods == before.jobs[i].pods);
    CHECK(after.jobs[i].run_time == 10 * s);
    CHECK(after.jobs[i].queue.substr(0, 6) == "queue-");
  }
  options.jobs = 20;
  CHECK(made(options).jobs.back() == after.jobs[19]);
}

TEST_CASE("gavel: sizes and run times are those of its generator") {
  generator_options options = like("gavel");
  options.jobs = 40'000;
  const workload of = made(options);
  std::int64_t single = 0;
  std::int64_t eight = 0;
  std::int64_t longer = 0;
  for (const job& one : of.jobs) {
    single += gpus_of(one) == 1000 ? 1 : 0;
    eight += gpus_of(one) == 8000 ? 1 : 0;
    longer += one.run_time > 1000 * 60 * s ? 1 : 0;
    CHECK(one.run_time >= static_cast<std::int64_t>(31.6 * 60) * s);
    CHECK(one.run_time <= 10000 * 60 * s);
  }
  CHECK(std::abs(static_cast<double>(single) / 40'000 - 0.70) < 0.01);
  CHECK(std::abs(static_cast<double>(eight) / 40'000 - 0.05) < 0.005);
  CHECK(std::abs(static_cast<double>(longer) / 40'000 - 0.20) < 0.01);
  const double hours = static_cast<double>(of.jobs.back().submit) / static_cast<double>(hour);
  CHECK(std::abs(40'000 / hours / 4 - 1) < 0.02);
}

TEST_CASE("the rate follows the rhythm, and its mean stays") {
  generator_options options = like("philly");
  options.jobs = 200'000;
  const workload of = made(options);
  std::vector<std::int64_t> hours(24);
  std::vector<std::int64_t> days(7);
  // Whole weeks, so that every hour is there equally often.
  const std::int64_t weeks = of.jobs.back().submit / (168 * hour);
  std::int64_t counted = 0;
  for (const job& one : of.jobs) {
    if (one.submit >= weeks * 168 * hour) break;
    ++counted;
    ++hours[static_cast<std::size_t>(one.submit / hour % 24)];
    ++days[static_cast<std::size_t>(one.submit / (24 * hour) % 7)];
  }
  CHECK(std::abs(static_cast<double>(counted) / static_cast<double>(weeks * 168) / 31.3 - 1) < 0.02);
  const auto share = [&](std::int64_t of_them) { return static_cast<double>(of_them) / static_cast<double>(counted); };
  for (std::size_t h = 0; h < 24; ++h) {
    CHECK(std::abs(share(hours[h]) * 24000 / static_cast<double>(options.rhythm.hours[h]) - 1) < 0.08);
  }
  for (std::size_t d = 0; d < 7; ++d) {
    CHECK(std::abs(share(days[d]) * 7000 / static_cast<double>(options.rhythm.days[d]) - 1) < 0.04);
  }
  options.used = rhythm_use::none;
  const workload even = made(options);
  std::int64_t first_hours = 0;
  for (const job& one : even.jobs) first_hours += one.submit / hour % 24 < 12 ? 1 : 0;
  CHECK(std::abs(static_cast<double>(first_hours) / 200'000 - 0.5) < 0.01);
}

TEST_CASE("run times are log-normal") {
  generator_options options = like("philly");
  options.jobs = 100'000;
  options.run_times = *parse_run_times("log-normal:1h:1");
  const workload of = made(options);
  const percentiles found = figures_of(of).run_time;
  CHECK(std::abs(static_cast<double>(found.median) / static_cast<double>(hour) - 1) < 0.03);
  // exp(1.2816) times the median.
  CHECK(std::abs(static_cast<double>(found.p90) / static_cast<double>(hour) / 3.602 - 1) < 0.03);
}

TEST_CASE("laws as texts") {
  const auto sizes = parse_sizes("1:70,8:30");
  REQUIRE(sizes.ok());
  CHECK((*sizes)[1].gpus == 8);
  CHECK((*sizes)[1].weight == 30);
  for (const std::string_view bad : {"", "1", "1:", "1:2:3", "x:1", "1:0", "-1:5", "1:5,"}) {
    CAPTURE(bad);
    CHECK(!parse_sizes(bad).ok());
  }
  CHECK(parse_sizes("1").failure().message == "sizes: expected GPUs and weights such as 1:70,2:10,8:20, found \"1\"");
  CHECK(parse_run_times("powers:1.5:3:80,3:4:20")->powers[1].most == 4);
  CHECK(parse_run_times("log-normal:15m:2.2")->median == 900);
  for (const std::string_view bad : {"", "log-normal", "log-normal:0:1", "log-normal:1:-1", "log-normal:1:nan",
                                     "powers:3:2:1", "powers:1:2", "powers:1:99:1", "powers:1:2:0", "gamma:1:2"}) {
    CAPTURE(bad);
    CHECK(!parse_run_times(bad).ok());
  }
}

TEST_CASE("options of the generator are checked") {
  generator_options options = like("gavel");
  options.jobs = 0;
  CHECK(fault_of(options) == "jobs: expected 1 to 10000000");
  options = like("gavel");
  options.jobs_per_hour = 0;
  CHECK(fault_of(options) == "jobs per hour: expected 0.01 to 10^9");
  options = like("gavel");
  options.sizes.clear();
  CHECK(fault_of(options) == "sizes: expected a weight above 0");
  options = like("gavel");
  options.used = rhythm_use::day;
  CHECK(fault_of(options) == "rhythm: expected weights from 0 to 10^9, one of them above 0");
  options = like("gavel");
  options.gpus_per_node = 0;
  CHECK(fault_of(options) == "gpus_per_node: expected 1 to 1048576");
  options = like("gavel");
  options.jobs = 100'000;
  options.jobs_per_hour = 0.01;
  CHECK(fault_of(options) == "jobs per hour: expected a rate at which all jobs arrive within 73 years");
}

TEST_CASE("figures of a small workload") {
  const result<workload> of = read_workload_csv({"jobs.csv",
                                                 "job,submit,run_time,queue,user,pods,gpus\na,0,2h,x,u,1,2\nb,1h,1h,x,,"
                                                 "2,1\nc,2h,1h,y,v,1,0\nd,27h,3h,y,u,1,0.5\n"});
  REQUIRE(of.ok());
  const workload_figures found = figures_of(*of);
  CHECK(found.jobs == 4);
  CHECK(found.pods == 5);
  CHECK(found.gpu_hours == doctest::Approx(4 + 2 + 0 + 1.5));
  CHECK(found.most_gpus == 4000);
  CHECK(found.end_without_waiting == 30 * hour);
  CHECK(found.mean_gpus == doctest::Approx(7.5 / 30));
  CHECK(found.run_time.least == hour);
  CHECK(found.run_time.median == hour);
  CHECK(found.run_time.p75 == 2 * hour);
  CHECK(found.run_time.p99 == 3 * hour);
  CHECK(found.run_time.mean == doctest::Approx(1.75 * 3600e9));
  CHECK(found.gpus.most == 2000);
  REQUIRE(found.sizes.size() == 3);
  CHECK(found.sizes[2].jobs == 2);
  CHECK(found.sizes[2].gpu_hours == doctest::Approx(6));
  REQUIRE(found.queues.size() == 2);
  CHECK(found.queues[1].name == "y");
  CHECK(found.users == 2);
  CHECK(found.period == 2 * hour);
  CHECK(found.arrivals == std::vector<std::int64_t>{2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  CHECK(figures_of({}).arrivals.empty());
  // What ends is free for what begins at the same time.
  CHECK(figures_of(*read_workload_csv({"jobs.csv", "submit,run_time,gpus\n0,10,1\n10,5,1\n10,0,1\n"})).most_gpus ==
        1000);
}

}  // namespace of_test_workload_model
