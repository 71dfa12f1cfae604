#pragma once
/// @file
/// Errors of the library as Python exceptions.

#include <exception>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>

#include <kaisched/result.hpp>

namespace kaisched::python {

/// Carries an error of the library out of a bound function; becomes an exception of `kaisched._errors`. With a cause,
/// an exception that code in Python has raised, it is only thrown and caught with the interpreter lock.
class failure : public std::exception {
 public:
  explicit failure(error body, pybind11::object cause = {}) : body_(std::move(body)), cause_(std::move(cause)) {}
  [[nodiscard]] const error& body() const noexcept { return body_; }
  [[nodiscard]] const pybind11::object& cause() const noexcept { return cause_; }
  [[nodiscard]] const char* what() const noexcept override { return body_.message.c_str(); }

 private:
  error body_;
  pybind11::object cause_;
};

/// The value of a result, or `failure`.
template <class T>
T unwrap(result<T> r) {
  if (!r.ok()) throw failure(r.take_failure());
  return std::move(*r);
}
inline void unwrap(result<void> r) {
  if (!r.ok()) throw failure(r.take_failure());
}

/// Emits a DeprecationWarning on behalf of the code in Python that has called. Throws where a filter makes it an error.
inline void warn(const std::string& text) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, text.c_str(), 1) != 0) throw pybind11::error_already_set();
}

/// Makes `failure` arrive in Python as the exception of its status.
void register_errors();

/// Number, name and meaning of every status, as a list of tuples.
pybind11::list status_list();

}  // namespace kaisched::python
