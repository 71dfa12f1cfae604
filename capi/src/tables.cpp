#include "tables.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "guard.hpp"

namespace kaisched::capi {

result<input_tables> input_tables::read(const kaisched_table* const* tables, std::size_t count) {
  if (tables == nullptr && count > 0) return bad_argument("tables is NULL");
  input_tables input;
  input.columns_.reserve(count);
  input.views_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string where = "table " + std::to_string(i);
    if (tables[i] == nullptr) return bad_argument(where + " is NULL");
    if (tables[i]->struct_size < sizeof(kaisched_table)) {
      return error{status::struct_size,
                   where + ": struct_size is " + std::to_string(tables[i]->struct_size) + ", at least " +
                       std::to_string(sizeof(kaisched_table)) + " is expected",
                   {}};
    }
    // Copies: the caller's structure may be longer than ours, and its columns are objects of another type than ours.
    const kaisched_table& given = *tables[i];
    if (given.columns == nullptr && given.column_count > 0) return bad_argument(where + ": columns is NULL");
    std::vector<column_view>& columns = input.columns_.emplace_back(given.column_count);
    std::transform(given.columns, given.columns + given.column_count, columns.begin(),
                   [](const kaisched_col& c) { return std::bit_cast<column_view>(c); });
    table_view& view = input.views_.emplace_back();
    view.kind = given.kind;
    view.op = given.op;
    view.column_count = given.column_count;
    view.rows = given.rows;
    view.columns = columns.data();
  }
  return input;
}

output_table::output_table(table body) : body_(std::move(body)) {
  const table_view view = body_.view();
  columns_.reserve(view.column_count);
  for (std::uint32_t i = 0; i < view.column_count; ++i)
    columns_.push_back(std::bit_cast<kaisched_col>(view.columns[i]));
  view_ = {sizeof(kaisched_table), view.kind, view.op, view.column_count, view.rows, columns_.data()};
}

}  // namespace kaisched::capi
