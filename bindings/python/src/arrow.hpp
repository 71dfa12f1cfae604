#pragma once
/// @file
/// Tables out and in through the Arrow C data and C stream interfaces
/// (arrow.apache.org/docs/format/CStreamInterface.html): structures and functions whose layout is fixed, so that no
/// Arrow library is needed.

#include <cstdint>

#include <pybind11/pybind11.h>

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace kaisched::python {

inline constexpr const char* arrow_stream_name = "arrow_array_stream";

/// One record batch of columns as a stream in a capsule.
/// @param columns sequence of (name, form, values). Forms: "numbers", a C-contiguous numpy array with one dimension, or
///   two, which become lists of fixed size; "string", "string_list", "i64_list": sequences, which are copied.
/// @param rows of every column
[[nodiscard]] pybind11::capsule to_arrow_stream(const pybind11::sequence& columns, std::int64_t rows);

/// All batches of a stream as a dict of columns: numbers and times as read-only numpy arrays, which share the memory of
/// the stream where it has one batch and no nulls; booleans as bool; texts, also those of dictionaries, as list of str;
/// lists as list of arrays or of lists, those of fixed size with numbers as a matrix. Nulls are NaN among numbers, else
/// None.
/// @throws failure for a stream that fails and for a type that no column can have
[[nodiscard]] pybind11::dict from_arrow_stream(const pybind11::capsule& stream);

void bind_arrow(pybind11::module_& m);

}  // namespace kaisched::python
