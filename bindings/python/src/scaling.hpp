#pragma once
/// @file
/// Nodes to add and to give back, for Python.

#include <pybind11/pybind11.h>

namespace kaisched::python {

/// `scale`. Engines and snapshots have to be bound before.
void bind_scaling(pybind11::module_& m);

}  // namespace kaisched::python
