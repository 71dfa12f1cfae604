#pragma once
/// @file
/// A table with one column per entry of the schema, filled by column number.

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::model {

class schema_writer {
 public:
  /// `dims`: width of columns with one value per dimension.
  explicit schema_writer(table_kind kind, table_op op = table_op::none, std::uint32_t dims = 1)
      : table_(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(op)) {
    for (const column_info& c : schema_of(static_cast<std::uint32_t>(kind))->columns) {
      const std::uint32_t width = c.shape == column_shape::dimensions ? dims
                                  : c.shape == column_shape::quotas   ? quota_dimensions
                                                                      : 1;
      if (columns_.size() <= c.id) columns_.resize(c.id + 1, nullptr);
      columns_[c.id] = &table_.add(c.id, c.type, width);
    }
  }

  table::column& operator[](std::uint32_t column) { return *columns_[column]; }
  template <class T>
  void put(std::uint32_t column, T value) {
    columns_[column]->push(value);
  }
  void put_flag(std::uint32_t column, bool value) { put(column, static_cast<std::uint8_t>(value ? 1 : 0)); }
  void put_raw(std::uint32_t column, std::string_view bytes) { columns_[column]->push_raw(bytes); }
  void put_list(std::uint32_t column, std::span<const std::int64_t> values) { columns_[column]->push_list(values); }
  /// One row of a matrix; missing values are zero.
  template <class Range>
  void put_row(std::uint32_t column, const Range& values, std::size_t width) {
    using value_type = typename Range::value_type;
    for (std::size_t i = 0; i < width; ++i) put(column, i < values.size() ? values[i] : value_type{});
  }
  table take() { return std::move(table_); }

 private:
  table table_;
  std::vector<table::column*> columns_;  ///< by column number
};

}  // namespace kaisched::model
