#pragma once
/// @file
/// Checked access to an input table.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::model {

/// Reads a table that `open` has checked against the schema: columns known and typed right, widths and offsets
/// consistent, so that the accessors need no checks of their own.
class table_reader {
 public:
  [[nodiscard]] static result<table_reader> open(const table_view& view, std::size_t number, std::uint32_t dimensions);
  /// The same for a table of an output kind.
  [[nodiscard]] static result<table_reader> open_output(const table_view& view);

  [[nodiscard]] const table_info& info() const { return *info_; }
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] table_op op() const { return static_cast<table_op>(view_.op); }
  [[nodiscard]] std::uint64_t rows() const { return view_.rows; }
  [[nodiscard]] bool has(std::uint32_t column) const { return at(column) != nullptr; }
  /// The column holds entity ids instead of names.
  [[nodiscard]] bool is_id(std::uint32_t column) const {
    return at(column) != nullptr && at(column)->type == column_type::u64;
  }

  [[nodiscard]] std::string_view text(std::uint32_t column, std::uint64_t row) const { return at(column)->string(row); }
  [[nodiscard]] std::uint64_t id(std::uint32_t column, std::uint64_t row) const {
    return value<std::uint64_t>(column, row);
  }
  [[nodiscard]] std::int64_t i64(std::uint32_t column, std::uint64_t row) const {
    return value<std::int64_t>(column, row);
  }
  [[nodiscard]] std::uint32_t u32(std::uint32_t column, std::uint64_t row) const {
    return value<std::uint32_t>(column, row);
  }
  [[nodiscard]] std::uint8_t u8(std::uint32_t column, std::uint64_t row) const {
    return value<std::uint8_t>(column, row);
  }
  /// All values of one row of a fixed-width column.
  template <class T>
  [[nodiscard]] std::span<const T> row_values(std::uint32_t column, std::uint64_t row) const {
    const column_view* c = at(column);
    return {static_cast<const T*>(c->data) + row * c->width, c->width};
  }
  [[nodiscard]] std::span<const std::int64_t> list(std::uint32_t column, std::uint64_t row) const {
    return at(column)->list(row);
  }

  /// What is wrong with the texts of a row, if anything: a NUL byte inside, or bytes that are no UTF-8.
  [[nodiscard]] const error* text_defect(std::uint64_t row) const;

  /// An error about one row: "table 2 (pod, change), row 17, column node: ...".
  [[nodiscard]] error fail(status code, std::uint64_t row, std::uint32_t column, std::string_view what,
                           entity_id subject = {}) const;
  /// The parts of an error about a row: the column, and what is wrong without the place.
  struct parts {
    std::string_view column;
    std::string_view what;
  };
  [[nodiscard]] parts split(const error& e, std::uint64_t row) const;

 private:
  template <class T>
  [[nodiscard]] T value(std::uint32_t column, std::uint64_t row) const {
    return static_cast<const T*>(at(column)->data)[row];
  }
  [[nodiscard]] const column_view* at(std::uint32_t column) const {
    return column < by_id_.size() ? by_id_[column] : nullptr;
  }
  [[nodiscard]] std::string where() const;
  result<void> check_columns(std::uint32_t dimensions);
  result<void> check_column(const column_view& c, std::uint32_t dimensions);
  void find_text_defects(const column_view& c);
  [[nodiscard]] const column_info* describe(std::uint32_t column) const;

  table_view view_{};
  const table_info* info_ = nullptr;
  std::size_t number_ = 0;
  std::vector<const column_view*> by_id_;
  std::vector<std::pair<std::uint64_t, error>> text_defects_;  ///< by row, one each
};

}  // namespace kaisched::model
