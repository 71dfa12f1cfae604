// Snapshots -> statements.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "io/column_form.hpp"
#include "io/scenario/cells.hpp"
#include "io/scenario/rows.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::io {

namespace {

using scenario_text::cell;
using scenario_text::cell_context;
using scenario_text::quoted_if_needed;
using scenario_text::text_place;

/// Writes the rows of one table, one statement each.
class table_writer {
 public:
  table_writer(const table_info& kind, const table_view& rows, const std::vector<std::string>& dimensions)
      : kind_(kind), rows_(rows), context_{dimensions, 0, {}} {}

  [[nodiscard]] std::string line(std::uint64_t row) const {
    const column_info& name = scenario_text::name_column(kind_);
    std::string out = fmt::format("{} {}", kind_.name, word_of(name, row));
    for (const column_info& column : kind_.columns) {
      const column_view* values = rows_.find(column.id);
      if (&column == &name || values == nullptr) continue;
      const cell has = scenario_text::cell_at(*values, row);
      const bool is_default =
          !column.required && has == scenario_text::default_cell(column, context_.dimensions.size());
      if (!is_default) out += " " + field(column, has);
    }
    return out;
  }

 private:
  [[nodiscard]] std::string word_of(const column_info& column, std::uint64_t row) const {
    const cell has = scenario_text::cell_at(*rows_.find(column.id), row);
    return has.texts.empty() ? std::to_string(has.integers.front())
                             : quoted_if_needed(has.texts.front(), text_place::word);
  }

  [[nodiscard]] std::string field(const column_info& column, const cell& has) const {
    if (column.shape != column_shape::dimensions || &column != scenario_text::amounts_column(kind_)) {
      return fmt::format("{}={}", column.name, scenario_text::format_cell(column, has, context_));
    }
    const auto names = scenario_text::entries_of(column, context_);
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < has.integers.size(); ++i) {
      if (has.integers[i] == 0) continue;
      // The name of a dimension stands for itself only where it can be read as nothing else.
      const bool clashes = std::any_of(kind_.columns.begin(), kind_.columns.end(),
                                       [&](const column_info& other) { return other.name == names[i]; });
      if (clashes || quoted_if_needed(names[i], text_place::word) != names[i]) {
        out.clear();
        break;
      }
      const std::int64_t unit = scenario_text::unit_of_dimension(names[i]);
      out += fmt::format("{}{}={}", out.empty() ? "" : " ", names[i],
                         scenario_text::format_quantity(has.integers[i], unit));
    }
    if (!out.empty()) return out;
    return fmt::format("{}={}", column.name, scenario_text::format_cell(column, has, context_));
  }

  const table_info& kind_;
  table_view rows_;
  cell_context context_;
};

}  // namespace

result<std::string> format_scenario(const snapshot& from, std::int64_t now, std::string_view title) {
  std::vector<std::string> dimensions;
  for (const std::string_view name : from.dimension_names()) dimensions.emplace_back(name);
  std::string out = fmt::format("scenario {}", scenario_version);
  if (!title.empty()) out += " " + quoted_if_needed(title, text_place::word);
  out += '\n';
  if (now != 0) out += fmt::format("now {}\n", scenario_text::format_time(now));
  for (const table_info& kind : schema()) {
    if (!kind.input) continue;
    const result<table> rows = from.to_table(kind.kind);
    if (!rows) return rows.failure();
    const table_view view = rows->view();
    if (view.rows == 0) continue;
    out += '\n';
    const table_writer writer(kind, view, dimensions);
    for (std::uint64_t row = 0; row < view.rows; ++row) out += writer.line(row) + "\n";
  }
  return out;
}

}  // namespace kaisched::io
