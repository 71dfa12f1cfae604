#include "cli/difference.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "cli/chart.hpp"
#include "cli/explain.hpp"
#include "cli/play_figures.hpp"
#include "simulation/cpu_clock.hpp"

namespace kaisched::cli {

namespace {

using nlohmann::ordered_json;
using simulation::job_change;
using simulation::jobs_changed;
using simulation::question;

constexpr std::size_t parts_of_time = 8;

double seconds_of(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

std::string change_words(std::int64_t by) {
  return fmt::format("{}{}", by < 0 ? "-" : "+", span_words(std::fabs(seconds_of(by))));
}

result<simulation::run_result> played(const competitor& one, const simulation::workload& jobs,
                                      const simulation::session_watcher& watcher, std::int64_t until,
                                      bool notes_changes) {
  result<prepared_play> ready = prepare_play(one.play, jobs);
  if (!ready) return ready.take_failure();
  if (until != simulation::never) ready->options.horizon = until;
  ready->options.notes_changes = notes_changes;
  ready->options.cpu_clock = &simulation::thread_cpu_time;
  const simulation::play what{jobs, ready->outages, ready->pools, ready->profiles, ready->shares};
  return simulation::simulate(ready->over, what, ready->with, ready->options, watcher);
}

/// Asks the play in which the jobs are later why they did not start when they did in the other one.
result<std::vector<question>> why_later(const competitor& in, const competitor& other, std::span<const job_change> jobs,
                                        const simulation::workload& all) {
  std::vector<question> questions;
  std::int64_t last = 0;
  for (const job_change& one : jobs) {
    questions.push_back({one.job, other.run.jobs[one.job].first_start, {}});
    last = std::max(last, questions.back().time);
  }
  if (questions.empty()) return questions;
  const auto run = played(in, all, simulation::answer(questions, all, in.run.sessions), last + 1, false);
  if (!run) return run.failure();
  return questions;
}

void print_rows(const terminal& out, std::string_view title, const std::vector<jobs_changed>& rows, bool by_time) {
  print_section(out, title);
  out.line(out.paint(style::dim, fmt::format("  {}{:>8}{:>12}{:>12}{:>12}{:>9}{:>9}", pad_right("", 22), "jobs", "A",
                                             "B", "change", "sooner", "later")));
  for (const jobs_changed& one : rows) {
    if (one.jobs == 0) continue;
    const std::string name =
        by_time ? fmt::format("{} to {}", span_words(seconds_of(one.from)), span_words(seconds_of(one.to))) : one.name;
    out.line(fmt::format("  {}{:>8}{:>12}{:>12}{:>12}{:>9}{:>9}", pad_right(name, 22), one.jobs,
                         span_words(seconds_of(one.first)), span_words(seconds_of(one.second)),
                         change_words(one.second - one.first), one.sooner, one.later));
  }
}

void print_jobs(const terminal& out, std::string_view title, const std::vector<job_change>& changes,
                const std::vector<question>& why, const competitor& first, const competitor& second, bool gains,
                const simulation::workload& jobs) {
  if (changes.empty()) return;
  print_section(out, title);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const job_change& one = changes[i];
    const simulation::job& told = jobs.jobs[one.job];
    const auto took = [&](const competitor& in) {
      return span_words(seconds_of(in.run.jobs[one.job].end - told.submit));
    };
    std::string line = fmt::format("  {}: {} -> {} ({})", told.name, took(first), took(second), change_words(one.end));
    const competitor& late = gains ? first : second;
    if (const std::uint32_t stops = late.run.jobs[one.job].evictions; stops > 0) {
      line += fmt::format("; stopped {} under {}", counted(stops, "time"), late.name);
    }
    out.line(line);
    if (!why[i].answer.empty()) {
      out.line(out.paint(style::dim, fmt::format("    at {} it waited under {}: {}",
                                                 span_words(seconds_of(why[i].time)), late.name, why[i].answer)));
    }
  }
}

std::string first_ones(const std::vector<std::string>& texts) {
  constexpr std::size_t most = 3;
  std::string all;
  for (std::size_t i = 0; i < std::min(most, texts.size()); ++i) all += (i == 0 ? "" : "; ") + texts[i];
  if (texts.size() > most) all += fmt::format("; {} more", texts.size() - most);
  return all.empty() ? "nothing" : all;
}

ordered_json row_of(const jobs_changed& one) {
  return {{"jobs", one.jobs},   {"ended_in_both", one.ended_in_both}, {"sooner", one.sooner},
          {"later", one.later}, {"mean_a", seconds_of(one.first)},    {"mean_b", seconds_of(one.second)}};
}

ordered_json jobs_of(const std::vector<job_change>& changes, const std::vector<question>& why,
                     const simulation::workload& jobs) {
  ordered_json all = ordered_json::array();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    all.push_back({{"job", jobs.jobs[changes[i].job].name},
                   {"end", seconds_of(changes[i].end)},
                   {"start", seconds_of(changes[i].start)},
                   {"asked_at", seconds_of(why[i].time)},
                   {"why", why[i].answer}});
  }
  return all;
}

}  // namespace

result<void> play_once(competitor& one, const simulation::workload& jobs, bool notes_changes) {
  result<simulation::run_result> run = played(one, jobs, {}, simulation::never, notes_changes);
  if (!run) return run.take_failure();
  one.run = std::move(*run);
  one.figures = simulation::metrics_of(jobs, one.run);
  return {};
}

result<difference> difference_of(const competitor& first, const competitor& second, const simulation::workload& jobs,
                                 std::size_t most) {
  difference made;
  const std::string queue = first.play.queue.empty() ? simulation::simulation_options().queue : first.play.queue;
  made.of = simulation::compare_runs(jobs, first.run, second.run, queue, parts_of_time);
  result<prepared_play> over = prepare_play(first.play, jobs);
  if (!over) return over.take_failure();
  made.parts = simulation::part_of_plays(jobs, over->over.take_snapshot(), first.run, second.run);
  for (std::size_t i = 0; i < made.of.jobs.size() && i < most && made.of.jobs[i].end < 0; ++i) {
    made.gains.push_back(made.of.jobs[i]);
  }
  for (std::size_t i = made.of.jobs.size(); i > 0 && made.losses.size() < most && made.of.jobs[i - 1].end > 0; --i) {
    made.losses.push_back(made.of.jobs[i - 1]);
  }
  result<std::vector<question>> gains = why_later(first, second, made.gains, jobs);
  if (!gains) return gains.failure();
  result<std::vector<question>> losses = why_later(second, first, made.losses, jobs);
  if (!losses) return losses.failure();
  made.why_gains = std::move(*gains);
  made.why_losses = std::move(*losses);
  return made;
}

void print_difference(const terminal& out, const difference& d, const competitor& first, const competitor& second,
                      const simulation::workload& jobs) {
  print_section(out, fmt::format("B ({}) against A ({})", second.name, first.name));
  const jobs_changed& all = d.of.all;
  out.line(fmt::format("  {} sooner, {} later, {} as before", counted(static_cast<std::int64_t>(all.sooner), "job"),
                       all.later, all.ended_in_both - all.sooner - all.later));
  if (d.of.only_first > 0)
    out.line(fmt::format("  {} ended under {} only", counted(static_cast<std::int64_t>(d.of.only_first), "job"),
                         first.name));
  if (d.of.only_second > 0)
    out.line(fmt::format("  {} ended under {} only", counted(static_cast<std::int64_t>(d.of.only_second), "job"),
                         second.name));
  if (!d.parts) {
    out.line("  both decide the same");
    return;
  }
  out.line(fmt::format("  they part at {}", span_words(seconds_of(d.parts->time))));
  out.line(fmt::format("    A {}", first_ones(d.parts->first)));
  out.line(fmt::format("    B {}", first_ones(d.parts->second)));
  print_rows(out, "Queues, mean JCT", d.of.queues, false);
  print_rows(out, "By the time at which jobs came, mean JCT", d.of.parts, true);
  print_jobs(out, "Who wins most", d.gains, d.why_gains, first, second, true, jobs);
  print_jobs(out, "Who loses most", d.losses, d.why_losses, first, second, false, jobs);
}

ordered_json json_of(const difference& d, const simulation::workload& jobs) {
  ordered_json made = row_of(d.of.all);
  made["only_a"] = d.of.only_first;
  made["only_b"] = d.of.only_second;
  made["parts_at"] = d.parts ? ordered_json(seconds_of(d.parts->time)) : ordered_json(nullptr);
  made["parts_a"] = d.parts ? d.parts->first : std::vector<std::string>{};
  made["parts_b"] = d.parts ? d.parts->second : std::vector<std::string>{};
  made["queues"] = ordered_json::array();
  for (const jobs_changed& one : d.of.queues) {
    ordered_json row{{"queue", one.name}};
    row.update(row_of(one));
    made["queues"].push_back(std::move(row));
  }
  made["times"] = ordered_json::array();
  for (const jobs_changed& one : d.of.parts) {
    ordered_json row{{"from", seconds_of(one.from)}, {"to", seconds_of(one.to)}};
    row.update(row_of(one));
    made["times"].push_back(std::move(row));
  }
  made["gains"] = jobs_of(d.gains, d.why_gains, jobs);
  made["losses"] = jobs_of(d.losses, d.why_losses, jobs);
  return made;
}

}  // namespace kaisched::cli
