// Tables and snapshots -> statements.
#include "io/scenario/write.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/column_form.hpp"
#include "io/scenario/rows.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::io {

namespace scenario_text {

namespace {

using field_list = std::vector<std::pair<std::string, std::string>>;

/// The amounts of a row as fields: dimensions stand for themselves where they can be read as nothing else.
void append_amounts(const table_info& kind, const column_info& column, const cell& has, const cell_context& context,
                    field_list& to) {
  const auto names = entries_of(column, context);
  field_list fields;
  for (std::size_t i = 0; i < names.size() && i < has.integers.size(); ++i) {
    if (has.integers[i] == 0) continue;
    const bool clashes = std::any_of(kind.columns.begin(), kind.columns.end(),
                                     [&](const column_info& other) { return other.name == names[i]; });
    if (clashes || quoted_if_needed(names[i], text_place::word) != names[i]) {
      to.emplace_back(column.name, format_cell(column, has, context));
      return;
    }
    fields.emplace_back(names[i], format_quantity(has.integers[i], unit_of_dimension(names[i])));
  }
  to.insert(to.end(), fields.begin(), fields.end());
}

}  // namespace

std::string row_text::line() const {
  std::string out = op == table_op::change ? "change " : op == table_op::remove ? "remove " : "";
  out += fmt::format("{} {}", kind->name, quoted_if_needed(name, text_place::word));
  for (const auto& [key, value] : fields) out += fmt::format(" {}={}", key, value);
  return out;
}

row_text row_as_text(const table_view& rows, std::uint64_t row, const std::vector<std::string>& dimensions) {
  row_text made;
  made.kind = schema_of(rows.kind);
  made.op = static_cast<table_op>(rows.op);
  const column_info& naming = name_column(*made.kind);
  const column_info* owner = owner_column(*made.kind);
  const cell_context context{dimensions, 0, {}};
  for (const column_info& column : made.kind->columns) {
    const column_view* values = rows.find(column.id);
    if (values == nullptr) continue;
    const cell has = cell_at(*values, row);
    if (&column == &naming) {
      made.name = has.texts.empty() ? std::to_string(has.integers.front()) : has.texts.front();
    } else if (made.op == table_op::add && &column == amounts_column(*made.kind)) {
      append_amounts(*made.kind, column, has, context, made.fields);
    } else if (made.op != table_op::add || column.required || &column == owner ||
               has != default_cell(column, dimensions.size())) {
      made.fields.emplace_back(column.name, format_cell(column, has, context));
    }
  }
  return made;
}

}  // namespace scenario_text

result<std::string> format_scenario(const snapshot& from, std::int64_t now, std::string_view title) {
  std::vector<std::string> dimensions;
  for (const std::string_view name : from.dimension_names()) dimensions.emplace_back(name);
  std::string out = fmt::format("scenario {}", scenario_version);
  if (!title.empty()) out += " " + scenario_text::quoted_if_needed(title, scenario_text::text_place::word);
  out += '\n';
  if (now != 0) out += fmt::format("now {}\n", scenario_text::format_time(now));
  for (const table_info& kind : schema()) {
    if (!kind.input) continue;
    const result<table> rows = from.to_table(kind.kind);
    if (!rows) return rows.failure();
    const table_view view = rows->view();
    if (view.rows > 0) out += '\n';
    for (std::uint64_t row = 0; row < view.rows; ++row) {
      out += scenario_text::row_as_text(view, row, dimensions).line() + "\n";
    }
  }
  return out;
}

}  // namespace kaisched::io
