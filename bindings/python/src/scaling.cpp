#include "scaling.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include <kaisched/kaisched.hpp>
#include <kaisched/scaling.hpp>

#include "columns.hpp"
#include "errors.hpp"
#include "files/node_types.hpp"
#include "handles.hpp"

namespace py = pybind11;

namespace kaisched::python {

namespace {

using told_type =
    std::tuple<std::string, std::int64_t, std::int64_t, std::vector<std::pair<std::string, std::int64_t>>>;

std::vector<node_type> types_of(const std::vector<told_type>& given) {
  std::vector<node_type> types;
  for (const auto& [name, price, most, domains] : given) {
    node_type& type = types.emplace_back(node_type{name, price, most, {}});
    for (const auto& [label, nodes] : domains) type.domains.push_back({label, nodes});
  }
  return types;
}

scale_question question_of(const py::dict& given) {
  scale_question question;
  question.queues = given["queues"].cast<std::vector<std::string>>();
  question.groups = given["groups"].cast<std::vector<std::string>>();
  question.up = given["up"].cast<bool>();
  question.down = given["down"].cast<bool>();
  question.strategy = given["first_fit"].cast<bool>() ? scale_strategy::first_fit : scale_strategy::search;
  question.verifications = given["verifications"].cast<std::uint32_t>();
  question.type_label = given["type_label"].cast<std::string>();
  return question;
}

/// @param file of the format kaisched-node-types/1; empty: what can be had is in `types` and `tables`.
py::dict scale_with(const py_engine& with, const snapshot& base, std::int64_t now, const std::vector<told_type>& types,
                    const py::sequence& tables, const std::string& file, const py::dict& asked) {
  const input_tables nodes(tables);
  const scale_question question = question_of(asked);
  const std::vector<node_type> offered = types_of(types);
  const result<node_offers> offers = unlocked(
      [&] { return file.empty() ? make_offers(base, nodes.views(), offered) : io::read_node_types(file, base); });
  if (!offers) throw failure(offers.failure());
  const scale_report report =
      unwrap_played(with.read([&](const engine& e) { return scale(e, base, now, *offers, question); }), *with.faults());
  py::dict all;
  for (const table_kind kind :
       {table_kind::scaling, table_kind::node_addition, table_kind::scaled_group, table_kind::returned_node})
    all[py::str(std::string(schema_of(static_cast<std::uint32_t>(kind))->name))] =
        to_table(unwrap(report.to_table(kind)));
  return all;
}

}  // namespace

void bind_scaling(py::module_& m) {
  m.def("scale", &scale_with, py::arg("engine"), py::arg("snapshot"), py::arg("now"), py::arg("types"),
        py::arg("tables"), py::arg("file"), py::arg("question"), "Nodes to add and to give back, as tables by kind.");
}

}  // namespace kaisched::python
