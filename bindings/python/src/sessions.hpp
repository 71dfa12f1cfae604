#pragma once
/// @file
/// Sessions in Python.

#include <memory>

#include <pybind11/pybind11.h>

#include "handles.hpp"

namespace kaisched::python {

/// `Session`, and the functions of engines that make some.
void bind_sessions(pybind11::module_& m, pybind11::class_<py_engine>& engines);

/// A session that somebody else has opened, as a `Session`.
[[nodiscard]] pybind11::object make_session(session opened, std::shared_ptr<policy_faults> faults);

}  // namespace kaisched::python
