#pragma once
/// @file
/// Rows of the output tables of a session, by names of columns.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/session.hpp>
#include <kaisched/table.hpp>

#include "io/scenario/cells.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::io::scenario_text {

/// One output table; columns are asked for as in `expect` lines: `node` is the column of names, not of ids.
class output_rows {
 public:
  output_rows(table rows, std::vector<std::string> dimensions);

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(view_.rows); }
  /// The column of a name in an `expect` line, or nullptr.
  [[nodiscard]] const column_info* column(std::string_view name) const;
  /// Names that `column` knows.
  [[nodiscard]] std::vector<std::string_view> column_names() const;
  [[nodiscard]] cell at(const column_info& column, std::size_t row) const;
  /// Value of a column of text.
  [[nodiscard]] std::string text(std::string_view column, std::size_t row) const;
  [[nodiscard]] std::int64_t integer(std::string_view column, std::size_t row) const;
  /// Rows whose column of text has this value.
  [[nodiscard]] std::vector<std::size_t> find(std::string_view column, std::string_view value) const;

  /// Error: no row can have this field, because there is no such column or the value cannot be one of it.
  [[nodiscard]] result<void> check(const item& field) const;
  /// A field of an `expect` line against a row: empty if the row has this value, else what the row has, as a field.
  /// Error: no such column, or the value cannot be one of it.
  [[nodiscard]] result<std::string> difference(const item& field, std::size_t row) const;
  /// A field with the value of the row: `name=value`.
  [[nodiscard]] std::string field(std::string_view name, std::size_t row) const;

 private:
  struct named {
    const column_info* column = nullptr;
    std::string entry;  ///< of a map of amounts
  };
  [[nodiscard]] named resolve(std::string_view name) const;
  /// What a row would have if it had the field and is `has` otherwise.
  [[nodiscard]] result<cell> with_field(const item& field, const cell_context& about, cell has) const;
  [[nodiscard]] cell_context context(std::size_t row) const;

  table rows_;
  table_view view_;
  const table_info* info_;
  std::vector<std::string> dimensions_;
  mutable std::string row_dimension_;
};

/// Whether there can be rows of a kind with the fields of a statement from item `first` on, as `check` says.
[[nodiscard]] result<void> check_fields(table_kind kind, const statement& from, std::size_t first);

}  // namespace kaisched::io::scenario_text
