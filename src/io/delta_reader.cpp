#include "io/delta_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "base/utf8.hpp"
#include "io/column_form.hpp"
#include "io/row_reader.hpp"

namespace kaisched::io {

namespace {

using dimension_names = std::vector<std::string_view>;
using rows_of_table = std::pair<const table_info*, json_value>;

constexpr std::array<std::pair<std::string_view, table_op>, 3> op_names{
    {{"add", table_op::add}, {"change", table_op::change}, {"remove", table_op::remove}}};

/// Members that are tables, in the order of the schema.
std::vector<rows_of_table> tables_in(json_value object, std::string_view place, std::string_view besides,
                                     fault_log& faults) {
  std::vector<rows_of_table> found;
  for (const json_value member : object) {
    const table_info* const info = schema_of(member.key());
    if (info != nullptr && info->input) {
      found.emplace_back(info, member);
    } else if (besides.empty() || member.key() != besides) {
      dimension_names known;
      for (const table_info& one : schema()) {
        if (one.input) known.push_back(one.name);
      }
      faults.add(member.line(), fmt::format("{}.{}", place, member.key()),
                 fmt::format("no such kind of table; {}", suggestion(member.key(), known)));
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

/// Dimensions that rows of `resource` add.
void add_dimensions(const std::vector<rows_of_table>& tables, dimension_names& to) {
  for (const auto& [info, rows] : tables) {
    if (info->kind != table_kind::resource || !rows.is(json_kind::array)) continue;
    for (const json_value row : rows) {
      if (!row.is(json_kind::object)) continue;
      for (const json_value member : row) {
        if (member.key() == info->columns.front().name && member.is(json_kind::string)) to.push_back(member.text());
      }
    }
  }
}

class delta_reader {
 public:
  delta_reader(std::span<const std::string_view> dimensions, std::string_view source)
      : dimensions_(dimensions.begin(), dimensions.end()), source_(source), faults_(source) {}

  result<delta_input> read(json_value document) {
    if (!document.is(json_kind::object)) {
      faults_.add(document.line(), "", fmt::format("expected an object with \"deltas\", found {}", document.shown()));
      return faults_.take();
    }
    bool any = false;
    for (const json_value member : document) {
      if (member.key() == "deltas") {
        any = true;
        read_list(member);
      } else if (member.key() == "now") {
        if (!member.is(json_kind::integer))
          faults_.add(member.line(), "now", fmt::format("expected an integer (ns), found {}", member.shown()));
        made_.now = member.integer();
      } else {
        const std::array<std::string_view, 2> known{"deltas", "now"};
        faults_.add(member.line(), member.key(), fmt::format("no such member; {}", suggestion(member.key(), known)));
      }
    }
    if (!any) faults_.add(document.line(), "", "\"deltas\" is missing: an array of objects with \"op\" and rows");
    if (faults_.failed()) return faults_.take();
    return std::move(made_);
  }

 private:
  void read_list(json_value list) {
    if (!list.is(json_kind::array))
      return faults_.add(list.line(), "deltas", fmt::format("expected an array of objects, found {}", list.shown()));
    std::size_t number = 0;
    for (const json_value one : list) {
      if (faults_.failed()) return;
      read_one(one, fmt::format("deltas[{}]", number++));
    }
  }

  void read_one(json_value delta, const std::string& place) {
    if (!delta.is(json_kind::object))
      return faults_.add(delta.line(), place, fmt::format("expected an object, found {}", delta.shown()));
    table_op op = table_op::none;
    for (const json_value member : delta) {
      if (member.key() != "op") continue;
      for (const auto& [name, meant] : op_names) {
        if (member.is(json_kind::string) && member.text() == name) op = meant;
      }
      if (op == table_op::none)
        return faults_.add(member.line(), place + ".op",
                           fmt::format("expected add, change or remove, found {}", member.shown()));
    }
    if (op == table_op::none) return faults_.add(delta.line(), place, "\"op\" is missing: add, change or remove");
    std::vector<rows_of_table> tables = tables_in(delta, place, "op", faults_);
    add_dimensions(tables, dimensions_);
    if (op == table_op::remove) std::reverse(tables.begin(), tables.end());
    for (const auto& [info, rows] : tables) {
      if (faults_.failed()) return;
      if (op == table_op::add) {
        faults_.within(place);
        read_table read = read_rows(rows, *info, dimensions_, faults_);
        faults_.within("");
        keep_added(std::move(read), place);
      } else {
        read_each(rows, *info, op, place);
      }
    }
  }

  void keep_added(read_table read, const std::string& place) {
    std::vector<std::string> places;
    for (std::size_t row = 0; row < read.lines.size(); ++row)
      places.push_back(place_of(read.lines[row], place, read.rows.kind(), row));
    keep(std::move(read.rows), std::move(places));
  }

  void read_each(json_value rows, const table_info& info, table_op op, const std::string& place) {
    if (!rows.is(json_kind::array))
      return faults_.add(rows.line(), fmt::format("{}.{}", place, info.name),
                         fmt::format("expected an array of objects, found {}", rows.shown()));
    std::size_t number = 0;
    for (const json_value row : rows) {
      faults_.within(place);
      table one = read_row(row, number, info, dimensions_, faults_, [](const column_info&) { return false; });
      faults_.within("");
      if (faults_.failed()) return;
      const std::string_view named_by = info.columns.front().name;
      if (std::none_of(row.begin(), row.end(), [&](json_value member) { return member.key() == named_by; }))
        return faults_.add(row.line(), fmt::format("{}.{}[{}]", place, info.name, number),
                           fmt::format("\"{}\" is missing", named_by));
      one.set_op(static_cast<std::uint32_t>(op));
      keep(std::move(one), {place_of(row.line(), place, static_cast<std::uint32_t>(info.kind), number)});
      ++number;
    }
  }

  [[nodiscard]] std::string place_of(std::uint32_t line, const std::string& place, std::uint32_t kind,
                                     std::size_t row) const {
    return fmt::format("{}:{}: {}.{}[{}]", source_, line, place, schema_of(kind)->name, row);
  }

  void keep(table rows, std::vector<std::string> places) {
    if (rows.rows() == 0) return;
    made_.tables.push_back(std::move(rows));
    made_.places.push_back(std::move(places));
  }

  dimension_names dimensions_;
  std::string_view source_;
  fault_log faults_;
  delta_input made_;
};

}  // namespace

error delta_input::placed(error why) const {
  const auto table = static_cast<std::size_t>(why.input_table);
  const auto row = static_cast<std::size_t>(why.input_row);
  if (why.input_table < 0 || why.input_row < 0 || table >= places.size() || row >= places[table].size()) return why;
  std::string_view what = why.message;
  const std::string known = fmt::format("), row {}", why.input_row);
  std::string_view between = ": ";
  if (const std::size_t at = what.find(known); what.starts_with("table ") && at != std::string_view::npos) {
    what.remove_prefix(at + known.size());
    between = "";
    constexpr std::string_view column = ", column ";
    if (what.starts_with(column)) {
      what.remove_prefix(column.size());
      between = ".";
    }
  }
  why.message = fmt::format("{}{}{}", places[table][row], between, base::printable(what, longest_message));
  return why;
}

result<delta_input> read_deltas(json_value document, std::span<const std::string_view> dimensions,
                                std::string_view source) {
  return delta_reader(dimensions, source).read(document);
}

std::vector<table> read_added(json_value rows, std::span<const std::string_view> dimensions, std::string_view place,
                              fault_log& faults) {
  std::vector<table> made;
  if (!rows.is(json_kind::object)) {
    faults.add(rows.line(), place, fmt::format("expected an object of arrays of rows, found {}", rows.shown()));
    return made;
  }
  const std::vector<rows_of_table> tables = tables_in(rows, place, "", faults);
  dimension_names all(dimensions.begin(), dimensions.end());
  add_dimensions(tables, all);
  for (const auto& [info, list] : tables) {
    if (faults.failed()) break;
    faults.within(std::string(place));
    table read = read_rows(list, *info, all, faults).rows;
    faults.within("");
    if (read.rows() > 0) made.push_back(std::move(read));
  }
  return made;
}

}  // namespace kaisched::io
