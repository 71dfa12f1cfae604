#include "sessions.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include <kaisched/kaisched.hpp>

#include "columns.hpp"
#include "errors.hpp"
#include "handles.hpp"
#include "interrupts.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace py = pybind11;

namespace kaisched::python {

namespace {

/// Row of an entity of a snapshot, given by its name or as an identifier of a column.
std::uint32_t row_in(const snapshot& base, entity_kind kind, const py::handle& given) {
  if (!py::isinstance<py::str>(given)) return unwrap(base.row_of(entity_id(given.cast<std::uint64_t>()), kind));
  const auto name = given.cast<std::string>();
  const model::cluster_state& state = model::state_of(base);
  const auto find = [&](std::uint32_t count, const auto& is_it) {
    for (std::uint32_t row = 0; row < count; ++row) {
      if (is_it(row)) return row;
    }
    throw failure({status::not_found, "there is no '" + name + "'", {}});
  };
  if (kind == entity_kind::pod)
    return find(state.pod_slots, [&](pod_row p) { return state.pods[p].live && state.pod_names[p] == name; });
  if (kind == entity_kind::node)
    return find(state.node_count(), [&](node_row n) { return (*state.nodes)[n]->name == name; });
  if (kind == entity_kind::queue) {
    return find(static_cast<std::uint32_t>(state.queues->size()),
                [&](queue_row q) { return (*state.queues)[q].live && (*state.queues)[q].name == name; });
  }
  return find(state.group_slots, [&](group_row g) { return state.groups[g].live && state.group_names[g] == name; });
}

/// Results are converted once and kept until the session goes on.
class py_session : public shared_object<session> {
 public:
  py_session(session opened, std::shared_ptr<policy_faults> faults)
      : shared_object(std::in_place, std::move(opened)), faults_(std::move(faults)) {}
  void run(const std::optional<std::string>& action) {
    std::vector<std::string> known;
    std::vector<std::string> all;
    play([&](session& s) {
      known = s.warnings();
      result<void> done = action ? s.run(*action) : s.run();
      all = s.warnings();
      return done;
    });
    for (std::size_t i = known.size(); i < all.size(); ++i) warn(all[i]);
  }
  void run_group(const std::string& action, const py::handle& group) {
    const group_row row = row_in(base(), entity_kind::pod_group, group);
    play([&, row](session& s) { return s.run(action, row); });
  }
  [[nodiscard]] std::unique_ptr<py_session> fork() const {
    return std::make_unique<py_session>(read([](const session& s) { return s.fork(); }), faults_);
  }

  // ---- the statement
  bool place(result<bool> (session::*how)(pod_row, node_row), const py::handle& pod, const py::handle& node) {
    const snapshot over = base();
    const pod_row p = row_in(over, entity_kind::pod, pod);
    const node_row n = row_in(over, entity_kind::node, node);
    return unwrap(step([&](session& s) { return (s.*how)(p, n); }));
  }
  void evict(const py::handle& pod) {
    const pod_row row = row_in(base(), entity_kind::pod, pod);
    unwrap(step([&](session& s) { return s.evict(row); }));
  }
  void commit() {
    unwrap(step([](session& s) { return s.commit(); }));
  }
  [[nodiscard]] checkpoint mark() const {
    return read([](const session& s) { return s.mark(); });
  }
  void rollback(const checkpoint& to) {
    unwrap(step([&](session& s) { return s.rollback(to); }));
  }

  py::dict results(table_kind kind) {
    if (const auto found = tables_.find(kind); found != tables_.end()) return found->second.attr("copy")();
    const std::uint64_t generation = generation_;
    py::dict columns = to_table(unwrap(read([&](const session& s) { return s.to_table(kind); })));
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
    return to_table(unwrap(read([&](const session& s) -> result<table> {
      const result<Answer> answer = (s.*ask)(row);
      if (!answer) return answer.failure();
      return s.to_table(*answer);
    })));
  }
  py::dict remedies(const py::iterable& groups, const remedy_limits& limits) const {
    const snapshot over = base();
    std::vector<group_row> rows;
    for (const py::handle group : groups) rows.push_back(row_in(over, entity_kind::pod_group, group));
    return to_table(unwrap(read([&](const session& s) -> result<table> {
      const result<std::vector<remedy_report>> found = s.remedies(rows, limits);
      if (!found) return found.failure();
      return s.to_table(rows, *found);
    })));
  }
  py::dict gaps() const {
    return to_table(unwrap(read([](const session& s) -> result<table> {
      const result<std::vector<optimality_gap>> found = s.gaps();
      if (!found) return found.failure();
      return s.to_table(*found);
    })));
  }
  py::dict what_if(const py::object& groups, const std::string& op, const what_if_limits& limits,
                   const py::kwargs& tables) const {
    const snapshot over = base();
    const py::cpp_function dimensions([&over] { return over.dimension_names(); });
    const input_tables change(py::module_::import("kaisched._tables").attr("build")(tables, op, dimensions));
    const auto names = groups.is_none() ? std::vector<std::string>() : groups.cast<std::vector<std::string>>();
    const std::vector<std::string_view> asked(names.begin(), names.end());
    return to_table(unwrap(read([&](const session& s) -> result<table> {
      const result<what_if_report> report = s.what_if(change.views(), asked, limits);
      if (!report) return report.failure();
      return s.to_table(*report);
    })));
  }

  [[nodiscard]] snapshot base() const {
    return read([](const session& s) { return s.base(); });
  }

 private:
  /// Changes the session. Tables of before are gone, also for who asks meanwhile.
  template <class Call>
  std::invoke_result_t<Call&, session&> step(Call&& call) {
    forget_tables();
    auto outcome = change(std::forward<Call>(call));
    forget_tables();
    return outcome;
  }
  /// The same for what may take long.
  template <class Call>
  void play(const Call& call) {
    forget_tables();
    result<void> outcome = interruptible([&] { return change_unlocked(call); }, [this] { body().cancel(); });
    forget_tables();
    unwrap_played(std::move(outcome), *faults_);
  }
  void forget_tables() {
    tables_.clear();
    ++generation_;
  }
  std::map<table_kind, py::dict> tables_;  // guarded by the interpreter lock
  std::uint64_t generation_ = 0;
  std::shared_ptr<policy_faults> faults_;
};

std::unique_ptr<py_session> open_session(const py_engine& with, const snapshot& base, std::int64_t now) {
  result<session> opened = with.read([&](const engine& e) { return e.open(base, now); });
  return std::make_unique<py_session>(unwrap_played(std::move(opened), *with.faults()), with.faults());
}

std::unique_ptr<py_session> run_session(const py_engine& with, const snapshot& base, std::int64_t now) {
  std::unique_ptr<py_session> opened = open_session(with, base, now);
  opened->run(std::nullopt);
  return opened;
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
          "gaps", &py_session::gaps,
          "How far what was decided is from the best that any scheduler could have done: a row for each bound that "
          "proves it. `achieved`, `bound` and `distance` are of victims of a start, domains of a gang, or further pods "
          "like one that waits; distance 0: nothing could be better. Rows of one number `gap` are one comparison.")
      .def(
          "what_if",
          [](const py_session& s, const py::object& groups, const std::string& op, bool displace,
             std::uint32_t eviction_steps, std::uint32_t ends, bool policy_actions, const py::kwargs& tables) {
            return s.what_if(groups, op, {displace, eviction_steps, ends, policy_actions}, tables);
          },
          py::arg("groups") = py::none(), py::kw_only(), py::arg("op") = "add", py::arg("displace") = looked.displace,
          py::arg("eviction_steps") = looked.eviction_steps, py::arg("ends") = looked.ends,
          py::arg("policy_actions") = looked.policy_actions,
          "What would become of groups if the cluster had changed: would they start now, whom would they displace, "
          "when "
          "would they start? A row for each group, asked about alone; None: those that the tables add. Tables and `op` "
          "are those of `Cluster.apply`, applied to the cluster as this session leaves it. `displace`: ask "
          "consolidation, reclaim and preempt, `eviction_steps` sets of victims and placements each. `ends`: points in "
          "time at which groups end that are looked at; 0: do not ask when. `policy_actions`: at these points the "
          "policy's own allocate and backfill decide, not allocate alone.");
}

/// Decisions by hand.
void bind_statement(py::module_& m, py::class_<py_session>& sessions) {
  py::class_<checkpoint>(m, "Checkpoint", "A position in the statement of a session.");
  const auto placed = [](auto how) {
    return [how](py_session& s, const py::handle& pod, const py::handle& node) { return s.place(how, pod, node); };
  };
  sessions
      .def("allocate", placed(&session::allocate), py::arg("pod"), py::arg("node"),
           "Puts a pending pod on a node, on free resources. False if it does not fit now. Only resources and devices "
           "are tested, not the rules of the policy.")
      .def("pipeline", placed(&session::pipeline), py::arg("pod"), py::arg("node"),
           "Claims free or releasing resources of a node for a pending or evicted pod. False if it does not fit.")
      .def("evict", &py_session::evict, py::arg("pod"), "Stops a pod that is on a node; its place becomes releasing.")
      .def("commit", &py_session::commit, "Turns what was done by hand into decisions of one commit.")
      .def("mark", &py_session::mark, "The present end of what was done by hand, for `rollback`.")
      .def("rollback", &py_session::rollback, py::arg("to"), "Undoes everything since the checkpoint.");
}

}  // namespace

py::object make_session(session opened, std::shared_ptr<policy_faults> faults) {
  return py::cast(std::make_unique<py_session>(std::move(opened), std::move(faults)));
}

void bind_sessions(py::module_& m, py::class_<py_engine>& engines) {
  const auto result_table = [](table_kind kind) { return [kind](py_session& s) { return s.results(kind); }; };
  py::class_<py_session> sessions(m, "Session", "One run over one snapshot. Results are tables.");
  sessions
      .def("run", &py_session::run, py::arg("action") = py::none(),
           "Runs one action by name, or all actions of the options. Ctrl-C ends it; what was committed stays.")
      .def("run_group", &py_session::run_group, py::arg("action"), py::arg("group"),
           "Runs an action for one group alone: would it start now, and if others made room? Ask a fork to change "
           "nothing.")
      .def("fork", &py_session::fork,
           "A second session over the same state, for what-if questions. Costs nothing that grows with the cluster.")
      .def_property_readonly("decisions", result_table(table_kind::decision), "What to do, in order of commits.")
      .def_property_readonly("outcome", result_table(table_kind::outcome),
                             "The net decision on each pod: what a host has to do, in every mode.")
      .def_property_readonly("reasons", result_table(table_kind::reason), "Why pod groups wait.")
      .def_property_readonly("queue_shares", result_table(table_kind::queue_share), "Quota, fair share, allocation.")
      .def_property_readonly("placements", result_table(table_kind::placement), "Where every pod is at the end.")
      .def_property_readonly("statistics", result_table(table_kind::statistic), "Counters per action.")
      .def_property_readonly("attempts", result_table(table_kind::attempt),
                             "What the actions that evict did for groups that waited.")
      .def_property_readonly("sharing_groups", result_table(table_kind::sharing_group),
                             "Devices that pods share, and which decisions opened and closed them.")
      .def_property_readonly("snapshot", &py_session::base, "The snapshot that the session was opened over.")
      .def_property_readonly("digest", &py_session::digest, "SHA-256 over preset, mode and decisions.")
      .def(
          "explain",
          [](const py::object& self, const py::object& of) {
            return py::module_::import("kaisched._explain").attr("explain")(self, of);
          },
          py::arg("of"), "Why a pod is where it is, or why it or its group waits: an `Explanation`.");
  bind_statement(m, sessions);
  bind_questions(sessions);
  engines.def("open", &open_session, py::arg("snapshot"), py::arg("now") = 0, "Opens a session, runs nothing.")
      .def("run", &run_session, py::arg("snapshot"), py::arg("now") = 0,
           "Opens a session at a time in nanoseconds and runs the actions of the options. Ctrl-C ends it.");
}

}  // namespace kaisched::python
