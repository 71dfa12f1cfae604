#pragma once
/// @file
/// Long calls that the user can end: Ctrl-C arrives in them as in Python code.

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include <pybind11/pybind11.h>

namespace kaisched::python {

/// Python runs the handlers of signals on one thread only, and only when that thread asks.
[[nodiscard]] bool handles_signals();

/// Calls without the interpreter lock. On the thread that handles signals the call runs on another one, and this one
/// looks for signals until it is done. What a handler raises is raised here, after `cancel()` and the end of the call.
/// @param call must not touch Python objects without taking the lock
/// @param cancel asks the call to end soon; called on another thread than the call
template <class Call, class Cancel>
auto interruptible(Call&& call, Cancel&& cancel) {
  namespace py = pybind11;
  constexpr std::chrono::milliseconds between_looks{50};
  std::packaged_task<std::invoke_result_t<Call&>()> task(std::forward<Call>(call));
  auto done = task.get_future();
  if (!handles_signals()) {
    const py::gil_scoped_release released;
    task();
    return done.get();
  }
  std::optional<py::error_already_set> raised;
  {
    const py::gil_scoped_release released;
    std::thread worker(std::move(task));
    while (!raised && done.wait_for(between_looks) != std::future_status::ready) {
      const py::gil_scoped_acquire held;
      if (PyErr_CheckSignals() == 0) continue;
      raised.emplace();
      cancel();
    }
    worker.join();
  }
  if (raised) throw py::error_already_set(std::move(*raised));
  return done.get();
}

}  // namespace kaisched::python
