#pragma once
/// @file
/// Tables from arrays of objects, by the schema alone.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

#include "io/fault_log.hpp"
#include "io/json_document.hpp"

namespace kaisched::io {

/// A table that was read, and where its rows stand in the text.
struct read_table {
  table rows;
  std::vector<std::uint32_t> lines;
};

/// Whether every row must have a column.
using column_rule = bool (*)(const column_info& column);
/// The rule of input tables: what the schema says.
[[nodiscard]] bool is_required(const column_info& column) noexcept;

/// Reads the rows of one kind of table. Ids are read as the names that are written instead of them; those with names
/// beside them are not read. A column exists once a row has mentioned it; the rows that do not get the default of the
/// schema. `dimensions` are the names of the resource dimensions. Input tables come with the operation `add`. Faults
/// name the place and go to `faults`.
[[nodiscard]] read_table read_rows(json_value rows, const table_info& info,
                                   std::span<const std::string_view> dimensions, fault_log& faults,
                                   column_rule required = is_required);

/// Reads one row as a table of its own, without the columns that it does not mention: what changes or removes an
/// entity. `number` is its place among the rows of the text.
[[nodiscard]] table read_row(json_value row, std::uint64_t number, const table_info& info,
                             std::span<const std::string_view> dimensions, fault_log& faults, column_rule required);

}  // namespace kaisched::io
