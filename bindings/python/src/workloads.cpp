#include "workloads.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pybind11/stl.h>

#include <kaisched/quantity.hpp>

#include "base/text.hpp"
#include "errors.hpp"
#include "handles.hpp"
#include "simulation/amounts.hpp"
#include "simulation/csv_field.hpp"
#include "simulation/job_list.hpp"
#include "simulation/traces/trace_file.hpp"
#include "simulation/traces/traces.hpp"
#include "simulation/workload_csv.hpp"
#include "simulation/workload_figures.hpp"
#include "simulation/workload_model.hpp"

namespace py = pybind11;

namespace kaisched::python {

double seconds_of(std::int64_t nanoseconds) {
  // What is not known and what never comes are both -1.
  return nanoseconds < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(nanoseconds) / 1e9;
}

namespace {

using simulation::job;
using simulation::pod_shape;
using simulation::workload;

// ---- columns in: as the CSV that has its reader and its rules ------------------------------------------------------

constexpr std::string_view source_name = "workload";

/// Values of one column, each as a field of CSV.
class column_text {
 public:
  column_text(std::string name, const std::string& form, const py::object& values)
      : name_(std::move(name)), form_(form), values_(values) {
    if (form == "texts") {
      texts_ = values.cast<std::vector<std::optional<std::string>>>();
    } else if (form == "numbers") {
      numbers_ = values.cast<py::array_t<double, py::array::c_style>>();
    } else {
      integers_ = values.cast<py::array_t<std::int64_t, py::array::c_style>>();
    }
  }
  [[nodiscard]] const std::string& name() const { return name_; }

  void add(std::size_t row, std::string& to) const {
    if (form_ == "texts") {
      if (texts_[row]) to += checked(*texts_[row], row);
    } else if (form_ == "numbers") {
      if (!std::isnan(numbers_.data()[row])) add_number(to, numbers_.data()[row], std::chars_format::fixed);
    } else {
      add_number(to, integers_.data()[row]);
      if (form_ == "nanoseconds") to += "ns";
    }
  }

 private:
  /// The shortest decimal that means the number.
  template <class Number, class... Format>
  static void add_number(std::string& to, Number number, Format... format) {
    std::array<char, 512> text{};
    const auto [end, fault] = std::to_chars(text.data(), text.data() + text.size(), number, format...);
    to.append(text.data(), fault == std::errc() ? end : text.data());
  }
  [[nodiscard]] std::string checked(const std::string& text, std::size_t row) const {
    if (base::find_control(text) == std::string_view::npos) return simulation::csv_field(text);
    throw failure({status::argument,
                   std::string(source_name) + ", row " + std::to_string(row) + ": " + name_ +
                       ": expected a text without control characters, found \"" + base::shown(text) + "\"",
                   {}});
  }

  std::string name_;
  std::string form_;
  py::object values_;
  std::vector<std::optional<std::string>> texts_;
  py::array_t<double, py::array::c_style> numbers_;
  py::array_t<std::int64_t, py::array::c_style> integers_;
};

/// A fault of the reader with the row instead of the line.
error with_row(error fault) {
  const std::string& text = fault.message;
  std::uint64_t line = 0;
  if (!text.starts_with(source_name) || text.size() <= source_name.size() || text[source_name.size()] != ':')
    return fault;
  const char* const begin = text.data() + source_name.size() + 1;
  const auto [end, wrong] = std::from_chars(begin, text.data() + text.size(), line);
  if (wrong != std::errc() || line == 0) return fault;
  std::string where(source_name);
  if (line > 1) where += ", row " + std::to_string(line - 2);
  fault.message = where + std::string(end, text.data() + text.size());
  return fault;
}

workload from_columns(const py::sequence& columns, std::size_t rows, std::int64_t gpus_per_node) {
  std::vector<column_text> all;
  for (const py::handle column : columns) {
    const auto [name, form, values] = column.cast<std::tuple<std::string, std::string, py::object>>();
    all.emplace_back(name, form, values);
  }
  return unlocked([&] {
    std::string text;
    for (const column_text& one : all) text += (text.empty() ? "" : ",") + one.name();
    text += '\n';
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (i > 0) text += ',';
        all[i].add(row, text);
      }
      text += '\n';
    }
    result<workload> read = simulation::read_workload_csv({source_name, text}, {gpus_per_node});
    if (!read) throw failure(with_row(read.take_failure()));
    return std::move(*read);
  });
}

// ---- columns out ---------------------------------------------------------------------------------------------------

double whole_gpus(std::int64_t milli) { return static_cast<double>(milli) / static_cast<double>(whole_device); }

/// One value for each job where all have pods of one size, else the values of all sizes with `|` between them.
template <class T, class Number>
py::object amounts(const workload& of, std::int64_t (*get)(const pod_shape&), std::int64_t unit, const Number& number) {
  const bool is_plain = std::all_of(of.jobs.begin(), of.jobs.end(), [](const job& j) { return j.pods.size() == 1; });
  if (is_plain) return array_of<T>(of.jobs, [&](const job& j) { return number(get(j.pods.front())); });
  py::list texts;
  for (const job& j : of.jobs) {
    std::string text;
    for (const pod_shape& shape : j.pods)
      text += (text.empty() ? "" : "|") + simulation::format_decimal(get(shape), unit);
    texts.append(text);
  }
  return texts;
}

py::list texts_of(const workload& of, std::string job::* member) {
  py::list all;
  for (const job& j : of.jobs) all.append(j.*member);
  return all;
}

template <class T>
py::object numbers_of(const workload& of, T job::* member) {
  return array_of<T>(of.jobs, [&](const job& j) { return j.*member; });
}
py::object times_of(const workload& of, std::int64_t job::* member) {
  return array_of<double>(of.jobs, [&](const job& j) { return seconds_of(j.*member); });
}

/// The columns that some job needs, in the order of the CSV.
py::dict to_columns(const workload& of) {
  const auto some = [&](const auto& needs) { return std::any_of(of.jobs.begin(), of.jobs.end(), needs); };
  const auto some_shape = [&](std::int64_t pod_shape::* member) {
    return some([&](const job& j) {
      return std::any_of(j.pods.begin(), j.pods.end(), [&](const pod_shape& s) { return s.*member != 0; });
    });
  };
  py::dict made;
  made["job"] = texts_of(of, &job::name);
  made["submit"] = times_of(of, &job::submit);
  made["run_time"] = times_of(of, &job::run_time);
  for (const auto& [name, member] : {std::pair{"queue", &job::queue}, {"user", &job::user}, {"model", &job::model}}) {
    if (some([m = member](const job& j) { return !(j.*m).empty(); })) made[name] = texts_of(of, member);
  }
  const auto same = [](std::int64_t amount) { return amount; };
  made["pods"] = amounts<std::int64_t>(of, [](const pod_shape& s) { return std::int64_t{s.count}; }, 1, same);
  made["gpus"] = amounts<double>(of, [](const pod_shape& s) { return s.gpus; }, whole_device, whole_gpus);
  if (some_shape(&pod_shape::cpu))
    made["cpu"] = amounts<double>(of, [](const pod_shape& s) { return s.cpu; }, whole_device, whole_gpus);
  if (some_shape(&pod_shape::memory))
    made["memory"] = amounts<std::int64_t>(of, [](const pod_shape& s) { return s.memory; }, 1, same);
  if (some_shape(&pod_shape::gpu_memory))
    made["gpu_memory"] = amounts<std::int64_t>(of, [](const pod_shape& s) { return s.gpu_memory; }, 1, same);
  if (some([](const job& j) { return !j.gpu_models.empty(); })) {
    py::list models;
    for (const job& j : of.jobs) models.append(j.gpu_models);
    made["gpu_models"] = models;
  }
  for (const auto& [name, member] : {std::pair{"estimate", &job::estimate}, {"deadline", &job::deadline}}) {
    if (some([m = member](const job& j) { return j.*m != simulation::unknown_time; }))
      made[name] = times_of(of, member);
  }
  const job plain;
  if (some([&](const job& j) { return j.priority != plain.priority; }))
    made["priority"] = numbers_of(of, &job::priority);
  if (some([&](const job& j) { return !j.preemptible; })) made["preemptible"] = numbers_of(of, &job::preemptible);
  if (some([&](const job& j) { return j.min_pods != 0; }))
    made["min_pods"] = array_of<std::int64_t>(of.jobs, [](const job& j) { return std::int64_t{j.min_pods}; });
  if (some([](const job& j) { return !j.after.empty(); })) {
    py::list entries;
    for (const job& j : of.jobs) entries.append(j.after);
    made["after"] = entries;
  }
  if (some([](const job& j) { return !j.speedup.empty(); })) {
    py::list curves;
    for (const job& j : of.jobs) curves.append(j.speedup);
    made["speedup"] = curves;
  }
  if (some([](const job& j) { return j.iterations != 0 || j.iteration_time != 0; })) {
    made["iterations"] = numbers_of(of, &job::iterations);
    made["iteration_time"] = times_of(of, &job::iteration_time);
  }
  return made;
}

py::dict percentiles_of(const simulation::percentiles& p, double unit) {
  py::dict made;
  for (const auto& [name, value] : {std::pair{"least", p.least},
                                    {"p25", p.p25},
                                    {"median", p.median},
                                    {"p75", p.p75},
                                    {"p90", p.p90},
                                    {"p99", p.p99},
                                    {"most", p.most}}) {
    made[name] = static_cast<double>(value) / unit;
  }
  made["mean"] = p.mean / unit;
  return made;
}

py::dict figures(const workload& of) {
  constexpr double seconds = 1e9;
  const simulation::workload_figures f = unlocked([&] { return simulation::figures_of(of); });
  py::dict made;
  made["jobs"] = f.jobs;
  made["pods"] = f.pods;
  made["left_out"] = f.left_out;
  made["first_submit"] = static_cast<double>(f.first_submit) / seconds;
  made["last_submit"] = static_cast<double>(f.last_submit) / seconds;
  made["end_without_waiting"] = static_cast<double>(f.end_without_waiting) / seconds;
  made["gpu_hours"] = f.gpu_hours;
  made["mean_gpus"] = f.mean_gpus;
  made["most_gpus"] = whole_gpus(f.most_gpus);
  made["run_time"] = percentiles_of(f.run_time, seconds);
  made["gpus"] = percentiles_of(f.gpus, static_cast<double>(whole_device));
  made["users"] = f.users;
  made["models"] = f.models;
  return made;
}

// ---- where workloads come from -------------------------------------------------------------------------------------

workload read(const std::string& path, const std::string& form, const std::string& profile, const std::string& part,
              const std::string& gpu, const std::string& processors, std::int64_t gpus_per_node,
              std::int64_t cores_per_node) {
  const simulation::trace_form* const found = simulation::find_trace_form(form);
  if (found == nullptr) {
    std::string known;
    for (const simulation::trace_form& one : simulation::trace_forms())
      known += (known.empty() ? "" : ", ") + std::string(one.name);
    throw failure({status::not_found, "there is no form '" + form + "' of traces; there are " + known, {}});
  }
  if (processors != "gpu" && processors != "core")
    throw failure({status::argument, "processors is '" + processors + "', expected gpu or core", {}});
  simulation::trace_options options;
  options.gpus_per_node = gpus_per_node;
  options.cores_per_node = cores_per_node;
  options.processors = processors == "core" ? simulation::processor::core : simulation::processor::gpu;
  options.part = part;
  options.gpu = gpu;
  return unwrap(unlocked([&] { return simulation::read_trace_file(path, *found, profile, options); }));
}

workload parse(const std::string& text, std::int64_t left_out) {
  return unlocked([&] {
    workload made = unwrap(simulation::read_workload_csv({source_name, text}, {}));
    made.left_out = left_out;
    return made;
  });
}

workload generate(std::int64_t jobs, std::uint64_t seed, const std::optional<std::string>& model,
                  const std::optional<double>& jobs_per_hour, const std::optional<std::string>& sizes,
                  const std::optional<std::string>& run_times, const std::optional<std::string>& rhythm,
                  std::int64_t queues, std::int64_t gpus_per_node, bool elastic) {
  const auto models = simulation::workload_models();
  const simulation::workload_model* const like = model ? simulation::find_workload_model(*model) : &models.front();
  if (like == nullptr) {
    std::string known;
    for (const simulation::workload_model& one : models) known += (known.empty() ? "" : ", ") + std::string(one.name);
    throw failure({status::not_found, "there is no model '" + *model + "' of workloads; there are " + known, {}});
  }
  simulation::generator_options options = simulation::options_of(*like);
  options.jobs = jobs;
  options.seed = seed;
  options.queues = queues;
  options.gpus_per_node = gpus_per_node;
  options.elastic = elastic;
  if (jobs_per_hour) options.jobs_per_hour = *jobs_per_hour;
  if (sizes) options.sizes = unwrap(simulation::parse_sizes(*sizes));
  if (run_times) options.run_times = unwrap(simulation::parse_run_times(*run_times));
  if (rhythm) {
    const std::map<std::string, simulation::rhythm_use> uses{{"none", simulation::rhythm_use::none},
                                                             {"day", simulation::rhythm_use::day},
                                                             {"week", simulation::rhythm_use::week}};
    const auto found = uses.find(*rhythm);
    if (found == uses.end())
      throw failure({status::argument, "rhythm is '" + *rhythm + "', expected none, day or week", {}});
    options.used = found->second;
  }
  return unwrap(unlocked([&] { return simulation::generate_workload(options); }));
}

/// Jobs of these rows, in the order of the workload.
workload select(const workload& from, std::vector<std::size_t> rows) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  workload made;
  for (const std::size_t row : rows) made.jobs.push_back(from.jobs.at(row));
  return made;
}

std::int64_t nanoseconds(const std::string& text) {
  const std::optional<std::int64_t> read = simulation::parse_duration(text);
  if (!read) throw failure({status::argument, "expected a time such as 30, 90s, 5m, 2h, found '" + text + "'", {}});
  return *read;
}

py::list model_list() {
  py::list list;
  for (const simulation::workload_model& one : simulation::workload_models())
    list.append(py::make_tuple(one.name, one.source, one.jobs_per_hour));
  return list;
}

py::list form_list() {
  py::list list;
  for (const simulation::trace_form& one : simulation::trace_forms())
    list.append(
        py::make_tuple(one.name, one.doc, std::vector<std::string_view>(one.profiles.begin(), one.profiles.end())));
  return list;
}

py::list column_list() {
  py::list list;
  for (const simulation::workload_column& one : simulation::workload_columns())
    list.append(py::make_tuple(one.name, one.doc));
  return list;
}

}  // namespace

void bind_workloads(py::module_& m) {
  py::class_<workload>(m, "Workload", "Jobs that arrive over time.")
      .def_static("from_columns", &from_columns, py::arg("columns"), py::arg("rows"), py::arg("gpus_per_node"),
                  "Jobs of columns given as (name, form, values).")
      .def_static("read", &read, py::arg("path"), py::arg("form"), py::arg("profile"), py::arg("part"), py::arg("gpu"),
                  py::arg("processors"), py::arg("gpus_per_node"), py::arg("cores_per_node"), "Jobs of a trace.")
      .def_static("parse", &parse, py::arg("text"), py::arg("left_out"), "Jobs of a text in CSV.")
      .def_static("generate", &generate, py::arg("jobs"), py::arg("seed"), py::arg("model"), py::arg("jobs_per_hour"),
                  py::arg("sizes"), py::arg("run_times"), py::arg("rhythm"), py::arg("queues"),
                  py::arg("gpus_per_node"), py::arg("elastic"), "Invented jobs.")
      .def(
          "csv", [](const workload& w) { return unwrap(unlocked([&] { return simulation::format_workload_csv(w); })); },
          "The jobs as CSV.")
      .def("columns", &to_columns, "The columns of the CSV that some job needs.")
      .def("figures", &figures, "What is in the workload, in numbers.")
      .def("select", &select, py::arg("rows"), "Jobs of some rows, in their order.")
      .def(
          "shift",
          [](const workload& w) {
            workload moved = w;
            simulation::begin_at_zero(moved);
            return moved;
          },
          "The same jobs, the first one of which arrives at 0.")
      .def_property_readonly(
          "size", [](const workload& w) { return w.jobs.size(); }, "Number of jobs.")
      .def_readonly("left_out", &workload::left_out, "Rows of a trace that say nothing to play.")
      .def_property_readonly(
          "names", [](const workload& w) { return texts_of(w, &job::name); }, "Names of jobs.")
      .def_property_readonly(
          "queues", [](const workload& w) { return texts_of(w, &job::queue); }, "Queues of jobs.")
      .def_property_readonly(
          "submit", [](const workload& w) { return times_of(w, &job::submit); }, "Seconds.")
      .def_property_readonly(
          "run_time", [](const workload& w) { return times_of(w, &job::run_time); }, "Seconds.")
      .def_property_readonly(
          "gpus",
          [](const workload& w) {
            return array_of<double>(w.jobs, [](const job& j) { return whole_gpus(simulation::gpus_of(j)); });
          },
          "GPUs of all pods.")
      .def_property_readonly(
          "pods", [](const workload& w) { return array_of<std::int64_t>(w.jobs, &simulation::pods_of); },
          "Number of pods.")
      .def(
          "equals", [](const workload& a, const workload& b) { return a == b; }, py::arg("other"),
          "The same jobs, and as many rows left out.");
  m.def("nanoseconds", &nanoseconds, py::arg("text"), "A time as text: seconds, or 90s, 5m, 1h30m.");
  m.def("workload_models", &model_list, "Name, source and jobs per hour of the models of invented workloads.");
  m.def("trace_forms", &form_list, "Name, meaning and profiles of the forms of traces.");
  m.def("workload_columns", &column_list, "Name and meaning of the columns of workloads.");
}

}  // namespace kaisched::python
