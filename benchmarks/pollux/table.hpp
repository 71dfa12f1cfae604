#pragma once
/// @file
/// All runs of the elastic training benchmark, and the published completion times beside what they gave.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/pollux/play.hpp"

namespace kaisched::bench::pollux {

struct table_request {
  std::string data;                    ///< folder
  std::size_t runs = 0;                ///< the first so many, workload by workload; 0: all
  std::size_t threads = 2;             ///< runs at a time
  std::vector<std::string> workloads;  ///< empty: all
  std::vector<std::string> policies;   ///< as published; empty: all
};

struct run_result {
  std::string workload;
  std::string policy;
  std::vector<std::string> jobs;
  outcome ours;
  std::vector<std::int64_t> published;  ///< completion times in seconds, by job

  [[nodiscard]] std::size_t equal_jobs() const;
  /// All jobs take as many seconds as in the paper's run.
  [[nodiscard]] bool is_exact() const { return equal_jobs() == jobs.size() && published.size() == jobs.size(); }
};

struct table_result {
  std::vector<run_result> runs;
  double seconds = 0;  ///< of all runs, reading excluded
};

[[nodiscard]] result<table_result> reproduce(const table_request& what,
                                             const std::vector<policy_name>& with = policies(),
                                             const artefact& as = {});
[[nodiscard]] std::string to_text(const table_result& of);
[[nodiscard]] std::string to_json(const table_result& of);

}  // namespace kaisched::bench::pollux
