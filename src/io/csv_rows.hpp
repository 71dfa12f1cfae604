#pragma once
/// @file
/// Tables as CSV in the data model of JSON, so that one reader checks the rows of both forms.

#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>

#include "io/csv_file.hpp"
#include "io/json_document.hpp"
#include "io/row_reader.hpp"

namespace kaisched::io {

/// The rows of a text as an array of objects with a member per field. Fields of numbers that are numbers become those;
/// whatever is amiss inside a field is left to `read_rows`. Columns with several values or texts a row are not read.
[[nodiscard]] result<json_document> parse_csv_rows(named_text file, const table_info& info, column_rule required);

}  // namespace kaisched::io
