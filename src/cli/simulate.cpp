// The command that plays a workload in virtual time.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <kaisched/version.hpp>

#include "cli/chart.hpp"
#include "cli/console.hpp"
#include "cli/explain.hpp"
#include "cli/play_arguments.hpp"
#include "cli/play_details.hpp"
#include "cli/play_figures.hpp"
#include "cli/progress.hpp"
#include "cli/recorded.hpp"
#include "simulation/cpu_clock.hpp"
#include "simulation/metrics.hpp"
#include "simulation/outcome_csv.hpp"

namespace kaisched::cli {

namespace {

using simulation::distribution;
using simulation::metrics;
using simulation::run_result;
using simulation::series;

constexpr std::string_view simulate_schema = "kaisched-simulate/1";

struct simulate_arguments {
  std::string workload;
  std::string play_file;
  play_arguments play;
  std::string jobs_file;
  std::string timeline_file;
  std::string recording;
  bool details = false;
  bool whole_time = false;
};

// ---- reports --------------------------------------------------------------------------------------------------------

void print_times(const terminal& out, std::string_view name, const distribution& of) {
  std::string text = "  " + pad_right(name, 24);
  for (const double value : {of.mean, of.p50, of.p90, of.p99, of.most}) text += pad_left(span_words(value), 12);
  out.line(text);
}

void print_timeline(const terminal& out, const run_result& run, const simulation::time_window& window) {
  constexpr std::size_t lines = 24;
  constexpr double scale = 1000;
  const std::vector<double> held = simulation::pieces_of(run, series::held, lines, window);
  const std::vector<double> wanted = simulation::pieces_of(run, series::wanted, lines, window);
  const std::vector<double> there = simulation::pieces_of(run, series::there, lines, window);
  if (held.empty() || window.until == window.from) return;
  print_section(out, window == simulation::whole_span(run) ? "GPUs over time" : "GPUs over time, contended window");
  out.line(out.paint(style::dim, "  until            held    wanted"));
  const double most = *std::max_element(there.begin(), there.end());
  const std::size_t cells = std::clamp<std::size_t>(std::max<std::size_t>(out.width(), 40) - 40, 8, 60);
  for (std::size_t i = 0; i < held.size(); ++i) {
    bar drawn(cells, static_cast<std::int64_t>(most * scale));
    drawn.fill(0, static_cast<std::int64_t>(there[i] * scale), glyph::free, style::dim);
    if (held[i] * scale >= 1) drawn.fill(0, static_cast<std::int64_t>(held[i] * scale), glyph::held, style::blue);
    const double until = static_cast<double>(window.from) / 1e9 +
                         static_cast<double>(window.until - window.from) / 1e9 * static_cast<double>(i + 1) / lines;
    out.line(fmt::format("  {}{}{}  {}", pad_right(span_words(until), 12), pad_left(fmt::format("{:.1f}", held[i]), 9),
                         pad_left(fmt::format("{:.1f}", wanted[i]), 10), drawn.drawn(out)));
  }
}

void print_quotas(const terminal& out, const run_result& run) {
  if (run.quota_claims.empty()) return;
  print_section(out, "Waiting within the quota of the queue");
  std::size_t widest = 24;
  for (const simulation::quota_claim& one : run.quota_claims) widest = std::max(widest, one.queue.size());
  out.line(out.paint(style::dim, fmt::format("  {}{:>12}{:>12}{:>12}{:>12}{:>12}", pad_right("", widest), "GPUs",
                                             "times", "first", "longest", "total")));
  for (const simulation::quota_claim& one : run.quota_claims) {
    std::string text = "  " + pad_right(one.queue, widest) + pad_left(gpus(one.quota), 12) +
                       pad_left(grouped(static_cast<std::int64_t>(one.claims)), 12);
    for (const std::int64_t time : {one.first, one.longest, one.total})
      text += pad_left(span_words(static_cast<double>(time) / 1e9), 12);
    out.line(text + (one.is_open ? "  still waits" : ""));
  }
}

void print_figures(const terminal& out, const metrics& m, const run_result& run, bool whole_time) {
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
  const std::optional<simulation::time_window> contended = simulation::contended_window(run);
  if (contended) {
    out.line(fmt::format("  GPUs in use           {} while contended, from {} to {}", share_words(m.utilisation),
                         span_words(m.contended_from), span_words(m.contended_until)));
  }
  out.line(fmt::format("  {}{} of the whole time, {} while jobs came",
                       contended ? "                      " : "GPUs in use           ",
                       share_words(m.utilisation_of_span), share_words(m.utilisation_of_arrivals)));
  out.line(fmt::format(
      "  GPUs that are free    {} of them in pieces that jobs cannot use, {} of all while as many are waited for",
      share_words(m.fragmentation), share_words(m.idle_though_asked)));
  if (m.idle_fitting_gpu_hours > 0) {
    out.line(fmt::format("  idle while jobs fit   {} GPU hours: {}", hours_words(m.idle_fitting_gpu_hours),
                         idle_words(run)));
  }
  if (!run.unread.empty()) out.line(fmt::format("  not looked at         {}", fmt::join(run.unread, ", ")));
  out.line(fmt::format("  GPU hours             {}, {} of them lost", hours_words(m.gpu_hours),
                       hours_words(m.lost_gpu_hours)));
  if (m.partial_gang_gpu_hours + m.stale_gang_gpu_hours > 0) {
    out.line(
        fmt::format("                        of these {} by gangs that had lost pods, {} by gangs that could not begin",
                    hours_words(m.stale_gang_gpu_hours), hours_words(m.partial_gang_gpu_hours)));
  }
  if (run.power.known) {
    out.line(fmt::format("  energy                {:.1f} kWh, at most {:.1f} kW at once{}", m.energy, m.peak_power,
                         run.power.feeds.empty() ? std::string()
                                                 : fmt::format("; of a power feed {} of what it may deliver",
                                                               share_words(m.fullest_feed))));
  }
  if (run.levels > 0) {
    out.line(fmt::format("  jobs of several pods  {:.2f} levels of the topology between their nodes", m.topology_cost));
  }
  const auto count = [](std::uint64_t n) { return grouped(static_cast<std::int64_t>(n)); };
  out.line(fmt::format("  jobs stopped          {} by decisions, {} by nodes; {} restarts", count(m.evictions),
                       count(m.failures), count(m.restarts)));
  out.line(fmt::format("  pods                  {} evicted, {} moved, {} starts withdrawn", count(m.pods_evicted),
                       count(m.moves), count(m.withdrawn_starts)));
  print_section(out, "Fairness");
  out.line(fmt::format("  slowest for its part  {:.2f} times its run time on an equal part of the cluster",
                       m.worst_fairness));
  out.line(fmt::format("  more than 1.05 times  {} of the jobs", share_words(m.unfair)));
  out.line(fmt::format("  Jain's index          {:.3f} of slowdowns", m.jain));
  out.line(fmt::format("  with other queues     {} of the GPUs in use, if they were divided equally",
                       share_words(m.share_error)));
  print_quotas(out, run);
  print_timeline(out, run, whole_time || !contended ? simulation::whole_span(run) : *contended);
}

json numbers_of(const run_result& run, series what) {
  constexpr std::size_t pieces = 100;
  return simulation::pieces_of(run, what, pieces);
}

int simulate(const simulate_arguments& told, console& to) {
  play_arguments play = told.play;
  if (!told.play_file.empty()) {
    if (auto read = read_play_file(told.play_file, play); !read) return to.fail(read.failure(), exit_usage);
  }
  if (play.nodes.empty() == play.cluster.empty())
    return to.fail(error{status::argument, "name a cluster: --cluster FILE, or --nodes such as 16x8", {}}, exit_usage);
  for (const auto& [option, file] : {std::pair{"--jobs", &told.jobs_file}, {"--timeline", &told.timeline_file}}) {
    if (auto free = to.claim(option, *file); !free) return to.fail(free.failure(), exit_usage);
  }
  progress shown(to, 2);
  shown.next("reading " + told.workload);
  result<simulation::workload> jobs = read_jobs(told.workload, play.gpus_per_node);
  if (!jobs) return to.fail(jobs.failure());
  result<prepared_play> ready = prepare_play(play, *jobs);
  if (!ready) return to.fail(ready.failure());
  const engine& with = ready->with;
  const simulation::play what{std::move(*jobs), ready->outages, ready->pools, ready->profiles, ready->shares};
  shown.next("playing");
  ready->options.notes_changes = told.details;
  ready->options.cpu_clock = &simulation::thread_cpu_time;
  const snapshot first = ready->over.take_snapshot();
  const auto begun = std::chrono::steady_clock::now();
  std::optional<recording_file> record;
  if (!told.recording.empty()) {
    result<recording_file> made = recording_file::create(told.recording);
    if (!made) return to.fail(made.failure(), exit_failure);
    record.emplace(std::move(*made));
  }
  simulation::session_watcher watcher;
  if (record) {
    watcher = [&](const session& held, std::int64_t now) {
      return record->add(with, held, ready->options.begin + now);
    };
  }
  const result<run_result> run = simulation::simulate(ready->over, what, with, ready->options, watcher);
  if (!run && record && record->has_failed()) return to.fail(run.failure(), exit_failure);
  if (!run) return to.fail(run.failure());
  if (record) {
    if (auto written = record->finish(); !written) return to.fail(written.failure(), exit_failure);
  }
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
                                                          play.nodes.empty() ? play.cluster : play.nodes)));
    to.out().line(fmt::format("  preset {}, mode {}; {} in {}", with.get("preset").value(), with.get("mode").value(),
                              counted(static_cast<std::int64_t>(run->counts.sessions), "session"), seconds(took)));
    const simulation::distribution cpu = simulation::distribution_of(run->session_cpu);
    to.out().line(
        fmt::format("  CPU time of a session: 99 % at most {}, longest {}", cpu_words(cpu.p99), cpu_words(cpu.most)));
    print_figures(to.out(), m, *run, told.whole_time);
    to.out().line();
    to.out().line("digest " + run->digest);
  }
  json report{{"schema", simulate_schema},
              {"preset", with.get("preset").value()},
              {"mode", with.get("mode").value()},
              {"digest", run->digest},
              {"seconds", took},
              {"session_cpu", session_cpu_of(*run)},
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
  report.update(figures_of(m));
  report.update(lists_of(*run));
  if (told.details) report["details"] = details_of(first, what.jobs, *run, ready->options.queue);
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
  c.option("--play", &told.play_file, file_name({"yaml", "yml", "json"}),
           "A file with any of what follows, outages, pools of nodes and profiles of models");
  add_cluster_arguments(c, told.play);
  add_policy_arguments(c, told.play.policy);
  add_time_arguments(c, told.play);
  c.flag("--replan", told.play.replan, "Every session places all jobs anew, those that run as well");
  c.flag("--near", told.play.near, "Jobs of several pods ask for nodes that are as near as the topology allows");
  c.option("--preferred-level", &told.play.preferred_level, any_value("LABEL"),
           "Jobs of several pods ask for nodes that are together at this level of the topology");
  c.heading("Output");
  c.option("--jobs", &told.jobs_file, file_name({"csv"}), "What became of each job, as CSV").writes();
  c.option("--record", &told.recording, file_name({"kr", "gz"}),
           "Every session, to be decided again by `kaisched replay`; packed if the name ends with .gz")
      .writes();
  c.flag("--details", told.details,
         "The JSON has jobs, nodes, queues and all changes as well: `kaisched report` draws them");
  c.flag("--whole-time", told.whole_time, "The chart covers the whole time, not only the contended window");
  c.option("--timeline", &told.timeline_file, file_name({"csv"}), "GPUs and jobs after every change, as CSV").writes();
  c.add_example("kaisched workload generate jobs.csv --jobs 20 && kaisched simulate jobs.csv --nodes 4x8");
  c.add_example("kaisched simulate jobs.csv --cluster cluster.yaml --queue speech --actions allocate,preempt");
  c.runs([&told](console& out) { return simulate(told, out); });
}

}  // namespace kaisched::cli
