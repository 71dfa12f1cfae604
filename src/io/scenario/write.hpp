#pragma once
/// @file
/// Rows of input tables as statements.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

#include "io/scenario/cells.hpp"

namespace kaisched::io::scenario_text {

/// One row of an input table, in words.
struct row_text {
  const table_info* kind = nullptr;
  table_op op = table_op::add;
  std::string name;  ///< of the row, not quoted
  /// Names of columns or dimensions, and values as they are written.
  std::vector<std::pair<std::string, std::string>> fields;

  [[nodiscard]] std::string line() const;
};

/// Row of a table as a statement. Columns with their defaults are left out of rows that add, except for the owner: a
/// row that does not say that it has none would belong to the one above.
[[nodiscard]] row_text row_as_text(const table_view& rows, std::uint64_t row,
                                   const std::vector<std::string>& dimensions);

}  // namespace kaisched::io::scenario_text
