#pragma once
/// @file
/// All runs of the time-based benchmark, and the published table beside what they gave.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/muri/loop.hpp"

namespace kaisched::bench::muri {

/// A policy of the table, the part that does the same, and what its simulation assumed.
struct policy_entry {
  std::string name;
  std::string part;
  loop_rules rules;
  bool is_published = true;  ///< false: a policy of our own, with which published ones are compared
};
/// Those of the table first.
[[nodiscard]] const std::vector<policy_entry>& policies();

struct table_request {
  std::string data;                    ///< folder
  std::size_t runs = 0;                ///< the first so many; 0: all
  std::size_t threads = 2;             ///< runs at a time
  std::vector<std::string> workloads;  ///< empty: all
  std::vector<std::string> policies;   ///< by name; empty: those of the table
};

/// A figure, and how it was printed.
struct compared {
  double ours = 0;
  std::string published;  ///< empty: it was not
  /// Ours with as many decimals.
  [[nodiscard]] std::string printed() const;
  [[nodiscard]] bool is_equal() const { return printed() == published; }
};

struct run_result {
  std::string workload;
  std::string policy;
  bool is_published = true;
  compared mean;  ///< of the times from submission to the end
  compared makespan;
  compared p99;
  std::size_t jobs = 0;
  std::size_t sessions = 0;
  std::size_t compared_jobs = 0;  ///< of which the end is published
  double largest_difference = 0;  ///< of their ends, in seconds
  double lower_bound = 0;         ///< of the mean; 0: jobs share GPUs, and it does not hold
  double published_sharing = 0;   ///< mean of Muri-S, for a policy that shares GPUs as that one does

  /// All three figures, digit by digit, and every end.
  [[nodiscard]] bool is_exact() const;
};

struct table_result {
  std::vector<run_result> runs;
  double seconds = 0;  ///< of all runs, reading excluded
};

[[nodiscard]] result<table_result> reproduce(const table_request& what,
                                             const std::vector<policy_entry>& with = policies());
/// Of the runs whose figures are published.
[[nodiscard]] std::size_t exact_runs(const table_result& of);
[[nodiscard]] std::size_t published_runs(const table_result& of);
[[nodiscard]] std::string to_text(const table_result& of);
[[nodiscard]] std::string to_json(const table_result& of);

}  // namespace kaisched::bench::muri
