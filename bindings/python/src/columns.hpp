#pragma once
/// @file
/// Python columns to tables of the library and back. Numbers are never touched one by one.

#include <cstdint>
#include <string_view>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::python {

/// Tables made of Python columns. Borrows the memory of numpy arrays, which it keeps alive, and owns packed texts.
/// Made and destroyed with the interpreter lock; `views` may be read without.
class input_tables {
 public:
  /// @param tables sequence of (kind, op, rows, columns); a column is (id, type, width, values), values being a
  ///   C-contiguous array of the type, or a sequence of str, of sequences of str or of sequences of int.
  /// @throws failure if values do not fit the type; the message names the table and the column.
  explicit input_tables(const pybind11::sequence& tables);
  [[nodiscard]] const std::vector<table_view>& views() const { return views_; }

 private:
  struct packed {
    std::vector<char> bytes;
    std::vector<std::int64_t> values;
    std::vector<std::uint32_t> offsets;
  };
  column_view read_column(const table_info& info, std::uint64_t rows, const pybind11::tuple& column);
  column_view read_array(column_view view, std::uint64_t rows, const pybind11::handle& values);
  column_view read_ragged(column_view view, std::uint64_t rows, const pybind11::handle& values);

  std::vector<pybind11::object> kept_;
  std::vector<std::vector<column_view>> columns_;
  std::vector<std::unique_ptr<packed>> packed_;
  std::vector<table_view> views_;
};

/// A table as a `kaisched.Table`, a dict of columns by name. Numbers are read-only arrays over the memory of the table,
/// which lives as long as any of them; texts are lists of str, lists of texts lists of lists, lists of numbers lists of
/// read-only arrays.
pybind11::dict to_table(table body);

/// The kind that a name means, in the singular or plural ("pod_groups", "topologies"), or a number.
/// @throws failure if there is none.
table_kind kind_of(const pybind11::handle& name);

/// The schema as a list of dicts.
pybind11::list schema_list();

}  // namespace kaisched::python
