#pragma once
/// @file
/// What readers of traces in CSV share.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>

#include "base/text.hpp"
#include "io/csv_file.hpp"
#include "simulation/amounts.hpp"
#include "simulation/job_list.hpp"
#include "simulation/traces/traces.hpp"

namespace kaisched::simulation {

/// The rows of one file as jobs. `File` is a reader like `io::csv_file`.
template <class File>
class basic_trace_rows {
 public:
  template <std::size_t N>
  basic_trace_rows(io::named_text file, const std::array<std::string_view, N>& columns)
      : file_(file, columns), jobs_(file.name) {}

  /// Columns that must be there.
  void need(std::initializer_list<std::size_t> columns) {
    for (const std::size_t one : columns) file_.require(one);
  }
  /// Files come with either name of a column: the one that is there, else the first is missing.
  [[nodiscard]] std::size_t either(std::size_t column, std::size_t other) {
    if (!file_.has(column) && file_.has(other)) return other;
    file_.require(column);
    return column;
  }

  [[nodiscard]] File& file() { return file_; }
  bool next() { return file_.next(); }
  /// Rows before the present one that became jobs.
  [[nodiscard]] std::size_t number() const { return jobs_.size(); }

  /// A time in whole numbers of a unit.
  [[nodiscard]] std::int64_t time(std::size_t column, std::int64_t unit = nanoseconds_per_second) {
    return file_.integer(column, 0, max_time / unit) * unit;
  }
  /// Seconds, which may have decimals.
  [[nodiscard]] std::int64_t seconds(std::size_t column) {
    const std::optional<std::int64_t> read = parse_duration(file_.text(column));
    if (!read) file_.refuse(column, "seconds from 0 to 73 years");
    return read.value_or(0);
  }
  /// A number of whole GPUs as pods.
  [[nodiscard]] std::vector<pod_shape> gpus(std::size_t column, const trace_options& options) {
    return split_gpus(file_.integer(column, 1, max_pod_gpus) * whole_device, options.gpus_per_node);
  }
  /// A text without control characters.
  [[nodiscard]] std::string text(std::size_t column) {
    if (base::find_control(file_.text(column)) != std::string_view::npos) {
      file_.refuse(column, "a text without control characters");
    }
    return std::string(file_.text(column));
  }
  [[nodiscard]] std::string name(std::size_t column) {
    if (file_.text(column).empty()) file_.refuse(column, "a name");
    return text(column);
  }

  void add(job one) { jobs_.add(std::move(one), file_.line()); }
  void leave_out() { jobs_.leave_out(); }
  [[nodiscard]] result<workload> take() {
    if (file_.failed()) return error{status::argument, file_.fault(), {}};
    return jobs_.take();
  }

 private:
  File file_;
  job_list jobs_;
};
using trace_rows = basic_trace_rows<io::csv_file>;

}  // namespace kaisched::simulation
