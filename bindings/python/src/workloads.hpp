#pragma once
/// @file
/// Workloads in Python.

#include <cstdint>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "simulation/workload.hpp"

namespace kaisched::python {

/// Nanoseconds in seconds; NaN for a time that is not known or did not come.
[[nodiscard]] double seconds_of(std::int64_t nanoseconds);

/// A read-only array with a value for each element.
template <class T, class From, class Make>
pybind11::array_t<T> array_of(const From& from, const Make& make) {
  pybind11::array_t<T> made(static_cast<pybind11::ssize_t>(from.size()));
  T* to = made.mutable_data();
  for (const auto& one : from) *to++ = make(one);
  made.attr("setflags")(pybind11::arg("write") = false);
  return made;
}

void bind_workloads(pybind11::module_& m);

}  // namespace kaisched::python
