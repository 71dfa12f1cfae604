#include "importers.hpp"

#include <string>

#include <pybind11/stl.h>

#include "errors.hpp"
#include "files/import_text.hpp"

namespace py = pybind11;

namespace kaisched::python {

namespace {

/// Scheduler, options in their order, scenario, queue rules, what is left out.
py::tuple import_configuration(const std::string& text, const std::string& scheduler, const std::string& name) {
  const io::importers::imported_policy made = [&] {
    const py::gil_scoped_release released;
    return unwrap(io::importers::import_text(text, name, unwrap(io::importers::scheduler_kind_named(scheduler))));
  }();
  py::dict options;
  for (const auto& [option, value] : made.options) options[py::str(option)] = value;
  return py::make_tuple(made.of, std::move(options), io::importers::scenario_text(made), made.queue_rules,
                        made.unmapped);
}

}  // namespace

void bind_importers(py::module_& m) {
  m.def("import_configuration", &import_configuration, py::arg("text"), py::arg("scheduler") = "",
        py::arg("name") = "text",
        "Scheduler, options, scenario, queue rules and notes of the configuration of another scheduler.");
}

}  // namespace kaisched::python
