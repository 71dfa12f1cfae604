#include "simulation/workload_csv.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

#include "base/int128.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "io/scenario/cells.hpp"
#include "model/selector.hpp"
#include "simulation/amounts.hpp"
#include "simulation/csv_field.hpp"
#include "simulation/job_list.hpp"

namespace kaisched::simulation {

namespace {

enum csv_column : unsigned {
  column_job,
  column_submit,
  column_run_time,
  column_queue,
  column_user,
  column_model,
  column_pods,
  column_gpus,
  column_gpus_total,
  column_cpu,
  column_memory,
  column_gpu_memory,
  column_gpu_models,
  column_estimate,
  column_deadline,
  column_priority,
  column_preemptible,
  column_min_pods,
  column_after,
  column_speedup,
  column_iterations,
  column_iteration_time,
  column_count
};

constexpr std::array<workload_column, column_count> columns{{
    {"job", "name of its own; without this column job-1, job-2 and so on"},
    {"submit", "when it arrives; 0"},
    {"run_time", "how long it runs with all its pods; needed unless iterations and iteration_time say it"},
    {"queue", "empty: the queue that the simulation names"},
    {"user", "empty: nobody"},
    {"model", "what it runs, for profiles of speed and restarts; empty: none"},
    {"pods", "number of pods; 1"},
    {"gpus", "GPUs of each pod, whole or a part below 1; 0"},
    {"gpus_total", "instead of pods and gpus: GPUs of the job, split into pods"},
    {"cpu", "cores of each pod; 0"},
    {"memory", "bytes of each pod; 0"},
    {"gpu_memory", "bytes of one device for each pod, instead of gpus; 0"},
    {"gpu_models", "models that the pods may run on, A|B; empty: all"},
    {"estimate", "what the scheduler is told about run_time; empty: nothing"},
    {"deadline", "when it should have ended; empty: no matter"},
    {"priority", "50"},
    {"preemptible", "true or false; true"},
    {"min_pods", "pods that must start together; 0: all"},
    {"after", "jobs that it comes after, ok:A|any:B; empty: none"},
    {"speedup", "how fast it is with so many pods, 1:1|2:1.9|4:3.5; empty: in proportion to its pods"},
    {"iterations", "of iteration_time; 0"},
    {"iteration_time", "with all its pods; 0"},
}};

constexpr std::array<std::string_view, column_count> names_of_columns() {
  std::array<std::string_view, column_count> names;
  for (std::size_t i = 0; i < column_count; ++i) names[i] = columns[i].name;
  return names;
}
constexpr std::array<std::string_view, column_count> column_names = names_of_columns();

constexpr std::int64_t least_priority = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t most_priority = std::numeric_limits<std::int32_t>::max();
/// Between the values of a list: pods of several sizes, models of GPUs.
constexpr char list_mark = '|';

/// Fields have no blanks around them, so those of a list have none either.
std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::vector<std::string_view> elements_of(std::string_view list) {
  std::vector<std::string_view> found;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(list_mark), list.size());
    found.push_back(without_blanks(list.substr(0, end)));
    list.remove_prefix(end);
    if (list.empty()) break;
    list.remove_prefix(1);
    if (list.empty()) found.emplace_back();
  }
  return found;
}

/// Reads the rows of one text. After a fault values are harmless, and there are no more lines.
class workload_rows {
 public:
  workload_rows(io::named_text file, const workload_csv_options& options)
      : csv_(file, column_names), options_(options), read_(file.name) {}

  result<workload> take();

 private:
  /// What a pod has of one column: `parse` says what an element is, or nothing if it is none.
  template <class F>
  void read_amounts(csv_column column, std::int64_t pod_shape::* to, std::string_view expected, F&& parse);
  template <class F>
  std::vector<std::int64_t> list(csv_column column, std::string_view expected, F&& parse);

  job row();
  std::string name(csv_column column);
  std::int64_t duration(csv_column column, std::int64_t fallback);
  std::int64_t integer(csv_column column, std::int64_t least, std::int64_t most, std::int64_t fallback);
  bool flag(csv_column column, bool fallback);
  void read_times(job& to);
  void read_pods(job& to);
  void read_total(job& to);
  void read_models(job& to);
  void read_after(job& to);
  void read_speedup(job& to);

  io::csv_file csv_;
  const workload_csv_options& options_;
  job_list read_;
  std::vector<pod_shape> shapes_;  ///< of the present row
};

result<workload> workload_rows::take() {
  csv_.refuse_others();
  if (!csv_.has(column_iterations) || !csv_.has(column_iteration_time)) csv_.require(column_run_time);
  while (csv_.next()) {
    job one = row();
    const std::uint32_t line = csv_.line();
    read_.add(std::move(one), line);
  }
  if (csv_.failed()) return error{status::argument, csv_.fault(), {}};
  return read_.take();
}

std::string workload_rows::name(csv_column column) {
  const std::string_view text = csv_.text(column);
  if (base::find_control(text) != std::string_view::npos) csv_.refuse(column, "a text without control characters");
  return std::string(text);
}

std::int64_t workload_rows::duration(csv_column column, std::int64_t fallback) {
  if (csv_.text(column).empty()) return fallback;
  const std::optional<std::int64_t> read = parse_duration(csv_.text(column));
  if (!read) csv_.refuse(column, "seconds, or a time such as 1h30m, from 0 to 73 years");
  return read.value_or(0);
}

std::int64_t workload_rows::integer(csv_column column, std::int64_t least, std::int64_t most, std::int64_t fallback) {
  return csv_.text(column).empty() ? fallback : csv_.integer(column, least, most);
}

bool workload_rows::flag(csv_column column, bool fallback) {
  const std::string_view text = csv_.text(column);
  if (text.empty()) return fallback;
  for (const std::string_view yes : {"true", "True", "TRUE", "yes", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "False", "FALSE", "no", "0"}) {
    if (text == no) return false;
  }
  csv_.refuse(column, "true or false");
  return fallback;
}

job workload_rows::row() {
  job one;
  one.name = csv_.has(column_job) ? name(column_job) : fmt::format("job-{}", read_.size() + 1);
  if (one.name.empty()) csv_.refuse(column_job, "a name");
  one.queue = name(column_queue);
  one.user = name(column_user);
  one.model = name(column_model);
  read_times(one);
  one.priority = integer(column_priority, least_priority, most_priority, one.priority);
  one.preemptible = flag(column_preemptible, one.preemptible);
  if (csv_.text(column_gpus_total).empty()) {
    read_pods(one);
  } else {
    read_total(one);
  }
  read_models(one);
  const std::int64_t pods = std::max<std::int64_t>(pods_of(one), 1);
  one.min_pods = static_cast<std::uint32_t>(integer(column_min_pods, 0, pods, 0));
  read_after(one);
  read_speedup(one);
  return one;
}

void workload_rows::read_times(job& to) {
  to.submit = duration(column_submit, 0);
  to.estimate = duration(column_estimate, unknown_time);
  to.deadline = duration(column_deadline, unknown_time);
  if (to.deadline != unknown_time && to.deadline < to.submit) {
    csv_.refuse(column_deadline, fmt::format("a time from submit ({}) on", csv_.text(column_submit)));
  }
  if (csv_.text(column_iterations).empty() != csv_.text(column_iteration_time).empty()) {
    const bool first = csv_.text(column_iterations).empty();
    csv_.refuse(first ? column_iterations : column_iteration_time,
                fmt::format("a value beside {}", column_names[first ? column_iteration_time : column_iterations]));
    return;
  }
  to.iterations = integer(column_iterations, 0, max_time, 0);
  to.iteration_time = duration(column_iteration_time, 0);
  if (!csv_.text(column_run_time).empty()) {
    to.run_time = duration(column_run_time, 0);
  } else if (csv_.text(column_iterations).empty()) {
    csv_.refuse(column_run_time, "seconds, or a time such as 1h30m");
  } else if (const base::int128 product = base::int128{to.iterations} * to.iteration_time; product <= max_time) {
    to.run_time = static_cast<std::int64_t>(product);
  } else {
    csv_.complain(column_iterations, fmt::format("{} of {} take more than 73 years", csv_.text(column_iterations),
                                                 csv_.text(column_iteration_time)));
  }
}

template <class F>
std::vector<std::int64_t> workload_rows::list(csv_column column, std::string_view expected, F&& parse) {
  std::vector<std::int64_t> values;
  for (const std::string_view element : elements_of(csv_.text(column))) {
    const std::optional<std::int64_t> value = parse(element);
    if (!value) csv_.refuse(column, expected);
    values.push_back(value.value_or(0));
  }
  return values;
}

/// A list of one is for all sizes of pods; a longer one says how many sizes there are.
template <class F>
void workload_rows::read_amounts(csv_column column, std::int64_t pod_shape::* to, std::string_view expected,
                                 F&& parse) {
  const std::vector<std::int64_t> values = list(column, expected, parse);
  if (values.size() > 1 && shapes_.size() == 1) shapes_.resize(values.size(), shapes_.front());
  if (values.size() > 1 && values.size() != shapes_.size()) {
    csv_.refuse(column, fmt::format("1 or {} values, one for each size of pods", shapes_.size()));
    return;
  }
  for (std::size_t i = 0; i < shapes_.size() && !values.empty(); ++i) {
    shapes_[i].*to = values.size() == 1 ? values.front() : values[i];
  }
}

std::optional<std::int64_t> amount_of(std::string_view text, std::int64_t unit, std::int64_t most) {
  const result<std::int64_t> read = io::scenario_text::parse_quantity(text, unit);
  if (!read || *read < 0 || *read > most) return std::nullopt;
  return *read;
}

std::optional<std::int64_t> gpus_from(std::string_view text) {
  const std::optional<std::int64_t> read = amount_of(text, whole_device, max_pod_gpus * whole_device);
  return read && (*read < whole_device || *read % whole_device == 0) ? read : std::nullopt;
}

constexpr std::string_view gpus_expected = "GPUs, a whole number up to 1048576 or a part of one below 1";

void workload_rows::read_pods(job& to) {
  shapes_.assign(1, {});
  const auto count = [](std::string_view text) {
    const std::optional<std::int64_t> read = amount_of(text, 1, max_job_pods);
    return read && *read > 0 ? read : std::nullopt;
  };
  const std::vector<std::int64_t> counts = list(column_pods, "a number of pods from 1 to 1048576", count);
  if (!counts.empty()) shapes_.assign(counts.size(), {});
  for (std::size_t i = 0; i < counts.size(); ++i) shapes_[i].count = static_cast<std::uint32_t>(counts[i]);
  const bool several = shapes_.size() > 1;
  read_amounts(column_gpus, &pod_shape::gpus, gpus_expected, gpus_from);
  read_amounts(column_cpu, &pod_shape::cpu, "cores from 0 on, such as 4, 0.5 or 500m",
               [](std::string_view text) { return amount_of(text, whole_device, max_amount); });
  const auto bytes = [](std::string_view text) { return amount_of(text, 1, max_amount); };
  constexpr std::string_view expected = "bytes from 0 to 4Pi, such as 64Gi";
  read_amounts(column_memory, &pod_shape::memory, expected, bytes);
  read_amounts(column_gpu_memory, &pod_shape::gpu_memory, expected, bytes);
  if (!several && shapes_.size() > 1) {
    csv_.refuse(column_pods, fmt::format("a number for each of {} sizes of pods", shapes_.size()));
  }
  to.pods = shapes_;
  for (const pod_shape& shape : to.pods) {
    if (shape.gpu_memory > 0 && shape.gpus > 0) {
      csv_.complain(column_gpu_memory, fmt::format("\"{}\" stands beside gpus \"{}\": one of them is to be 0",
                                                   csv_.text(column_gpu_memory), csv_.text(column_gpus)));
    }
  }
  if (pods_of(to) > max_job_pods) csv_.refuse(column_pods, "at most 1048576 pods together");
}

void workload_rows::read_total(job& to) {
  for (const csv_column other : {column_pods, column_gpus, column_gpu_memory}) {
    if (csv_.text(other).empty()) continue;
    csv_.complain(other, fmt::format("\"{}\" stands beside gpus_total \"{}\", which says it too", csv_.text(other),
                                     csv_.text(column_gpus_total)));
    return;
  }
  const std::optional<std::int64_t> total = gpus_from(csv_.text(column_gpus_total));
  if (!total) return csv_.refuse(column_gpus_total, gpus_expected);
  shapes_.assign(1, {});
  read_amounts(column_cpu, &pod_shape::cpu, "cores of each pod, such as 4, 0.5 or 500m",
               [](std::string_view text) { return amount_of(text, whole_device, max_amount); });
  read_amounts(column_memory, &pod_shape::memory, "bytes of each pod, such as 64Gi",
               [](std::string_view text) { return amount_of(text, 1, max_amount); });
  if (shapes_.size() > 1) csv_.refuse(column_gpus_total, "no lists beside it");
  to.pods = split_gpus(*total, options_.gpus_per_node, shapes_.front());
}

constexpr std::string_view dependencies_expected = "ok:JOB, failed:JOB, any:JOB or started:JOB, with | between several";

void workload_rows::read_models(job& to) {
  static_cast<void>(name(column_gpu_models));
  for (const std::string_view model : elements_of(csv_.text(column_gpu_models))) {
    if (model.empty()) csv_.refuse(column_gpu_models, "models of GPUs, A|B");
    to.gpu_models.emplace_back(model);
  }
}

void workload_rows::read_after(job& to) {
  static_cast<void>(name(column_after));
  for (const std::string_view entry : elements_of(csv_.text(column_after))) {
    if (!model::parse_dependency(entry)) csv_.refuse(column_after, dependencies_expected);
    to.after.emplace_back(entry);
  }
}

void workload_rows::read_speedup(job& to) {
  static_cast<void>(name(column_speedup));
  for (const std::string_view entry : elements_of(csv_.text(column_speedup))) to.speedup.emplace_back(entry);
  if (!curve_of(to)) {
    csv_.refuse(column_speedup, "pods:speed with | between several, what a further pod brings never growing");
    to.speedup.clear();
  }
}

// ---- writing --------------------------------------------------------------------------------------------------------

/// The same for every size of pods, or one for each.
template <class F>
std::string amounts_of(const job& of, std::int64_t pod_shape::* amount, F&& format) {
  const auto same = [&](const pod_shape& shape) { return shape.*amount == of.pods.front().*amount; };
  if (std::all_of(of.pods.begin(), of.pods.end(), same)) return format(of.pods.front().*amount);
  std::string text;
  for (const pod_shape& shape : of.pods) text += (text.empty() ? "" : "|") + format(shape.*amount);
  return text;
}

std::string time_text(std::int64_t time) {
  return time == unknown_time ? std::string() : format_decimal(time, nanoseconds_per_second);
}

std::string written(const job& of, csv_column column) {
  const auto thousandths = [](std::int64_t amount) { return format_decimal(amount, whole_device); };
  const auto bytes = [](std::int64_t amount) { return io::scenario_text::format_quantity(amount, 1); };
  switch (column) {
    case column_job:
      return csv_field(of.name);
    case column_submit:
      return time_text(of.submit);
    case column_run_time:
      return time_text(of.run_time);
    case column_queue:
      return csv_field(of.queue);
    case column_user:
      return csv_field(of.user);
    case column_model:
      return csv_field(of.model);
    case column_pods: {
      std::string text;
      for (const pod_shape& shape : of.pods) text += fmt::format("{}{}", text.empty() ? "" : "|", shape.count);
      return text;
    }
    case column_gpus:
      return amounts_of(of, &pod_shape::gpus, thousandths);
    case column_cpu:
      return amounts_of(of, &pod_shape::cpu, thousandths);
    case column_memory:
      return amounts_of(of, &pod_shape::memory, bytes);
    case column_gpu_memory:
      return amounts_of(of, &pod_shape::gpu_memory, bytes);
    case column_gpu_models:
      return csv_field(fmt::format("{}", fmt::join(of.gpu_models, "|")));
    case column_estimate:
      return time_text(of.estimate);
    case column_deadline:
      return time_text(of.deadline);
    case column_priority:
      return std::to_string(of.priority);
    case column_preemptible:
      return of.preemptible ? "true" : "false";
    case column_min_pods:
      return std::to_string(of.min_pods);
    case column_after:
      return csv_field(fmt::format("{}", fmt::join(of.after, "|")));
    case column_speedup:
      return csv_field(fmt::format("{}", fmt::join(of.speedup, "|")));
    case column_iterations:
      return std::to_string(of.iterations);
    case column_iteration_time:
      return time_text(of.iteration_time);
    case column_gpus_total:
    case column_count:
      break;
  }
  return {};
}

/// Whether the reader would take the same from an absent column.
bool is_needed(const workload& of, csv_column column) {
  if (column <= column_run_time || column == column_pods || column == column_gpus) return true;
  if (column == column_gpus_total) return false;
  if (column == column_iteration_time) return is_needed(of, column_iterations);  // one says nothing without the other
  job plain;
  plain.pods.resize(1);
  const std::string fallback = written(plain, column);
  return std::any_of(of.jobs.begin(), of.jobs.end(), [&](const job& one) {
    return written(one, column) != fallback || (column == column_iterations && one.iteration_time != 0);
  });
}

/// The column of an amount that the reader would refuse, or nothing.
std::string_view bad_amount(const job& of) {
  const auto is_time = [](std::int64_t time) { return time >= 0 && time <= max_time; };
  if (!is_time(of.submit)) return column_names[column_submit];
  if (!is_time(of.run_time)) return column_names[column_run_time];
  if (of.estimate != unknown_time && !is_time(of.estimate)) return column_names[column_estimate];
  if (of.deadline != unknown_time && (!is_time(of.deadline) || of.deadline < of.submit)) {
    return column_names[column_deadline];
  }
  if (of.priority < least_priority || of.priority > most_priority) return column_names[column_priority];
  if (!is_time(of.iterations)) return column_names[column_iterations];
  if (!is_time(of.iteration_time)) return column_names[column_iteration_time];
  std::int64_t pods = 0;
  for (const pod_shape& shape : of.pods) {
    pods += shape.count;
    if (shape.count == 0 || pods > max_job_pods) return column_names[column_pods];
    const bool is_whole = shape.gpus < whole_device || shape.gpus % whole_device == 0;
    if (shape.gpus < 0 || shape.gpus > max_pod_gpus * whole_device || !is_whole) return column_names[column_gpus];
    if (shape.cpu < 0 || shape.cpu > max_amount) return column_names[column_cpu];
    if (shape.memory < 0 || shape.memory > max_amount) return column_names[column_memory];
    const bool beside_gpus = shape.gpu_memory > 0 && shape.gpus > 0;
    if (shape.gpu_memory < 0 || shape.gpu_memory > max_amount || beside_gpus) return column_names[column_gpu_memory];
  }
  return of.min_pods > pods ? column_names[column_min_pods] : std::string_view{};
}

/// What keeps a text out of a field, or nothing.
std::string_view fault_of(std::string_view text) {
  if (base::find_invalid_utf8(text) != std::string_view::npos) return "is not UTF-8";
  if (base::find_control(text) != std::string_view::npos) return "has a control character";
  return {};
}

result<void> check_job(const job& of) {
  const auto fault = [&](std::string_view column, std::string_view what) {
    return error{status::argument, fmt::format("job \"{}\": {} {}", base::shown(of.name), column, what), {}};
  };
  if (of.name.empty()) return fault("its name", "is empty");
  if (of.pods.empty()) return fault("it", "has no pods");
  if (const std::string_view column = bad_amount(of); !column.empty()) return fault(column, "is out of range");
  for (const auto& [column, text] : {std::pair<std::string_view, const std::string&>{"job", of.name},
                                     {"queue", of.queue},
                                     {"user", of.user},
                                     {"model", of.model}}) {
    if (const std::string_view what = fault_of(text); !what.empty()) return fault(column, what);
  }
  for (const std::string& model : of.gpu_models) {
    if (const std::string_view what = fault_of(model); !what.empty()) return fault("gpu_models", what);
    if (model.empty() || without_blanks(model) != model || model.find(list_mark) != std::string::npos) {
      return fault("gpu_models", "has a name that is empty, has blanks around it or a | inside");
    }
  }
  for (const std::string& entry : of.after) {
    if (const std::string_view what = fault_of(entry); !what.empty()) return fault("after", what);
    if (!model::parse_dependency(entry) || without_blanks(entry) != entry || entry.find(list_mark) != std::string::npos)
      return fault("after", "has an entry that is none, has blanks around it or a | inside");
  }
  for (const std::string& entry : of.speedup) {
    if (const std::string_view what = fault_of(entry); !what.empty()) return fault("speedup", what);
    if (without_blanks(entry) != entry || entry.find(list_mark) != std::string::npos)
      return fault("speedup", "has an entry with blanks around it or a | inside");
  }
  if (!curve_of(of)) return fault("speedup", "is no curve");
  return {};
}

}  // namespace

std::span<const workload_column> workload_columns() { return columns; }

result<workload> read_workload_csv(io::named_text file, const workload_csv_options& options) {
  if (options.gpus_per_node < 1 || options.gpus_per_node > max_pod_gpus) {
    return error{status::argument,
                 fmt::format("gpus_per_node: expected 1 to {}, found {}", max_pod_gpus, options.gpus_per_node),
                 {}};
  }
  return workload_rows(file, options).take();
}

result<std::string> format_workload_csv(const workload& from) {
  for (const job& one : from.jobs) {
    if (auto sound = check_job(one); !sound) return sound.take_failure();
  }
  std::vector<csv_column> used;
  for (unsigned i = 0; i < column_count; ++i) {
    if (is_needed(from, static_cast<csv_column>(i))) used.push_back(static_cast<csv_column>(i));
  }
  std::string text;
  for (const csv_column column : used) {
    text += text.empty() ? "" : ",";
    text += column_names[column];
  }
  text += '\n';
  for (const job& one : from.jobs) {
    for (const csv_column column : used) {
      if (column != used.front()) text += ',';
      text += written(one, column);
    }
    text += '\n';
  }
  return text;
}

}  // namespace kaisched::simulation
