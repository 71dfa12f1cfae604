/// @file
/// What two headers have of the schema: kaisched.h kinds of tables and their columns, columns.hpp numbers of columns.
///   kaisched_abi_schema KAISCHED_H COLUMNS_HPP            compares the headers with the schema; says what differs
///   kaisched_abi_schema KAISCHED_H COLUMNS_HPP --update   rewrites those parts of the headers

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <kaisched/schema.hpp>

namespace {

constexpr std::string_view begin_mark = "// SCHEMA BEGIN";
constexpr std::string_view end_mark = "// SCHEMA END";
constexpr std::size_t line_width = 120;

std::string upper(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// `text` as a comment, one or more lines.
std::string comment(std::string_view indent, std::string_view text) {
  std::string lines;
  std::string line = fmt::format("{}///", indent);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (line.size() + 1 + end > line_width) {
      lines += line + "\n";
      line = fmt::format("{}///", indent);
    }
    line += fmt::format(" {}", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + line + "\n";
}

std::string describe(const kaisched::column_info& column, bool input) {
  std::string text(kaisched::column_type_name(column.type));
  if (column.shape == kaisched::column_shape::dimensions) text += " x dimensions";
  if (column.shape == kaisched::column_shape::quotas) text += " x 3";
  if (input && column.required) text += ", required";
  if (input && !column.required)
    text += fmt::format(", default {}", column.fallback.empty() ? "empty" : column.fallback);
  text += fmt::format(". {}", column.doc);
  if (!column.unit.empty()) text += fmt::format(" [{}]", column.unit);
  return text;
}

std::string c_header() {
  std::string text = "/// Kinds of tables.\nenum kaisched_table_kind {\n";
  const auto tables = kaisched::schema();
  for (const kaisched::table_info& t : tables) {
    text += comment("  ", fmt::format("{}: {}", t.input ? "input" : "output", t.doc));
    text += fmt::format("  KAISCHED_TABLE_{} = {}{}\n", upper(t.name), static_cast<unsigned>(t.kind),
                        &t == &tables.back() ? "" : ",");
  }
  text += "};\n";
  for (const kaisched::table_info& t : tables) {
    text += fmt::format("\n/// Columns of KAISCHED_TABLE_{}.\nenum kaisched_{}_column {{\n", upper(t.name), t.name);
    for (const kaisched::column_info& c : t.columns) {
      text += comment("  ", describe(c, t.input));
      text += fmt::format("  KAISCHED_{}_COL_{} = {}{}\n", upper(t.name), upper(c.name), c.id,
                          &c == &t.columns.back() ? "" : ",");
    }
    text += "};\n";
  }
  return text;
}

/// The C++ name of a column: the table's and its own, but for a few that are older than the rule or no word of their
/// own.
std::string enumerator(std::string_view table, std::string_view column) {
  constexpr std::array<std::array<std::string_view, 3>, 4> exceptions{{{"pod", "group", "pod_group_ref"},
                                                                       {"pod", "status", "pod_status_column"},
                                                                       {"reason", "nearest_node", "reason_nearest"},
                                                                       {"queue_share", "parent_name", "share_parent"}}};
  for (const auto& [of, name, given] : exceptions) {
    if (of == table && name == column) return std::string(given);
  }
  return fmt::format("{}_{}", table == "queue_share" ? "share" : table, column);
}

std::string cpp_header() {
  std::string text;
  for (const kaisched::table_info& t : kaisched::schema()) {
    if (t.kind == kaisched::table_kind::outcome) continue;  // the columns of decisions
    std::vector<kaisched::column_info> columns(t.columns.begin(), t.columns.end());
    std::ranges::sort(columns, {}, &kaisched::column_info::id);
    text += fmt::format("enum {} : std::uint32_t {{\n", t.name);
    for (const kaisched::column_info& c : columns)
      text += fmt::format("  {} = {},\n", enumerator(t.name, c.name), c.id);
    text += "};\n";
  }
  return text;
}

/// Compares what stands between the marks of a header with what the schema says, or replaces it.
int visit(const char* path, const std::string& wanted, bool update) {
  std::ifstream in(path, std::ios::binary);
  const std::string header{std::istreambuf_iterator<char>(in), {}};
  const std::size_t mark = header.find(begin_mark);
  const std::size_t begin = header.find('\n', mark) + 1;
  const std::size_t end = header.find(end_mark, begin);
  if (mark == std::string::npos || end == std::string::npos) {
    fmt::print("{}: the marks '{}' and '{}' are missing\n", path, begin_mark, end_mark);
    return 2;
  }
  const std::string_view present = std::string_view(header).substr(begin, end - begin);
  if (update) {
    std::ofstream(path, std::ios::binary) << header.substr(0, begin) << wanted << header.substr(end);
    return 0;
  }
  if (present == wanted) {
    fmt::print("{} lists the schema\n", path);
    return 0;
  }
  const auto differs = std::mismatch(present.begin(), present.end(), wanted.begin(), wanted.end());
  const auto line_of = [](std::string_view text, std::size_t at) {
    const std::size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(start, text.find('\n', start) - start);
  };
  const auto at = static_cast<std::size_t>(differs.first - present.begin());
  fmt::print("{} differs from the schema.\n  header: {}\n  schema: {}\nRun ./dev schema.\n", path,
             line_of(present, std::min(at, present.size())), line_of(wanted, std::min(at, wanted.size())));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool update = argc > 3 && std::string_view(argv[3]) == "--update";
  return std::max(visit(argv[1], c_header(), update), visit(argv[2], cpp_header(), update));
}
