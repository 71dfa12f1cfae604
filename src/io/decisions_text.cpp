#include "io/decisions_text.hpp"

#include <array>
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
  constexpr std::array kinds{table_kind::decision, table_kind::reason, table_kind::queue_share, table_kind::statistic};
  for (const table_kind kind : kinds) {
    const result<table> rows = from.to_table(kind);
    if (!rows) return rows.failure();
    if (auto checked = check_texts(rows->view()); !checked) return checked.take_failure();
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
  return format_csv(rows->view(), from.base());
}

}  // namespace kaisched::io
