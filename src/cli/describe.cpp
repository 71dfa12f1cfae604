// The commands that list what there is: options and tables describe themselves.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <kaisched/options.hpp>
#include <kaisched/schema.hpp>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "io/column_form.hpp"

namespace kaisched::cli {

namespace {

std::string bound(double value) { return fmt::format("{}", value); }

std::string values_of(const option_info& option) {
  switch (option.type) {
    case option_type::boolean:
      return "true, false";
    case option_type::integer:
      return fmt::format("integer from {} to {}", bound(option.least), bound(option.most));
    case option_type::number:
      return fmt::format("number from {} to {}", bound(option.least), bound(option.most));
    case option_type::choice:
    case option_type::list:
      break;
  }
  std::string choices(option.choices);
  for (std::size_t i = choices.find(' '); i != std::string::npos; i = choices.find(' ', i + 2))
    choices.replace(i, 1, ", ");
  if (option.type == option_type::choice) return choices;
  return choices.empty() ? "names, separated by commas" : "list of " + choices;
}

/// A paragraph that starts at a column.
void print_at(const terminal& out, std::size_t column, style as, std::string_view text) {
  for (const std::string& line : wrap(text, line_width - column)) {
    out.line(std::string(column, ' ') + out.paint(as, line));
  }
}

std::string type_of(const column_info& column) {
  const io::column_form form = io::form_of(column);
  std::string type;
  switch (column.type) {
    case column_type::u8:
    case column_type::u32:
    case column_type::i64:
      type = "integer";
      break;
    case column_type::u64:
      type = form == io::column_form::id ? "name" : "integer";
      break;
    case column_type::f64:
      type = "number";
      break;
    case column_type::string:
      type = column.refers_to == entity_kind::none ? "text" : "name";
      break;
    case column_type::string_list:
      type = form == io::column_form::pairs ? "{key: value}" : "[text]";
      break;
    case column_type::i64_list:
      type = "[integer]";
      break;
  }
  if (form == io::column_form::flag) type = "boolean";
  if (!io::value_names(form).empty()) type = "name";
  if (column.shape == column_shape::dimensions || column.shape == column_shape::quotas) {
    type = fmt::format("{{dimension: {}}}", type);
  }
  return type;
}

void print_columns(const terminal& out, const table_info& table) {
  out.line(fmt::format("{}  {}", out.paint(style::bold, table.name), table.doc));
  out.line();
  constexpr std::size_t name_width = 22;
  constexpr std::size_t type_width = 22;
  constexpr std::size_t unit_width = 30;
  out.line(
      out.paint(style::dim, fmt::format("  {}{}{}{}", pad_right("column", name_width), pad_right("type", type_width),
                                        pad_right("unit", unit_width), table.input ? "default" : "")));
  for (const column_info& column : table.columns) {
    const std::string_view fallback = column.fallback.empty() ? "(empty)" : column.fallback;
    const std::string_view rest = !table.input ? "" : column.required ? "required" : fallback;
    const std::string name = out.paint(style::cyan, column.name);
    out.line(fmt::format("  {}{}{}{}", pad_right(name, name_width), pad_right(type_of(column), type_width),
                         pad_right(cut(column.unit, unit_width - 2), unit_width), rest));
    print_at(out, 4, style::dim, column.doc);
  }
}

}  // namespace

int show_options() {
  const terminal out(stdout);
  out.line(fmt::format("Options for {} and for the library, with the defaults of {}.", out.paint(style::bold, "--set"),
                       out.paint(style::bold, "--preset kai")));
  std::string presets;
  for (const std::string_view name : preset_names()) presets += fmt::format("{}{}", presets.empty() ? "" : ", ", name);
  out.line(fmt::format("Presets: {}", presets));
  out.line();
  constexpr std::size_t name_width = 28;
  for (const option_info& option : option_list()) {
    const std::string name = out.paint(style::cyan, option.name);
    out.line(fmt::format("  {}{} {}", pad_right(name, name_width), option.fallback.empty() ? "(none)" : option.fallback,
                         out.paint(style::dim, fmt::format("[{}]", values_of(option)))));
    print_at(out, 4, style::dim, option.doc);
  }
  return exit_ok;
}

int show_schema(const std::string& table) {
  const terminal out(stdout);
  if (!table.empty()) {
    if (const table_info* info = schema_of(std::string_view(table)); info != nullptr) {
      print_columns(out, *info);
      return exit_ok;
    }
    std::vector<std::string_view> names;
    for (const table_info& info : schema()) names.push_back(info.name);
    print_error(fmt::format("no table is called \"{}\"; {}", table, io::suggestion(table, names)));
    return exit_usage;
  }
  for (const bool input : {true, false}) {
    out.line(out.paint(style::bold, input ? "Tables of a cluster" : "Tables of a session"));
    for (const table_info& info : schema()) {
      if (info.input != input) continue;
      std::string columns;
      for (const column_info& column : info.columns)
        columns += fmt::format("{}{}", columns.empty() ? "" : ", ", column.name);
      const std::string name = out.paint(style::cyan, info.name);
      out.line(fmt::format("  {}{}", pad_right(name, 14), info.doc));
      print_at(out, 16, style::dim, columns);
    }
    out.line();
  }
  out.line("`kaisched schema TABLE` describes the columns of one table.");
  return exit_ok;
}

}  // namespace kaisched::cli
