#include "policies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "choosers.hpp"
#include "policy/access.hpp"
#include "policy/ordering/service.hpp"

namespace py = pybind11;

namespace kaisched::python {

policy_faults::~policy_faults() {
  if (!exception_) return;
  const py::gil_scoped_acquire held;
  exception_ = {};
}

namespace {

using rows = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

template <class T>
py::array_t<T> copied(std::span<const T> values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

template <class T>
py::array_t<T> matrix(std::span<const T> values, std::size_t columns) {
  const auto width = static_cast<py::ssize_t>(columns);
  return py::array_t<T>({static_cast<py::ssize_t>(values.size()) / std::max<py::ssize_t>(width, 1), width},
                        values.data());
}

py::array_t<std::int64_t> numbers_of(std::span<const std::uint32_t> from) {
  py::array_t<std::int64_t> made(static_cast<py::ssize_t>(from.size()));
  std::copy(from.begin(), from.end(), made.mutable_data());
  return made;
}

/// `no_row` is -1 in Python.
std::int64_t number_of(std::uint32_t row) { return row == no_row ? -1 : static_cast<std::int64_t>(row); }

/// What a policy sees while it is asked. Arrays are copies, so that they may be kept.
class seen {
 public:
  explicit seen(const session_view& view) : view_(&view) {}
  void end() { view_ = nullptr; }

  [[nodiscard]] const session_view& view() const {
    if (view_ == nullptr) throw failure({status::state, "a view can be used until the policy has answered", {}});
    return *view_;
  }
  [[nodiscard]] const model::cluster_state& state() const { return *policy::inside(view()).state; }

  [[nodiscard]] node_row node(std::int64_t row) const { return checked(row, state().node_count(), "node"); }
  [[nodiscard]] pod_row pod(std::int64_t row) const {
    const pod_row found = checked(row, state().pod_slots, "pod");
    if (!state().pods[found].live) throw failure({status::argument, no_such("pod", row), {}});
    return found;
  }
  [[nodiscard]] group_row group(std::int64_t row) const {
    const group_row found = checked(row, state().group_slots, "group");
    if (!state().groups[found].live) throw failure({status::argument, no_such("group", row), {}});
    return found;
  }
  [[nodiscard]] queue_row queue(std::int64_t row) const {
    const queue_row found = checked(row, static_cast<std::uint32_t>(state().queues->size()), "queue");
    if (!(*state().queues)[found].live) throw failure({status::argument, no_such("queue", row), {}});
    return found;
  }

 private:
  static std::string no_such(std::string_view what, std::int64_t row) {
    return "there is no row " + std::to_string(row) + " of a " + std::string(what);
  }
  static std::uint32_t checked(std::int64_t row, std::uint32_t count, std::string_view what) {
    if (row < 0 || row >= std::int64_t{count}) throw failure({status::argument, no_such(what, row), {}});
    return static_cast<std::uint32_t>(row);
  }

  const session_view* view_;
};

/// An array with a value for each row.
template <class T, class Ask>
py::array_t<T> each(const rows& asked, const Ask& ask) {
  py::array_t<T> made(asked.size());
  const std::int64_t* from = asked.data();
  std::transform(from, from + asked.size(), made.mutable_data(), ask);
  return made;
}

template <class Ask>
py::list texts(const rows& asked, const Ask& ask) {
  py::list made(asked.size());
  for (py::ssize_t i = 0; i < asked.size(); ++i) {
    const std::string_view text = ask(asked.data()[i]);
    made[static_cast<std::size_t>(i)] = py::str(text.data(), text.size());
  }
  return made;
}

py::list labels(const seen& s, const std::string& key) {
  py::list made(s.view().node_count());
  for (node_row n = 0; n < s.view().node_count(); ++n) {
    bool found = false;
    const std::string_view value = s.view().node_label(n, key, &found);
    made[n] = found ? py::object(py::str(value.data(), value.size())) : py::none();
  }
  return made;
}

template <class Ask>
py::array_t<bool> of_nodes(const seen& s, const Ask& ask) {
  py::array_t<bool> made(static_cast<py::ssize_t>(s.view().node_count()));
  for (node_row n = 0; n < s.view().node_count(); ++n) made.mutable_data()[n] = ask(n);
  return made;
}

// ---- the part ------------------------------------------------------------------------------------------------------

/// What a method of a policy gave back is not what it has to give back.
class wrong_answer : public std::exception {
 public:
  explicit wrong_answer(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

std::string shape_of(const py::array& array) {
  std::string text = "(";
  for (py::ssize_t i = 0; i < array.ndim(); ++i) text += (i > 0 ? ", " : "") + std::to_string(array.shape(i));
  return text + ")";
}

/// The answer as an array of `T` with `rows` rows and one of the widths; a width of 0 is an array of one dimension.
template <class T>
py::array_t<T, py::array::c_style> answer_of(const py::object& said, std::size_t rows,
                                             std::initializer_list<std::size_t> widths, const char* expected) {
  py::array any = py::array::ensure(said);
  const auto fail = [&] {
    PyErr_Clear();
    const std::string found =
        any ? std::string(py::str(any.dtype())) + " of shape " + shape_of(any) : std::string(py::str(py::repr(said)));
    return wrong_answer(std::string("gave ") + found + ", expected " + expected + " for " + std::to_string(rows) +
                        " rows");
  };
  if (!any || any.ndim() < 1 || any.shape(0) != static_cast<py::ssize_t>(rows)) throw fail();
  const std::size_t width = any.ndim() == 1 ? 0 : static_cast<std::size_t>(any.shape(1));
  if (any.ndim() > 2 || std::find(widths.begin(), widths.end(), width) == widths.end()) throw fail();
  const char kind = any.dtype().kind();
  const bool is_number = kind == 'b' || kind == 'i' || kind == 'u';
  if (std::is_same_v<T, bool> ? kind != 'b' : !is_number && !(std::is_floating_point_v<T> && kind == 'f')) throw fail();
  auto typed = py::array_t < T, py::array::c_style | py::array::forcecast > ::ensure(any);
  if (!typed) throw fail();
  return typed;
}

constexpr std::array<std::pair<const char*, std::uint32_t>, 6> capabilities_by_method{
    {{"order_groups", part_orders_groups},
     {"filter_nodes", part_filters_nodes},
     {"score_nodes", part_scores_nodes},
     {"divide_shares", part_divides_shares},
     {"judge_victims", part_judges_victims},
     {"permit", part_permits}}};

std::uint32_t capabilities_of(const py::object& policy) {
  std::uint32_t found = 0;
  for (const auto& [method, capability] : capabilities_by_method) {
    if (py::hasattr(policy, method)) found |= capability;
  }
  const auto is_true = [&](const char* name) { return py::getattr(policy, name, py::bool_(false)).cast<bool>(); };
  if ((found & part_orders_groups) != 0 && is_true("order_is_shared")) found |= part_order_is_shared;
  if ((found & part_scores_nodes) != 0 && is_true("scores_by_class")) found |= part_scores_by_class;
  return found;
}

class python_part final : public policy_part {
 public:
  python_part(std::string name, py::object policy, std::shared_ptr<policy_faults> faults)
      : name_(std::move(name)),
        policy_(std::move(policy)),
        faults_(std::move(faults)),
        capabilities_(capabilities_of(policy_)) {}
  ~python_part() override {
    const py::gil_scoped_acquire held;
    policy_ = {};
  }

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return capabilities_; }

  result<void> session_open(const session_view& inside) override {
    return ask("session_open", inside, [&](const py::object& method, const py::object& view) { method(view); });
  }
  void session_close() noexcept override {
    const py::gil_scoped_acquire held;
    try {
      policy_.attr("session_close")();
    } catch (const std::exception&) {  // nobody is left who could be told
      PyErr_Clear();
    }
  }

  result<void> order_groups(const session_view& inside, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    return ask("order_groups", inside, [&](const py::object& method, const py::object& view) {
      const auto said = answer_of<std::int64_t>(method(view, numbers_of(groups)), groups.size(), {0, 2},
                                                "integers of shape (n,) or (n, 2)");
      for (std::size_t i = 0; i < groups.size(); ++i) {
        keys[i] =
            said.ndim() == 1 ? order_key{said.data()[i], 0} : order_key{said.data()[2 * i], said.data()[2 * i + 1]};
      }
    });
  }

  result<void> filter_nodes(const session_view& inside, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    return ask("filter_nodes", inside, [&](const py::object& method, const py::object& view) {
      const auto said =
          answer_of<bool>(method(view, std::int64_t{pod}, numbers_of(nodes)), nodes.size(), {0}, "bool of shape (n,)");
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!said.data()[i]) verdicts[i] = constraint::plugin;
      }
    });
  }

  result<void> score_nodes(const session_view& inside, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    return ask("score_nodes", inside, [&](const py::object& method, const py::object& view) {
      const auto said = answer_of<double>(method(view, std::int64_t{pod}, numbers_of(nodes)), nodes.size(), {0},
                                          "numbers of shape (n,)");
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!std::isfinite(said.data()[i])) {
          throw wrong_answer("gave node '" + std::string(inside.node_name(nodes[i])) + "' a score that is not finite");
        }
        scores[i] += said.data()[i];
      }
    });
  }

  result<void> divide_shares(const session_view& inside, std::span<const queue_row> queues,
                             std::span<std::int64_t> shares) override {
    return ask("divide_shares", inside, [&](const py::object& method, const py::object& view) {
      const auto said =
          answer_of<std::int64_t>(method(view, numbers_of(queues), matrix<std::int64_t>(shares, quota_dimensions)),
                                  queues.size(), {quota_dimensions}, "integers of shape (n, 3)");
      for (std::size_t i = 0; i < shares.size(); ++i) {
        if (said.data()[i] < 0) {
          throw wrong_answer("gave queue '" + std::string(inside.queue_name(queues[i / quota_dimensions])) +
                             "' the negative share " + std::to_string(said.data()[i]));
        }
      }
      std::copy_n(said.data(), shares.size(), shares.begin());
    });
  }

  result<void> judge_victims(const session_view& inside, action_kind action, group_row waiting,
                             std::span<const group_row> groups, std::span<std::uint8_t> spared) override {
    return ask("judge_victims", inside, [&](const py::object& method, const py::object& view) {
      const auto said =
          answer_of<bool>(method(view, std::string(action_name(action)), std::int64_t{waiting}, numbers_of(groups)),
                          groups.size(), {0}, "bool of shape (n,)");
      for (std::size_t i = 0; i < groups.size(); ++i) spared[i] = said.data()[i] || spared[i] != 0 ? 1 : 0;
    });
  }

  result<bool> permit(const session_view& inside, group_row group, std::span<const pod_row> pods) override {
    bool permitted = false;
    const result<void> done = ask("permit", inside, [&](const py::object& method, const py::object& view) {
      const py::object said = method(view, std::int64_t{group}, numbers_of(pods));
      if (!py::isinstance<py::bool_>(said))
        throw wrong_answer("gave " + std::string(py::str(py::repr(said))) + ", expected True or False");
      permitted = said.cast<bool>();
    });
    if (!done) return done.failure();
    return permitted;
  }

 private:
  /// Calls a method with a view that ends with the call.
  template <class Call>
  result<void> ask(const char* method, const session_view& inside, const Call& call) {
    const py::gil_scoped_acquire held;
    const auto view = std::make_shared<seen>(inside);
    std::string fault;
    try {
      call(policy_.attr(method), py::cast(view));
    } catch (py::error_already_set& raised) {
      faults_->keep(raised.value());
      fault = std::string(": ") + py::str(raised.type().attr("__name__")).cast<std::string>() + ": " +
              py::str(raised.value()).cast<std::string>();
    } catch (const wrong_answer& wrong) {
      fault = std::string(" ") + wrong.what();
    }
    view->end();
    if (fault.empty()) return {};
    return error{status::plugin, "policy '" + name_ + "': " + method + fault, {}};
  }

  std::string name_;
  py::object policy_;
  std::shared_ptr<policy_faults> faults_;
  std::uint32_t capabilities_;
};

/// A Python object that C++ copies without the interpreter lock.
std::shared_ptr<py::object> shared(py::object of) {
  return {new py::object(std::move(of)), [](py::object* p) {
            const py::gil_scoped_acquire held;
            delete p;
          }};
}

void bind_nodes(py::class_<seen, std::shared_ptr<seen>>& views) {
  views.def_property_readonly(
           "node_count", [](const seen& s) { return s.view().node_count(); }, "Number of nodes.")
      .def_property_readonly(
          "node_names",
          [](const seen& s) {
            std::vector<std::string_view> names;
            for (node_row n = 0; n < s.view().node_count(); ++n) names.push_back(s.view().node_name(n));
            return names;
          },
          "Names by row.")
      .def("node_labels", &labels, py::arg("key"), "Values of one label by row, None where a node does not have it.")
      .def_property_readonly(
          "node_capacity", [](const seen& s) { return matrix(s.view().node_capacity(), s.view().dimension_count()); },
          "int64 [nodes, dimensions]: milli-cores, bytes, milli-GPU, pods...")
      .def_property_readonly(
          "node_idle", [](const seen& s) { return matrix(s.view().node_idle(), s.view().dimension_count()); },
          "int64 [nodes, dimensions], what is free now.")
      .def_property_readonly(
          "node_releasing", [](const seen& s) { return matrix(s.view().node_releasing(), s.view().dimension_count()); },
          "int64 [nodes, dimensions], what is coming free.")
      .def_property_readonly(
          "node_ready", [](const seen& s) { return of_nodes(s, [&](node_row n) { return s.view().node_ready(n); }); },
          "bool [nodes].")
      .def_property_readonly(
          "node_unschedulable",
          [](const seen& s) { return of_nodes(s, [&](node_row n) { return s.view().node_unschedulable(n); }); },
          "bool [nodes].");
}

void bind_pods(py::class_<seen, std::shared_ptr<seen>>& views) {
  views
      .def(
          "pod_names",
          [](const seen& s, const rows& pods) {
            return texts(pods, [&](std::int64_t p) { return s.view().pod_name(s.pod(p)); });
          },
          py::arg("pods"), "Names of rows.")
      .def(
          "pod_request", [](const seen& s, std::int64_t pod) { return copied(s.view().pod_request(s.pod(pod))); },
          py::arg("pod"), "int64 [dimensions]: milli-cores, bytes, milli-GPU, pods...")
      .def(
          "pod_groups",
          [](const seen& s, const rows& pods) {
            return each<std::int64_t>(pods, [&](std::int64_t p) { return number_of(s.view().pod_group(s.pod(p))); });
          },
          py::arg("pods"), "int64 rows of their groups; -1: a pod has none.")
      .def(
          "pod_nodes",
          [](const seen& s, const rows& pods) {
            return each<std::int64_t>(pods, [&](std::int64_t p) { return number_of(s.view().node_of(s.pod(p))); });
          },
          py::arg("pods"), "int64 rows of their nodes; -1: a pod is on none.")
      .def(
          "pod_class", [](const seen& s, std::int64_t pod) { return std::int64_t{s.view().pod_class(s.pod(pod))}; },
          py::arg("pod"), "A number that pods share that ask for the same.")
      .def(
          "pod_label",
          [](const seen& s, std::int64_t pod, const std::string& key) -> py::object {
            bool found = false;
            const std::string_view value = s.view().pod_label(s.pod(pod), key, &found);
            return found ? py::object(py::str(value.data(), value.size())) : py::none();
          },
          py::arg("pod"), py::arg("key"), "Value of a label, or None.");
}

void bind_groups(py::class_<seen, std::shared_ptr<seen>>& views) {
  const auto number = [](std::int64_t (*ask)(const session_view&, group_row)) {
    return [ask](const seen& s, const rows& groups) {
      return each<std::int64_t>(groups, [&](std::int64_t g) { return ask(s.view(), s.group(g)); });
    };
  };
  views
      .def(
          "group_names",
          [](const seen& s, const rows& groups) {
            return texts(groups, [&](std::int64_t g) { return s.view().group_name(s.group(g)); });
          },
          py::arg("groups"), "Names of rows.")
      .def("group_queues", number([](const session_view& v, group_row g) { return number_of(v.group_queue(g)); }),
           py::arg("groups"), "int64 rows of their queues.")
      .def("group_priority", number([](const session_view& v, group_row g) { return v.group_priority(g); }),
           py::arg("groups"), "int64, larger is more important.")
      .def("group_created", number([](const session_view& v, group_row g) { return v.group_created(g); }),
           py::arg("groups"), "int64 nanoseconds.")
      .def("group_estimate", number([](const session_view& v, group_row g) {
             return policy::inside(v).state->group_extras[g].runtime_estimate;
           }),
           py::arg("groups"), "int64 nanoseconds that they are expected to run; negative: nobody knows.")
      .def("group_remaining", number([](const session_view& v, group_row g) {
             const policy::remaining_work left = policy::remaining_of(policy::inside(v), g);
             return left.known ? left.time : std::int64_t{-1};
           }),
           py::arg("groups"), "int64 nanoseconds that they still need with all their pods; -1: nobody knows.")
      .def("group_gpus",
           number([](const session_view& v, group_row g) { return policy::remaining_of(policy::inside(v), g).gpus; }),
           py::arg("groups"), "int64 milli-GPU of all pods that are on nodes or wait.")
      .def(
          "group_service",
          [](const seen& s, const rows& groups) {
            return each<double>(groups, [&](std::int64_t g) {
              return static_cast<double>(policy::service_of(policy::inside(s.view()), s.group(g))) / 1e12;
            });
          },
          py::arg("groups"), "float64 GPU seconds that they have had.");
}

void bind_queues(py::class_<seen, std::shared_ptr<seen>>& views) {
  views
      .def(
          "queue_names",
          [](const seen& s, const rows& queues) {
            return texts(queues, [&](std::int64_t q) { return s.view().queue_name(s.queue(q)); });
          },
          py::arg("queues"), "Names of rows.")
      .def(
          "queue_parents",
          [](const seen& s, const rows& queues) {
            return each<std::int64_t>(queues,
                                      [&](std::int64_t q) { return number_of(s.view().queue_parent(s.queue(q))); });
          },
          py::arg("queues"), "int64 rows; -1: a queue has no parent.")
      .def(
          "queue_allocated",
          [](const seen& s, std::int64_t queue) { return copied(s.view().queue_allocated(s.queue(queue))); },
          py::arg("queue"), "int64 [3]: milli-cores, bytes, milli-GPU that its pods hold.")
      .def(
          "queue_fair_share",
          [](const seen& s, std::int64_t queue) { return copied(s.view().queue_fair_share(s.queue(queue))); },
          py::arg("queue"), "int64 [3]: milli-cores, bytes, milli-GPU that are its due.");
}

}  // namespace

part_factory policy_factory(std::string name, py::object policy, std::shared_ptr<policy_faults> faults) {
  return [name = std::move(name), policy = shared(std::move(policy)),
          faults = std::move(faults)](const policy_options&) -> std::unique_ptr<policy_part> {
    const py::gil_scoped_acquire held;
    try {
      py::object asked = policy->attr("create")();
      if (is_chooser(asked)) return make_chooser(name, std::move(asked), faults);
      return std::make_unique<python_part>(name, std::move(asked), faults);
    } catch (py::error_already_set& raised) {
      faults->keep(raised.value());
      return nullptr;
    }
  };
}

void bind_policies(py::module_& m) {
  py::class_<seen, std::shared_ptr<seen>> views(
      m, "SessionView",
      "The cluster as a session sees it while a policy is asked: it can be used until the policy has answered. "
      "Entities are numbers of rows. Arrays are copies.");
  views
      .def_property_readonly(
          "now", [](const seen& s) { return s.view().now(); }, "Nanoseconds, as given to the session.")
      .def_property_readonly(
          "dimension_names",
          [](const seen& s) {
            std::vector<std::string_view> names;
            for (dimension d = 0; d < s.view().dimension_count(); ++d) names.push_back(s.view().dimension_name(d));
            return names;
          },
          "Names of the resource dimensions.");
  bind_nodes(views);
  bind_pods(views);
  bind_groups(views);
  bind_queues(views);
}

}  // namespace kaisched::python
