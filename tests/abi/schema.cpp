/// @file
/// The part of kaisched.h that comes from the schema: kinds of tables and their columns.
///   kaisched_abi_schema HEADER            compares the header with the schema; says what differs
///   kaisched_abi_schema HEADER --update   rewrites that part of the header

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

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

std::string generate() {
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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::string header{std::istreambuf_iterator<char>(in), {}};
  const std::size_t mark = header.find(begin_mark);
  const std::size_t begin = header.find('\n', mark) + 1;
  const std::size_t end = header.find(end_mark, begin);
  if (mark == std::string::npos || end == std::string::npos) {
    fmt::print("{}: the marks '{}' and '{}' are missing\n", argv[1], begin_mark, end_mark);
    return 2;
  }
  const std::string wanted = generate();
  const std::string_view present = std::string_view(header).substr(begin, end - begin);
  if (argc > 2 && std::string_view(argv[2]) == "--update") {
    std::ofstream(argv[1], std::ios::binary) << header.substr(0, begin) << wanted << header.substr(end);
    return 0;
  }
  if (present == wanted) {
    fmt::print("the header lists the schema\n");
    return 0;
  }
  const auto differs = std::mismatch(present.begin(), present.end(), wanted.begin(), wanted.end());
  const auto line_of = [](std::string_view text, std::size_t at) {
    const std::size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(start, text.find('\n', start) - start);
  };
  const auto at = static_cast<std::size_t>(differs.first - present.begin());
  fmt::print("kaisched.h differs from the schema.\n  header: {}\n  schema: {}\nRun this program with --update.\n",
             line_of(present, std::min(at, present.size())), line_of(wanted, std::min(at, wanted.size())));
  return 1;
}
