// Workloads as CSV: what a row means, what a bad row is told, what is written.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "simulation/amounts.hpp"
#include "simulation/job_list.hpp"
#include "simulation/workload_csv.hpp"

namespace of_test_workload_csv {

using namespace kaisched;
using namespace kaisched::simulation;

namespace {

constexpr std::int64_t s = nanoseconds_per_second;

workload read(std::string_view text, std::int64_t gpus_per_node = 8) {
  result<workload> made = read_workload_csv({"jobs.csv", text}, {gpus_per_node});
  if (!made) FAIL(made.failure().message);
  return std::move(made).value();
}

std::string fault_of(std::string_view text) {
  const result<workload> made = read_workload_csv({"jobs.csv", text});
  return made ? "(no fault)" : made.failure().message;
}

/// A row under the columns that it needs.
std::string fault_of(std::string_view column, std::string_view value) {
  return fault_of("job,run_time," + std::string(column) + "\na,1," + std::string(value) + "\n");
}

std::string written(const workload& from) {
  const result<std::string> text = format_workload_csv(from);
  return text ? *text : text.failure().message;
}

}  // namespace

TEST_CASE("durations are seconds, or have units") {
  CHECK(parse_duration("0") == 0);
  CHECK(parse_duration("12.5") == 12 * s + s / 2);
  CHECK(parse_duration(".5") == s / 2);
  CHECK(parse_duration("1e+03") == 1000 * s);
  CHECK(parse_duration("2.5E-3") == 2'500'000);
  CHECK(parse_duration("0.0000000019") == 1);
  CHECK(parse_duration("1h30m") == 5400 * s);
  CHECK(parse_duration("1.5h") == 5400 * s);
  CHECK(parse_duration("2d1ns") == 172800 * s + 1);
  CHECK(parse_duration("250ms10us") == 250'010'000);
  CHECK(parse_duration("2305843009.213693951") == max_time);
  for (const std::string_view bad : {"",      "-1",     "+1",
                                     "1x",    "s",      "1h30",
                                     "h1",    "1e",     "1E",
                                     "1Ei",   "1m-1s",  "0x10",
                                     "nan",   "inf",    "1 s",
                                     ".",     "1..2",   "2305843009.213693952",
                                     "1e300", "53376d", "99999999999999999999999999999999999999999"}) {
    CAPTURE(bad);
    CHECK(parse_duration(bad) == std::nullopt);
  }
}

TEST_CASE("decimals are as short as can be") {
  CHECK(format_decimal(0, 1000) == "0");
  CHECK(format_decimal(1500, 1000) == "1.5");
  CHECK(format_decimal(7, 1000) == "0.007");
  CHECK(format_decimal(12 * s + 1, s) == "12.000000001");
}

TEST_CASE("a job of every column") {
  const workload made = read(
      "job,submit,run_time,queue,user,model,pods,gpus,cpu,memory,gpu_models,estimate,deadline,priority,preemptible,"
      "min_pods,after,iterations,iteration_time\n"
      "train,10.5,1h,research,ann,bert,4,8,16,64Gi,A100|H100,2h,3d,100,no,2,ok:data | any:tune,1000,3.6\n");
  REQUIRE(made.jobs.size() == 1);
  job expected;
  expected.name = "train";
  expected.submit = 10 * s + s / 2;
  expected.run_time = 3600 * s;
  expected.queue = "research";
  expected.user = "ann";
  expected.model = "bert";
  expected.gpu_models = {"A100", "H100"};
  expected.estimate = 7200 * s;
  expected.deadline = 3 * 86400 * s;
  expected.iterations = 1000;
  expected.iteration_time = 3600 * s / 1000;
  expected.priority = 100;
  expected.preemptible = false;
  expected.min_pods = 2;
  expected.after = {"ok:data", "any:tune"};
  expected.pods = {{4, 16000, std::int64_t{64} << 30, 8000, 0}};
  CHECK(made.jobs[0] == expected);
}

TEST_CASE("what is not said has a default") {
  const workload made = read("run_time\n60\n0\n");
  REQUIRE(made.jobs.size() == 2);
  CHECK(made.jobs[0].name == "job-1");
  CHECK(made.jobs[1].name == "job-2");
  CHECK(made.jobs[1].run_time == 0);
  job expected;
  expected.name = "job-1";
  expected.run_time = 60 * s;
  expected.pods.resize(1);
  CHECK(made.jobs[0] == expected);
  CHECK(read("job,run_time,submit,estimate,deadline,priority,preemptible,pods\na,1,,,,,,\n").jobs[0].estimate ==
        unknown_time);
}

TEST_CASE("jobs are in the order of their times, those of one time as they stand") {
  const workload made = read("job,submit,run_time\nlate,5,1\nfirst,1,1\nsecond,1,1\n");
  CHECK(made.jobs[0].name == "first");
  CHECK(made.jobs[1].name == "second");
  CHECK(made.jobs[2].name == "late");
}

TEST_CASE("a run time follows from iterations") {
  const workload made = read("job,iterations,iteration_time\na,10,0.25\n");
  CHECK(made.jobs[0].run_time == 2 * s + s / 2);
  CHECK(read("job,run_time,iterations,iteration_time\na,7,10,0.25\n").jobs[0].run_time == 7 * s);
}

TEST_CASE("a total of GPUs is split into pods") {
  const std::vector<pod_shape> of_20{{2, 1000, 0, 8000, 0}, {1, 1000, 0, 4000, 0}};
  CHECK(read("run_time,gpus_total,cpu\n1,20,1\n").jobs[0].pods == of_20);
  const std::vector<pod_shape> of_16{{4, 0, 0, 4000, 0}};
  CHECK(read("run_time,gpus_total\n1,16\n", 4).jobs[0].pods == of_16);
  const std::vector<pod_shape> half{{1, 0, 0, 500, 0}};
  CHECK(read("run_time,gpus_total\n1,0.5\n").jobs[0].pods == half);
  CHECK(read("run_time,gpus_total\n1,8\n").jobs[0].pods.size() == 1);
  CHECK(read("run_time,gpus_total,pods,gpus\n1,,2,4\n").jobs[0].pods[0].count == 2);
}

TEST_CASE("pods of several sizes, and of memory of devices") {
  const std::vector<pod_shape> two{{1, 4000, 1 << 20, 8000, 0}, {2, 500, 1 << 20, 0, 0}};
  CHECK(read("run_time,pods,gpus,cpu,memory\n1,1|2,8|0,4 | 0.5,1Mi\n").jobs[0].pods == two);
  const std::vector<pod_shape> by_memory{{1, 0, 0, 0, std::int64_t{10} << 30}};
  CHECK(read("run_time,gpu_memory\n1,10Gi\n").jobs[0].pods == by_memory);
}

TEST_CASE("faults name file, line, column and what stands there") {
  CHECK(fault_of("job,submit\n") ==
        "jobs.csv:1: the header has no column \"run_time\"; known: job, submit, run_time, queue, user, model, pods, "
        "gpus, gpus_total, cpu, memory, gpu_memory, gpu_models, estimate, deadline, priority, preemptible, min_pods, "
        "after, speedup, iterations, iteration_time");
  CHECK(fault_of("job,run_time,gpu\n") == "jobs.csv:1: no column is called \"gpu\"; did you mean \"gpus\"?");
  const std::string unknown = fault_of("job,run_time,colour_of_it\n");
  CHECK(unknown.find("jobs.csv:1: no column is called \"colour_of_it\"; known: job, submit,") == 0);
  CHECK(unknown.find("iteration_time") != std::string::npos);
  CHECK(fault_of("job,run_time\na,1\nb,soon\n") ==
        "jobs.csv:3: run_time: expected seconds, or a time such as 1h30m, from 0 to 73 years, found \"soon\"");
  CHECK(fault_of("job,run_time\na,-1\n") ==
        "jobs.csv:2: run_time: expected seconds, or a time such as 1h30m, from 0 to 73 years, found \"-1\"");
  CHECK(fault_of("job,run_time\na,1e10\n").find("jobs.csv:2: run_time: expected seconds") == 0);
  CHECK(fault_of("job,run_time\na,\n") ==
        "jobs.csv:2: run_time: expected seconds, or a time such as 1h30m, found \"\"");
  CHECK(fault_of("job,run_time\n\"\",1\n") == "jobs.csv:2: job: expected a name, found \"\"");
  CHECK(fault_of("job,run_time\na,1\nb,1\na,2\n") == "jobs.csv:4: job: \"a\" stands in line 2 already");
  CHECK(fault_of("submit", "-5").find("jobs.csv:2: submit: expected seconds") == 0);
  CHECK(fault_of("pods", "0") == "jobs.csv:2: pods: expected a number of pods from 1 to 1048576, found \"0\"");
  CHECK(fault_of("pods", "1.5").find("jobs.csv:2: pods: expected a number of pods") == 0);
  CHECK(fault_of("pods", "1048576|1") ==
        "jobs.csv:2: pods: expected at most 1048576 pods together, found \"1048576|1\"");
  CHECK(fault_of("gpus", "1.5") ==
        "jobs.csv:2: gpus: expected GPUs, a whole number up to 1048576 or a part of one below 1, found \"1.5\"");
  CHECK(fault_of("gpus", "-1").find("jobs.csv:2: gpus: expected GPUs") == 0);
  CHECK(fault_of("gpus", "0.0001").find("jobs.csv:2: gpus: expected GPUs") == 0);
  CHECK(fault_of("gpus", "9999999999999999999999").find("jobs.csv:2: gpus: expected GPUs") == 0);
  CHECK(fault_of("gpus_total", "many").find("jobs.csv:2: gpus_total: expected GPUs") == 0);
  CHECK(fault_of("cpu", "-1") == "jobs.csv:2: cpu: expected cores from 0 on, such as 4, 0.5 or 500m, found \"-1\"");
  CHECK(fault_of("memory", "8Pi") == "jobs.csv:2: memory: expected bytes from 0 to 4Pi, such as 64Gi, found \"8Pi\"");
  CHECK(fault_of("gpu_memory", "x").find("jobs.csv:2: gpu_memory: expected bytes") == 0);
  CHECK(fault_of("priority", "high") ==
        "jobs.csv:2: priority: expected an integer from -2147483648 to 2147483647, found \"high\"");
  CHECK(fault_of("preemptible", "maybe") == "jobs.csv:2: preemptible: expected true or false, found \"maybe\"");
  CHECK(fault_of("after", "ok:a|b") ==
        "jobs.csv:2: after: expected ok:JOB, failed:JOB, any:JOB or started:JOB, with | between several, found "
        "\"ok:a|b\"");
  CHECK(fault_of("min_pods", "2") == "jobs.csv:2: min_pods: expected an integer from 0 to 1, found \"2\"");
  CHECK(fault_of("gpu_models", "A||B") == "jobs.csv:2: gpu_models: expected models of GPUs, A|B, found \"A||B\"");
  CHECK(fault_of("queue", "a\tb") ==
        "jobs.csv:2: queue: expected a text without control characters, found \"a\\x09b\"");
  CHECK(fault_of("job,run_time\na,1,2\n") == "jobs.csv:2: more fields than the header");
  CHECK(fault_of("").find("jobs.csv: the file is empty") == 0);
}

TEST_CASE("columns that contradict each other") {
  CHECK(fault_of("run_time,pods,gpus_total\n1,2,8\n") ==
        "jobs.csv:2: pods: \"2\" stands beside gpus_total \"8\", which says it too");
  CHECK(fault_of("run_time,gpus,gpu_memory\n1,1,8Gi\n") ==
        "jobs.csv:2: gpu_memory: \"8Gi\" stands beside gpus \"1\": one of them is to be 0");
  CHECK(fault_of("run_time,submit,deadline\n1,10,9\n") ==
        "jobs.csv:2: deadline: expected a time from submit (10) on, found \"9\"");
  CHECK(fault_of("run_time,iterations,iteration_time\n1,5,\n") ==
        "jobs.csv:2: iteration_time: expected a value beside iterations, found \"\"");
  CHECK(fault_of("run_time,iterations,iteration_time\n,,\n") ==
        "jobs.csv:2: run_time: expected seconds, or a time such as 1h30m, found \"\"");
  CHECK(fault_of("iterations,iteration_time\n2000000000000000000,1\n") ==
        "jobs.csv:2: iterations: 2000000000000000000 of 1 take more than 73 years");
  CHECK(fault_of("iterations,iteration_time\n2305843010,1\n") ==
        "jobs.csv:2: iterations: 2305843010 of 1 take more than 73 years");
  CHECK(fault_of("run_time,pods,gpus\n1,2|3,1|2|3\n") ==
        "jobs.csv:2: gpus: expected 1 or 2 values, one for each size of pods, found \"1|2|3\"");
  CHECK(fault_of("run_time,pods,gpus\n1,2,1|2\n") ==
        "jobs.csv:2: pods: expected a number for each of 2 sizes of pods, found \"2\"");
  CHECK(fault_of("run_time,gpus_total,cpu\n1,8,1|2\n") ==
        "jobs.csv:2: gpus_total: expected no lists beside it, found \"8\"");
}

TEST_CASE("sizes of nodes are checked") {
  const result<workload> made = read_workload_csv({"jobs.csv", "run_time\n1\n"}, {0});
  REQUIRE(!made);
  CHECK(made.failure().message == "gpus_per_node: expected 1 to 1048576, found 0");
}

TEST_CASE("what is written has the columns that it needs") {
  CHECK(written(read("run_time\n60\n")) == "job,submit,run_time,pods,gpus\njob-1,0,60,1,0\n");
  CHECK(written(read("job,run_time,gpus_total,user\n\"a,\"\"b\",0.5,12,u\n")) ==
        "job,submit,run_time,user,pods,gpus\n\"a,\"\"b\",0,0.5,u,1|1,8|4\n");
  CHECK(written({}) == "job,submit,run_time,pods,gpus\n");
}

TEST_CASE("what would not be read is not written") {
  const auto fault = [](auto&& change) {
    workload made = read("job,run_time\na,1\n");
    change(made.jobs[0]);
    return written(made);
  };
  CHECK(fault([](job& j) { j.name = "a\nb"; }) == "job \"a\\x0Ab\": job has a control character");
  CHECK(fault([](job& j) { j.queue = "\xFF"; }) == "job \"a\": queue is not UTF-8");
  CHECK(fault([](job& j) { j.name.clear(); }) == "job \"\": its name is empty");
  CHECK(fault([](job& j) { j.pods.clear(); }) == "job \"a\": it has no pods");
  CHECK(fault([](job& j) { j.run_time = -1; }) == "job \"a\": run_time is out of range");
  CHECK(fault([](job& j) { j.pods[0].gpus = 1500; }) == "job \"a\": gpus is out of range");
  CHECK(fault([](job& j) { j.after = {"ok:a|b"}; }).find("job \"a\": after has an entry") == 0);
  CHECK(fault([](job& j) { j.min_pods = 2; }) == "job \"a\": min_pods is out of range");
  CHECK(fault([](job& j) { j.gpu_models = {"A|B"}; }).find("job \"a\": gpu_models has a name") == 0);
}

TEST_CASE("all times move together") {
  workload made = read("job,submit,run_time,deadline\na,10,1,20\nb,30,1,\n");
  begin_at_zero(made);
  CHECK(made.jobs[0].submit == 0);
  CHECK(made.jobs[0].deadline == 10 * s);
  CHECK(made.jobs[1].submit == 20 * s);
  CHECK(made.jobs[1].deadline == unknown_time);
}

}  // namespace of_test_workload_csv
