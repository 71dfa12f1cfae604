#include "benchmarks/muri/table.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "benchmarks/muri/bound.hpp"

namespace kaisched::bench::muri {

namespace {

/// Ends are listed with six decimals.
constexpr double same_end = 1e-6;

constexpr std::array all_figures{
    std::pair{"mean_jct_s", &run_result::mean},
    std::pair{"makespan_s", &run_result::makespan},
    std::pair{"p99_jct_s", &run_result::p99},
};

struct one_run {
  const workload* of;
  const policy_entry* policy;
};

double number_of(const std::string& printed) {
  double value = 0;
  std::from_chars(printed.data(), printed.data() + printed.size(), value);
  return value;
}

result<run_result> run_one(const trace& in, const one_run& what) {
  const workload& of = *what.of;
  const policy_entry& policy = *what.policy;
  const row_key key{of.name, policy.name};
  const auto published = in.published.find(key);
  if (policy.is_published && published == in.published.end())
    return error{status::not_found, fmt::format("no published figures of {} {}", of.name, policy.name), {}};
  result<outcome> played = play(of.jobs, policy.part, policy.rules);
  if (!played) return played.take_failure();
  run_result made;
  made.workload = of.name;
  made.policy = policy.name;
  made.is_published = policy.is_published;
  made.mean.ours = played->mean;
  made.makespan.ours = played->makespan;
  made.p99.ours = played->p99;
  made.jobs = of.jobs.size();
  made.sessions = played->sessions;
  if (policy.rules.sharers == 1) {
    made.lower_bound = least_mean(of.jobs, policy.rules);
  } else if (const auto sharing = in.published.find({of.name, "Muri-S"}); sharing != in.published.end()) {
    made.published_sharing = number_of(sharing->second.mean);
  }
  if (!policy.is_published) return made;
  made.mean.published = published->second.mean;
  made.makespan.published = published->second.makespan;
  made.p99.published = published->second.p99;
  const auto ends = in.ends.find(key);
  if (ends == in.ends.end()) return made;
  for (std::size_t i = 0; i < of.jobs.size(); ++i) {
    const auto end = ends->second.find(of.jobs[i].id);
    if (end == ends->second.end())
      return error{status::not_found, fmt::format("{} {}: no end of job {}", of.name, policy.name, of.jobs[i].id), {}};
    ++made.compared_jobs;
    made.largest_difference = std::max(made.largest_difference, std::fabs(played->ends[i] - end->second));
  }
  return made;
}

/// The smaller mean of the published policies that order by what is left; 0 where not both were run.
double best_of_table(const table_result& of, std::string_view workload) {
  double best = 0;
  std::size_t found = 0;
  for (const run_result& one : of.runs) {
    if (one.workload != workload || (one.policy != "SRTF" && one.policy != "SRSF")) continue;
    best = found++ == 0 ? one.mean.ours : std::min(best, one.mean.ours);
  }
  return found == 2 ? best : 0;
}

double percent_above(double value, double base) { return 100 * (value / base - 1); }

std::string text_of_published(const run_result& one) {
  std::string text = fmt::format("{:<10} {:<18}", one.workload, one.policy);
  for (const auto& [name, which] : all_figures) {
    const compared& figure = one.*which;
    text += fmt::format(" {:>16} {:>16} {:>10.6f}", figure.printed(), figure.published,
                        figure.is_equal() ? 0.0 : figure.ours - number_of(figure.published));
  }
  text += one.compared_jobs == 0 ? fmt::format(" {:>14}", "")
                                 : fmt::format(" {:>5} {:.0e}", one.compared_jobs, one.largest_difference);
  return text + (one.is_exact() ? "  exact\n" : "  differs\n");
}

}  // namespace

const std::vector<policy_entry>& policies() {
  static const std::vector<policy_entry> all = [] {
    loop_rules steps;
    steps.counts_gpus_only = true;
    steps.queue_limits = {3250, 7200};
    steps.same_time_of_ends = false;
    loop_rules shared;
    shared.sharers = most_sharers;
    shared.ends_with_arrivals = 1e-4;
    return std::vector<policy_entry>{{"SRTF", "srtf", {}, true},
                                     {"SRSF", "srsf", {}, true},
                                     {"Tiresias-L(2D-LAS)", "las_2d", steps, true},
                                     {"completion_rate", "completion_rate", {}, false},
                                     {"interleave", "interleave", shared, false}};
  }();
  return all;
}

std::string compared::printed() const {
  const std::size_t dot = published.find('.');
  if (published.empty()) return fmt::format("{:.6f}", ours);
  return fmt::format("{:.{}f}", ours, dot == std::string::npos ? 0 : published.size() - dot - 1);
}

bool run_result::is_exact() const {
  return mean.is_equal() && makespan.is_equal() && p99.is_equal() && largest_difference <= same_end;
}

result<table_result> reproduce(const table_request& what, const std::vector<policy_entry>& with) {
  for (const std::string& name : what.workloads) {
    if (std::find(workloads().begin(), workloads().end(), name) == workloads().end())
      return error{status::argument, fmt::format("there is no trace '{}'", name), {}};
  }
  for (const std::string& name : what.policies) {
    if (std::none_of(with.begin(), with.end(), [&](const policy_entry& one) { return one.name == name; }))
      return error{status::argument, fmt::format("there is no policy '{}'", name), {}};
  }
  result<trace> in = read_trace(what.data, what.workloads);
  if (!in) return in.take_failure();
  std::vector<one_run> runs;
  for (const workload& of : in->workloads) {
    for (const policy_entry& policy : with) {
      const bool wanted = what.policies.empty() ? policy.is_published
                                                : std::find(what.policies.begin(), what.policies.end(), policy.name) !=
                                                      what.policies.end();
      if (wanted) runs.push_back({&of, &policy});
    }
  }
  if (what.runs > 0 && what.runs < runs.size()) runs.resize(what.runs);

  const auto start = std::chrono::steady_clock::now();
  std::vector<std::optional<result<run_result>>> done(runs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < runs.size(); i = next++) done[i] = run_one(*in, runs[i]);
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(what.threads, runs.size()); ++i) others.emplace_back(work);
    work();
  }
  table_result made;
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::optional<result<run_result>>& one : done) {
    if (!*one) return one->take_failure();
    made.runs.push_back(std::move(**one));
  }
  return made;
}

std::size_t published_runs(const table_result& of) {
  return static_cast<std::size_t>(
      std::count_if(of.runs.begin(), of.runs.end(), [](const run_result& one) { return one.is_published; }));
}
std::size_t exact_runs(const table_result& of) {
  return static_cast<std::size_t>(std::count_if(
      of.runs.begin(), of.runs.end(), [](const run_result& one) { return one.is_published && one.is_exact(); }));
}

std::string to_text(const table_result& of) {
  std::string text =
      "seconds from submission to the end, mean and 99th percentile, and the last end: ours, published, "
      "difference; where single ends are published: how many, largest difference\n";
  text += fmt::format("{:<10} {:<18}", "trace", "policy");
  for (const std::string_view name : {"mean", "last end", "p99"})
    text += fmt::format(" {:>16} {:>16} {:>10}", name, "paper", "diff");
  text += fmt::format(" {:>14}\n", "ends");
  std::size_t jobs = 0;
  for (const run_result& one : of.runs) {
    if (one.is_published) text += text_of_published(one);
    jobs += one.jobs;
  }
  for (const run_result& one : of.runs) {
    if (one.is_published) continue;
    text += fmt::format("{:<10} {:<18} {:>16.1f} {:>16.1f} {:>16.1f}  ", one.workload, one.policy, one.mean.ours,
                        one.makespan.ours, one.p99.ours);
    text += one.lower_bound > 0 ? fmt::format("{:.3f} of the lower bound", one.mean.ours / one.lower_bound)
                                : fmt::format("GPUs are shared: mean {:+.2f} % of Muri-S as published",
                                              percent_above(one.mean.ours, one.published_sharing));
    if (const double best = best_of_table(of, one.workload); best > 0)
      text += fmt::format(", mean {:+.2f} % of the better of SRTF and SRSF", percent_above(one.mean.ours, best));
    text += "\n";
  }
  std::size_t sessions = 0;
  for (const run_result& one : of.runs) sessions += one.sessions;
  text += fmt::format("{} jobs, {} sessions\n", jobs, sessions);
  text += fmt::format("exact runs: {} of {} in {:.1f} s\n", exact_runs(of), published_runs(of), of.seconds);
  return text;
}

std::string to_json(const table_result& of) {
  nlohmann::ordered_json made;
  made["benchmark"] = "muri";
  made["runs"] = published_runs(of);
  made["exact_runs"] = exact_runs(of);
  made["seconds"] = of.seconds;
  made["table"] = nlohmann::ordered_json::array();
  made["own"] = nlohmann::ordered_json::array();
  for (const run_result& one : of.runs) {
    nlohmann::ordered_json row{
        {"trace", one.workload}, {"policy", one.policy}, {"jobs", one.jobs}, {"sessions", one.sessions}};
    for (const auto& [name, which] : all_figures) {
      row[name] = (one.*which).ours;
      if (one.is_published) row[fmt::format("published_{}", name)] = (one.*which).published;
    }
    if (one.is_published) {
      row["exact"] = one.is_exact();
      row["compared_ends"] = one.compared_jobs;
      row["largest_difference_of_ends_s"] = one.largest_difference;
    } else if (const double best = best_of_table(of, one.workload); best > 0) {
      row["percent_of_better_of_srtf_srsf"] = percent_above(one.mean.ours, best);
    }
    if (one.lower_bound > 0) row["lower_bound_of_mean_s"] = one.lower_bound;
    if (one.published_sharing > 0)
      row["percent_of_published_muri_s"] = percent_above(one.mean.ours, one.published_sharing);
    made[one.is_published ? "table" : "own"].push_back(std::move(row));
  }
  return made.dump(2) + "\n";
}

}  // namespace kaisched::bench::muri
