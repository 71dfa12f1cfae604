#pragma once
/// @file
/// All runs of the packing benchmark, and the published table beside what they gave.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/fgd/run.hpp"

namespace kaisched::bench::fgd {

struct table_request {
  std::string data;                    ///< folder
  std::size_t runs = 0;                ///< the first so many, seed by seed; 0: all
  std::size_t threads = 2;             ///< runs at a time
  std::vector<std::string> workloads;  ///< empty: all
  std::vector<std::string> policies;   ///< as published; empty: all
};

struct run_result {
  std::string workload;
  std::string policy;
  std::int64_t seed = 0;
  curves ours;
  curves published;
  bool equal_at_end = false;

  /// Points of a curve that are equal.
  [[nodiscard]] std::size_t equal_points(std::array<std::int64_t, loads> curves::* which) const;
  /// The curve of the table, and the state at the end.
  [[nodiscard]] bool is_exact() const { return equal_points(&curves::allocated) == loads && equal_at_end; }
};

struct table_result {
  std::vector<run_result> runs;
  double seconds = 0;  ///< of all runs, reading excluded
};

[[nodiscard]] result<table_result> reproduce(const table_request& what,
                                             const std::vector<policy_name>& with = policies());
[[nodiscard]] std::string to_text(const table_result& of);
[[nodiscard]] std::string to_json(const table_result& of);

}  // namespace kaisched::bench::fgd
