#pragma once
/// @file
/// Parts of policies that are written in Python.

#include <memory>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>

#include <kaisched/policy.hpp>
#include <kaisched/result.hpp>

#include "errors.hpp"

namespace kaisched::python {

/// The exception that a policy has raised, until it is told as the cause of what became of it. Used with the
/// interpreter lock.
class policy_faults {
 public:
  policy_faults() = default;
  policy_faults(const policy_faults&) = delete;
  policy_faults& operator=(const policy_faults&) = delete;
  ~policy_faults();
  void keep(pybind11::object exception) { exception_ = std::move(exception); }
  [[nodiscard]] pybind11::object take() { return std::exchange(exception_, {}); }

 private:
  pybind11::object exception_;
};

/// Makes a part for each session that asks `policy`, an object of `kaisched.Policy`, with arrays.
[[nodiscard]] part_factory policy_factory(std::string name, pybind11::object policy,
                                          std::shared_ptr<policy_faults> faults);

/// The value of a result, or `failure` with the exception of a policy as its cause.
template <class T>
T unwrap_played(result<T> r, policy_faults& faults) {
  pybind11::object cause = faults.take();
  if (r.ok()) {
    if constexpr (std::is_void_v<T>) {
      return;
    } else {
      return std::move(*r);
    }
  }
  throw failure(r.take_failure(), std::move(cause));
}

void bind_policies(pybind11::module_& m);

}  // namespace kaisched::python
