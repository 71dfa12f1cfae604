// The command that plays a workload in virtual time.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/version.hpp>

#include "cli/chart.hpp"
#include "cli/console.hpp"
#include "cli/explain.hpp"
#include "cli/input.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "io/files.hpp"
#include "simulation/amounts.hpp"
#include "simulation/metrics.hpp"
#include "simulation/outcome_csv.hpp"
#include "simulation/plain_cluster.hpp"
#include "simulation/workload_csv.hpp"

namespace kaisched::cli {

namespace {

using simulation::distribution;
using simulation::metrics;
using simulation::run_result;
using simulation::series;

constexpr std::string_view simulate_schema = "kaisched-simulate/1";

struct simulate_arguments {
  std::string workload;
  std::string cluster;
  std::string nodes;
  std::int64_t gpus_per_node = 8;
  policy_arguments policy;
  std::string period;
  std::string wake;
  std::string grace;
  std::string start_overhead;
  std::string checkpoints = "always";
  std::string estimates = "given";
  std::string until;
  std::string queue = "default";
  std::string jobs_file;
  std::string timeline_file;
};

error misuse(std::string text) { return {status::argument, std::move(text), {}}; }

result<void> read_time(std::string_view option, std::string_view text, std::int64_t& to) {
  if (text.empty()) return {};
  const std::optional<std::int64_t> read = simulation::parse_duration(text);
  if (!read) return misuse(fmt::format("{} {}: expected a time such as 30, 90s, 5m, 2h", option, text));
  to = *read;
  return {};
}

result<simulation::simulation_options> options_of(const simulate_arguments& told) {
  simulation::simulation_options made;
  for (const auto& [option, text, to] : {std::tuple{"--period", &told.period, &made.period},
                                         {"--wake", &told.wake, &made.wake},
                                         {"--grace", &told.grace, &made.grace},
                                         {"--start-overhead", &told.start_overhead, &made.start_overhead},
                                         {"--until", &told.until, &made.horizon}}) {
    if (auto read = read_time(option, *text, *to); !read) return read.take_failure();
  }
  if (told.checkpoints == "never") {
    made.keeps_work = false;
  } else if (told.checkpoints != "always") {
    if (auto read = read_time("--checkpoints", told.checkpoints, made.checkpoint_interval); !read)
      return read.take_failure();
  }
  made.estimates = told.estimates == "none"    ? simulation::told_times::none
                   : told.estimates == "exact" ? simulation::told_times::exact
                                               : simulation::told_times::given;
  made.queue = told.queue;
  return made;
}

result<simulation::workload> read_jobs(const simulate_arguments& told) {
  const result<std::string> text = io::read_file(told.workload);
  if (!text) return text.failure();
  simulation::workload_csv_options options;
  options.gpus_per_node = told.gpus_per_node;
  return simulation::read_workload_csv({told.workload == "-" ? "standard input" : told.workload, *text}, options);
}

/// Groups, their pods and the claims of these leave: the workload is all that is played.
void leave_pods_out(io::cluster_input& of) {
  const auto leaves = [](std::uint32_t kind) {
    const auto is = [kind](table_kind one) { return kind == static_cast<std::uint32_t>(one); };
    return is(table_kind::pod_group) || is(table_kind::sub_group) || is(table_kind::pod) ||
           is(table_kind::resource_claim) || is(table_kind::claim_request);
  };
  std::vector<table> tables = std::exchange(of.tables, {});
  std::vector<io::table_origin> origins = std::exchange(of.origins, {});
  origins.resize(tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (!leaves(tables[i].kind())) of.add(std::move(tables[i]), std::move(origins[i]));
  }
}

/// The cluster of a file, or equal nodes.
result<cluster> make_cluster(const simulate_arguments& told, const simulation::workload& jobs,
                             simulation::simulation_options& options) {
  if (!told.nodes.empty()) {
    const result<io::cluster_input> made = simulation::plain_cluster(told.nodes, jobs, told.queue, options.model_label);
    if (!made) return misuse("--nodes " + made.failure().message);
    return io::build_cluster(*made);
  }
  input_arguments file;
  file.cluster = told.cluster;
  result<io::cluster_input> read = read_tables(file);
  if (!read) return read.failure();
  leave_pods_out(*read);
  options.begin = read->now;
  return io::build_cluster(*read);
}

// ---- reports --------------------------------------------------------------------------------------------------------

std::string span_words(double value) {
  if (value < 120) return fmt::format("{:.1f} s", value);
  if (value < 7200) return fmt::format("{:.1f} min", value / 60);
  if (value < 172800) return fmt::format("{:.1f} h", value / 3600);
  return fmt::format("{:.1f} d", value / 86400);
}

std::string share_words(double part) { return fmt::format("{:.1f} %", part * 100); }

void print_times(const terminal& out, std::string_view name, const distribution& of) {
  std::string text = "  " + pad_right(name, 24);
  for (const double value : {of.mean, of.p50, of.p90, of.p99, of.most}) text += pad_left(span_words(value), 12);
  out.line(text);
}

void print_timeline(const terminal& out, const run_result& run) {
  constexpr std::size_t lines = 24;
  constexpr double scale = 1000;
  const std::vector<double> held = simulation::pieces_of(run, series::held, lines);
  const std::vector<double> wanted = simulation::pieces_of(run, series::wanted, lines);
  const std::vector<double> there = simulation::pieces_of(run, series::there, lines);
  if (held.empty() || run.end == run.timeline.front().time) return;
  print_section(out, "GPUs over time");
  out.line(out.paint(style::dim, "  until            held    wanted"));
  const double most = *std::max_element(there.begin(), there.end());
  const std::size_t cells = std::clamp<std::size_t>(out.width() - 40, 8, 60);
  const std::int64_t first = run.timeline.front().time;
  for (std::size_t i = 0; i < held.size(); ++i) {
    bar drawn(cells, static_cast<std::int64_t>(most * scale));
    drawn.fill(0, static_cast<std::int64_t>(there[i] * scale), glyph::free, style::dim);
    if (held[i] * scale >= 1) drawn.fill(0, static_cast<std::int64_t>(held[i] * scale), glyph::held, style::blue);
    const double until = static_cast<double>(first) / 1e9 +
                         static_cast<double>(run.end - first) / 1e9 * static_cast<double>(i + 1) / lines;
    out.line(fmt::format("  {}{}{}  {}", pad_right(span_words(until), 12), pad_left(fmt::format("{:.1f}", held[i]), 9),
                         pad_left(fmt::format("{:.1f}", wanted[i]), 10), drawn.drawn(out)));
  }
}

void print_figures(const terminal& out, const metrics& m, const run_result& run) {
  out.line(fmt::format("  {} of {} ended{}", grouped(static_cast<std::int64_t>(m.ended)),
                       counted(static_cast<std::int64_t>(m.jobs), "job"),
                       m.never_started == 0
                           ? std::string()
                           : fmt::format(", {} never started", grouped(static_cast<std::int64_t>(m.never_started)))));
  out.line(fmt::format("  {} from the first job to the last end", span_words(m.makespan)));
  print_section(out, "Times");
  out.line(out.paint(style::dim, fmt::format("  {}{:>12}{:>12}{:>12}{:>12}{:>12}", pad_right("", 24), "mean", "50 %",
                                             "90 %", "99 %", "longest")));
  print_times(out, "until the end (JCT)", m.completion);
  print_times(out, "until the start", m.waiting);
  print_section(out, "Use");
  out.line(fmt::format("  GPUs in use           {} of the whole time, {} while jobs came", share_words(m.utilisation),
                       share_words(m.utilisation_of_arrivals)));
  out.line(fmt::format("  GPU hours             {}, {} of them lost", hours_words(m.gpu_hours),
                       hours_words(m.lost_gpu_hours)));
  out.line(fmt::format("  jobs stopped          {} by decisions, {} by nodes",
                       grouped(static_cast<std::int64_t>(m.evictions)),
                       grouped(static_cast<std::int64_t>(m.failures))));
  print_section(out, "Fairness");
  out.line(fmt::format("  slowest for its part  {:.2f} times its run time on an equal part of the cluster",
                       m.worst_fairness));
  out.line(fmt::format("  more than 1.05 times  {} of the jobs", share_words(m.unfair)));
  out.line(fmt::format("  Jain's index          {:.3f} of slowdowns", m.jain));
  print_timeline(out, run);
}

json json_of(const distribution& of) {
  return {{"count", of.count}, {"mean", of.mean}, {"p50", of.p50}, {"p90", of.p90}, {"p99", of.p99}, {"most", of.most}};
}

json numbers_of(const run_result& run, series what) {
  constexpr std::size_t pieces = 100;
  return simulation::pieces_of(run, what, pieces);
}

int simulate(const simulate_arguments& told, console& to) {
  if (told.nodes.empty() == told.cluster.empty())
    return to.fail(misuse("name a cluster: --cluster FILE, or --nodes such as 16x8"), exit_usage);
  for (const auto& [option, file] : {std::pair{"--jobs", &told.jobs_file}, {"--timeline", &told.timeline_file}}) {
    if (auto free = to.claim(option, *file); !free) return to.fail(free.failure(), exit_usage);
  }
  const result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  result<simulation::simulation_options> options = options_of(told);
  if (!options) return to.fail(options.failure(), exit_usage);
  progress shown(to, 2);
  shown.next("reading " + told.workload);
  result<simulation::workload> jobs = read_jobs(told);
  if (!jobs) return to.fail(jobs.failure());
  result<cluster> over = make_cluster(told, *jobs, *options);
  if (!over) return to.fail(over.failure());
  simulation::play what;
  what.jobs = std::move(*jobs);
  shown.next("playing");
  const auto begun = std::chrono::steady_clock::now();
  const result<run_result> run = simulation::simulate(*over, what, *with, *options);
  if (!run) return to.fail(run.failure());
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  shown.finish();
  for (const auto& [file, text] : {std::pair{&told.jobs_file, simulation::format_outcomes(what.jobs, *run)},
                                   {&told.timeline_file, simulation::format_timeline(*run)}}) {
    if (file->empty()) continue;
    if (auto written = to.write(*file, text); !written) return to.fail(written.failure(), exit_failure);
  }
  const metrics m = simulation::metrics_of(what.jobs, *run);
  if (to.shows_report()) {
    to.out().line(to.out().paint(style::bold, fmt::format("kaisched {}: {} on {}", version_string, told.workload,
                                                          told.nodes.empty() ? told.cluster : told.nodes)));
    to.out().line(fmt::format("  preset {}, mode {}; {} in {}", with->get("preset").value(), with->get("mode").value(),
                              counted(static_cast<std::int64_t>(run->counts.sessions), "session"), seconds(took)));
    print_figures(to.out(), m, *run);
    to.out().line();
    to.out().line("digest " + run->digest);
  }
  json report{{"schema", simulate_schema},
              {"preset", with->get("preset").value()},
              {"mode", with->get("mode").value()},
              {"digest", run->digest},
              {"seconds", took},
              {"jobs", m.jobs},
              {"ended", m.ended},
              {"never_started", m.never_started},
              {"makespan", m.makespan},
              {"completion", json_of(m.completion)},
              {"waiting", json_of(m.waiting)},
              {"utilisation", m.utilisation},
              {"utilisation_of_arrivals", m.utilisation_of_arrivals},
              {"gpu_hours", m.gpu_hours},
              {"lost_gpu_hours", m.lost_gpu_hours},
              {"evictions", m.evictions},
              {"failures", m.failures},
              {"worst_fairness", m.worst_fairness},
              {"unfair", m.unfair},
              {"jain", m.jain},
              {"sessions", run->counts.sessions},
              {"pods_started", run->counts.starts},
              {"pods_evicted", run->counts.evictions},
              {"restless_moments", run->counts.restless},
              {"timeline",
               {{"from", run->timeline.empty() ? 0 : run->timeline.front().time},
                {"until", run->end},
                {"gpus_held", numbers_of(*run, series::held)},
                {"gpus_wanted", numbers_of(*run, series::wanted)},
                {"gpus_there", numbers_of(*run, series::there)},
                {"jobs_running", numbers_of(*run, series::running)},
                {"jobs_waiting", numbers_of(*run, series::waiting)}}}};
  return to.finish(report);
}

}  // namespace

void add_simulate(command_list& to) {
  command& c = to.add("simulate", group::decide, "Play a workload in virtual time, and report how long jobs took");
  auto& told = c.keep<simulate_arguments>();
  c.explain(
      "Jobs arrive, sessions of the engine decide, pods run, are stopped and end; a session is held whenever something "
      "has changed, or every --period. The same workload, cluster and options have the same digest on every machine. "
      "`kaisched workload` makes workloads from public traces.");
  c.position("WORKLOAD", &told.workload, file_name({"csv"}), "Jobs, see docs/workloads.md; - is the standard input")
      .required();
  c.heading("Cluster");
  c.option("--cluster", &told.cluster, cluster_file(), "Nodes, queues and topology; its groups and pods are left out");
  c.option("--nodes", &told.nodes, any_value("NxG"), "Equal nodes instead: 16x8, or 8x8:V100,4x4:T4");
  c.option("--queue", &told.queue, any_value("NAME"), "Queue of jobs that name none");
  c.option("--gpus-per-node", &told.gpus_per_node, any_value("N"), "Most GPUs of a pod where a job says gpus_total")
      .between(1, max_devices_per_node);
  add_policy_arguments(c, told.policy);
  c.heading("Times");
  c.option("--period", &told.period, any_value("TIME"),
           "From the start of one session to the next; 0: at every change");
  c.option("--wake", &told.wake, any_value("TIME"), "A session at least so often while jobs wait or run; 0: never");
  c.option("--grace", &told.grace, any_value("TIME"), "From the eviction of a pod until its place is free");
  c.option("--start-overhead", &told.start_overhead, any_value("TIME"), "Of every start of a job, without progress");
  c.option("--checkpoints", &told.checkpoints, any_value("WHEN"), "How much work is kept: always, never, or a TIME");
  c.option("--estimates", &told.estimates, one_of("WHAT", {"none", "given", "exact"}),
           "What sessions know of run times. One of");
  c.option("--until", &told.until, any_value("TIME"), "Nothing is played beyond");
  c.heading("Output");
  c.option("--jobs", &told.jobs_file, file_name({"csv"}), "What became of each job, as CSV").writes();
  c.option("--timeline", &told.timeline_file, file_name({"csv"}), "GPUs and jobs after every change, as CSV").writes();
  c.add_example("kaisched workload generate jobs.csv --jobs 20 && kaisched simulate jobs.csv --nodes 4x8");
  c.add_example("kaisched simulate jobs.csv --cluster cluster.yaml --queue speech --actions allocate,preempt");
  c.runs([&told](console& out) { return simulate(told, out); });
}

}  // namespace kaisched::cli
