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

/// A list with a blank after every separator.
std::string spaced(std::string_view list, char separator) {
  std::string text;
  for (const char c : list) {
    if (c == separator) {
      text += ", ";
    } else {
      text += c;
    }
  }
  return text;
}

std::string values_of(const option_info& option) {
  switch (option.type) {
    case option_type::boolean:
      return "true, false";
    case option_type::integer:
      return fmt::format("integer from {} to {}", option.least, option.most);
    case option_type::number:
      return fmt::format("number from {} to {}", option.least, option.most);
    case option_type::choice:
      return spaced(option.choices, ' ');
    case option_type::list:
      break;
  }
  return option.choices.empty() ? "names, separated by commas" : "list of " + spaced(option.choices, ' ');
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

std::string_view default_of(const column_info& column) {
  if (io::form_of(column) == io::column_form::flag) return column.fallback == "1" ? "true" : "false";
  if (const auto known = io::value_names(io::form_of(column)); !known.empty()) {
    return known[static_cast<std::size_t>(io::fallback_integer(column))];
  }
  return column.fallback.empty() ? "(empty)" : column.fallback;
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
    const io::column_form form = io::form_of(column);
    const bool says_all = form == io::column_form::flag || form == io::column_form::pairs;  // the type does
    const std::string_view unit = says_all ? "" : column.unit;
    const std::string_view rest = !table.input ? "" : column.required ? "required" : default_of(column);
    const std::string name = out.paint(style::cyan, column.name);
    out.line(fmt::format("  {}{}{}{}", pad_right(name, name_width), pad_right(type_of(column), type_width),
                         pad_right(cut(unit, unit_width - 2), unit_width), rest));
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
  constexpr std::size_t value_column = 30;
  for (const option_info& option : option_list()) {
    std::string lead = pad_right("  " + out.paint(style::cyan, option.name), value_column);
    const std::string value = option.fallback.empty() ? "(none)" : spaced(option.fallback, ',');
    for (const std::string& line : wrap(value, line_width - value_column)) {
      out.line(lead + line);
      lead.assign(value_column, ' ');
    }
    print_at(out, 4, style::dim, fmt::format("[{}] {}", values_of(option), option.doc));
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
