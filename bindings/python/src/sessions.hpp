#pragma once
/// @file
/// Sessions in Python.

#include <pybind11/pybind11.h>

#include "handles.hpp"

namespace kaisched::python {

/// `Session`, and the functions of engines that make some.
void bind_sessions(pybind11::module_& m, pybind11::class_<py_engine>& engines);

}  // namespace kaisched::python
