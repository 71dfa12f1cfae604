#include "scenario.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <kaisched/options.hpp>

#include "errors.hpp"
#include "files/cluster_file.hpp"
#include "io/cluster_input.hpp"
#include "io/scenario/minimise.hpp"
#include "io/scenario/scenario.hpp"

namespace py = pybind11;

namespace kaisched::python {

namespace {

io::scenario_settings settings_of(const std::map<std::string, std::string>& options) {
  return {options.begin(), options.end()};
}

io::scenario parse(const std::string& text, const std::string& name) {
  const py::gil_scoped_release released;
  return unwrap(io::parse_scenario(text, name));
}

io::scenario_outcome play(const io::scenario& what, const std::map<std::string, std::string>& options) {
  const io::scenario_setup setup{settings_of(options), {}};
  policy_options trial;
  for (const auto& [name, value] : options) static_cast<void>(trial.set(name, value));
  for (const std::string& text : trial.warnings) warn(text);
  io::scenario_outcome outcome = [&] {
    const py::gil_scoped_release released;
    return io::play_scenario(what, setup);
  }();
  for (const io::scenario_finding& one : outcome.warnings)
    warn(what.source + ":" + std::to_string(one.line) + ": " + one.text);
  return outcome;
}

py::list findings(const std::vector<io::scenario_finding>& of) {
  py::list all;
  for (const io::scenario_finding& one : of) all.append(py::make_tuple(one.line, one.text));
  return all;
}

/// The first snapshot of a scenario, and its clock.
py::tuple first_cluster(const io::scenario& from) {
  auto made = [&] {
    const py::gil_scoped_release released;
    const io::cluster_input input = unwrap(io::initial_cluster(unwrap(io::parse_scenario(from.text, from.source))));
    cluster built = unwrap(io::build_cluster(input));
    return std::pair(built.take_snapshot(), input.now);
  }();
  return py::make_tuple(std::move(made.first), made.second);
}

py::tuple read_cluster(const std::filesystem::path& path) {
  auto made = [&] {
    const py::gil_scoped_release released;
    const io::cluster_input input = unwrap(io::read_cluster(path.string()));
    cluster built = unwrap(io::build_cluster(input));
    return std::pair(built.take_snapshot(), input.now);
  }();
  return py::make_tuple(std::move(made.first), made.second);
}

void write_cluster(const std::filesystem::path& path, const snapshot& from, std::int64_t now) {
  const py::gil_scoped_release released;
  unwrap(io::write_cluster(path.string(), from, now));
}

std::string minimise(const io::scenario& from, const py::function& interesting, std::size_t most_trials) {
  io::minimise_setup how;
  // Python may keep what it is shown: it gets a scenario of its own.
  how.interesting = [&](const io::scenario& one) {
    return interesting(std::make_unique<io::scenario>(parse(one.text, one.source))).cast<bool>();
  };
  how.most_trials = most_trials;
  return unwrap(io::minimise_scenario(from, how)).text;
}

}  // namespace

void bind_scenario(py::module_& m) {
  py::class_<io::scenario_outcome>(m, "ScenarioOutcome", "What became of a scenario.")
      .def_property_readonly("passed", &io::scenario_outcome::passed, "True if everything is as expected.")
      .def_property_readonly(
          "findings", [](const io::scenario_outcome& o) { return findings(o.findings); },
          "Differences as (line, text).")
      .def_property_readonly(
          "unresolved", [](const io::scenario_outcome& o) { return findings(o.unresolved); },
          "Findings that `updated` does not mend, as (line, text).")
      .def_readonly("sessions", &io::scenario_outcome::sessions, "Number of sessions that ran.")
      .def_readonly("expectations", &io::scenario_outcome::expectations, "Number of expectations.")
      .def_readonly("updated", &io::scenario_outcome::updated, "The text with its expectations renewed.");
  py::class_<io::scenario>(m, "Scenario",
                           "A small cluster, what happens to it, and what must be decided (`.ks`, docs/scenario.md).")
      .def(py::init(&parse), py::arg("text"), py::arg("name") = "scenario.ks",
           "Parses a scenario. Raises ArgumentError with line and column.")
      .def_readonly("title", &io::scenario::title, "The title, or an empty text.")
      .def_readonly("rules", &io::scenario::rules, "Numbers of the rules that it shows.")
      .def_readonly("text", &io::scenario::text, "The text.")
      .def("play", &play, py::arg("options") = std::map<std::string, std::string>{},
           "Plays all steps and compares. `options` win over those of the text.")
      .def("cluster", &first_cluster, "Snapshot and clock as the first session finds them.")
      .def("minimise", &minimise, py::arg("interesting"), py::arg("most_trials") = std::size_t{100'000},
           "The text of the smallest scenario that was found for which `interesting(scenario)` is true.");
  m.def("read_cluster", &read_cluster, py::arg("path"),
        "Snapshot and clock (nanoseconds) of a file: JSON, YAML or a scenario, by its ending.");
  m.def("write_cluster", &write_cluster, py::arg("path"), py::arg("snapshot"), py::arg("now") = 0,
        "Writes a snapshot as JSON, YAML or a scenario, by the ending of the name.");
}

}  // namespace kaisched::python
