#pragma once
/// @file
/// Workloads as CSV, a job in each line: docs/workloads.md has the columns.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>

#include "io/csv_file.hpp"
#include "simulation/workload.hpp"

namespace kaisched::simulation {

struct workload_csv_options {
  std::int64_t gpus_per_node = 8;  ///< most GPUs of one pod where a row says `gpus_total`
};

/// One column, for messages and lists.
struct workload_column {
  std::string_view name;
  std::string_view doc;
};
[[nodiscard]] std::span<const workload_column> workload_columns();

/// Errors name file, line, column and what stands there.
[[nodiscard]] result<workload> read_workload_csv(io::named_text file, const workload_csv_options& options = {});

/// Columns that no job needs are left out. What is written is read as the same jobs, if they are by `submit`. The error
/// names a job that cannot be written, or that would not be read.
[[nodiscard]] result<std::string> format_workload_csv(const workload& from);

}  // namespace kaisched::simulation
