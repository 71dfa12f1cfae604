#pragma once
/// @file
/// The policies of the benchmark one after the other, and the published table beside what they gave.

#include <cstddef>
#include <string>
#include <vector>

#include "benchmarks/shockwave/rounds.hpp"

namespace kaisched::bench::shockwave {

/// Bound on each figure of a run: published figures are those of a linear program's solver, whose choice among equal
/// solutions is its own.
inline constexpr double allowed_difference = 5;  // %

struct table_request {
  std::string data;                   ///< folder
  std::string speeds;                 ///< the published file of speeds; empty: those of the folder
  std::vector<std::string> policies;  ///< as published; empty: all
};

struct run_result {
  std::string policy;
  published_run ours;
  published_run published;

  /// Makespan, average completion time and worst fairness differ by no more than is allowed.
  [[nodiscard]] bool is_near() const;
  /// Jobs that complete at the same time, to a hundredth of a second.
  [[nodiscard]] std::size_t equal_jobs() const;
};

struct table_result {
  std::vector<run_result> runs;
  double seconds = 0;  ///< of all runs, reading excluded
};

[[nodiscard]] result<table_result> reproduce(const table_request& what,
                                             const std::vector<policy_name>& with = policies(),
                                             const round_options& options = {});
[[nodiscard]] std::string to_text(const table_result& of);
[[nodiscard]] std::string to_json(const table_result& of);

}  // namespace kaisched::bench::shockwave
