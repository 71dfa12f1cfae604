#include "benchmarks/shockwave/table.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kaisched::bench::shockwave {

namespace {

constexpr double fair_until = 1.05;

struct figure {
  std::string_view name;
  double published_run::* of;
  int decimals;
};
constexpr std::array figures{
    figure{"makespan_s", &published_run::makespan, 0},
    figure{"avg_jct_s", &published_run::average, 0},
    figure{"worst_ftf", &published_run::worst_fairness, 3},
};

double difference_of(const run_result& run, const figure& which) {
  return 100 * (run.ours.*which.of / (run.published.*which.of) - 1);
}

published_run figures_of(outcome played, std::int64_t gpus) {
  const std::vector<double> fairness = played.fairness(gpus);
  const auto unfair = std::count_if(fairness.begin(), fairness.end(), [](double one) { return one > fair_until; });
  return {played.makespan,
          played.average(),
          *std::max_element(fairness.begin(), fairness.end()),
          100 * static_cast<double>(unfair) / static_cast<double>(fairness.size()),
          played.rounds,
          std::move(played.completion_times)};
}

std::size_t near_runs(const table_result& of) {
  return static_cast<std::size_t>(
      std::count_if(of.runs.begin(), of.runs.end(), [](const run_result& one) { return one.is_near(); }));
}

}  // namespace

bool run_result::is_near() const {
  return std::all_of(figures.begin(), figures.end(),
                     [&](const figure& one) { return std::abs(difference_of(*this, one)) <= allowed_difference; });
}

std::size_t run_result::equal_jobs() const {
  constexpr double hundredth = 0.01;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < ours.completion_times.size(); ++i)
    equal += std::abs(ours.completion_times[i] - published.completion_times[i]) < hundredth ? 1U : 0U;
  return equal;
}

result<table_result> reproduce(const table_request& what, const std::vector<policy_name>& with,
                               const round_options& options) {
  for (const std::string& name : what.policies) {
    if (std::none_of(with.begin(), with.end(), [&](const policy_name& one) { return one.published == name; }))
      return error{status::argument, fmt::format("there is no policy '{}'", name), {}};
  }
  const result<trace> in = read_trace(what.data, what.speeds);
  if (!in) return in.failure();
  const auto start = std::chrono::steady_clock::now();
  table_result made;
  for (const policy_name& policy : with) {
    const std::string name(policy.published);
    if (!what.policies.empty() && std::find(what.policies.begin(), what.policies.end(), name) == what.policies.end())
      continue;
    const auto published = in->published.find(name);
    if (published == in->published.end())
      return error{status::not_found, fmt::format("no published figures of {}", name), {}};
    result<outcome> played = play(in->jobs, in->speeds, policy, options);
    if (!played) return played.take_failure();
    made.runs.push_back({name, figures_of(std::move(*played), options.gpus), published->second});
  }
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

std::string to_text(const table_result& of) {
  std::string text = fmt::format("{:<24}", "policy");
  for (const figure& one : figures) text += fmt::format("  {:>10} {:>10} {:>7}", one.name, "paper", "diff %");
  text += fmt::format("  {:>8} {:>6}  {:>6} {:>6}  {}\n", "unfair %", "paper", "rounds", "paper", "equal jobs");
  for (const run_result& run : of.runs) {
    text += fmt::format("{:<24}", run.policy);
    for (const figure& one : figures) {
      text += fmt::format("  {:>10.{}f} {:>10.{}f} {:>7.2f}", run.ours.*one.of, one.decimals, run.published.*one.of,
                          one.decimals, difference_of(run, one));
    }
    text += fmt::format("  {:>8.1f} {:>6.1f}  {:>6} {:>6}  {} of {}\n", run.ours.unfair, run.published.unfair,
                        run.ours.rounds, run.published.rounds, run.equal_jobs(), run.ours.completion_times.size());
  }
  text += fmt::format("runs with all three figures within {} %: {} of {} in {:.1f} s\n", allowed_difference,
                      near_runs(of), of.runs.size(), of.seconds);
  return text;
}

std::string to_json(const table_result& of) {
  nlohmann::ordered_json made;
  made["benchmark"] = "shockwave";
  made["runs"] = of.runs.size();
  made["exact_runs"] = near_runs(of);
  made["allowed_difference_pct"] = allowed_difference;
  made["seconds"] = of.seconds;
  for (const run_result& run : of.runs) {
    nlohmann::ordered_json row{{"policy", run.policy}, {"exact", run.is_near()}};
    for (const figure& one : figures) {
      row[one.name] = run.ours.*one.of;
      row[fmt::format("published_{}", one.name)] = run.published.*one.of;
      row[fmt::format("difference_pct_{}", one.name)] = difference_of(run, one);
    }
    row["unfair_pct"] = run.ours.unfair;
    row["published_unfair_pct"] = run.published.unfair;
    row["rounds"] = run.ours.rounds;
    row["published_rounds"] = run.published.rounds;
    row["jobs"] = run.ours.completion_times.size();
    row["equal_jobs"] = run.equal_jobs();
    made["table"].push_back(std::move(row));
  }
  return made.dump(2) + "\n";
}

}  // namespace kaisched::bench::shockwave
