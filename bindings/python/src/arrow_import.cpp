#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>

#include "arrow.hpp"
#include "errors.hpp"

namespace py = pybind11;

namespace kaisched::python {

namespace {

/// A structure that is released with the last who uses it.
template <class Structure>
struct received : Structure {
  received() : Structure{} {}
  received(const received&) = delete;
  received& operator=(const received&) = delete;
  ~received() {
    if (this->release != nullptr) this->release(this);
  }
};
using received_array = received<ArrowArray>;

py::capsule owner_of(const std::shared_ptr<received_array>& batch) {
  return {new std::shared_ptr<received_array>(batch),
          [](void* p) { delete static_cast<std::shared_ptr<received_array>*>(p); }};
}

/// A part of the rows of an array.
struct rows_of {
  const ArrowSchema& type;
  const ArrowArray& array;
  std::int64_t first = 0;  ///< with the offset of the array
  std::int64_t count = 0;

  template <class T>
  [[nodiscard]] const T* buffer(std::size_t number) const {
    return static_cast<const T*>(array.buffers[number]);
  }
  [[nodiscard]] bool is_null(std::int64_t row) const {
    if (array.null_count == 0 || array.n_buffers == 0 || array.buffers[0] == nullptr) return false;
    const std::int64_t at = first + row;
    return (buffer<unsigned char>(0)[at / 8] >> (at % 8) & 1) == 0;
  }
  [[nodiscard]] bool has_nulls() const {
    for (std::int64_t row = 0; row < count; ++row) {
      if (is_null(row)) return true;
    }
    return false;
  }
  [[nodiscard]] rows_of child(std::int64_t from, std::int64_t rows) const {
    return {*type.children[0], *array.children[0], array.children[0]->offset + from, rows};
  }
};

class column_reader {
 public:
  column_reader(std::string_view name, const py::capsule& owner) : name_(name), owner_(owner) {}

  py::object read(const rows_of& of) const {
    const std::string_view format = of.type.format;
    if (of.type.dictionary != nullptr) return dictionary(of);
    if (const std::string dtype = numbers_in(format); !dtype.empty()) return numbers(of, dtype);
    if (format == "b") return booleans(of);
    if (format == "n") return fill(of, [](std::int64_t) { return py::none(); });
    if (format == "u") return texts<std::int32_t>(of);
    if (format == "U") return texts<std::int64_t>(of);
    if (format == "vu") return viewed_texts(of);
    if (format == "+l") return lists<std::int32_t>(of);
    if (format == "+L") return lists<std::int64_t>(of);
    if (format.starts_with("+w:")) return fixed_lists(of, std::stoll(std::string(format.substr(3))));
    throw failure({status::unsupported,
                   "column " + name_ + ": values of the Arrow type '" + std::string(format) + "' are not read",
                   {}});
  }

 private:
  /// The dtype of a numpy array over the same memory, or nothing.
  static std::string numbers_in(std::string_view format) {
    constexpr std::array<std::pair<std::string_view, const char*>, 10> plain{{{"c", "i1"},
                                                                              {"C", "u1"},
                                                                              {"s", "i2"},
                                                                              {"S", "u2"},
                                                                              {"i", "i4"},
                                                                              {"I", "u4"},
                                                                              {"l", "i8"},
                                                                              {"L", "u8"},
                                                                              {"f", "f4"},
                                                                              {"g", "f8"}}};
    for (const auto& [from, to] : plain) {
      if (format == from) return to;
    }
    if (format.size() < 3 || format[0] != 't' || (format[1] != 's' && format[1] != 'D')) return {};
    const char unit = format[2];
    const std::string words = unit == 's' ? "s" : std::string(1, unit) + "s";
    return std::string(format[1] == 's' ? "M8[" : "m8[") + words + "]";
  }

  py::object numbers(const rows_of& of, const std::string& dtype) const {
    const py::dtype type(dtype);
    const char* const data = of.buffer<char>(1) + of.first * type.itemsize();
    py::array array(type, {static_cast<py::ssize_t>(of.count)}, {type.itemsize()}, of.count == 0 ? nullptr : data,
                    of.count == 0 ? py::object() : py::object(owner_));
    if (of.has_nulls()) {
      const bool is_time = type.kind() == 'm' || type.kind() == 'M';
      array = array.attr("astype")(is_time ? py::object(type) : py::object(py::str("f8")));
      for (std::int64_t row = 0; row < of.count; ++row) {
        if (of.is_null(row)) array[py::int_(row)] = is_time ? py::object(py::str("NaT")) : py::object(py::float_(NAN));
      }
    }
    array.attr("setflags")(py::arg("write") = false);
    return array;
  }
  static py::object booleans(const rows_of& of) {
    if (of.has_nulls()) return fill(of, [&](std::int64_t row) { return py::bool_(bit(of, row)); });
    py::array_t<bool> made(of.count);
    for (std::int64_t row = 0; row < of.count; ++row) made.mutable_data()[row] = bit(of, row);
    return made;
  }
  static bool bit(const rows_of& of, std::int64_t row) {
    const std::int64_t at = of.first + row;
    return (of.buffer<unsigned char>(1)[at / 8] >> (at % 8) & 1) != 0;
  }

  /// A list with None for nulls.
  template <class Make>
  static py::list fill(const rows_of& of, const Make& make) {
    py::list made(static_cast<std::size_t>(of.count));
    for (std::int64_t row = 0; row < of.count; ++row) {
      made[static_cast<std::size_t>(row)] = of.is_null(row) ? py::object(py::none()) : py::object(make(row));
    }
    return made;
  }
  template <class Offset>
  static py::object texts(const rows_of& of) {
    const Offset* const ends = of.buffer<Offset>(1) + of.first;
    return fill(of, [&](std::int64_t row) {
      return py::str(of.buffer<char>(2) + ends[row], static_cast<std::size_t>(ends[row + 1] - ends[row]));
    });
  }
  /// Views of 16 bytes: short texts lie inside, long ones in a buffer that is named.
  static py::object viewed_texts(const rows_of& of) {
    constexpr std::int32_t inside = 12;
    return fill(of, [&](std::int64_t row) {
      const char* const view = of.buffer<char>(1) + (of.first + row) * 16;
      std::array<std::int32_t, 4> words{};
      std::memcpy(words.data(), view, sizeof words);
      const char* const from = words[0] <= inside ? view + sizeof(std::int32_t)
                                                  : of.buffer<char>(2 + static_cast<std::size_t>(words[2])) + words[3];
      return py::str(from, static_cast<std::size_t>(words[0]));
    });
  }
  template <class Offset>
  [[nodiscard]] py::object lists(const rows_of& of) const {
    const Offset* const ends = of.buffer<Offset>(1) + of.first;
    return fill(of, [&](std::int64_t row) { return read(of.child(ends[row], ends[row + 1] - ends[row])); });
  }
  [[nodiscard]] py::object fixed_lists(const rows_of& of, std::int64_t width) const {
    const py::object inner = read(of.child(of.first * width, of.count * width));
    if (py::isinstance<py::array>(inner) && !of.has_nulls()) return inner.attr("reshape")(of.count, width);
    return fill(of, [&](std::int64_t row) { return inner[py::slice(row * width, (row + 1) * width, 1)]; });
  }
  [[nodiscard]] py::object dictionary(const rows_of& of) const {
    const ArrowArray& values = *of.array.dictionary;
    const py::list words(read({*of.type.dictionary, values, values.offset, values.length}));
    const py::object numbers = this->numbers(of, numbers_in(of.type.format)).attr("tolist")();
    return fill(
        of, [&](std::int64_t row) { return words[static_cast<std::size_t>(numbers[py::int_(row)].cast<double>())]; });
  }

  std::string name_;
  py::capsule owner_;
};

void check(ArrowArrayStream& stream, int code) {
  if (code == 0) return;
  const char* const said = stream.get_last_error(&stream);
  throw failure(
      {status::argument, "the Arrow stream failed: " + std::string(said != nullptr ? said : std::strerror(code)), {}});
}

/// Pieces of one column, one after the other.
py::object joined(const py::list& pieces) {
  if (pieces.size() < 2) return pieces.empty() ? py::object(pieces) : py::object(pieces[0]);
  for (const py::handle piece : pieces) {
    if (py::isinstance<py::array>(piece)) continue;
    py::list all;
    for (const py::handle one : pieces) all.attr("extend")(one);
    return all;
  }
  return py::module_::import("numpy").attr("concatenate")(pieces);
}

}  // namespace

py::dict from_arrow_stream(const py::capsule& capsule) {
  if (capsule.name() == nullptr || std::string_view(capsule.name()) != arrow_stream_name)
    throw failure({status::argument, "expected a capsule of an Arrow stream", {}});
  ArrowArrayStream& stream = *capsule.get_pointer<ArrowArrayStream>();
  if (stream.release == nullptr) throw failure({status::state, "the Arrow stream has been read already", {}});
  received<ArrowSchema> schema;
  check(stream, stream.get_schema(&stream, &schema));
  if (std::string_view(schema.format) != "+s")
    throw failure({status::argument, "expected an Arrow stream of tables, found one of single arrays", {}});
  std::vector<py::list> pieces(static_cast<std::size_t>(schema.n_children));
  for (;;) {
    const auto batch = std::make_shared<received_array>();
    check(stream, stream.get_next(&stream, batch.get()));
    if (batch->release == nullptr) break;
    const py::capsule owner = owner_of(batch);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const ArrowArray& array = *batch->children[i];
      pieces[i].append(column_reader(schema.children[i]->name, owner)
                           .read({*schema.children[i], array, array.offset + batch->offset, batch->length}));
    }
  }
  stream.release(&stream);
  py::dict columns;
  for (std::size_t i = 0; i < pieces.size(); ++i) columns[schema.children[i]->name] = joined(pieces[i]);
  return columns;
}

void bind_arrow(py::module_& m) {
  m.def("arrow_stream", &to_arrow_stream, py::arg("columns"), py::arg("rows"),
        "Columns given as (name, form, values) as a capsule of an Arrow C stream.");
  m.def("arrow_columns", &from_arrow_stream, py::arg("stream"),
        "A dict of columns from a capsule of an Arrow C stream.");
}

}  // namespace kaisched::python
