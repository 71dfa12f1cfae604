#include "io/table_text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "base/utf8.hpp"
#include "io/column_form.hpp"
#include "io/json_document.hpp"
#include "io/yaml_string.hpp"

namespace kaisched::io {

namespace {

using names = std::span<const std::string_view>;

/// A column of a table together with what the schema says about it.
struct described_column {
  const column_info* info;
  const column_view* values;
  column_form form;
  names dimensions;  ///< for amounts
};

/// The columns of a table in the order of the schema. Columns of ids are left out where names stand beside them.
std::vector<described_column> describe(const table_view& rows, names dimensions) {
  std::vector<described_column> columns;
  const table_info* info = schema_of(rows.kind);
  if (info == nullptr) return columns;
  for (const column_info& column : info->columns) {
    const column_view* values = rows.find(column.id);
    const column_form form = form_of(column);
    if (values == nullptr || !is_written(*info, column)) continue;
    names of_column;
    if (column.shape == column_shape::dimensions)
      of_column = dimensions.first(std::min<std::size_t>(dimensions.size(), values->width));
    if (column.shape == column_shape::quotas) of_column = quota_names();
    columns.push_back({&column, values, form, of_column});
  }
  return columns;
}

std::int64_t integer_at(const column_view& column, std::uint64_t index) {
  const auto i = static_cast<std::size_t>(index);
  switch (column.type) {
    case column_type::u8:
      return static_cast<const std::uint8_t*>(column.data)[i];
    case column_type::u32:
      return static_cast<const std::uint32_t*>(column.data)[i];
    case column_type::u64:
      return static_cast<std::int64_t>(static_cast<const std::uint64_t*>(column.data)[i]);
    default:
      return static_cast<const std::int64_t*>(column.data)[i];
  }
}

double number_at(const column_view& column, std::uint64_t index) {
  return static_cast<const double*>(column.data)[static_cast<std::size_t>(index)];
}

bool is_default(const described_column& column, std::uint64_t index) {
  if (column.values->type == column_type::f64) return number_at(*column.values, index) == fallback_number(*column.info);
  const bool amount = column.info->shape == column_shape::dimensions;
  return integer_at(*column.values, index) == (amount ? 0 : fallback_integer(*column.info));
}

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  out += fmt::format("{}", value);
}

void append_integer(std::string& out, std::int64_t value) { out += std::to_string(value); }

/// The name of a value that has one: of an enumeration or of an entity.
std::string_view name_at(const described_column& column, std::uint64_t index, const snapshot& entities) {
  const std::int64_t value = integer_at(*column.values, index);
  if (column.form == column_form::id) {
    return value == 0 ? std::string_view{} : entities.name(entity_id(static_cast<std::uint64_t>(value)));
  }
  const names known = value_names(column.form);
  const bool is_known = value >= 0 && static_cast<std::size_t>(value) < known.size();
  return is_known ? known[static_cast<std::size_t>(value)] : std::string_view{"invalid"};
}

bool has_name(column_form form) { return form == column_form::id || !value_names(form).empty(); }

// ---- JSON and YAML ------------------------------------------------------------------------------------------------

/// A longer key needs a mark in YAML. The limit of the format is 1024 characters, this one counts bytes.
constexpr std::size_t longest_simple_key = 1000;

enum class text_style : bool { json, yaml };

class row_writer {
 public:
  row_writer(std::string& out, const snapshot& entities, row_detail detail, text_style style)
      : out_(out), entities_(entities), detail_(detail), style_(style) {}

  /// All members in one line, in braces.
  void append(std::span<const described_column> columns, std::uint64_t row) {
    out_ += '{';
    append_members(columns, row, ", ");
    out_ += '}';
  }

  void append_members(std::span<const described_column> columns, std::uint64_t row, std::string_view separator) {
    first_ = true;
    for (const described_column& column : columns) {
      if (left_out(column, row)) continue;
      append_key(column.info->name, separator);
      append_value(column, row);
    }
  }

 private:
  void append_text(std::string_view text) {
    if (style_ == text_style::yaml) {
      append_yaml_string(out_, text);
    } else {
      append_json_string(out_, text);
    }
  }

  void append_key(std::string_view key, std::string_view separator) {
    if (!first_) out_ += separator;
    first_ = false;
    const std::size_t start = out_.size();
    append_text(key);
    if (style_ == text_style::yaml && out_.size() - start > longest_simple_key) out_.insert(start, "? ");
    out_ += ": ";
  }

  [[nodiscard]] bool left_out(const described_column& column, std::uint64_t row) const {
    if (detail_ == row_detail::all || column.info->required) return false;
    if (column.values->type == column_type::string) return column.values->string(row) == column.info->fallback;
    if (column.info->shape == column_shape::ragged) {
      return column.values->offsets[row] == column.values->offsets[row + 1];
    }
    for (std::uint32_t i = 0; i < column.values->width; ++i) {
      if (!is_default(column, row * column.values->width + i)) return false;
    }
    return true;
  }

  void append_value(const described_column& column, std::uint64_t row) {
    switch (column.info->shape) {
      case column_shape::one:
        return append_scalar(column, row);
      case column_shape::dimensions:
      case column_shape::quotas:
        return append_amounts(column, row);
      case column_shape::ragged:
        return append_ragged(column, row);
    }
  }

  void append_scalar(const described_column& column, std::uint64_t index) {
    if (column.values->type == column_type::f64) return append_number(out_, number_at(*column.values, index));
    if (has_name(column.form)) return append_text(name_at(column, index, entities_));
    const std::int64_t value = integer_at(*column.values, index);
    if (column.form == column_form::flag) {
      out_ += value != 0 ? "true" : "false";
    } else if (column.info->fallback == "unset" && is_default(column, index)) {
      out_ += "null";
    } else {
      append_integer(out_, value);
    }
  }

  void append_amounts(const described_column& column, std::uint64_t row) {
    out_ += '{';
    first_ = true;
    for (std::size_t i = 0; i < column.dimensions.size(); ++i) {
      const std::uint64_t index = row * column.values->width + i;
      if (detail_ == row_detail::without_defaults && is_default(column, index)) continue;
      append_key(column.dimensions[i], ", ");
      append_scalar(column, index);
    }
    first_ = false;
    out_ += '}';
  }

  void append_ragged(const described_column& column, std::uint64_t row) {
    if (column.values->type == column_type::string) return append_text(column.values->string(row));
    const bool pairs = column.form == column_form::pairs;
    out_ += pairs ? '{' : '[';
    if (column.values->type == column_type::i64_list) {
      out_ += fmt::format("{}", fmt::join(column.values->list(row), ", "));
    } else {
      append_texts(split_list(column.values->string(row)), pairs);
    }
    out_ += pairs ? '}' : ']';
  }

  void append_texts(std::span<const std::string_view> elements, bool pairs) {
    first_ = true;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (pairs && i % 2 == 0) {
        append_key(elements[i], ", ");
      } else {
        if (!pairs && i > 0) out_ += ", ";
        append_text(elements[i]);
      }
    }
    first_ = false;
  }

  std::string& out_;
  const snapshot& entities_;
  row_detail detail_;
  text_style style_;
  bool first_ = true;
};

// ---- CSV ----------------------------------------------------------------------------------------------------------

void append_csv_field(std::string& out, std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool blanks_around = !text.empty() && (is_blank(text.front()) || is_blank(text.back()));
  if (!blanks_around && text.find_first_of(",\"\n\r") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_csv_header(std::string& out, std::span<const described_column> columns) {
  bool first = true;
  const auto append = [&](std::string_view name) {
    if (!first) out += ',';
    first = false;
    append_csv_field(out, name);
  };
  for (const described_column& column : columns) {
    if (column.dimensions.empty()) append(column.info->name);
    for (const std::string_view dimension : column.dimensions)
      append(fmt::format("{}.{}", column.info->name, dimension));
  }
  out += '\n';
}

void append_csv_scalar(std::string& out, const described_column& column, std::uint64_t index,
                       const snapshot& entities) {
  if (column.values->type == column_type::f64) return append_number(out, number_at(*column.values, index));
  if (has_name(column.form)) return append_csv_field(out, name_at(column, index, entities));
  if (column.info->fallback == "unset" && is_default(column, index)) return;
  append_integer(out, integer_at(*column.values, index));
}

void append_csv_value(std::string& out, const described_column& column, std::uint64_t row, const snapshot& entities) {
  if (column.info->shape != column_shape::ragged) {
    const std::size_t values = std::max<std::size_t>(1, column.dimensions.size());
    for (std::size_t i = 0; i < values; ++i) {
      if (i > 0) out += ',';
      append_csv_scalar(out, column, row * column.values->width + i, entities);
    }
  } else if (column.values->type == column_type::string) {
    append_csv_field(out, column.values->string(row));
  } else if (column.values->type == column_type::i64_list) {
    out += fmt::format("{}", fmt::join(column.values->list(row), " "));
  } else {
    append_csv_field(out, fmt::format("{}", fmt::join(split_list(column.values->string(row)), " ")));
  }
}

}  // namespace

result<void> check_texts(const table_view& rows) {
  const table_info* info = schema_of(rows.kind);
  for (const column_info& column : info->columns) {
    const column_view* values = rows.find(column.id);
    if (values == nullptr || (values->type != column_type::string && values->type != column_type::string_list))
      continue;
    for (std::uint64_t row = 0; row < rows.rows; ++row) {
      if (base::find_invalid_utf8(values->string(row)) == std::string_view::npos) continue;
      return error{status::unsupported,
                   fmt::format("{}[{}].{}: the text is not UTF-8 and cannot be written", info->name, row, column.name),
                   {}};
    }
  }
  return {};
}

void append_json_rows(std::string& out, const table_view& rows, const snapshot& entities, row_detail detail) {
  const std::vector<std::string_view> dimensions = entities.dimension_names();
  const std::vector<described_column> columns = describe(rows, dimensions);
  row_writer writer(out, entities, detail, text_style::json);
  out += '[';
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    out += row == 0 ? "\n  " : ",\n  ";
    writer.append(columns, row);
  }
  out += rows.rows == 0 ? "]" : "\n]";
}

void append_yaml_rows(std::string& out, const table_view& rows, const snapshot& entities, row_detail detail) {
  constexpr std::size_t longest_line = 120;
  constexpr std::string_view lead = "  - ";
  const std::vector<std::string_view> dimensions = entities.dimension_names();
  const std::vector<described_column> columns = describe(rows, dimensions);
  std::string text;
  row_writer writer(text, entities, detail, text_style::yaml);
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    text.clear();
    writer.append(columns, row);
    if (lead.size() + text.size() > longest_line) {
      text.clear();
      writer.append_members(columns, row, "\n    ");
    }
    out += lead;
    out += text;
    out += '\n';
  }
}

std::string format_csv(const table_view& rows, const snapshot& entities) {
  const std::vector<std::string_view> dimensions = entities.dimension_names();
  const std::vector<described_column> columns = describe(rows, dimensions);
  std::string out;
  append_csv_header(out, columns);
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out += ',';
      append_csv_value(out, columns[i], row, entities);
    }
    out += '\n';
  }
  return out;
}

}  // namespace kaisched::io
