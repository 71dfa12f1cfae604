#include "io/decisions_text.hpp"

#include <cstdint>

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "io/json_document.hpp"
#include "io/table_text.hpp"

namespace kaisched::io {

namespace {

/// A line is a row.
result<void> check_lines(const table_view& rows) {
  for (const column_info& column : schema_of(rows.kind)->columns) {
    const column_view* values = rows.find(column.id);
    if (values == nullptr || values->type != column_type::string) continue;
    for (std::uint64_t row = 0; row < rows.rows; ++row) {
      const std::string_view text = values->string(row);
      if (text.find_first_of("\r\n") == std::string_view::npos) continue;
      std::string shown;
      append_json_string(shown, text);
      return error{
          status::unsupported,
          fmt::format("decision[{}].{}: {} has a line end, which CSV cannot hold; JSON can", row, column.name, shown),
          {}};
    }
  }
  return {};
}

}  // namespace

result<std::string> format_decisions_json(const session& from, std::string_view preset, std::string_view mode) {
  std::string out = fmt::format("{{\n\"schema\": \"{}\",\n\"preset\": ", decisions_schema);
  append_json_string(out, preset);
  out += ",\n\"mode\": ";
  append_json_string(out, mode);
  out += fmt::format(",\n\"digest\": \"{}\"", from.digest());
  for (const table_kind kind : decisions_tables) {
    const result<table> rows = from.to_table(kind);
    if (!rows) return rows.failure();
    if (auto checked = check_texts(rows->view()); !checked) return checked.take_failure();
    if (kind == table_kind::decision && decisions_digest(rows->view(), preset, mode) != from.digest()) {
      return error{
          status::argument, fmt::format("preset {} and mode {} are not those of the session", preset, mode), {}};
    }
    out += fmt::format(",\n\"{}\": ", schema_of(static_cast<std::uint32_t>(kind))->name);
    append_json_rows(out, rows->view(), from.base(), row_detail::all);
  }
  out += "\n}\n";
  return out;
}

result<std::string> format_decisions_csv(const session& from) {
  const result<table> rows = from.to_table(table_kind::decision);
  if (!rows) return rows.failure();
  if (auto checked = check_texts(rows->view()); !checked) return checked.take_failure();
  if (auto checked = check_lines(rows->view()); !checked) return checked.take_failure();
  return format_csv(rows->view(), from.base());
}

}  // namespace kaisched::io
