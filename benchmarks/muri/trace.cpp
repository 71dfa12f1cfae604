#include "benchmarks/muri/trace.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "benchmarks/known_files.hpp"
#include "io/csv_file.hpp"

namespace kaisched::bench::muri {

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max() / 1000;
constexpr std::int64_t most_gpus = 32;

constexpr std::array digests{
    known_file{"expected_fig9_10.csv", "786b4c98dbdcb0a60263ab1a8301ee0dc55e1fadae0f02720f88a7eea657e332"},
    known_file{"golden_jobs_trace1.csv", "ff1a17ba885cb7753a67cfc22e681eb32fea2b00408780256999278c91f6d798"},
    known_file{"golden_jobs_trace3.csv", "66274729c6bed7ec39f9a03053b8ebbe8154f8b50b36896627f725fd76ef52ee"},
    known_file{"restart_overhead_s.csv", "aa5ab1e5a421e8cd578b4e87a2d2b40be1182651381f7932f7379de5309ebdeb"},
    known_file{"trace1.csv", "d9c36512acda106c65d8200852bb22380201554036a4bb625bbef3125eced709"},
    known_file{"trace1_pr.csv", "aee34e39d2f5d53c781b2cdbcf782b4c77a101b753ffe951a06276666c54af2d"},
    known_file{"trace2.csv", "e4b2051219509639cfdcbca3fa44cd3b49b319c475f05501c9c09fe9f1d7bfac"},
    known_file{"trace2_pr.csv", "8539e26d5341513021c7c435ebd55df1887d901f9f7f92121ea2dcc10dbe38cc"},
    known_file{"trace3.csv", "ef400f39f15809b7b7557d985ff870d0984c500c1b8cc6a1b21b19722f6f76db"},
    known_file{"trace3_pr.csv", "1fa39dff9701cb451b1f7e3d25810be027dec94bcafa78cb532ccc81e0d3f2ae"},
    known_file{"trace4.csv", "803ee686c2fef21079cc96ad11d16488c03f9e89be5dabc507c6ec6dfec0d619"},
    known_file{"trace4_pr.csv", "ceb4ffdf57045f5c13f423cdfe082789cdac3f05aa3cd8e598b6d3e9637e2e64"},
};
constexpr std::array with_ends{std::string_view("trace1"), std::string_view("trace3")};

/// A decimal number; a fault if the field is none.
double real(io::csv_file& csv, std::size_t column) {
  const std::string_view text = csv.text(column);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) csv.refuse(column, "a number");
  return value;
}

/// Seconds by model and number of GPUs: 1, 2, 4 ... 32.
using overhead_table = std::map<std::string, std::array<double, 6>, std::less<>>;

result<overhead_table> read_overheads(const std::string& folder) {
  constexpr std::string_view file = "restart_overhead_s.csv";
  result<std::string> bytes = read_known(folder, digests, file);
  if (!bytes) return bytes.take_failure();
  constexpr std::array<std::string_view, 7> header{"model", "g1", "g2", "g4", "g8", "g16", "g32"};
  io::csv_file csv({file, *bytes}, header);
  for (std::size_t column = 0; column < header.size(); ++column) csv.require(column);
  overhead_table made;
  while (csv.next()) {
    std::array<double, 6>& one = made[std::string(csv.text(0))];
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = real(csv, i + 1);
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return made;
}

result<std::vector<trace_job>> read_jobs(const std::string& folder, std::string_view name,
                                         const overhead_table& overheads) {
  const std::string file = fmt::format("{}.csv", name);
  result<std::string> bytes = read_known(folder, digests, file);
  if (!bytes) return bytes.take_failure();
  enum column : unsigned { id, gpus, submit, iterations, model, time, first_stage };
  constexpr std::array<std::string_view, 9> header{"job_id",          "num_gpu",         "submit_ms",
                                                   "iterations",      "model",           "iter_ms",
                                                   "resource_time_0", "resource_time_1", "resource_time_2"};
  io::csv_file csv({file, *bytes}, header);
  for (std::size_t one = 0; one < header.size(); ++one) csv.require(one);
  std::vector<trace_job> jobs;
  while (csv.next()) {
    trace_job job;
    job.id = csv.integer(id, 0, largest);
    job.gpus = csv.integer(gpus, 1, most_gpus);
    job.submit = static_cast<double>(csv.integer(submit, 0, largest)) / 1000;
    job.iterations = static_cast<double>(csv.integer(iterations, 0, largest));
    job.iteration_time = real(csv, time);
    for (std::size_t i = 0; i < job.stages.size(); ++i) job.stages[i] = real(csv, first_stage + i) / 1000;
    const auto of_model = overheads.find(csv.text(model));
    if (of_model == overheads.end()) {
      csv.refuse(model, "a model whose restarts are known");
    } else {
      job.overhead =
          of_model->second[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(job.gpus - 1)))];
    }
    jobs.push_back(job);
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const trace_job& a, const trace_job& b) { return a.submit < b.submit; });
  return jobs;
}

result<void> read_published(const std::string& folder, trace& to) {
  constexpr std::string_view file = "expected_fig9_10.csv";
  result<std::string> bytes = read_known(folder, digests, file);
  if (!bytes) return bytes.take_failure();
  enum column : unsigned { name, policy, mean, makespan, p99 };
  constexpr std::array<std::string_view, 5> header{"trace", "policy", "avg_jct_s", "makespan_s", "p99_jct_s"};
  io::csv_file csv({file, *bytes}, header);
  for (const column one : {name, policy, mean, makespan, p99}) csv.require(one);
  while (csv.next()) {
    to.published[{std::string(csv.text(name)), std::string(csv.text(policy))}] = {
        std::string(csv.text(mean)), std::string(csv.text(makespan)), std::string(csv.text(p99))};
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return {};
}

result<void> read_ends(const std::string& folder, std::string_view of, trace& to) {
  const std::string file = fmt::format("golden_jobs_{}.csv", of);
  result<std::string> bytes = read_known(folder, digests, file);
  if (!bytes) return bytes.take_failure();
  enum column : unsigned { policy, id, end };
  constexpr std::array<std::string_view, 3> header{"policy", "job_id", "end_s"};
  io::csv_file csv({file, *bytes}, header);
  for (const column one : {policy, id, end}) csv.require(one);
  while (csv.next())
    to.ends[{std::string(of), std::string(csv.text(policy))}][csv.integer(id, 0, largest)] = real(csv, end);
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return {};
}

}  // namespace

std::span<const std::string_view> workloads() noexcept {
  static constexpr std::array<std::string_view, 8> all{"trace1", "trace1_pr", "trace2", "trace2_pr",
                                                       "trace3", "trace3_pr", "trace4", "trace4_pr"};
  return all;
}

result<trace> read_trace(const std::string& folder, std::span<const std::string> only) {
  result<overhead_table> overheads = read_overheads(folder);
  if (!overheads) return overheads.take_failure();
  trace made;
  for (const std::string_view name : workloads()) {
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    result<std::vector<trace_job>> jobs = read_jobs(folder, name, *overheads);
    if (!jobs) return jobs.take_failure();
    made.workloads.push_back({std::string(name), std::move(*jobs)});
    if (std::find(with_ends.begin(), with_ends.end(), name) == with_ends.end()) continue;
    if (auto done = read_ends(folder, name, made); !done) return done.failure();
  }
  if (auto done = read_published(folder, made); !done) return done.failure();
  return made;
}

std::string describe_data() {
  return "The data is public: github.com/Rivendile/Muri at 4e69a78 (Apache-2.0), folders simulator/trace-data and "
         "simulator.\n"
         "Of every job what the tables need has been taken into one CSV file per trace; where the jobs of two traces "
         "end\n"
         "(golden_*) follows from these. SHA-256 of the files:\n" +
         list_of(digests);
}

}  // namespace kaisched::bench::muri
