#pragma once
/// @file
/// The simulations of Zhao et al., "Multi-Resource Interleaving for Deep Learning Training" (Muri, SIGCOMM 2022): their
/// input as it was published, and their results.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "benchmarks/muri/interleaving.hpp"

namespace kaisched::bench::muri {

[[nodiscard]] std::span<const std::string_view> workloads() noexcept;

struct trace_job {
  std::int64_t id = 0;
  std::int64_t gpus = 0;
  double submit = 0;  ///< seconds
  double iterations = 0;
  double iteration_time = 0;  ///< milliseconds
  double overhead = 0;        ///< seconds without progress
  stage_times stages{};       ///< of an iteration, where it shares its GPUs
};

struct workload {
  std::string name;
  std::vector<trace_job> jobs;  ///< in the order in which they come
};

/// As they are printed.
struct published_row {
  std::string mean;      ///< of the times from submission to the end
  std::string makespan;  ///< the last end
  std::string p99;       ///< 99 of a hundred jobs took less from submission to the end
};
using row_key = std::pair<std::string, std::string>;  ///< trace, policy

/// All that is read from the folder with the data.
struct trace {
  std::vector<workload> workloads;  ///< those asked for
  std::map<row_key, published_row> published;
  /// Where jobs of a trace ended, by id. For some of the traces.
  std::map<row_key, std::map<std::int64_t, double>> ends;
};

/// Files that are read have exactly these bytes. `only`: names of traces; empty: all.
[[nodiscard]] result<trace> read_trace(const std::string& folder, std::span<const std::string> only = {});

/// Where the data is from, and the digest of every file.
[[nodiscard]] std::string describe_data();

}  // namespace kaisched::bench::muri
