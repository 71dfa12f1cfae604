#include "io/cluster_json.hpp"

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "io/json_document.hpp"
#include "io/table_text.hpp"

namespace kaisched::io {

result<cluster_input> parse_cluster_json(std::string_view text, std::string_view source) {
  const result<json_document> document = json_document::parse(text, source);
  if (!document) return document.failure();
  return read_cluster_document(*document, source);
}

result<std::string> format_cluster_json(const snapshot& from, std::int64_t now) {
  std::string out = fmt::format("{{\n\"schema\": \"{}\",\n\"now\": {}", cluster_schema, now);
  for (const table_info& info : schema()) {
    if (!info.input) continue;
    const result<table> rows = from.to_table(info.kind);
    if (!rows) return rows.failure();
    if (auto checked = check_texts(rows->view()); !checked) return checked.take_failure();
    if (rows->rows() == 0) continue;
    out += fmt::format(",\n\"{}\": ", info.name);
    append_json_rows(out, rows->view(), from, row_detail::without_defaults);
  }
  out += "\n}\n";
  return out;
}

}  // namespace kaisched::io
