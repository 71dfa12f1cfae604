#pragma once
/// @file
/// Tables as text, by the schema alone: JSON rows and CSV.

#include <string>
#include <string_view>

#include <kaisched/snapshot.hpp>
#include <kaisched/table.hpp>

namespace kaisched::io {

/// Which values of a row are written.
enum class row_detail : bool { all, without_defaults };

/// Appends the rows as an array of objects, one row a line. Names of entities come from `names`.
void append_json_rows(std::string& out, const table_view& rows, const snapshot& names, row_detail detail);

/// Header and rows, RFC 4180 with LF: amounts get a column per dimension, lists are separated by blanks.
[[nodiscard]] std::string format_csv(const table_view& rows, const snapshot& names);

}  // namespace kaisched::io
