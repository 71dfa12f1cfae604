#pragma once
/// @file
/// The column table: the only bulk carrier, for input (deltas) and output (snapshots, decisions, reasons).
///
/// A table has a kind (what its rows are), an operation (for deltas) and columns. A column is a typed array, one entry
/// of `width` values per row. Ragged columns have `offsets` (rows + 1 entries, ascending from 0) into `data`:
///
/// | type        | data                                                                                     |
/// |-------------|------------------------------------------------------------------------------------------|
/// | string      | bytes; row i is `data[offsets[i] .. offsets[i+1])`, UTF-8, no NUL                          |
/// | string_list | bytes; every element of a row ends with a NUL byte, so an empty range is an empty list    |
/// | i64_list    | int64 values; offsets count values                                                        |
///
/// The structures are binary equal to `kaisched_table` and `kaisched_col` of the C header.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched {

enum class table_kind : std::uint32_t;  // schema.hpp
enum class table_op : std::uint32_t;

/// Type of the values of a column. Values are part of the ABI.
enum class column_type : std::uint32_t {
  u8 = 1,
  u32 = 2,
  i64 = 3,
  u64 = 4,  ///< also entity ids
  f64 = 5,
  string = 6,
  string_list = 7,
  i64_list = 8,
};

/// Rows of texts and lists differ in length: such columns have offsets.
[[nodiscard]] constexpr bool is_ragged(column_type type) noexcept {
  return type == column_type::string || type == column_type::string_list || type == column_type::i64_list;
}

/// Bytes of one value, or of one character of a text; 0 for a number that is no type.
[[nodiscard]] constexpr std::size_t value_size(column_type type) noexcept {
  switch (type) {
    case column_type::u8:
    case column_type::string:
    case column_type::string_list:
      return 1;
    case column_type::u32:
      return 4;
    case column_type::i64:
    case column_type::u64:
    case column_type::f64:
    case column_type::i64_list:
      return 8;
  }
  return 0;
}

/// The name of a type, such as "i64"; "unknown" for a number that is none.
[[nodiscard]] std::string_view column_type_name(column_type type) noexcept;

/// Flag of an input column: a reader that does not know the column ignores it instead of failing.
inline constexpr std::uint32_t column_optional = 1;

/// One column, not owning. Binary equal to `kaisched_col`; its size is frozen at 32 bytes.
struct column_view {
  std::uint32_t id = 0;
  column_type type = column_type::u8;
  std::uint32_t width = 1;  ///< values per row; 1 unless the schema says otherwise; 0 for ragged columns
  std::uint32_t flags = 0;
  const void* data = nullptr;
  const std::uint32_t* offsets = nullptr;

  template <class T>
  [[nodiscard]] std::span<const T> values(std::uint64_t rows) const {
    return {static_cast<const T*>(data), static_cast<std::size_t>(rows * width)};
  }
  [[nodiscard]] std::string_view string(std::uint64_t row) const {
    return {static_cast<const char*>(data) + offsets[row], offsets[row + 1] - offsets[row]};
  }
  [[nodiscard]] std::span<const std::int64_t> list(std::uint64_t row) const {
    return {static_cast<const std::int64_t*>(data) + offsets[row], offsets[row + 1] - offsets[row]};
  }
};

/// One table, not owning. Binary equal to `kaisched_table`.
struct table_view {
  std::uint32_t struct_size = sizeof(table_view);
  std::uint32_t kind = 0;
  std::uint32_t op = 0;
  std::uint32_t column_count = 0;
  std::uint64_t rows = 0;
  const column_view* columns = nullptr;

  [[nodiscard]] const column_view* find(std::uint32_t column_id) const {
    for (std::uint32_t i = 0; i < column_count; ++i) {
      if (columns[i].id == column_id) return &columns[i];
    }
    return nullptr;
  }
};

/// Splits one row of a `string_list` column into its elements.
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view row);
/// Joins elements into the form of one row of a `string_list` column.
[[nodiscard]] std::string join_list(std::span<const std::string_view> elements);
[[nodiscard]] std::string join_list(std::span<const std::string> elements);

/// A table that owns its columns. Build: add columns, append one entry per row to each, then `view()`.
/// Not thread-safe while being built; `view()` borrows until the table changes or is destroyed.
class table {
 public:
  /// One growing column.
  class column {
   public:
    column(std::uint32_t id, column_type type, std::uint32_t width);
    void push(std::uint8_t v) { append(&v, sizeof v); }
    void push(std::uint32_t v) { append(&v, sizeof v); }
    void push(std::int64_t v) { append(&v, sizeof v); }
    void push(std::uint64_t v) { append(&v, sizeof v); }
    void push(double v) { append(&v, sizeof v); }
    void push(std::string_view text);
    /// One row of a string list, given as its elements.
    void push_list(std::span<const std::string_view> elements);
    /// One row of a list of numbers.
    void push_list(std::span<const std::int64_t> values);
    /// One row of a ragged column, given as its raw bytes.
    void push_raw(std::string_view bytes);

    [[nodiscard]] std::uint32_t id() const { return id_; }
    [[nodiscard]] column_type type() const { return type_; }
    [[nodiscard]] std::uint32_t width() const { return width_; }
    [[nodiscard]] std::uint64_t rows() const;

   private:
    friend class table;
    void append(const void* bytes, std::size_t n);
    std::uint32_t id_;
    column_type type_;
    std::uint32_t width_;
    std::vector<std::byte> data_;
    std::vector<std::uint32_t> offsets_;
  };

  table() = default;
  explicit table(table_kind kind, table_op op = table_op{})
      : table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(op)) {}
  /// By number, which need not be one that the schema knows.
  explicit table(std::uint32_t kind, std::uint32_t op = 0) : kind_(kind), op_(op) {}

  /// Adds a column; references to columns stay valid until the table is destroyed or moved.
  /// @throws std::invalid_argument if the column is there already.
  column& add(std::uint32_t id, column_type type, std::uint32_t width = 1);
  [[nodiscard]] column* find(std::uint32_t id);

  [[nodiscard]] std::uint32_t kind() const { return kind_; }
  [[nodiscard]] std::uint32_t op() const { return op_; }
  [[nodiscard]] std::uint64_t rows() const { return columns_.empty() ? 0 : columns_.front()->rows(); }
  void set_op(std::uint32_t op) { op_ = op; }
  /// Takes all rows out and keeps the columns and their memory, for those who fill the same table again and again.
  void clear_rows();

  /// The table as plain arrays. @throws std::length_error if the columns differ in length.
  [[nodiscard]] table_view view() const;

 private:
  std::uint32_t kind_ = 0;
  std::uint32_t op_ = 0;
  std::vector<std::unique_ptr<column>> columns_;
  mutable std::vector<column_view> views_;
};

}  // namespace kaisched
