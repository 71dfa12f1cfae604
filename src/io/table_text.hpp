#pragma once
/// @file
/// Tables as text, by the schema alone: rows of JSON and YAML, and CSV.

#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>
#include <kaisched/table.hpp>

namespace kaisched::io {

/// Whether all texts of a table are UTF-8, as every format here is. The error names row and column.
[[nodiscard]] result<void> check_texts(const table_view& rows);

/// Which values of a row are written.
enum class row_detail : bool { all, without_defaults };

/// Appends the rows as an array of objects, one row a line. Names of entities come from `names`.
void append_json_rows(std::string& out, const table_view& rows, const snapshot& names, row_detail detail);

/// Appends the rows as a block sequence under a key: a row that fits a line as one, a longer one with a line per
/// member.
void append_yaml_rows(std::string& out, const table_view& rows, const snapshot& names, row_detail detail);

/// Header and rows, RFC 4180 with LF: amounts get a column per dimension, lists are separated by blanks.
[[nodiscard]] std::string format_csv(const table_view& rows, const snapshot& names);

}  // namespace kaisched::io
