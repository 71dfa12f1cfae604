#include "errors.hpp"

namespace py = pybind11;

namespace kaisched::python {

namespace {

void raise(const failure& f) {
  const error& e = f.body();
  // What ends a program, such as Ctrl-C, is not the error of a policy.
  if (f.cause() && PyObject_IsInstance(f.cause().ptr(), PyExc_Exception) == 0) {
    PyErr_SetObject(py::type::handle_of(f.cause()).ptr(), f.cause().ptr());
    return;
  }
  // The classes live in Python, where they can have documentation, bases and a place in a traceback.
  const py::object exception = py::module_::import("kaisched._errors")
                                   .attr("make")(static_cast<std::int32_t>(e.code), e.message, e.subject.value);
  if (f.cause()) PyException_SetCause(exception.ptr(), py::object(f.cause()).release().ptr());
  PyErr_SetObject(py::type::handle_of(exception).ptr(), exception.ptr());
}

}  // namespace

void register_errors() {
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const failure& f) {
      raise(f);
    }
  });
}

py::list status_list() {
  py::list list;
#define KAISCHED_X(name, upper, number, text) list.append(py::make_tuple(number, #name, text));
  KAISCHED_STATUS_MAP(KAISCHED_X)
#undef KAISCHED_X
  return list;
}

}  // namespace kaisched::python
