#include "base/copy_row.hpp"

namespace kaisched::base {

namespace {

template <class T>
void copy_values_of_row(table::column& to, const column_view& from, std::uint64_t row) {
  const auto* const values = static_cast<const T*>(from.data) + row * from.width;
  for (std::uint32_t i = 0; i < from.width; ++i) to.push(values[i]);
}

}  // namespace

void copy_row(table::column& to, const column_view& from, std::uint64_t row) {
  switch (from.type) {
    case column_type::u8:
      return copy_values_of_row<std::uint8_t>(to, from, row);
    case column_type::u32:
      return copy_values_of_row<std::uint32_t>(to, from, row);
    case column_type::i64:
      return copy_values_of_row<std::int64_t>(to, from, row);
    case column_type::u64:
      return copy_values_of_row<std::uint64_t>(to, from, row);
    case column_type::f64:
      return copy_values_of_row<double>(to, from, row);
    case column_type::string:
    case column_type::string_list:
      return to.push_raw(from.string(row));
    case column_type::i64_list:
      return to.push_list(from.list(row));
  }
}

}  // namespace kaisched::base
