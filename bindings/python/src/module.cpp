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
#include "model/state.hpp"
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

/// Row of an entity of a snapshot, given by its name or as an identifier of a column.
std::uint32_t row_in(const snapshot& base, entity_kind kind, const py::handle& given) {
  if (!py::isinstance<py::str>(given)) return unwrap(base.row_of(entity_id(given.cast<std::uint64_t>()), kind));
  const auto name = given.cast<std::string>();
  const model::cluster_state& state = base.state();
  const auto find = [&](std::uint32_t count, const auto& is_it) {
    for (std::uint32_t row = 0; row < count; ++row) {
      if (is_it(row)) return row;
    }
    throw failure({status::not_found, "there is no '" + name + "'", {}});
  };
  if (kind == entity_kind::pod)
    return find(state.pod_slots, [&](pod_row p) { return state.pods[p].live && state.pod_names[p] == name; });
  if (kind == entity_kind::queue) {
    return find(static_cast<std::uint32_t>(state.queues->size()),
                [&](queue_row q) { return (*state.queues)[q].live && (*state.queues)[q].name == name; });
  }
  return find(state.group_slots, [&](group_row g) { return state.groups[g].live && state.group_names[g] == name; });
}

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

  /// Asks about one entity and makes a table of the answer.
  template <class Answer>
  py::dict explain(result<Answer> (session::*ask)(std::uint32_t) const, entity_kind kind, const py::handle& of) const {
    const std::uint32_t row = row_in(base(), kind, of);
    return to_dict(unwrap(read([&](const session& s) -> result<table> {
      const result<Answer> answer = (s.*ask)(row);
      if (!answer) return answer.failure();
      return s.to_table(*answer);
    })));
  }
  py::dict remedies(const py::iterable& groups, const remedy_limits& limits) const {
    const snapshot over = base();
    std::vector<group_row> rows;
    for (const py::handle group : groups) rows.push_back(row_in(over, entity_kind::pod_group, group));
    return to_dict(unwrap(read([&](const session& s) -> result<table> {
      const result<std::vector<remedy_report>> found = s.remedies(rows, limits);
      if (!found) return found.failure();
      return s.to_table(rows, *found);
    })));
  }
  py::dict what_if(const py::object& groups, const std::string& op, const what_if_limits& limits,
                   const py::kwargs& tables) const {
    const snapshot over = base();
    const py::cpp_function dimensions([&over] { return over.dimension_names(); });
    const input_tables change(py::module_::import("kaisched._tables").attr("build")(tables, op, dimensions));
    const auto names = groups.is_none() ? std::vector<std::string>() : groups.cast<std::vector<std::string>>();
    const std::vector<std::string_view> asked(names.begin(), names.end());
    return to_dict(unwrap(read([&](const session& s) -> result<table> {
      const result<what_if_report> report = s.what_if(change.views(), asked, limits);
      if (!report) return report.failure();
      return s.to_table(*report);
    })));
  }

 private:
  [[nodiscard]] snapshot base() const {
    return read([](const session& s) { return s.base(); });
  }
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

/// Questions why and what if: nothing changes, and the answers are tables that are not kept.
void bind_questions(py::class_<py_session>& sessions) {
  const auto explained = [](auto ask, entity_kind kind) {
    return [ask, kind](const py_session& s, const py::handle& of) { return s.explain(ask, kind, of); };
  };
  const remedy_limits tried;
  const what_if_limits looked;
  sessions
      .def(
          "candidates", explained(&session::candidates, entity_kind::pod), py::arg("pod"),
          "Why here, or why nowhere: a row for each node, those that can take the pod first, best first. Of a pod that "
          "this session has placed in the state in which it was placed. Entities are named, or identifiers of columns.")
      .def(
          "remedies",
          [](const py_session& s, const py::iterable& groups, std::uint32_t trials, std::uint32_t together,
             std::uint32_t node_kinds, std::uint32_t new_nodes, bool evictions, std::uint32_t eviction_steps) {
            return s.remedies(groups, {trials, together, node_kinds, new_nodes, evictions, eviction_steps});
          },
          py::arg("groups"), py::kw_only(), py::arg("trials") = tried.trials, py::arg("together") = tried.together,
          py::arg("node_kinds") = tried.node_kinds, py::arg("new_nodes") = tried.new_nodes,
          py::arg("evictions") = tried.evictions, py::arg("eviction_steps") = tried.eviction_steps,
          "What would let groups that wait start now, each change tried: a row for each change, those of one number "
          "`remedy` together. Number 0: nothing was found. At most `trials` sessions for each group, changes of up to "
          "`together` kinds at once, up to `new_nodes` nodes of each of `node_kinds` kinds; with `evictions` the "
          "actions that evict are asked, `eviction_steps` sets of victims and placements each.")
      .def(
          "certify", explained(&session::certify, entity_kind::pod_group), py::arg("group"),
          "Why a group that waits cannot start, as a proof: a row for each bound over nodes. Of kind \"none\" if there "
          "is no proof, which does not mean that the group can start.")
      .def("choice", explained(&session::choice, entity_kind::pod), py::arg("pod"),
           "Why the node of a pod that this session has placed was chosen: the choice, which parts decided, and what "
           "would have turned it.")
      .def("victim", explained(&session::victim, entity_kind::pod), py::arg("pod"),
           "Why this session made a pod leave or move: by which rules, for whom, who was left alone and why, and what "
           "if its group had been protected.")
      .def("share_steps", explained(&session::share_steps, entity_kind::queue), py::arg("queue"),
           "How the fair share of a queue came about, step by step, siblings included.")
      .def(
          "what_if",
          [](const py_session& s, const py::object& groups, const std::string& op, bool displace,
             std::uint32_t eviction_steps, std::uint32_t ends,
             const py::kwargs& tables) { return s.what_if(groups, op, {displace, eviction_steps, ends}, tables); },
          py::arg("groups") = py::none(), py::kw_only(), py::arg("op") = "add", py::arg("displace") = looked.displace,
          py::arg("eviction_steps") = looked.eviction_steps, py::arg("ends") = looked.ends,
          "What would become of groups if the cluster had changed: would they start now, whom would they displace, "
          "when "
          "would they start? A row for each group, asked about alone; None: those that the tables add. Tables and `op` "
          "are those of `Cluster.apply`, applied to the cluster as this session leaves it. `displace`: ask "
          "consolidation, reclaim and preempt, `eviction_steps` sets of victims and placements each. `ends`: points in "
          "time at which groups end that are looked at; 0: do not ask when.");
}

void bind_session(py::module_& m) {
  const auto result_table = [](table_kind kind) { return [kind](py_session& s) { return s.to_table(kind); }; };
  py::class_<py_session> sessions(m, "Session", "One run over one snapshot. Results are dicts of columns.");
  sessions
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
  bind_questions(sessions);
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
