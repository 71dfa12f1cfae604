#pragma once
/// @file
/// CSV with a header line: fields by the names of their columns, faults with file and line.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaisched::io {

/// One CSV text and the name that errors call it by.
struct named_text {
  std::string_view name;
  std::string_view text;
};

/// Reads RFC 4180 with one row a line: fields may be quoted, line ends inside of quotes are not read. Blanks around
/// fields and empty lines do not count. The first fault is kept; after it there are no more lines.
class csv_file {
 public:
  /// Most columns that can be asked for.
  static constexpr std::size_t most_columns = 32;

  /// Columns are found by name; others are ignored. The names must outlive the object.
  csv_file(named_text file, std::span<const std::string_view> names);
  ~csv_file();
  csv_file(const csv_file&) = delete;
  csv_file& operator=(const csv_file&) = delete;

  /// Whether the header has a column, by its number in the list of names.
  [[nodiscard]] bool has(std::size_t column) const { return found_[column]; }
  /// A fault unless the header has the column.
  void require(std::size_t column);
  /// A fault if the header has columns of other names.
  void refuse_others();

  /// Goes to the next line; false at the end and after a fault.
  bool next();
  /// A field of the present line, empty if the column is absent. Valid until the next line.
  [[nodiscard]] std::string_view text(std::size_t column) const { return cells_[column]; }
  /// An integer between bounds; a fault, and the least, if it is none.
  [[nodiscard]] std::int64_t integer(std::size_t column, std::int64_t least, std::int64_t most);
  /// A fault in the present line: `what` was expected of a field.
  void refuse(std::size_t column, std::string_view what);
  /// Another fault in the present line, with the column in front.
  void complain(std::size_t column, std::string_view fault);
  /// Number of the present line, from 1.
  [[nodiscard]] std::uint32_t line() const;

  [[nodiscard]] bool failed() const { return !fault_.empty(); }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  struct reader;

  bool check_characters(std::string_view text);
  void read_header_names(std::string_view text);
  void add_fault(std::string_view fault);
  template <class F>
  bool guarded(F&& read);

  std::string_view name_;
  std::span<const std::string_view> names_;
  std::vector<std::string> header_;
  std::vector<bool> found_;
  std::vector<std::string_view> cells_;
  std::unique_ptr<reader> reader_;
  std::string fault_;
};

}  // namespace kaisched::io
