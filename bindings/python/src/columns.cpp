#include "columns.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "errors.hpp"

namespace py = pybind11;

namespace kaisched::python {

namespace {

std::string_view name_of(column_shape shape) {
  switch (shape) {
    case column_shape::one:
      return "one";
    case column_shape::dimensions:
      return "dimensions";
    case column_shape::quotas:
      return "quotas";
    case column_shape::ragged:
      return "ragged";
  }
  return "unknown";
}

[[noreturn]] void refuse(const std::string& what) { throw failure(error{status::argument, what, {}}); }

/// The elements of a sequence. A str is a sequence as well, and never what is meant.
py::object fast_sequence(const py::handle& values, const char* expected) {
  if (PyUnicode_Check(values.ptr()) || PyBytes_Check(values.ptr())) refuse(expected);
  py::object fast = py::reinterpret_steal<py::object>(PySequence_Fast(values.ptr(), expected));
  if (!fast) {
    PyErr_Clear();
    refuse(expected);
  }
  return fast;
}

std::span<PyObject*> items(const py::object& fast) {
  return {PySequence_Fast_ITEMS(fast.ptr()), static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast.ptr()))};
}

/// The UTF-8 bytes of a str, borrowed from it.
std::string_view utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (bytes == nullptr) {
    PyErr_Clear();
    refuse("expected str, got " + std::string(py::str(py::repr(text))));
  }
  const std::string_view view(bytes, static_cast<std::size_t>(size));
  if (view.find('\0') != std::string_view::npos) refuse("a text holds a NUL character");
  return view;
}

std::int64_t integer(PyObject* number) {
  const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(number));
  const long long value = index ? PyLong_AsLongLong(index.ptr()) : -1;
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse("expected int, got " + std::string(py::str(py::repr(number))));
  }
  return value;
}

std::uint32_t offset(std::size_t position) {
  if (position > std::numeric_limits<std::uint32_t>::max()) {
    throw failure(error{status::limit, "more than 2^32 - 1 bytes or values; split the table", {}});
  }
  return static_cast<std::uint32_t>(position);
}

template <class T>
const void* array_data(const py::handle& values, std::uint64_t count) {
  if (!py::array_t<T, py::array::c_style>::check_(values)) refuse("expected a C-contiguous array of its type");
  const auto array = py::reinterpret_borrow<py::array>(values);
  if (static_cast<std::uint64_t>(array.size()) != count) refuse("the array has the wrong size");
  return array.data();
}

}  // namespace

input_tables::input_tables(const py::sequence& tables) {
  columns_.reserve(tables.size());
  for (const py::handle entry : tables) {
    const auto [kind, op, rows, columns] =
        entry.cast<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, py::sequence>>();
    const table_info* info = schema_of(kind);
    if (info == nullptr) throw failure(error{status::unsupported, "no such kind of table", {}});
    std::vector<column_view>& list = columns_.emplace_back();
    for (const py::handle column : columns) list.push_back(read_column(*info, rows, column.cast<py::tuple>()));
    table_view& view = views_.emplace_back();
    view.kind = kind;
    view.op = op;
    view.rows = rows;
    view.column_count = static_cast<std::uint32_t>(list.size());
    view.columns = list.data();
  }
}

column_view input_tables::read_column(const table_info& info, std::uint64_t rows, const py::tuple& column) {
  column_view view;
  view.id = column[0].cast<std::uint32_t>();
  view.type = static_cast<column_type>(column[1].cast<std::uint32_t>());
  view.width = column[2].cast<std::uint32_t>();
  try {
    return view.width == 0 ? read_ragged(view, rows, column[3]) : read_array(view, rows, column[3]);
  } catch (const failure& f) {
    std::string where(info.name);
    for (const column_info& c : info.columns) {
      if (c.id == view.id) where.append(", column ").append(c.name);
    }
    throw failure(error{f.body().code, where + ": " + f.body().message, {}});
  }
}

column_view input_tables::read_array(column_view view, std::uint64_t rows, const py::handle& values) {
  const std::uint64_t count = rows * view.width;
  switch (view.type) {
    case column_type::u8:
      view.data = array_data<std::uint8_t>(values, count);
      break;
    case column_type::u32:
      view.data = array_data<std::uint32_t>(values, count);
      break;
    case column_type::i64:
      view.data = array_data<std::int64_t>(values, count);
      break;
    case column_type::u64:
      view.data = array_data<std::uint64_t>(values, count);
      break;
    case column_type::f64:
      view.data = array_data<double>(values, count);
      break;
    default:
      refuse("the type is not one of numbers");
  }
  kept_.push_back(py::reinterpret_borrow<py::object>(values));
  return view;
}

column_view input_tables::read_ragged(column_view view, std::uint64_t rows, const py::handle& values) {
  packed& p = *packed_.emplace_back(std::make_unique<packed>());
  const py::object outer = fast_sequence(values, "expected a sequence with one entry per row");
  if (items(outer).size() != rows) refuse("the sequence has the wrong length");
  p.offsets.reserve(rows + 1);
  p.offsets.push_back(0);
  for (PyObject* row : items(outer)) {
    if (view.type == column_type::string) {
      const std::string_view text = utf8(row);
      p.bytes.insert(p.bytes.end(), text.begin(), text.end());
      p.offsets.push_back(offset(p.bytes.size()));
      continue;
    }
    const py::object inner = fast_sequence(row, "expected a sequence in every row");
    for (PyObject* element : items(inner)) {
      if (view.type == column_type::i64_list) {
        p.values.push_back(integer(element));
        continue;
      }
      const std::string_view text = utf8(element);
      p.bytes.insert(p.bytes.end(), text.begin(), text.end());
      p.bytes.push_back('\0');
    }
    p.offsets.push_back(offset(view.type == column_type::i64_list ? p.values.size() : p.bytes.size()));
  }
  view.data = view.type == column_type::i64_list ? static_cast<const void*>(p.values.data()) : p.bytes.data();
  view.offsets = p.offsets.data();
  return view;
}

namespace {

/// A table that numpy arrays keep alive.
struct shared_table {
  explicit shared_table(table t) : body(std::move(t)), view(body.view()) {}
  table body;
  table_view view;
};

py::capsule owner_of(const std::shared_ptr<shared_table>& shared) {
  return {new std::shared_ptr<shared_table>(shared),
          [](void* p) { delete static_cast<std::shared_ptr<shared_table>*>(p); }};
}

template <class T>
py::array read_only(const void* data, std::vector<py::ssize_t> shape, const py::capsule& owner) {
  py::array_t<T> array(std::move(shape), static_cast<const T*>(data), owner);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

py::str text_of(std::string_view text) { return {text.data(), text.size()}; }

py::list ragged_rows(const column_view& c, std::uint64_t rows, const py::capsule& owner) {
  py::list list(rows);
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (c.type == column_type::string) {
      list[row] = text_of(c.string(row));
    } else if (c.type == column_type::i64_list) {
      const std::span<const std::int64_t> values = c.list(row);
      list[row] = read_only<std::int64_t>(values.data(), {static_cast<py::ssize_t>(values.size())}, owner);
    } else {
      py::list elements;
      for (const std::string_view element : split_list(c.string(row))) elements.append(text_of(element));
      list[row] = std::move(elements);
    }
  }
  return list;
}

py::object column_values(const column_view& c, std::uint64_t rows, const column_info& info, const py::capsule& owner) {
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(rows)};
  if (info.shape != column_shape::one) shape.push_back(static_cast<py::ssize_t>(c.width));
  switch (c.type) {
    case column_type::u8:
      return read_only<std::uint8_t>(c.data, std::move(shape), owner);
    case column_type::u32:
      return read_only<std::uint32_t>(c.data, std::move(shape), owner);
    case column_type::i64:
      return read_only<std::int64_t>(c.data, std::move(shape), owner);
    case column_type::u64:
      return read_only<std::uint64_t>(c.data, std::move(shape), owner);
    case column_type::f64:
      return read_only<double>(c.data, std::move(shape), owner);
    default:
      return ragged_rows(c, rows, owner);
  }
}

}  // namespace

py::dict to_table(table body) {
  const auto shared = std::make_shared<shared_table>(std::move(body));
  const py::capsule owner = owner_of(shared);
  const table_view& view = shared->view;
  py::dict columns;
  for (const column_info& info : schema_of(view.kind)->columns) {
    const column_view* c = view.find(info.id);
    if (c != nullptr) columns[text_of(info.name)] = column_values(*c, view.rows, info, owner);
  }
  return py::module_::import("kaisched._table").attr("Table")(columns, text_of(schema_of(view.kind)->name));
}

table_kind kind_of(const py::handle& name) {
  if (py::isinstance<py::int_>(name)) {
    const table_info* info = schema_of(name.cast<std::uint32_t>());
    if (info != nullptr) return info->kind;
  } else if (py::isinstance<py::str>(name)) {
    const auto text = name.cast<std::string>();
    for (const table_info& info : schema()) {
      std::string plural(info.name);
      if (plural.ends_with('y')) {
        plural.replace(plural.size() - 1, 1, "ies");
      } else {
        plural += 's';
      }
      if (text == info.name || text == plural) return info.kind;
    }
  }
  throw failure(error{status::unsupported, "no kind of table is named " + std::string(py::str(py::repr(name))), {}});
}

py::list schema_list() {
  py::list tables;
  for (const table_info& t : schema()) {
    py::list columns;
    for (const column_info& c : t.columns) {
      py::dict column;
      column["id"] = c.id;
      column["name"] = text_of(c.name);
      column["type"] = text_of(column_type_name(c.type));
      column["type_id"] = static_cast<std::uint32_t>(c.type);
      column["shape"] = text_of(name_of(c.shape));
      column["required"] = c.required;
      column["refers_to"] = static_cast<std::uint32_t>(c.refers_to);
      column["unit"] = text_of(c.unit);
      column["fallback"] = text_of(c.fallback);
      column["doc"] = text_of(c.doc);
      columns.append(std::move(column));
    }
    py::dict table;
    table["kind"] = static_cast<std::uint32_t>(t.kind);
    table["name"] = text_of(t.name);
    table["input"] = t.input;
    table["doc"] = text_of(t.doc);
    table["columns"] = std::move(columns);
    tables.append(std::move(table));
  }
  return tables;
}

}  // namespace kaisched::python
