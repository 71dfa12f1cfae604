#include "io/row_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

#include "io/column_form.hpp"

namespace kaisched::io {

namespace {

using names = std::span<const std::string_view>;

bool is_nul_free(std::string_view text) { return text.find('\0') == std::string_view::npos; }

class row_reader {
 public:
  row_reader(const table_info& info, names dimensions, fault_log& faults, column_rule required)
      : info_(info),
        dimensions_(dimensions),
        faults_(faults),
        required_(required),
        rows_(static_cast<std::uint32_t>(info.kind),
              static_cast<std::uint32_t>(info.input ? table_op::add : table_op::none)),
        live_(info.columns.size()) {}

  read_table read(json_value rows) {
    if (!rows.is(json_kind::array)) {
      faults_.add(rows.line(), info_.name, fmt::format("expected an array of objects, found {}", rows.shown()));
      return {std::move(rows_), {}};
    }
    lines_.reserve(rows.size());
    for (const json_value row : rows) {
      read_row(row);
      if (faults_.failed()) break;
      lines_.push_back(row.line());
      ++row_;
    }
    return {std::move(rows_), std::move(lines_)};
  }

  /// One row as a table of its own, which has the columns that this row mentions and no others.
  table read_alone(json_value row, std::uint64_t number) {
    named_ = number;
    read_row(row);
    return std::move(rows_);
  }

 private:
  struct live_column {
    table::column* values = nullptr;
    std::uint64_t rows = 0;
  };

  void fail(json_value at, std::string_view place, std::string_view what) {
    faults_.add(at.line(), fmt::format("{}[{}]{}{}", info_.name, named_ + row_, place.empty() ? "" : ".", place), what);
  }
  void fail_expected(std::string_view place, std::string_view expected, json_value found) {
    fail(found, place, fmt::format("expected {}, found {}", expected, found.shown()));
  }

  void read_row(json_value row) {
    if (!row.is(json_kind::object)) return fail_expected("", "an object", row);
    for (const json_value member : row) {
      const std::size_t index = column_index(member.key());
      if (index == info_.columns.size()) return fail_unknown_column(member);
      read_value(column_at(index), info_.columns[index], member);
      if (faults_.failed()) return;
      ++live_[index].rows;
    }
    for (std::size_t i = 0; i < live_.size(); ++i) {
      const column_info& column = info_.columns[i];
      if (live_[i].rows > row_) continue;
      if (is_written(info_, column) && required_(column))
        return fail(row, "", fmt::format("\"{}\" is missing: {}", column.name, column.doc));
      if (live_[i].values == nullptr) continue;
      push_default(*live_[i].values, column);
      ++live_[i].rows;
    }
  }

  /// The number of columns if there is none. Rows mostly have the same members in the same order, so the search starts
  /// behind the last find.
  std::size_t column_index(std::string_view name) {
    const std::size_t count = info_.columns.size();
    for (std::size_t tried = 0; tried < count; ++tried) {
      const std::size_t i = (next_ + tried) % count;
      if (info_.columns[i].name != name || !is_written(info_, info_.columns[i])) continue;
      next_ = i + 1;
      return i;
    }
    return count;
  }

  void fail_unknown_column(json_value member) {
    std::vector<std::string_view> known;
    for (const column_info& column : info_.columns) {
      if (is_written(info_, column)) known.push_back(column.name);
    }
    fail(member, member.key(), fmt::format("{} has no such column; {}", info_.name, suggestion(member.key(), known)));
  }

  table::column& column_at(std::size_t index) {
    live_column& live = live_[index];
    if (live.values == nullptr) {
      const column_info& column = info_.columns[index];
      live.values = &rows_.add(column.id, type_of(column), width_of(column));
      for (; live.rows < row_; ++live.rows) push_default(*live.values, column);
    }
    return *live.values;
  }

  /// Ids come as names.
  static column_type type_of(const column_info& column) {
    return form_of(column) == column_form::id ? column_type::string : column.type;
  }

  [[nodiscard]] std::uint32_t width_of(const column_info& column) const {
    if (column.shape == column_shape::dimensions) return static_cast<std::uint32_t>(dimensions_.size());
    return column.shape == column_shape::quotas ? quota_dimensions : 1;
  }

  void push_default(table::column& to, const column_info& column) const {
    if (column.type == column_type::i64_list) return to.push_list(std::span<const std::int64_t>{});
    if (column.type == column_type::string) return to.push(column.fallback);
    if (column.shape == column_shape::ragged || form_of(column) == column_form::id) return to.push(std::string_view{});
    for (std::uint32_t i = 0; i < width_of(column); ++i) push_default_value(to, column);
  }

  static void push_default_value(table::column& to, const column_info& column) {
    if (column.type == column_type::f64) return to.push(fallback_number(column));
    push_integer(to, column.shape == column_shape::dimensions ? 0 : fallback_integer(column));
  }

  static void push_integer(table::column& to, std::int64_t value) {
    if (to.type() == column_type::u8) return to.push(static_cast<std::uint8_t>(value));
    if (to.type() == column_type::u32) return to.push(static_cast<std::uint32_t>(value));
    if (to.type() == column_type::u64) return to.push(static_cast<std::uint64_t>(value));
    to.push(value);
  }

  void read_value(table::column& to, const column_info& column, json_value value) {
    if (form_of(column) == column_form::id) return to.push(text_of(value, column.name));
    switch (column.shape) {
      case column_shape::one:
        return read_scalar(to, column, value, column.name);
      case column_shape::dimensions:
        return read_amounts(to, column, dimensions_, value);
      case column_shape::quotas:
        return read_amounts(to, column, quota_names(), value);
      case column_shape::ragged:
        break;
    }
    if (column.type == column_type::string) {
      to.push(text_of(value, column.name));
    } else if (column.type == column_type::string_list) {
      read_strings(to, column, value);
    } else {
      read_integers(to, column, value);
    }
  }

  void read_scalar(table::column& to, const column_info& column, json_value value, std::string_view place) {
    if (column.type == column_type::f64) {
      if (!value.is(json_kind::number) && !value.is(json_kind::integer)) return fail_expected(place, "a number", value);
      return to.push(value.number());
    }
    const column_form form = form_of(column);
    if (form == column_form::flag && value.is(json_kind::boolean)) return push_integer(to, value.boolean() ? 1 : 0);
    if (value.is(json_kind::null) && column.fallback == "unset") return push_integer(to, unset);
    const names known = value_names(form);
    if (!known.empty() && value.is(json_kind::string)) {
      const auto found = std::find(known.begin(), known.end(), value.text());
      if (found == known.end() || found->empty()) {
        return fail(value, place,
                    fmt::format("no {} is called {}; {}", column.unit, value.shown(), suggestion(value.text(), known)));
      }
      return push_integer(to, found - known.begin());
    }
    push_integer(to, integer_of(column, value, place));
  }

  std::int64_t integer_of(const column_info& column, json_value value, std::string_view place) {
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::string_view expected = "an integer";
    if (column.type == column_type::u8 || column.type == column_type::u32) {
      least = 0;
      most = column.type == column_type::u8 ? std::numeric_limits<std::uint8_t>::max()
                                            : std::numeric_limits<std::uint32_t>::max();
      expected = "a small integer from 0";
    }
    const column_form form = form_of(column);
    if (form == column_form::flag) {
      most = 1;
      expected = "true or false";
    } else if (const names known = value_names(form); !known.empty()) {
      most = static_cast<std::int64_t>(known.size()) - 1;
      expected = "a name";
    }
    if (!value.is(json_kind::integer) || value.integer() < least || value.integer() > most) {
      fail_expected(place,
                    column.unit.empty() || form == column_form::flag ? std::string(expected)
                                                                     : fmt::format("{} ({})", expected, column.unit),
                    value);
      return 0;
    }
    return value.integer();
  }

  void read_amounts(table::column& to, const column_info& column, names known, json_value value) {
    if (column.shape == column_shape::quotas && (value.is(json_kind::integer) || value.is(json_kind::number))) {
      for (std::size_t i = 0; i < known.size(); ++i) read_scalar(to, column, value, column.name);
      return;
    }
    if (!value.is(json_kind::object)) {
      return fail_expected(column.name, fmt::format("an object such as {{\"{}\": 1000}}", known.front()), value);
    }
    for (const json_value member : value) {
      if (std::find(known.begin(), known.end(), member.key()) != known.end()) continue;
      return fail(member, fmt::format("{}.{}", column.name, member.key()),
                  fmt::format("no such dimension; {}", suggestion(member.key(), known)));
    }
    for (const std::string_view dimension : known) {
      const auto found = std::find_if(value.begin(), value.end(), [&](json_value m) { return m.key() == dimension; });
      if (found == value.end()) {
        push_default_value(to, column);
      } else {
        read_scalar(to, column, *found, fmt::format("{}.{}", column.name, dimension));
      }
    }
  }

  std::string_view text_of(json_value value, std::string_view place) {
    if (!value.is(json_kind::string)) {
      const bool scalar = !value.is(json_kind::array) && !value.is(json_kind::object);
      fail(value, place,
           fmt::format("expected a string, found {}{}", value.shown(), scalar ? "; quotes make it one" : ""));
    }
    if (!is_nul_free(value.text())) fail(value, place, "the text contains a NUL character");
    return value.text();
  }

  void read_strings(table::column& to, const column_info& column, json_value value) {
    const bool pairs = form_of(column) == column_form::pairs;
    if (!value.is(pairs ? json_kind::object : json_kind::array)) {
      return fail_expected(column.name, pairs ? "an object of keys and values" : "an array of strings", value);
    }
    strings_.clear();
    for (const json_value element : value) {
      if (pairs) {
        if (!is_nul_free(element.key())) fail(element, column.name, "the text contains a NUL character");
        strings_.push_back(element.key());
      }
      strings_.push_back(text_of(element, column.name));
    }
    to.push_list(std::span<const std::string_view>(strings_));
  }

  void read_integers(table::column& to, const column_info& column, json_value value) {
    if (!value.is(json_kind::array)) return fail_expected(column.name, "an array of integers", value);
    integers_.clear();
    for (const json_value element : value) {
      if (!element.is(json_kind::integer)) fail_expected(column.name, "an array of integers", element);
      integers_.push_back(element.integer());
    }
    to.push_list(std::span<const std::int64_t>(integers_));
  }

  const table_info& info_;
  names dimensions_;
  fault_log& faults_;
  column_rule required_;
  table rows_;
  std::vector<std::uint32_t> lines_;
  std::vector<live_column> live_;
  std::uint64_t row_ = 0;
  std::uint64_t named_ = 0;  ///< what messages call the first row
  std::size_t next_ = 0;
  std::vector<std::string_view> strings_;
  std::vector<std::int64_t> integers_;
};

}  // namespace

bool is_required(const column_info& column) noexcept { return column.required; }

read_table read_rows(json_value rows, const table_info& info, std::span<const std::string_view> dimensions,
                     fault_log& faults, column_rule required) {
  return row_reader(info, dimensions, faults, required).read(rows);
}

table read_row(json_value row, std::uint64_t number, const table_info& info,
               std::span<const std::string_view> dimensions, fault_log& faults, column_rule required) {
  return row_reader(info, dimensions, faults, required).read_alone(row, number);
}

}  // namespace kaisched::io
