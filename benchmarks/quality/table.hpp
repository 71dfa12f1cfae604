#pragma once
/// @file
/// The quality table: public and invented workloads under every policy that has a name.

#include <string>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::bench::quality {

struct table_request {
  std::string data;                    ///< folder with the public traces; empty: invented workloads alone
  std::vector<std::string> workloads;  ///< only these; none: all
  std::vector<std::string> policies;   ///< only these; none: all
  std::size_t threads = 0;             ///< plays at a time; 0: as many as there are cores
};

struct table_row {
  std::string workload;
  std::uint64_t gpus = 0;
  std::string policy;
  std::uint64_t jobs = 0;
  double seconds = 0;         ///< that the play took: not part of the table
  double thread_seconds = 0;  ///< of its thread, which others do not use up: likewise
  std::string text;           ///< the line
};

struct table_result {
  std::vector<table_row> rows;
  double seconds = 0;  ///< of all plays together, on their threads
  std::size_t threads = 0;
};

/// The line above the rows.
[[nodiscard]] std::string head();
/// Errors: data that cannot be read, a name that nothing has.
[[nodiscard]] result<table_result> play_table(const table_request& what);
/// The table as a file.
[[nodiscard]] std::string to_csv(const table_result& of);
/// What differs from a table that is known: a line for each row of `of` that is not there, or there with other figures.
[[nodiscard]] std::vector<std::string> differences(const table_result& of, const std::string& known);

}  // namespace kaisched::bench::quality
