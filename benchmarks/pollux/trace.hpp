#pragma once
/// @file
/// The elastic training benchmark of Qiao et al., "Pollux" (OSDI 2021): its workloads, what was measured of its
/// applications, and its results.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::bench::pollux {

using app_row = std::size_t;

/// What an application starts with, and what fits.
struct application {
  std::string name;
  std::int64_t first_batch = 0;  ///< that learning is compared with
  std::int64_t most_batch = 0;
  std::int64_t least_local = 0;  ///< samples of one replica at once
  std::int64_t most_local = 0;
};

struct step_time {
  double whole = 0;  ///< seconds of a step that ends with an exchange of gradients
  double sync = 0;   ///< of these, the exchange
};

struct gradient {
  double square = 0;
  double variance = 0;
};

/// What was measured. A table has no row for what the published runs did not touch.
struct measurements {
  std::vector<application> apps;
  /// By application, GPUs on each node as digits (of all rotations the least), and local batch.
  std::map<std::tuple<app_row, std::string, std::int64_t>, step_time> steps;
  std::map<std::tuple<app_row, std::int64_t, std::int64_t>, gradient> gradients;  ///< batch, epoch
  std::map<std::tuple<app_row, std::int64_t, std::int64_t>, double> iterations;   ///< batch, epoch: done at its end
  std::map<std::pair<app_row, std::int64_t>, double> progress;                    ///< epoch: learnt when it starts
  std::map<std::pair<app_row, std::int64_t>, std::int64_t> last_epochs;           ///< batch
};

struct job_spec {
  std::string name;
  app_row app = 0;
  std::int64_t submit = 0;    ///< seconds
  std::int64_t replicas = 0;  ///< GPUs that it was tuned for
  std::int64_t batch = 0;
};

struct workload {
  std::string name;
  std::vector<job_spec> jobs;
};

/// All that is read from the folder with the data.
struct trace {
  measurements measured;
  std::vector<workload> workloads;  ///< those asked for
  /// By policy and workload: completion times of the jobs in seconds, in their order.
  std::map<std::pair<std::string, std::string>, std::vector<std::int64_t>> published;
};

[[nodiscard]] std::span<const std::string_view> workloads() noexcept;

/// Files that are read have exactly these bytes. `only`: names of workloads; empty: all.
[[nodiscard]] result<trace> read_trace(const std::string& folder, std::span<const std::string> only = {});

/// Where the data is from, and the digest of every file.
[[nodiscard]] std::string describe_data();

}  // namespace kaisched::bench::pollux
