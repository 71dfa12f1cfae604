#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <span>
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

/// A column may have nulls, though none of ours has: else it could not be joined with one that does.
constexpr std::int64_t nullable = 2;

struct arrow_column {
  std::string name;
  std::string format;
  std::int64_t length = 0;
  std::vector<const void*> buffers;
  std::vector<arrow_column> children;
};

/// What a consumer may look at for as long as it likes.
struct arrow_batch {
  arrow_column root;
  std::deque<std::vector<std::byte>> owned;
  std::vector<py::object> kept;

  arrow_batch() = default;
  arrow_batch(const arrow_batch&) = delete;
  arrow_batch& operator=(const arrow_batch&) = delete;
  ~arrow_batch() {
    const py::gil_scoped_acquire held;  // consumers release from any thread
    kept.clear();
  }
};

// ---- structures that own what they point to ------------------------------------------------------------------------

template <class Structure>
struct shown_body {
  std::shared_ptr<const arrow_batch> batch;
  std::vector<Structure> children;
  std::vector<Structure*> pointers;
  std::vector<const void*> buffers;
};

template <class Structure>
void release_shown(Structure* shown) {
  auto* const body = static_cast<shown_body<Structure>*>(shown->private_data);
  for (Structure& child : body->children) {
    if (child.release != nullptr) child.release(&child);
  }
  delete body;
  shown->release = nullptr;
}

template <class Structure>
shown_body<Structure>* show_body(const std::shared_ptr<const arrow_batch>& batch, const arrow_column& column,
                                 Structure* to) {
  auto* const body = new shown_body<Structure>{batch, std::vector<Structure>(column.children.size()), {}, {}};
  for (Structure& child : body->children) body->pointers.push_back(&child);
  to->n_children = static_cast<std::int64_t>(column.children.size());
  to->children = body->pointers.data();
  to->dictionary = nullptr;
  to->release = release_shown<Structure>;
  to->private_data = body;
  return body;
}

void show_schema(const std::shared_ptr<const arrow_batch>& batch, const arrow_column& column, ArrowSchema* to) {
  *to = {};
  auto* const body = show_body(batch, column, to);
  to->format = column.format.c_str();
  to->name = column.name.c_str();
  to->flags = nullable;
  for (std::size_t i = 0; i < column.children.size(); ++i) show_schema(batch, column.children[i], &body->children[i]);
}

void show_array(const std::shared_ptr<const arrow_batch>& batch, const arrow_column& column, ArrowArray* to) {
  *to = {};
  auto* const body = show_body(batch, column, to);
  body->buffers = column.buffers;
  to->length = column.length;
  to->n_buffers = static_cast<std::int64_t>(body->buffers.size());
  to->buffers = body->buffers.data();
  for (std::size_t i = 0; i < column.children.size(); ++i) show_array(batch, column.children[i], &body->children[i]);
}

/// A stream of one batch.
struct arrow_stream {
  std::shared_ptr<const arrow_batch> batch;
  bool told = false;
};

arrow_stream& body_of(ArrowArrayStream* stream) { return *static_cast<arrow_stream*>(stream->private_data); }

int tell_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  show_schema(body_of(stream).batch, body_of(stream).batch->root, out);
  return 0;
}
int tell_next(ArrowArrayStream* stream, ArrowArray* out) {
  *out = {};
  if (!std::exchange(body_of(stream).told, true)) show_array(body_of(stream).batch, body_of(stream).batch->root, out);
  return 0;
}
const char* tell_no_error(ArrowArrayStream*) { return nullptr; }
void release_stream(ArrowArrayStream* stream) {
  delete &body_of(stream);
  stream->release = nullptr;
}

void drop_capsule(PyObject* capsule) {
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, arrow_stream_name));
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

// ---- columns from Python -------------------------------------------------------------------------------------------

class batch_maker {
 public:
  explicit batch_maker(std::int64_t rows) : rows_(rows) {
    made_->root.format = "+s";
    made_->root.length = rows;
    made_->root.buffers = {nullptr};
  }
  void add(const std::string& name, const std::string& form, const py::object& values) {
    arrow_column column = form == "numbers"       ? numbers(values.cast<py::array>())
                          : form == "string"      ? strings(values.cast<py::sequence>())
                          : form == "string_list" ? lists(values.cast<py::sequence>(), true)
                                                  : lists(values.cast<py::sequence>(), false);
    column.name = name;
    if (column.length != rows_)
      throw failure(
          {status::argument,
           "column " + name + " has " + std::to_string(column.length) + " rows, the table has " + std::to_string(rows_),
           {}});
    made_->root.children.push_back(std::move(column));
  }
  std::shared_ptr<const arrow_batch> take() { return std::move(made_); }

 private:
  template <class T>
  const void* own(const std::vector<T>& values) {
    std::vector<std::byte>& to = made_->owned.emplace_back(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(to.data(), values.data(), to.size());
    return to.data();
  }

  static std::string format_of(const py::dtype& type) {
    const std::string key = std::string(1, type.kind()) + std::to_string(type.itemsize());
    for (const auto& [from, to] : {std::pair{"b1", "b"},
                                   {"i1", "c"},
                                   {"u1", "C"},
                                   {"i2", "s"},
                                   {"u2", "S"},
                                   {"i4", "i"},
                                   {"u4", "I"},
                                   {"i8", "l"},
                                   {"u8", "L"},
                                   {"f4", "f"},
                                   {"f8", "g"}}) {
      if (key == from) return to;
    }
    throw failure(
        {status::unsupported, "arrays of " + std::string(py::str(py::handle(type))) + " have no form in Arrow", {}});
  }

  arrow_column numbers(const py::array& array) {
    arrow_column flat;
    flat.format = format_of(array.dtype());
    flat.length = array.size();
    flat.buffers = {nullptr, flat.format == "b" ? bits(array) : array.data()};
    made_->kept.push_back(array);
    if (array.ndim() == 1) return flat;
    arrow_column fixed;
    fixed.format = "+w:" + std::to_string(array.shape(1));
    fixed.length = array.shape(0);
    fixed.buffers = {nullptr};
    flat.name = "item";
    fixed.children.push_back(std::move(flat));
    return fixed;
  }
  const void* bits(const py::array& array) {
    const std::span<const bool> from(static_cast<const bool*>(array.data()), static_cast<std::size_t>(array.size()));
    std::vector<unsigned char> to((from.size() + 7) / 8);
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i]) to[i / 8] = static_cast<unsigned char>(to[i / 8] | (1U << (i % 8)));
    }
    return own(to);
  }

  arrow_column strings(const py::sequence& values) {
    std::vector<std::int64_t> offsets{0};
    std::vector<char> bytes;
    for (const py::handle one : values) add_text(one, bytes, offsets);
    return texts(offsets, bytes);
  }
  static void add_text(const py::handle& one, std::vector<char>& bytes, std::vector<std::int64_t>& offsets) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(one.ptr(), &size);
    if (text == nullptr) throw py::error_already_set();
    bytes.insert(bytes.end(), text, text + size);
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  arrow_column texts(const std::vector<std::int64_t>& offsets, const std::vector<char>& bytes) {
    arrow_column made;
    made.format = "U";
    made.length = static_cast<std::int64_t>(offsets.size()) - 1;
    made.buffers = {nullptr, own(offsets), own(bytes)};
    return made;
  }

  arrow_column lists(const py::sequence& values, bool of_texts) {
    std::vector<std::int64_t> ends{0};
    std::vector<std::int64_t> offsets{0};
    std::vector<char> bytes;
    std::vector<std::int64_t> integers;
    for (const py::handle row : values) {
      for (const py::handle element : row) {
        if (of_texts) {
          add_text(element, bytes, offsets);
        } else {
          integers.push_back(element.cast<std::int64_t>());
        }
      }
      ends.push_back(of_texts ? static_cast<std::int64_t>(offsets.size()) - 1
                              : static_cast<std::int64_t>(integers.size()));
    }
    arrow_column inner;
    if (of_texts) {
      inner = texts(offsets, bytes);
    } else {
      inner.format = "l";
      inner.length = static_cast<std::int64_t>(integers.size());
      inner.buffers = {nullptr, own(integers)};
    }
    inner.name = "item";
    arrow_column made;
    made.format = "+L";
    made.length = static_cast<std::int64_t>(ends.size()) - 1;
    made.buffers = {nullptr, own(ends)};
    made.children.push_back(std::move(inner));
    return made;
  }

  std::int64_t rows_;
  std::shared_ptr<arrow_batch> made_ = std::make_shared<arrow_batch>();
};

}  // namespace

py::capsule to_arrow_stream(const py::sequence& columns, std::int64_t rows) {
  batch_maker maker(rows);
  for (const py::handle column : columns) {
    const auto [name, form, values] = column.cast<std::tuple<std::string, std::string, py::object>>();
    maker.add(name, form, values);
  }
  auto stream = std::make_unique<ArrowArrayStream>();
  *stream = {tell_schema, tell_next, tell_no_error, release_stream, new arrow_stream{maker.take()}};
  return py::capsule(stream.release(), arrow_stream_name, drop_capsule);
}

}  // namespace kaisched::python
