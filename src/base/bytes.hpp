#pragma once
/// @file
/// Tables as bytes, for digests and files: little-endian, every length explicit.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/table.hpp>

namespace kaisched::base {

/// Appends kind, operation, number of rows and all columns of a table.
void append_table(std::string& out, const table_view& view);

/// A table read from bytes; the view borrows the storage.
struct stored_table {
  table_view view;
  std::vector<column_view> columns;
  std::vector<std::vector<std::uint64_t>> storage;  ///< aligned copies of data and offsets
};

/// Takes one table from the front of `in`. Errors: truncated or inconsistent lengths.
[[nodiscard]] result<stored_table> take_table(std::string_view& in);

}  // namespace kaisched::base
