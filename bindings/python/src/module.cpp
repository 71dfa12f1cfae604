/// @file
/// The module kaisched._core: handles and arrays. What can be said in Python is said there.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <kaisched/kaisched.hpp>

#include "arrow.hpp"
#include "columns.hpp"
#include "errors.hpp"
#include "federation.hpp"
#include "handles.hpp"
#include "importers.hpp"
#include "plays.hpp"
#include "policies.hpp"
#include "scaling.hpp"
#include "scenario.hpp"
#include "session/old_names.hpp"
#include "sessions.hpp"
#include "workloads.hpp"

namespace py = pybind11;

namespace kaisched::python {
namespace {

py::bytes save(const snapshot& s) {
  return py::bytes(unlocked([&] { return s.save(); }));
}

snapshot load(const py::bytes& data) {
  const std::string_view bytes = data;
  return unwrap(unlocked([&] { return snapshot::load(bytes); }));
}

py::list option_dicts() {
  constexpr std::string_view types[] = {"", "boolean", "integer", "number", "choice", "list"};
  py::list list;
  for (const option_info& o : option_list()) {
    py::dict option;
    option["name"] = o.name;
    option["type"] = types[static_cast<std::size_t>(o.type)];
    option["fallback"] = o.fallback;
    option["least"] = o.least;
    option["most"] = o.most;
    option["choices"] = o.choices;
    option["doc"] = o.doc;
    option["applies_to"] = o.applies_to == option_target::cluster ? "cluster" : "engine";
    list.append(std::move(option));
  }
  return list;
}

void bind_snapshot(py::module_& m) {
  py::class_<snapshot>(m, "Snapshot",
                       "An immutable version of a cluster. Cheap to copy, safe to share between threads, picklable.")
      .def_property_readonly(
          "digest", [](const snapshot& s) { return unlocked([&] { return s.digest(); }); },
          "SHA-256 of the content as 64 hexadecimal digits. Equal digests lead to equal decisions.")
      .def_property_readonly("version", &snapshot::version, "Number of the version: grows with every delta.")
      .def("save", &save, "The whole snapshot as bytes, for `load`.")
      .def_static("load", &load, py::arg("data"), "Reads what `save` wrote; every length and value is checked.")
      .def(
          "table",
          [](const snapshot& s, const py::handle& kind) {
            const table_kind k = kind_of(kind);
            return to_table(unwrap(unlocked([&] { return s.to_table(k); })));
          },
          py::arg("kind"),
          "All entities of one kind as a dict of columns, ordered by name; of kind \"quarantine\" what was left out.")
      .def_property_readonly("dimension_names", &snapshot::dimension_names, "Names of the resource dimensions.")
      .def(
          "_repr_html_",
          [](const py::object& self) { return py::module_::import("kaisched._picture").attr("cluster")(self); },
          "A picture for notebooks: nodes in the domains of their topology, a square for each GPU.")
      .def(py::pickle(&save, &load));
}

void bind_handles(py::module_& m) {
  py::class_<py_cluster>(m, "Cluster")
      .def(py::init<>())
      .def("apply_tables", &py_cluster::apply, py::arg("tables"),
           "Applies tables given as (kind, op, rows, columns), all or none.")
      .def("find", &py_cluster::find, py::arg("kind"), py::arg("name"), "The identifier of an entity.")
      .def("set_text", &py_cluster::set, py::arg("option"), py::arg("value"), "Sets one option from text.")
      .def("get_text", &py_cluster::get, py::arg("option"), "Value of one option as text.")
      .def("snapshot", &py_cluster::take_snapshot, "The present version. Cost: what changed since the last one.");
  bind_snapshot(m);
  py::class_<py_engine> engines(m, "Engine");
  engines.def(py::init<>())
      .def("set_text", &py_engine::set, py::arg("option"), py::arg("value"), "Sets one option from text.")
      .def("get_text", &py_engine::get, py::arg("option"), "Value of one option as text.")
      .def_property_readonly("warnings", &py_engine::warnings,
                             "A sentence for each name of the version before that options were set by, each once.")
      .def("add_policy", &py_engine::add_policy, py::arg("name"), py::arg("policy"),
           "Adds a part that is written in Python; it takes effect when the option `parts` names it.")
      .def_property_readonly(
          "part_names", [](const py_engine& e) { return e.read([](const engine& x) { return x.part_names(); }); },
          "Names of all parts that the option `parts` can name.");
  bind_sessions(m, engines);
}

}  // namespace
}  // namespace kaisched::python

PYBIND11_MODULE(_core, m) {
  using namespace kaisched::python;  // NOLINT(google-build-using-namespace)
  m.doc() = "Handles of the scheduling engine; use the package kaisched.";
  register_errors();
  bind_handles(m);
  bind_scenario(m);
  bind_policies(m);
  bind_workloads(m);
  bind_plays(m);
  bind_arrow(m);
  bind_scaling(m);
  bind_federation(m);
  bind_importers(m);
  m.def("schema", &schema_list, "All kinds of tables and their columns.");
  m.def(
      "kind_of", [](const py::handle& name) { return static_cast<std::uint32_t>(kind_of(name)); }, py::arg("name"),
      "Number of the kind of table that a name means, in the singular or plural.");
  m.def("option_list", &option_dicts, "All options of engines and clusters.");
  m.def("current_option", &kaisched::session_detail::current_option, py::arg("name"),
        "The present name of an option that had another one in the version before; other names are as they are.");
  m.def("status_list", &status_list, "Number, name and meaning of every status.");
  m.def("pod_status_names", [] {
    std::vector<std::string_view> names;
    for (std::uint8_t i = 0; i < kaisched::pod_status_count; ++i) {
      names.push_back(kaisched::pod_status_name(static_cast<kaisched::pod_status>(i)));
    }
    return names;
  });
  m.def(
      "decision_kind_name", [](std::uint8_t k) { return kaisched::decision_kind_name(kaisched::decision_kind{k}); },
      py::arg("kind"), "Name of a number of the column `kind` of decisions.");
  m.attr("version") = KAISCHED_VERSION_STRING;
  m.attr("UNLIMITED") = kaisched::unlimited;
  m.attr("UNSET") = kaisched::unset;
  m.attr("WHOLE_DEVICE") = kaisched::whole_device;
}
