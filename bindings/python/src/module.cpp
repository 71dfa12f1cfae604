/// @file
/// The module kaisched._core: handles and arrays. What can be said in Python is said there.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <kaisched/kaisched.hpp>

#include "columns.hpp"
#include "errors.hpp"
#include "scenario.hpp"

namespace py = pybind11;

namespace kaisched::python {
namespace {

/// An object of the library for many Python threads. Calls run without the interpreter lock and keep the rule of the
/// library: const ones together, others alone. They must not touch Python objects.
template <class T>
class shared_object {
 public:
  template <class... Arguments>
  explicit shared_object(std::in_place_t, Arguments&&... arguments) : body_(std::forward<Arguments>(arguments)...) {}

  template <class Call>
  auto change(Call&& call) {
    const py::gil_scoped_release released;  // before the lock: whoever holds the lock may wait for the interpreter
    const std::lock_guard lock(mutex_);
    return std::forward<Call>(call)(body_);
  }
  template <class Call>
  auto read(Call&& call) const {
    const py::gil_scoped_release released;
    const std::shared_lock lock(mutex_);
    return std::forward<Call>(call)(body_);
  }

 private:
  mutable std::shared_mutex mutex_;
  T body_;
};

class py_cluster : public shared_object<cluster> {
 public:
  py_cluster() : shared_object(std::in_place) {}
  void apply(const py::sequence& tables) {
    const input_tables input(tables);
    unwrap(change([&](cluster& c) { return c.apply(std::span<const table_view>(input.views())); }));
  }
  std::uint64_t find(const py::handle& kind, const std::string& name) const {
    // Kinds of input tables and kinds of entities share their numbers.
    const auto entity = static_cast<entity_kind>(kind_of(kind));
    return unwrap(read([&](const cluster& c) { return c.find(entity, name); })).value;
  }
  void set(const std::string& option, const std::string& value) {
    unwrap(change([&](cluster& c) { return c.set(option, value); }));
  }
  std::string get(const std::string& option) const {
    return unwrap(read([&](const cluster& c) { return c.get(option); }));
  }
  snapshot take_snapshot() {
    return change([](cluster& c) { return c.take_snapshot(); });
  }
};

/// Results are converted once and kept until the session goes on.
class py_session : public shared_object<session> {
 public:
  explicit py_session(session body) : shared_object(std::in_place, std::move(body)) {}
  void run(const std::optional<std::string>& action) {
    forget_tables();
    auto outcome = change([&](session& s) { return action ? s.run(*action) : s.run(); });
    forget_tables();
    unwrap(std::move(outcome));
  }
  py::dict to_table(table_kind kind) {
    if (const auto found = tables_.find(kind); found != tables_.end()) return found->second.attr("copy")();
    const std::uint64_t generation = generation_;
    py::dict columns = to_dict(unwrap(read([&](const session& s) { return s.to_table(kind); })));
    // Another thread may have run an action meanwhile; what was true before it is not kept.
    if (generation == generation_) tables_.insert_or_assign(kind, columns);
    return columns.attr("copy")();
  }
  std::string digest() const {
    return read([](const session& s) { return s.digest(); });
  }

 private:
  void forget_tables() {
    tables_.clear();
    ++generation_;
  }
  std::map<table_kind, py::dict> tables_;  // guarded by the interpreter lock
  std::uint64_t generation_ = 0;
};

class py_engine : public shared_object<engine> {
 public:
  py_engine() : shared_object(std::in_place) {
    change([](engine& e) { e.set_device_catalog(unwrap(shipped_device_catalog())); });
  }
  void set(const std::string& option, const std::string& value) {
    unwrap(change([&](engine& e) { return e.set(option, value); }));
  }
  std::string get(const std::string& option) const {
    return unwrap(read([&](const engine& e) { return e.get(option); }));
  }
  std::unique_ptr<py_session> open(const snapshot& base, std::int64_t now) const {
    return std::make_unique<py_session>(unwrap(read([&](const engine& e) { return e.open(base, now); })));
  }
  std::unique_ptr<py_session> run(const snapshot& base, std::int64_t now) const {
    return std::make_unique<py_session>(unwrap(read([&](const engine& e) { return e.run(base, now); })));
  }
};

/// Runs a const function of a snapshot without the interpreter lock.
template <class Call>
auto unlocked(Call&& call) {
  const py::gil_scoped_release released;
  return std::forward<Call>(call)();
}

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
            return to_dict(unwrap(unlocked([&] { return s.to_table(k); })));
          },
          py::arg("kind"),
          "All entities of one kind as a dict of columns, ordered by name; of kind \"quarantine\" what was left out.")
      .def_property_readonly("dimension_names", &snapshot::dimension_names, "Names of the resource dimensions.")
      .def(py::pickle(&save, &load));
}

void bind_session(py::module_& m) {
  const auto result_table = [](table_kind kind) { return [kind](py_session& s) { return s.to_table(kind); }; };
  py::class_<py_session>(m, "Session", "One run over one snapshot. Results are dicts of columns.")
      .def("run", &py_session::run, py::arg("action") = py::none(),
           "Runs one action by name, or all actions of the options.")
      .def_property_readonly("decisions", result_table(table_kind::decision), "What to do, in order of commits.")
      .def_property_readonly("reasons", result_table(table_kind::reason), "Why pod groups wait.")
      .def_property_readonly("queue_shares", result_table(table_kind::queue_share), "Quota, fair share, allocation.")
      .def_property_readonly("placements", result_table(table_kind::placement), "Where every pod is at the end.")
      .def_property_readonly("statistics", result_table(table_kind::statistic), "Counters per action.")
      .def_property_readonly("attempts", result_table(table_kind::attempt),
                             "What the actions that evict did for groups that waited.")
      .def_property_readonly("sharing_groups", result_table(table_kind::sharing_group),
                             "Devices that pods share, and which decisions opened and closed them.")
      .def_property_readonly("digest", &py_session::digest, "SHA-256 over preset, mode and decisions.");
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
  bind_session(m);
  py::class_<py_engine>(m, "Engine")
      .def(py::init<>())
      .def("set_text", &py_engine::set, py::arg("option"), py::arg("value"), "Sets one option from text.")
      .def("get_text", &py_engine::get, py::arg("option"), "Value of one option as text.")
      .def("open", &py_engine::open, py::arg("snapshot"), py::arg("now") = 0, "Opens a session, runs nothing.")
      .def("run", &py_engine::run, py::arg("snapshot"), py::arg("now") = 0,
           "Opens a session at a time in nanoseconds and runs the actions of the options.");
}

}  // namespace
}  // namespace kaisched::python

PYBIND11_MODULE(_core, m) {
  using namespace kaisched::python;  // NOLINT(google-build-using-namespace)
  m.doc() = "Handles of the scheduling engine; use the package kaisched.";
  register_errors();
  bind_handles(m);
  bind_scenario(m);
  m.def("schema", &schema_list, "All kinds of tables and their columns.");
  m.def(
      "kind_of", [](const py::handle& name) { return static_cast<std::uint32_t>(kind_of(name)); }, py::arg("name"),
      "Number of the kind of table that a name means, in the singular or plural.");
  m.def("option_list", &option_dicts, "All options of engines and clusters.");
  m.def("status_list", &status_list, "Number, name and meaning of every status.");
  m.def("pod_status_names", [] {
    std::vector<std::string_view> names;
    for (std::uint8_t i = 0; i < kaisched::pod_status_count; ++i) {
      names.push_back(kaisched::pod_status_name(static_cast<kaisched::pod_status>(i)));
    }
    return names;
  });
  m.def("decision_kind_name", [](std::uint8_t k) { return kaisched::decision_kind_name(kaisched::decision_kind{k}); });
  m.attr("version") = KAISCHED_VERSION_STRING;
  m.attr("UNLIMITED") = kaisched::unlimited;
  m.attr("UNSET") = kaisched::unset;
  m.attr("WHOLE_DEVICE") = kaisched::whole_device;
}
