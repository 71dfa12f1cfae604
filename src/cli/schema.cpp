// The command that lists tables and columns: they describe themselves.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/schema.hpp>

#include "cli/console.hpp"
#include "io/column_form.hpp"
#include "io/json_schema.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view schema_schema = "kaisched-schema/1";

/// A paragraph that starts at a column.
void print_at(const terminal& out, std::size_t column, style as, std::string_view text) {
  for (const std::string& line : wrap(text, std::min(out.width(), line_width) - column)) {
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
  const std::size_t unit_width = std::min<std::size_t>(30, out.width() - 56);
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

void print_tables(const terminal& out) {
  for (const bool input : {true, false}) {
    out.line(out.paint(style::bold, input ? "Tables of a cluster" : "Tables of a session"));
    for (const table_info& info : schema()) {
      if (info.input != input) continue;
      std::string columns;
      for (const column_info& column : info.columns)
        columns += fmt::format("{}{}", columns.empty() ? "" : ", ", column.name);
      std::string lead = pad_right("  " + out.paint(style::cyan, info.name), 16);
      for (const std::string& line : wrap(info.doc, std::min(out.width(), line_width) - 16)) {
        out.line(lead + line);
        lead.assign(16, ' ');
      }
      print_at(out, 16, style::dim, columns);
    }
    out.line();
  }
  out.line("`kaisched schema TABLE` describes the columns of one table.");
}

std::string_view shape_name(column_shape shape) {
  switch (shape) {
    case column_shape::one:
      return "one";
    case column_shape::dimensions:
      return "per dimension";
    case column_shape::quotas:
      return "cpu, memory, gpu";
    case column_shape::ragged:
      break;
  }
  return "text or list";
}

json json_of(const table_info& info) {
  json columns = json::array();
  for (const column_info& column : info.columns) {
    json one{{"name", column.name},     {"number", column.id},
             {"type", type_of(column)}, {"shape", shape_name(column.shape)},
             {"unit", column.unit},     {"doc", column.doc}};
    if (info.input) one["required"] = column.required;
    if (info.input && !column.required) one["default"] = default_of(column);
    if (const auto known = io::value_names(io::form_of(column)); !known.empty()) one["values"] = known;
    columns.push_back(std::move(one));
  }
  return {{"name", info.name},
          {"number", static_cast<std::uint32_t>(info.kind)},
          {"of", info.input ? "cluster" : "session"},
          {"doc", info.doc},
          {"columns", std::move(columns)}};
}

struct schema_arguments {
  std::string table;
  std::string document;
};

/// A JSON Schema document is JSON already: with --json it goes where that says.
int show_document(const std::string& of, const console& to) {
  const std::string text = of == "cluster" ? io::json_schema_of_cluster() : io::json_schema_of_decisions();
  if (to.shows_report()) to.out().print(text);
  return to.finish(json::parse(text));
}

int show_schema(const schema_arguments& told, const console& to) {
  const std::string& name = told.table;
  if (!told.document.empty()) return show_document(told.document, to);
  const table_info* chosen = name.empty() ? nullptr : schema_of(std::string_view(name));
  if (!name.empty() && chosen == nullptr) {
    std::vector<std::string_view> names;
    for (const table_info& info : schema()) names.push_back(info.name);
    return to.fail(
        {status::not_found, fmt::format("no table is called \"{}\"; {}", name, io::suggestion(name, names)), {}},
        exit_usage);
  }
  if (to.shows_report()) {
    if (chosen != nullptr) {
      print_columns(to.out(), *chosen);
    } else {
      print_tables(to.out());
    }
  }
  json tables = json::array();
  for (const table_info& info : schema()) {
    if (chosen == nullptr || chosen == &info) tables.push_back(json_of(info));
  }
  return to.finish({{"schema", schema_schema}, {"tables", std::move(tables)}});
}

}  // namespace

void add_schema(command_list& to) {
  command& c = to.add("schema", group::reference, "Tables of the formats, or the columns of one");
  auto& told = c.keep<schema_arguments>();
  value_form form = any_value("TABLE");
  form.proposals = [](std::span<const std::string>, std::string_view) {
    std::vector<proposal> found;
    for (const table_info& info : schema()) found.push_back({std::string(info.name), std::string(info.doc)});
    return found;
  };
  c.position("TABLE", &told.table, std::move(form), "Name of a table");
  c.option("--document", &told.document, one_of("FORMAT", {"cluster", "decisions"}),
           "Print the JSON Schema (draft 2020-12) of a format instead, for editors and validators");
  c.add_example("kaisched schema");
  c.add_example("kaisched schema pod");
  c.add_example("kaisched schema --document cluster");
  c.runs([&told](console& out) { return show_schema(told, out); });
}

}  // namespace kaisched::cli
