// The command for workloads: traces as CSV, invented ones, and what is in one.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/chart.hpp"
#include "cli/console.hpp"
#include "cli/explain.hpp"
#include "cli/progress.hpp"
#include "simulation/amounts.hpp"
#include "simulation/job_list.hpp"
#include "simulation/traces/trace_file.hpp"
#include "simulation/workload_csv.hpp"
#include "simulation/workload_figures.hpp"
#include "simulation/workload_model.hpp"

namespace kaisched::cli {

namespace {

using simulation::workload;
using simulation::workload_figures;

constexpr std::string_view workload_schema = "kaisched-workload/1";

struct workload_arguments {
  std::string task;
  std::vector<std::string> files;
  std::int64_t gpus_per_node = 8;
  // of what is read
  std::string from;
  std::string profile;
  std::string part;
  std::string gpu;
  std::string processors;
  std::int64_t cores_per_node = 64;
  bool shift = false;
  std::int64_t first = 0;
  // of what is invented
  std::string like;
  std::int64_t jobs = 0;
  std::uint64_t seed = 1;
  double rate = 0;
  std::string sizes;
  std::string run_times;
  std::string rhythm;
  std::int64_t queues = 0;
  bool elastic = false;
};

error wrong_argument(std::string text) { return {status::argument, std::move(text), {}}; }

/// Options of another task would be told in vain.
result<void> check_task(const workload_arguments& told) {
  const bool invents = told.task == "generate";
  const auto of_reading = [&]() -> std::string_view {
    if (!told.from.empty()) return "--from";
    if (!told.profile.empty()) return "--profile";
    if (!told.part.empty()) return "--part";
    if (!told.gpu.empty()) return "--gpu";
    if (!told.processors.empty()) return "--processors";
    if (told.shift) return "--shift";
    return told.first > 0 ? "--first" : std::string_view{};
  };
  const auto of_inventing = [&]() -> std::string_view {
    if (!told.like.empty()) return "--like";
    if (told.jobs > 0) return "--jobs";
    if (told.rate > 0) return "--rate";
    if (!told.sizes.empty()) return "--sizes";
    if (!told.run_times.empty()) return "--run-times";
    if (!told.rhythm.empty()) return "--rhythm";
    if (told.elastic) return "--elastic";
    return told.queues > 0 ? "--queues" : std::string_view{};
  };
  if (const std::string_view vain = invents ? of_reading() : of_inventing(); !vain.empty()) {
    return wrong_argument(fmt::format("{} says nothing to {}", vain, told.task));
  }
  const std::size_t wanted = told.task == "convert" ? 2 : 1;
  if (told.files.size() > wanted) {
    return wrong_argument(fmt::format("nothing is expected where \"{}\" stands", told.files[wanted]));
  }
  if (told.files.size() == wanted) return {};
  return wrong_argument(told.task == "describe"   ? "name a FILE to describe; - is the standard input"
                        : told.task == "generate" ? "name a FILE to write; - is the standard output"
                                                  : "name IN and OUT; - is the standard input and output");
}

// ---- reading --------------------------------------------------------------------------------------------------------

result<workload> read_workload(const workload_arguments& told) {
  const simulation::trace_form& form = *simulation::find_trace_form(told.from.empty() ? "csv" : told.from);
  if (told.profile.empty() && form.needs_profiles)
    return wrong_argument(fmt::format("--profile is missing: the folder with {}", fmt::join(form.profiles, ", ")));
  if (!told.profile.empty() && form.profiles.empty())
    return wrong_argument(fmt::format("--profile says nothing to --from {}", form.name));
  simulation::trace_options options;
  options.gpus_per_node = told.gpus_per_node;
  options.cores_per_node = told.cores_per_node;
  options.processors = told.processors == "core" ? simulation::processor::core : simulation::processor::gpu;
  options.part = told.part;
  if (!told.gpu.empty()) options.gpu = told.gpu;
  result<workload> read = simulation::read_trace_file(told.files.front(), form, told.profile, options);
  if (!read) return read;
  if (told.first > 0 && static_cast<std::size_t>(told.first) < read->jobs.size()) {
    read->jobs.resize(static_cast<std::size_t>(told.first));
    simulation::forget_missing(*read);
  }
  if (told.shift) simulation::begin_at_zero(*read);
  return read;
}

result<simulation::generator_options> options_of(const workload_arguments& told) {
  const simulation::workload_model& model =
      *simulation::find_workload_model(told.like.empty() ? simulation::workload_models().front().name : told.like);
  simulation::generator_options options = simulation::options_of(model);
  if (told.jobs > 0) options.jobs = told.jobs;
  if (told.rate > 0) options.jobs_per_hour = told.rate;
  options.seed = told.seed;
  options.queues = told.queues;
  options.gpus_per_node = told.gpus_per_node;
  options.elastic = told.elastic;
  if (!told.sizes.empty()) {
    auto sizes = simulation::parse_sizes(told.sizes);
    if (!sizes) return wrong_argument("--" + sizes.failure().message);
    options.sizes = std::move(*sizes);
  }
  if (!told.run_times.empty()) {
    auto law = simulation::parse_run_times(told.run_times);
    if (!law) return wrong_argument("--run-times: " + law.failure().message);
    options.run_times = std::move(*law);
  }
  if (told.rhythm == "none") options.used = simulation::rhythm_use::none;
  if (told.rhythm == "day") options.used = simulation::rhythm_use::day;
  if (told.rhythm == "week") options.used = simulation::rhythm_use::week;
  return options;
}

// ---- reports --------------------------------------------------------------------------------------------------------

/// `2 d 3 h`, `5 min 10 s`, `12.5 s`: two units.
std::string time_words(std::int64_t time) {
  struct unit {
    std::int64_t seconds;
    std::string_view name;
  };
  constexpr std::array<unit, 4> units{{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
  const std::int64_t whole = time / simulation::nanoseconds_per_second;
  for (std::size_t i = 0; i + 1 < units.size(); ++i) {
    if (whole < units[i].seconds) continue;
    const std::int64_t rest = whole % units[i].seconds / units[i + 1].seconds;
    std::string text = fmt::format("{} {}", grouped(whole / units[i].seconds), units[i].name);
    if (rest > 0) text += fmt::format(" {} {}", rest, units[i + 1].name);
    return text;
  }
  constexpr std::int64_t millisecond = 1'000'000;
  return simulation::format_decimal(time / millisecond, 1000) + " s";
}

std::string left_out_words(std::int64_t rows) {
  return fmt::format("{} of the trace {} left out: {} never ran, or nobody knows for how long", counted(rows, "row"),
                     rows == 1 ? "is" : "are", rows == 1 ? "it" : "they");
}

std::string sentence_of(const workload_figures& of) {
  return fmt::format("{} of {}, {} GPU hours, arriving within {}", counted(of.jobs, "job"), counted(of.pods, "pod"),
                     hours_words(of.gpu_hours), time_words(of.last_submit - of.first_submit));
}

template <class F>
void print_percentiles(const terminal& out, std::string_view name, const simulation::percentiles& of, F&& format) {
  constexpr std::size_t width = 12;
  std::string text = "  " + pad_right(name, 10);
  for (const std::int64_t value : {of.least, of.p25, of.median, of.p75, of.p90, of.p99, of.most}) {
    text += pad_left(format(value), width);
  }
  out.line(cut(text, out.width()));
}

void print_arrivals(const terminal& out, const workload_figures& of) {
  print_section(out, "Arrivals");
  const std::int64_t most = *std::max_element(of.arrivals.begin(), of.arrivals.end());
  const std::size_t cells = std::clamp<std::size_t>(out.width() - 44, 8, 64);
  const double hours =
      static_cast<double>(of.period) / (3600.0 * static_cast<double>(simulation::nanoseconds_per_second));
  out.line(out.paint(style::dim, fmt::format("  from           jobs in {}; jobs per hour", time_words(of.period))));
  for (std::size_t i = 0; i < of.arrivals.size(); ++i) {
    bar drawn(cells, most);
    drawn.fill(0, most, glyph::free, style::dim);
    if (of.arrivals[i] > 0) drawn.fill(0, of.arrivals[i], glyph::held, style::blue);
    const std::int64_t from = of.first_period + static_cast<std::int64_t>(i) * of.period;
    out.line(fmt::format("  {}{}  {}  {}", pad_right(time_words(from), 12), pad_left(grouped(of.arrivals[i]), 8),
                         drawn.drawn(out), fmt::format("{:.1f}", static_cast<double>(of.arrivals[i]) / hours)));
  }
}

void print_sizes(const terminal& out, const workload_figures& of) {
  constexpr std::size_t most_lines = 16;
  print_section(out, "Sizes");
  out.line(out.paint(style::dim, "      GPUs      jobs            GPU hours"));
  for (std::size_t i = 0; i < of.sizes.size() && i < most_lines; ++i) {
    const simulation::size_figures& one = of.sizes[i];
    out.line(fmt::format("  {}{} {}{}", pad_left(gpus(one.gpus), 8), pad_left(grouped(one.jobs), 10),
                         pad_left(percent(one.jobs, of.jobs), 9), pad_left(hours_words(one.gpu_hours), 12)));
  }
  if (of.sizes.size() > most_lines) {
    out.line(fmt::format("  and {} more; --json has all", counted(std::ssize(of.sizes) - 16, "size")));
  }
}

void print_queues(const terminal& out, const workload_figures& of) {
  if (of.queues.size() < 2) return;
  constexpr std::size_t most_lines = 16;
  print_section(out, "Queues");
  for (std::size_t i = 0; i < of.queues.size() && i < most_lines; ++i) {
    const simulation::queue_figures& one = of.queues[i];
    out.line(fmt::format("  {}{}{} GPU hours", pad_right(one.name.empty() ? "(none)" : cut(one.name, 24), 26),
                         pad_left(counted(one.jobs, "job"), 16), pad_left(hours_words(one.gpu_hours), 14)));
  }
  if (of.queues.size() > most_lines) {
    out.line(fmt::format("  and {} more; --json has all", counted(std::ssize(of.queues) - 16, "queue")));
  }
}

void print_figures(const terminal& out, std::string_view file, const workload_figures& of) {
  out.line(out.paint(style::bold, fmt::format("{}: {}", file, counted(of.jobs, "job"))));
  if (of.left_out > 0) out.line("  " + out.paint(style::red, left_out_words(of.left_out)));
  if (of.jobs == 0) return;
  out.line(fmt::format("  pods         {}", grouped(of.pods)));
  out.line(fmt::format("  GPU hours    {}", hours_words(of.gpu_hours)));
  out.line(fmt::format("  first job    {}", time_words(of.first_submit)));
  out.line(fmt::format("  last job     {}", time_words(of.last_submit)));
  out.line(fmt::format("  if nobody waited: over after {}, {:.1f} GPUs busy on average, at most {}",
                       time_words(of.end_without_waiting), of.mean_gpus, gpus(of.most_gpus)));
  if (of.users > 0 || of.models > 0) {
    out.line(fmt::format("  different    {}, {}", counted(of.users, "user"), counted(of.models, "model")));
  }
  print_section(out, "Percentiles");
  out.line(out.paint(style::dim, cut(fmt::format("  {}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}", pad_right("", 10),
                                                 "least", "25", "50", "75", "90", "99", "most"),
                                     out.width())));
  print_percentiles(out, "run time", of.run_time, time_words);
  print_percentiles(out, "GPUs", of.gpus, [](std::int64_t amount) { return gpus(amount); });
  print_sizes(out, of);
  print_queues(out, of);
  print_arrivals(out, of);
}

json json_of(const simulation::percentiles& of) {
  return {{"least", of.least}, {"p25", of.p25}, {"median", of.median}, {"p75", of.p75},
          {"p90", of.p90},     {"p99", of.p99}, {"most", of.most},     {"mean", of.mean}};
}

json json_of(const workload_figures& of) {
  json sizes = json::array();
  for (const auto& one : of.sizes)
    sizes.push_back({{"gpus", one.gpus}, {"jobs", one.jobs}, {"gpu_hours", one.gpu_hours}});
  json queues = json::array();
  for (const auto& one : of.queues) {
    queues.push_back({{"name", one.name}, {"jobs", one.jobs}, {"gpu_hours", one.gpu_hours}});
  }
  return {{"jobs", of.jobs},
          {"pods", of.pods},
          {"left_out", of.left_out},
          {"first_submit", of.first_submit},
          {"last_submit", of.last_submit},
          {"end_without_waiting", of.end_without_waiting},
          {"gpu_hours", of.gpu_hours},
          {"mean_gpus", of.mean_gpus},
          {"most_gpus", of.most_gpus},
          {"run_time", json_of(of.run_time)},
          {"gpus", json_of(of.gpus)},
          {"sizes", std::move(sizes)},
          {"queues", std::move(queues)},
          {"users", of.users},
          {"models", of.models},
          {"period", of.period},
          {"first_period", of.first_period},
          {"arrivals", of.arrivals}};
}

int finish(const workload_arguments& told, const console& to, const workload_figures& figures) {
  if (!to.wants_json()) return exit_ok;
  json report{{"schema", workload_schema}, {"task", told.task}, {"file", told.files.back()}};
  if (told.task == "convert") report["from"] = told.files.front();
  report["contents"] = json_of(figures);
  return to.finish(report);
}

// ---- tasks ----------------------------------------------------------------------------------------------------------

int write_workload(const workload_arguments& told, const console& to, progress& shown, const workload& made) {
  const std::string& out = told.files.back();
  shown.next("writing " + out);
  const result<std::string> text = simulation::format_workload_csv(made);
  if (!text) return to.fail(text.failure());
  if (auto written = to.write(out, *text); !written) return to.fail(written.failure(), exit_failure);
  shown.finish();
  const workload_figures figures = simulation::figures_of(made);
  if (to.shows_report()) {
    to.out().line(fmt::format("{}: {}", out, sentence_of(figures)));
    if (made.left_out > 0) to.out().line("  " + to.out().paint(style::red, left_out_words(made.left_out)));
  }
  return finish(told, to, figures);
}

int convert_workload(const workload_arguments& told, console& to) {
  std::error_code fault;
  if (told.files[1] != "-" && std::filesystem::equivalent(told.files[0], told.files[1], fault)) {
    return to.fail(wrong_argument(fmt::format("OUT would overwrite {}, which is read", told.files[0])), exit_usage);
  }
  if (auto free = to.claim("the workload", told.files[1]); !free) return to.fail(free.failure(), exit_usage);
  progress shown(to, 2);
  shown.next("reading " + told.files[0]);
  const result<workload> read = read_workload(told);
  if (!read) return to.fail(read.failure());
  return write_workload(told, to, shown, *read);
}

int generate_workload(const workload_arguments& told, console& to) {
  const result<simulation::generator_options> options = options_of(told);
  if (!options) return to.fail(options.failure(), exit_usage);
  if (auto free = to.claim("the workload", told.files[0]); !free) return to.fail(free.failure(), exit_usage);
  progress shown(to, 2);
  shown.next("inventing jobs");
  const result<workload> made = simulation::generate_workload(*options);
  if (!made) return to.fail(made.failure(), exit_usage);
  return write_workload(told, to, shown, *made);
}

int describe_workload(const workload_arguments& told, const console& to) {
  progress shown(to, 1);
  shown.next("reading " + told.files[0]);
  const result<workload> read = read_workload(told);
  if (!read) return to.fail(read.failure());
  shown.finish();
  const workload_figures figures = simulation::figures_of(*read);
  if (to.shows_report()) print_figures(to.out(), told.files[0] == "-" ? "standard input" : told.files[0], figures);
  return finish(told, to, figures);
}

int do_task(const workload_arguments& told, console& to) {
  if (auto sound = check_task(told); !sound) return to.fail(sound.failure(), exit_usage);
  if (told.task == "convert") return convert_workload(told, to);
  return told.task == "generate" ? generate_workload(told, to) : describe_workload(told, to);
}

std::vector<std::string> words_of_traces() {
  std::vector<std::string> words;
  for (const simulation::trace_form& form : simulation::trace_forms()) words.emplace_back(form.name);
  return words;
}

std::vector<std::string> words_of_models() {
  std::vector<std::string> words;
  for (const simulation::workload_model& model : simulation::workload_models()) words.emplace_back(model.name);
  return words;
}

void add_reading(command& c, workload_arguments& told) {
  c.heading("Input of convert and describe");
  c.option("--from", &told.from, one_of("FORM", words_of_traces()), "What the file is (csv). One of");
  c.option("--profile", &told.profile, file_name(), "pollux: folder with its profiles; shockwave: file of throughputs");
  c.option("--part", &told.part, any_value("NAME"), "itp: number of a cluster; pollux: name of a workload (all)");
  c.option("--gpu", &told.gpu, any_value("MODEL"), "shockwave: rows of the throughputs that count (v100)");
  c.option("--processors", &told.processors, one_of("WHAT", {"gpu", "core"}), "swf: what a processor is (gpu). One of");
  c.option("--cores-per-node", &told.cores_per_node, any_value("N"), "swf: most cores of one pod")
      .between(1, 1'048'576);
  c.option("--first", &told.first, any_value("N"), "Only so many jobs; 0 is all").between(0, 1e15);
  c.flag("--shift", told.shift, "The first job arrives at 0");
}

void add_inventing(command& c, workload_arguments& told) {
  c.heading("What generate invents");
  c.option("--like", &told.like, one_of("MODEL", words_of_models()), "Where the defaults come from (philly). One of");
  c.option("--jobs", &told.jobs, any_value("N"), "Number of jobs, up to 10000000; 0 is 1000").between(0, 10'000'000);
  c.option("--seed", &told.seed, any_value("N"), "Every seed is another workload, the same on every machine");
  c.option("--rate", &told.rate, any_value("X"), "Jobs in an hour; 0: as the model has them").between(0, 1e9);
  c.option("--sizes", &told.sizes, any_value("LIST"), "GPUs of a job and their weights, such as 1:70,2:10,8:20");
  c.option("--run-times", &told.run_times, any_value("LAW"),
           "log-normal:MEDIAN:SIGMA, or powers:LEAST:MOST:WEIGHT,... (10^x minutes)");
  c.option("--rhythm", &told.rhythm, one_of("WHAT", {"none", "day", "week"}),
           "Whether the rate changes with the hour, and with the day of the week. One of");
  c.option("--queues", &told.queues, any_value("N"), "Queues that the jobs are in; 0: none").between(0, 1'048'576);
  c.flag("--elastic", told.elastic, "Jobs of several pods may run with fewer, and have curves of speed");
}

}  // namespace

void add_workload(command_list& to) {
  command& c = to.add("workload", group::files, "Make workloads from traces, invent and describe them");
  auto& told = c.keep<workload_arguments>();
  c.explain(
      "convert IN OUT writes a trace as the CSV of workloads, generate OUT invents one, describe FILE says what is in "
      "one: jobs, GPU hours, sizes, run times, arrivals. docs/workloads.md has the columns, docs/data.md the traces.");
  c.heading("Task");
  c.position("TASK", &told.task, one_of("TASK", {"convert", "generate", "describe"}), "One of").required();
  c.position("FILES", &told.files, file_name({"csv", "swf"}),
             "IN OUT, OUT or FILE; - is the standard input and output");
  c.option("--gpus-per-node", &told.gpus_per_node, any_value("N"), "Most GPUs of one pod: larger jobs are split")
      .between(1, 1'048'576);
  add_reading(c, told);
  add_inventing(c, told);
  c.add_example("kaisched workload generate jobs.csv --jobs 500 --like gavel");
  c.add_example("kaisched workload describe jobs.csv");
  c.add_example("kaisched workload convert --from swf log.swf jobs.csv --shift");
  c.runs([&told](console& out) { return do_task(told, out); });
}

}  // namespace kaisched::cli
