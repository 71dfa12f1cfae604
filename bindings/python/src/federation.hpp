#pragma once
/// @file
/// Many clusters with one line, for Python.

#include <pybind11/pybind11.h>

namespace kaisched::python {

/// `Federation` and what it decides. Clusters, engines and sessions have to be bound before.
void bind_federation(pybind11::module_& m);

}  // namespace kaisched::python
