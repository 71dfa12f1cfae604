#include "files/cluster_yaml.hpp"

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "files/yaml_document.hpp"
#include "io/table_text.hpp"

namespace kaisched::io {

result<cluster_input> parse_cluster_yaml(std::string_view text, std::string_view source) {
  const result<json_document> document = parse_yaml(text, source);
  if (!document) return document.failure();
  return read_cluster_document(*document, source);
}

result<std::string> format_cluster_yaml(const snapshot& from, std::int64_t now) {
  std::string out = fmt::format("schema: {}\nnow: {}\n", cluster_schema, now);
  for (const table_info& info : schema()) {
    if (!info.input) continue;
    const result<table> rows = from.to_table(info.kind);
    if (!rows) return rows.failure();
    if (auto checked = check_texts(rows->view()); !checked) return checked.take_failure();
    if (rows->rows() == 0) continue;
    out += fmt::format("\n{}:\n", info.name);
    append_yaml_rows(out, rows->view(), from, row_detail::without_defaults);
  }
  return out;
}

}  // namespace kaisched::io
