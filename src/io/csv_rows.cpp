#include "io/csv_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/column_form.hpp"
#include "io/document_builder.hpp"

namespace kaisched::io {

namespace {

template <class T>
std::optional<T> number_of(std::string_view field) {
  T value{};
  const std::from_chars_result read = std::from_chars(field.data(), field.data() + field.size(), value);
  if (read.ec != std::errc{} || read.ptr != field.data() + field.size()) return {};
  return value;
}

void add_number(document_builder& to, std::string_view field, std::uint32_t line) {
  if (const auto integer = number_of<std::int64_t>(field)) return to.integer(*integer, line);
  if (const auto number = number_of<double>(field)) return to.number(*number, line);
  to.string(field, line);
}

/// Elements are separated by blanks.
void add_list(document_builder& to, std::string_view field, bool of_texts, std::uint32_t line) {
  to.open(json_kind::array, line);
  while (true) {
    field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
    if (field.empty()) break;
    const std::size_t end = std::min(field.find(' '), field.size());
    if (of_texts)
      to.string(field.substr(0, end), line);
    else
      add_number(to, field.substr(0, end), line);
    field.remove_prefix(end);
  }
  to.close();
}

void add_field(document_builder& to, const column_info& column, std::string_view field, std::uint32_t line) {
  if (column.type == column_type::i64_list) return add_list(to, field, false, line);
  if (column.type == column_type::string_list) return add_list(to, field, true, line);
  const column_form form = form_of(column);
  const bool is_text = column.type == column_type::string || form == column_form::id;
  if (is_text || !value_names(form).empty()) return to.string(field, line);
  if (field.empty() && column.fallback == "unset") return to.null(line);
  add_number(to, field, line);
}

bool is_readable(const table_info& info, const column_info& column) {
  const bool one_value = column.shape == column_shape::one || column.type == column_type::string ||
                         column.type == column_type::i64_list || column.type == column_type::string_list;
  return one_value && is_written(info, column);
}

}  // namespace

result<json_document> parse_csv_rows(named_text file, const table_info& info, column_rule required) {
  std::vector<const column_info*> columns;
  std::vector<std::string_view> names;
  for (const column_info& column : info.columns) {
    if (!is_readable(info, column) || columns.size() == csv_file::most_columns) continue;
    columns.push_back(&column);
    names.push_back(column.name);
  }
  csv_file csv(file, names);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (required(*columns[i])) csv.require(i);
  }
  csv.refuse_others();

  json_document document;
  document_builder to(document, file.name);
  to.open(json_kind::array, 1);
  while (csv.next()) {
    to.open(json_kind::object, csv.line());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!csv.has(i)) continue;
      to.key(names[i], csv.line());
      add_field(to, *columns[i], csv.text(i), csv.line());
    }
    to.close();
  }
  to.close();
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return document;
}

}  // namespace kaisched::io
