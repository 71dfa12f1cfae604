#include "io/decisions_text.hpp"

#include <cstdint>

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "io/json_document.hpp"
#include "io/table_text.hpp"

namespace kaisched::io {

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
  return format_csv(rows->view(), from.base());  // a line is a row: names hold no line ends
}

}  // namespace kaisched::io
