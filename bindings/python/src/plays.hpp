#pragma once
/// @file
/// Workloads played in virtual time, for Python.

#include <pybind11/pybind11.h>

namespace kaisched::python {

void bind_plays(pybind11::module_& m);

}  // namespace kaisched::python
