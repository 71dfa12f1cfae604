#include "benchmarks/pollux/trace.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "io/csv_file.hpp"
#include "io/files.hpp"
#include "simulation/traces/numbers.hpp"

namespace kaisched::bench::pollux {

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
constexpr double most_number = 1e30;

constexpr std::array<std::string_view, 8> names_of_workloads{"workload-1", "workload-2", "workload-3", "workload-4",
                                                             "workload-5", "workload-6", "workload-7", "workload-8"};

struct known_file {
  std::string_view name;
  std::string_view sha256;
};
constexpr std::array files{
    known_file{"app_limits.csv", "3fb9141e4eb77daaf0acb36000395a860bb94059674aaf3b19a6c146cab3d74a"},
    known_file{"completion_epoch.csv", "54b464f80db7695c1684b422564c5720f5b4251bd66cccacc59916e2525deada"},
    known_file{"grad_stats.csv", "7f0fff9d9fe3ccf72cffeb618513667be364fd0438880bf6c9e9171d4e6fa96b"},
    known_file{"iterations.csv", "d2b19a010b9fa81bd6259bc99bcb4989b0371099accce70d6e8188cbe92253a6"},
    known_file{"jcts_load1.0.csv", "491a48bbd60266645a7465ecd0c11e20120136c896732e820faf5936c0418a09"},
    known_file{"progress.csv", "e947e88f51e04d3230845f05e1522a9c4b92a4d72283b012e5c8eab16dfe10a8"},
    known_file{"step_times.csv", "6fc4658f6a8fc124707a223c661abaca398aadc405f46c26f46dcc19fd9baefb"},
    known_file{"workloads_load1.0.csv", "a6e9d50353966c1ed8d4eba8acb5102c517f1f9c1c20fda9779b36abcd66124b"},
};

/// Reads one file: `row` is called for each line. Columns are numbered as they are given here.
template <std::size_t N, class F>
result<void> read_rows(const std::string& folder, const known_file& file,
                       const std::array<std::string_view, N>& columns, F&& row) {
  result<std::string> bytes = io::read_file(fmt::format("{}/{}", folder, file.name));
  if (!bytes) return bytes.take_failure();
  base::sha256 sum;
  sum.update(std::string_view(*bytes));
  const std::string found = base::sha256::hex(sum.finish());
  if (found != file.sha256) {
    return error{
        status::argument,
        fmt::format("{}: its SHA-256 is {}, that of the data of the table is {}", file.name, found, file.sha256),
        {}};
  }
  io::csv_file csv({file.name, *bytes}, columns);
  for (std::size_t i = 0; i < N; ++i) csv.require(i);
  while (csv.next()) row(csv);
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return {};
}

using simulation::number_of;

class reader {
 public:
  reader(const std::string& folder, std::span<const std::string> only, trace& to)
      : folder_(folder), only_(only), to_(to) {}

  result<void> run() {
    const auto& [limits, last_epochs, gradients, iterations, published, progress, steps, jobs] = files;
    if (auto done = read_apps(limits); !done) return done;
    if (auto done = read_measurements(last_epochs, gradients, iterations, progress, steps); !done) return done;
    if (auto done = read_jobs(jobs); !done) return done;
    return read_published(published);
  }

 private:
  result<void> read_apps(const known_file& file) {
    return read_rows(
        folder_, file,
        std::array<std::string_view, 5>{"app", "init_batch_size", "max_batch_size", "min_local_bsz", "max_local_bsz"},
        [&](io::csv_file& csv) {
          to_.measured.apps.push_back({std::string(csv.text(0)), csv.integer(1, 1, largest), csv.integer(2, 1, largest),
                                       csv.integer(3, 1, largest), csv.integer(4, 1, largest)});
        });
  }

  app_row app_of(io::csv_file& csv, std::size_t column) const {
    const std::vector<application>& apps = to_.measured.apps;
    const auto found =
        std::find_if(apps.begin(), apps.end(), [&](const application& one) { return one.name == csv.text(column); });
    if (found != apps.end()) return static_cast<app_row>(found - apps.begin());
    csv.refuse(column, "an application of app_limits.csv");
    return 0;
  }

  result<void> read_measurements(const known_file& last_epochs, const known_file& gradients,
                                 const known_file& iterations, const known_file& progress, const known_file& steps) {
    measurements& to = to_.measured;
    if (auto done =
            read_rows(folder_, last_epochs, std::array<std::string_view, 3>{"app", "batch_size", "completion_epoch"},
                      [&](io::csv_file& csv) {
                        to.last_epochs[{app_of(csv, 0), csv.integer(1, 1, largest)}] = csv.integer(2, 0, largest);
                      });
        !done)
      return done;
    if (auto done = read_rows(
            folder_, gradients, std::array<std::string_view, 5>{"app", "batch_size", "epoch", "grad_sqr", "grad_var"},
            [&](io::csv_file& csv) {
              to.gradients[{app_of(csv, 0), csv.integer(1, 1, largest), csv.integer(2, 0, largest)}] = {
                  number_of(csv, 3, 0, most_number), number_of(csv, 4, 0, most_number)};
            });
        !done)
      return done;
    if (auto done =
            read_rows(folder_, iterations, std::array<std::string_view, 4>{"app", "batch_size", "epoch", "iteration"},
                      [&](io::csv_file& csv) {
                        to.iterations[{app_of(csv, 0), csv.integer(1, 1, largest), csv.integer(2, 0, largest)}] =
                            number_of(csv, 3, 0, most_number);
                      });
        !done)
      return done;
    if (auto done = read_rows(
            folder_, progress, std::array<std::string_view, 3>{"app", "epoch", "progress_at_end_of_epoch_index"},
            [&](io::csv_file& csv) {
              to.progress[{app_of(csv, 0), csv.integer(1, 0, largest)}] = number_of(csv, 2, 0, most_number);
            });
        !done)
      return done;
    return read_rows(
        folder_, steps,
        std::array<std::string_view, 5>{"app", "placement_gpus_per_node", "local_bsz", "step_time_s", "sync_time_s"},
        [&](io::csv_file& csv) {
          to.steps[{app_of(csv, 0), std::string(csv.text(1)), csv.integer(2, 1, largest)}] = {
              number_of(csv, 3, 0, most_number), number_of(csv, 4, 0, most_number)};
        });
  }

  result<void> read_jobs(const known_file& file) {
    for (const std::string_view name : names_of_workloads) {
      if (only_.empty() || std::find(only_.begin(), only_.end(), name) != only_.end())
        to_.workloads.push_back({std::string(name), {}});
    }
    return read_rows(
        folder_, file,
        std::array<std::string_view, 6>{"workload", "name", "time_s", "application", "num_replicas", "batch_size"},
        [&](io::csv_file& csv) {
          workload* const of = workload_of(csv.text(0));
          if (of == nullptr) return;
          of->jobs.push_back({std::string(csv.text(1)), app_of(csv, 3), csv.integer(2, 0, largest),
                              csv.integer(4, 1, largest), csv.integer(5, 1, largest)});
        });
  }

  result<void> read_published(const known_file& file) {
    return read_rows(folder_, file, std::array<std::string_view, 4>{"policy", "workload", "job", "jct_s"},
                     [&](io::csv_file& csv) {
                       const workload* const of = workload_of(csv.text(1));
                       if (of == nullptr) return;
                       std::vector<std::int64_t>& times = to_.published[{std::string(csv.text(0)), of->name}];
                       if (times.size() >= of->jobs.size() || of->jobs[times.size()].name != csv.text(2))
                         csv.refuse(2, "the jobs of the workload in their order");
                       times.push_back(csv.integer(3, 0, largest));
                     });
  }

  workload* workload_of(std::string_view name) {
    const auto found =
        std::find_if(to_.workloads.begin(), to_.workloads.end(), [&](const workload& one) { return one.name == name; });
    return found == to_.workloads.end() ? nullptr : &*found;
  }

  const std::string& folder_;
  std::span<const std::string> only_;
  trace& to_;
};

}  // namespace

std::span<const std::string_view> workloads() noexcept { return names_of_workloads; }

result<trace> read_trace(const std::string& folder, std::span<const std::string> only) {
  trace made;
  if (auto done = reader(folder, only, made).run(); !done) return done.take_failure();
  return made;
}

std::string describe_data() {
  std::string text =
      "The workloads, what was measured of the applications, and the completion times come from\n"
      "https://github.com/petuum/adaptdl at c793c70, branch osdi21-artifact, folder simulator/ (Apache-2.0):\n"
      "workloads/*.csv and results-jobload/{tiresias,optimus}-1.0/summary.json as one table each, and traces/ as\n"
      "simulator/applications.py interpolates them. Files and SHA-256:\n";
  for (const known_file& one : files) text += fmt::format("  {}  {}\n", one.sha256, one.name);
  return text;
}

}  // namespace kaisched::bench::pollux
