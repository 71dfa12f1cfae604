#include "interrupts.hpp"

namespace py = pybind11;

namespace kaisched::python {

bool handles_signals() {
  const py::object main = py::module_::import("threading").attr("main_thread")().attr("ident");
  return !main.is_none() && main.cast<unsigned long>() == PyThread_get_thread_ident();
}

}  // namespace kaisched::python
