#pragma once
/// @file
/// Values of columns as people write them in scenarios: quantities with suffixes, times, names, lists and maps.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

#include "io/scenario/text.hpp"

namespace kaisched::io::scenario_text {

/// The value of one column in one row.
struct cell {
  std::vector<std::int64_t> integers;  ///< also of flags, enumerations, amounts and lists of integers
  std::vector<double> numbers;
  std::vector<std::string> texts;  ///< one for a string; the elements of a list

  friend bool operator==(const cell&, const cell&) = default;
};

/// What a value means depends on these.
struct cell_context {
  std::span<const std::string> dimensions;  ///< names of the resource dimensions
  std::int64_t now = 0;
  std::string_view dimension;  ///< of the row: unit of `need` and `have`
};

/// A quantity in fixed units: `unit` of them are one of what is written (1000 for cores). Errors: not a quantity, not a
/// whole number of fixed units, too large.
[[nodiscard]] result<std::int64_t> parse_quantity(std::string_view text, std::int64_t unit);
/// The shortest quantity that is read as this amount.
[[nodiscard]] std::string format_quantity(std::int64_t amount, std::int64_t unit);
/// Fixed units of one of what is written for a dimension: 1000 for cpu and gpu, else 1.
[[nodiscard]] std::int64_t unit_of_dimension(std::string_view dimension);

/// A time or a duration in nanoseconds: `1h30m`, `now-5s`, `0`.
[[nodiscard]] result<std::int64_t> parse_time(std::string_view text, std::int64_t now);
[[nodiscard]] std::string format_time(std::int64_t nanoseconds);

/// The default of a column.
[[nodiscard]] cell default_cell(const column_info& column, std::size_t dimensions);
/// What is written for a column. The error says what was expected.
[[nodiscard]] result<cell> parse_cell(const column_info& column, const value& given, const cell_context& context);
/// One entry of a map of amounts, `quota.gpu=4`: changes that entry of `to`.
result<void> parse_entry(const column_info& column, std::string_view dimension, const value& given,
                         const cell_context& context, cell& to);
/// What a table has for a column; names instead of ids are in columns of their own.
[[nodiscard]] cell cell_at(const column_view& values, std::uint64_t row);
/// The value as it is written behind `=`.
[[nodiscard]] std::string format_cell(const column_info& column, const cell& given, const cell_context& context);
/// Appends a value to a column of a table.
void push_cell(table::column& to, const column_info& column, const cell& given, std::size_t dimensions);

/// Names of the dimensions of a map of amounts: all, or those of quotas. Empty for other columns.
[[nodiscard]] std::vector<std::string_view> entries_of(const column_info& column, const cell_context& context);

}  // namespace kaisched::io::scenario_text
