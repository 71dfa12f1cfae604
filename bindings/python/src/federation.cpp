#include "federation.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include <kaisched/kaisched.hpp>

#include "columns.hpp"
#include "errors.hpp"
#include "handles.hpp"
#include "sessions.hpp"

namespace py = pybind11;

namespace kaisched::python {

namespace {

using texts = std::vector<std::string>;
using told_labels = std::vector<std::pair<std::string, std::string>>;

/// What is behind a member: the objects of Python, which live as long as the federation knows them.
struct behind_member {
  py::object cluster, engine;
};

/// Exclusive use of clusters and shared use of engines, each once, in the order of their addresses.
class held_members {
 public:
  explicit held_members(const std::map<std::string, behind_member>& of) {
    std::set<py_cluster*> clusters;
    std::set<py_engine*> engines;
    for (const auto& [name, one] : of) {
      clusters.insert(one.cluster.cast<py_cluster*>());
      engines.insert(one.engine.cast<py_engine*>());
    }
    clusters_.assign(clusters.begin(), clusters.end());
    engines_.assign(engines.begin(), engines.end());
  }
  /// Without the interpreter lock: whoever holds one of them may wait for the interpreter.
  void lock() {
    for (py_cluster* one : clusters_) exclusive_.emplace_back(one->mutex());
    for (py_engine* one : engines_) shared_.emplace_back(one->mutex());
  }
  /// What policies have raised in sessions of an engine.
  [[nodiscard]] const std::vector<py_engine*>& engines() const { return engines_; }

 private:
  std::vector<py_cluster*> clusters_;
  std::vector<py_engine*> engines_;
  std::vector<std::unique_lock<std::shared_mutex>> exclusive_;
  std::vector<std::shared_lock<std::shared_mutex>> shared_;
};

class py_federation : public shared_object<federation> {
 public:
  explicit py_federation(federation_options options) : shared_object(std::in_place, std::move(options)) {}

  void add_member(const std::string& name, const py::object& state, const py::object& with, const told_labels& labels,
                  std::int64_t price, const texts& data, bool open) {
    auto* const cluster_of = state.cast<py_cluster*>();
    auto* const engine_of = with.cast<py_engine*>();
    // The federation borrows both; `members_` keeps them.
    const std::shared_ptr<cluster> shared_cluster(std::shared_ptr<void>(), cluster_of->address());
    const std::shared_ptr<const engine> shared_engine(std::shared_ptr<void>(), engine_of->address());
    unwrap(change([&](federation& f) {
      return f.add_member({name, sorted(labels), price, data, open}, shared_cluster, shared_engine);
    }));
    members_.insert_or_assign(name, behind_member{state, with});
  }
  void add_known_member(const std::string& name, const std::string& summary, const told_labels& labels,
                        std::int64_t price, const texts& data, bool open) {
    unwrap(change([&](federation& f) -> result<void> {
      result<cluster_summary> known = summary_from_json(summary, "summary");
      if (!known) return known.failure();
      return f.add_member({name, sorted(labels), price, data, open}, std::move(*known));
    }));
  }
  void change_member(const std::string& name, const told_labels& labels, std::int64_t price, const texts& data,
                     bool open) {
    unwrap(change([&](federation& f) { return f.change_member({name, sorted(labels), price, data, open}); }));
  }
  void update_member(const std::string& name, const std::string& summary) {
    unwrap(change([&](federation& f) -> result<void> {
      result<cluster_summary> known = summary_from_json(summary, "summary");
      if (!known) return known.failure();
      return f.update_member(name, std::move(*known));
    }));
  }
  texts lose_member(const std::string& name) {
    texts back = unwrap(change([&](federation& f) { return f.lose_member(name); }));
    members_.erase(name);
    return back;
  }
  [[nodiscard]] texts member_names() const {
    return read([](const federation& f) { return f.member_names(); });
  }
  std::string summary(const std::string& name, std::int64_t now) {
    return summary_to_json(unwrap(with_members([&](federation& f) { return f.summary(name, now); })));
  }
  void submit(const py::sequence& tables) {
    const input_tables input(tables);
    unwrap(change([&](federation& f) { return f.submit(std::span<const table_view>(input.views())); }));
  }
  void wish(const std::string& group, const texts& members, const told_labels& required,
            const std::vector<std::tuple<std::string, std::string, std::int64_t>>& preferred,
            const std::vector<std::pair<std::string, std::int64_t>>& data, std::int64_t most_price) {
    group_wishes wishes;
    wishes.members = members;
    wishes.required = sorted(required);
    for (const auto& [key, value, weight] : preferred) wishes.preferred.push_back({key, value, weight});
    for (const auto& [key, weight] : data) wishes.data.push_back({key, weight});
    wishes.most_price = most_price;
    unwrap(change([&](federation& f) { return f.wish(group, std::move(wishes)); }));
  }
  void withdraw(const texts& groups) {
    const std::vector<std::string_view> names(groups.begin(), groups.end());
    unwrap(with_members([&](federation& f) { return f.withdraw(names); }));
  }
  void answer(const std::string& group, bool accepted) {
    unwrap(change([&](federation& f) { return f.answer(group, accepted); }));
  }
  [[nodiscard]] std::pair<std::string, std::string> stage(const std::string& group) const {
    const auto at = unwrap(read([&](const federation& f) { return f.stage(group); }));
    return {std::string(group_stage_name(at.first)), at.second};
  }
  py::dict queues(std::int64_t now) {
    return to_table(with_members([&](federation& f) { return to_table_of(f.queues(now)); }));
  }
  py::dict decide(std::int64_t now) {
    federation_report report = unwrap(with_members([&](federation& f) { return f.decide(now); }));
    py::dict made;
    for (const table_kind kind : {table_kind::federated_place, table_kind::federated_wait, table_kind::member_session})
      made[py::str(std::string(schema_of(static_cast<std::uint32_t>(kind))->name))] =
          to_table(unwrap(report.to_table(kind)));
    made["digest"] = report.digest();
    py::list sessions;
    for (member_session& one : report.sessions) {
      const auto* const with = members_.at(one.member).engine.cast<py_engine*>();
      sessions.append(make_session(std::move(one.decided), with->faults()));
    }
    made["sessions"] = std::move(sessions);
    return made;
  }

 private:
  static told_labels sorted(told_labels labels) {
    std::sort(labels.begin(), labels.end());
    return labels;
  }
  static table to_table_of(const std::vector<federated_queue>& queues) { return kaisched::to_table(queues); }
  /// For calls that read or change clusters of members. What a policy raises is the reason of a member that failed.
  template <class Call>
  std::invoke_result_t<const Call&, federation&> with_members(const Call& call) {
    held_members held(members_);
    auto outcome = change([&](federation& f) {
      held.lock();
      return call(f);
    });
    for (py_engine* one : held.engines()) (void)one->faults()->take();
    return outcome;
  }

  std::map<std::string, behind_member> members_;  // guarded by the interpreter lock
};

federation_options options_of(const py::object& order, const std::string& fit, std::uint32_t window,
                              std::uint32_t rounds, std::uint32_t room_asked) {
  federation_options made;
  const auto wrong = [](const std::string& text) { return failure({status::argument, text, {}}); };
  if (!order.is_none()) {
    made.order.clear();
    for (const std::string& name : order.cast<texts>()) {
      auto found = member_criterion::preference;
      while (found < member_criterion::name && member_criterion_name(found) != name)
        found = static_cast<member_criterion>(static_cast<std::uint8_t>(found) + 1);
      if (found == member_criterion::name)
        throw wrong("order: expected preference, data, price, entitlement, wait or fit, got '" + name + "'");
      if (std::find(made.order.begin(), made.order.end(), found) != made.order.end())
        throw wrong("order: " + name + " is given twice");
      made.order.push_back(found);
    }
  }
  if (fit != member_fit_name(member_fit::pack) && fit != member_fit_name(member_fit::spread))
    throw wrong("fit: expected pack or spread, got '" + fit + "'");
  made.fit = fit == member_fit_name(member_fit::spread) ? member_fit::spread : member_fit::pack;
  made.window = window;
  made.rounds = rounds;
  made.room_asked = room_asked;
  return made;
}

}  // namespace

void bind_federation(py::module_& m) {
  py::class_<py_federation>(m, "Federation")
      .def(py::init([](const py::object& order, const std::string& fit, std::uint32_t window, std::uint32_t rounds,
                       std::uint32_t room_asked) {
             return std::make_unique<py_federation>(options_of(order, fit, window, rounds, room_asked));
           }),
           py::arg("order"), py::arg("fit"), py::arg("window"), py::arg("rounds"), py::arg("room_asked"))
      .def("add_member", &py_federation::add_member, py::arg("name"), py::arg("cluster"), py::arg("engine"),
           py::arg("labels"), py::arg("price"), py::arg("data"), py::arg("open"), "Adds a cluster of this process.")
      .def("add_known_member", &py_federation::add_known_member, py::arg("name"), py::arg("summary"), py::arg("labels"),
           py::arg("price"), py::arg("data"), py::arg("open"), "Adds a member that is known by its summary alone.")
      .def("change_member", &py_federation::change_member, py::arg("name"), py::arg("labels"), py::arg("price"),
           py::arg("data"), py::arg("open"), "Replaces what is said about a member.")
      .def("update", &py_federation::update_member, py::arg("name"), py::arg("summary"),
           "A newer summary of a member that is known by it alone. What was offered and not answered stays on top.")
      .def(
          "lose", &py_federation::lose_member, py::arg("name"),
          "The member is gone for good, with all that ran there: the names of its groups, which are in the line again.")
      .def_property_readonly("members", &py_federation::member_names, "Names of all members.")
      .def(
          "summary", &py_federation::summary, py::arg("member"), py::arg("now") = 0,
          "What a member looks like now, as JSON (kaisched-cluster-summary/1): `add_known` of the other side takes it.")
      .def("submit_tables", &py_federation::submit, py::arg("tables"),
           "Takes tables in, given as (kind, op, rows, columns), all or none.")
      .def("wish_for", &py_federation::wish, py::arg("group"), py::arg("members"), py::arg("required"),
           py::arg("preferred"), py::arg("data"), py::arg("most_price"), "What a group says about members.")
      .def("withdraw", &py_federation::withdraw, py::arg("groups"),
           "The groups are wanted no more, or have ended. They are removed from the clusters of members as well.")
      .def("answer", &py_federation::answer, py::arg("group"), py::arg("accepted"),
           "What a member that is known by its summary has made of an offer.")
      .def("stage", &py_federation::stage, py::arg("group"),
           "Where a group is: `waits`, `starts`, `claims`, `offered` or `runs`, and the member, or an empty text.")
      .def("queues", &py_federation::queues, py::arg("now") = 0,
           "Queues over all members: quota, limit, and what they hold now.")
      .def("decide_tables", &py_federation::decide, py::arg("now"), "Decides; tables by kind, digest and sessions.");
}

}  // namespace kaisched::python
