#pragma once
/// @file
/// Configurations of other schedulers in Python.

#include <pybind11/pybind11.h>

namespace kaisched::python {

void bind_importers(pybind11::module_& m);

}  // namespace kaisched::python
