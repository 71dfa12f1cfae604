#pragma once
/// @file
/// Scenarios and cluster files in Python.

#include <pybind11/pybind11.h>

namespace kaisched::python {

void bind_scenario(pybind11::module_& m);

}  // namespace kaisched::python
