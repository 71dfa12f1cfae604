#pragma once
/// @file
/// Tables for tests, written as they are read: column names, then rows.

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::test {

using texts = std::vector<std::string_view>;
using numbers = std::vector<std::int64_t>;
using reals = std::vector<double>;

/// One value of a row: a number, a text, or a list of either.
struct cell {
  std::variant<std::int64_t, double, std::string, texts, numbers, reals> value;

  cell(int v) : value(std::int64_t{v}) {}  // NOLINT(google-explicit-constructor): reads as the value
  cell(std::int64_t v) : value(v) {}       // NOLINT(google-explicit-constructor)
  cell(double v) : value(v) {}             // NOLINT(google-explicit-constructor)
  cell(pod_status v) : value(static_cast<std::int64_t>(v)) {}  // NOLINT(google-explicit-constructor)
  cell(const char* v) : value(std::string(v)) {}               // NOLINT(google-explicit-constructor)
  cell(std::string v) : value(std::move(v)) {}                 // NOLINT(google-explicit-constructor)
  cell(texts v) : value(std::move(v)) {}                       // NOLINT(google-explicit-constructor)
  cell(numbers v) : value(std::move(v)) {}                     // NOLINT(google-explicit-constructor)
  cell(reals v) : value(std::move(v)) {}                       // NOLINT(google-explicit-constructor)
};

/// A table after the schema. Columns of amounts are as wide as the widest row of them.
class rows {
 public:
  rows(table_kind kind, table_op op, std::initializer_list<std::string_view> columns)
      : info_(*schema_of(static_cast<std::uint32_t>(kind))), op_(op) {
    for (const std::string_view name : columns) columns_.push_back(&find(name));
  }
  rows& add(std::initializer_list<cell> row) {
    if (row.size() != columns_.size()) throw std::invalid_argument("a row needs one value per column");
    rows_.emplace_back(row);
    return *this;
  }
  operator table() const {  // NOLINT(google-explicit-constructor): a table is what it stands for
    table t(static_cast<std::uint32_t>(info_.kind), static_cast<std::uint32_t>(op_));
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      table::column& to = t.add(columns_[c]->id, columns_[c]->type, static_cast<std::uint32_t>(width(c)));
      for (const std::vector<cell>& row : rows_) push(to, row[c], width(c));
    }
    return t;
  }

 private:
  [[nodiscard]] const column_info& find(std::string_view name) const {
    for (const column_info& c : info_.columns) {
      if (c.name == name) return c;
    }
    throw std::invalid_argument("no such column: " + std::string(name));
  }
  [[nodiscard]] std::size_t width(std::size_t c) const {
    std::size_t widest = 1;
    if (columns_[c]->shape != column_shape::dimensions && columns_[c]->shape != column_shape::quotas) return 1;
    for (const std::vector<cell>& row : rows_) {
      if (const auto* v = std::get_if<numbers>(&row[c].value)) widest = std::max(widest, v->size());
      if (const auto* v = std::get_if<reals>(&row[c].value)) widest = std::max(widest, v->size());
    }
    return widest;
  }
  static void push_number(table::column& to, std::int64_t v) {
    if (to.type() == column_type::u8) return to.push(static_cast<std::uint8_t>(v));
    if (to.type() == column_type::u32) return to.push(static_cast<std::uint32_t>(v));
    if (to.type() == column_type::f64) return to.push(static_cast<double>(v));
    to.push(v);
  }
  static void push(table::column& to, const cell& one, std::size_t width) {
    if (const auto* text = std::get_if<std::string>(&one.value)) return to.push(std::string_view(*text));
    if (const auto* list = std::get_if<texts>(&one.value)) return to.push_list(*list);
    if (const auto* list = std::get_if<numbers>(&one.value)) {
      if (to.type() == column_type::i64_list) return to.push_list(std::span<const std::int64_t>(*list));
      for (std::size_t i = 0; i < width; ++i) push_number(to, i < list->size() ? (*list)[i] : 0);
    } else if (const auto* values = std::get_if<reals>(&one.value)) {
      for (std::size_t i = 0; i < width; ++i) to.push(i < values->size() ? (*values)[i] : 0.0);
    } else if (const auto* real = std::get_if<double>(&one.value)) {
      for (std::size_t i = 0; i < width; ++i) to.push(*real);
    } else {
      for (std::size_t i = 0; i < width; ++i) push_number(to, std::get<std::int64_t>(one.value));
    }
  }

  const table_info& info_;
  table_op op_;
  std::vector<const column_info*> columns_;
  std::vector<std::vector<cell>> rows_;
};

inline rows add(table_kind kind, std::initializer_list<std::string_view> columns) {
  return {kind, table_op::add, columns};
}
inline rows change(table_kind kind, std::initializer_list<std::string_view> columns) {
  return {kind, table_op::change, columns};
}
inline rows remove(table_kind kind, std::initializer_list<std::string_view> columns) {
  return {kind, table_op::remove, columns};
}

}  // namespace kaisched::test
