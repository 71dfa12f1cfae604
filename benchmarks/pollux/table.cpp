#include "benchmarks/pollux/table.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kaisched::bench::pollux {

namespace {

/// Jobs of other times that are shown of each run.
constexpr std::size_t most_shown = 10;

struct planned_run {
  const workload* of;
  const policy_name* policy;
};

result<run_result> run_one(const trace& in, const planned_run& what, const artefact& as) {
  const auto published = in.published.find({what.policy->published, what.of->name});
  if (published == in.published.end() || published->second.size() != what.of->jobs.size())
    return error{
        status::not_found, fmt::format("no published times of {} {}", what.policy->published, what.of->name), {}};
  result<outcome> ours = play(in.measured, *what.of, *what.policy, as);
  if (!ours) {
    error failure = ours.take_failure();
    failure.message = fmt::format("{} {}: {}", what.policy->published, what.of->name, failure.message);
    return failure;
  }
  run_result made{what.of->name, what.policy->published, {}, std::move(*ours), published->second};
  for (const job_spec& job : what.of->jobs) made.jobs.push_back(job.name);
  return made;
}

double mean_of(const std::vector<std::int64_t>& times) {
  const std::int64_t sum = std::accumulate(times.begin(), times.end(), std::int64_t{0});
  return times.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(times.size());
}

struct totals {
  std::size_t jobs = 0;
  std::size_t equal_jobs = 0;
  std::size_t exact_runs = 0;
  std::int64_t steps = 0;
  std::int64_t sessions = 0;
};
totals totals_of(const table_result& of) {
  totals made;
  for (const run_result& one : of.runs) {
    made.jobs += one.jobs.size();
    made.equal_jobs += one.equal_jobs();
    made.exact_runs += one.is_exact() ? 1U : 0U;
    made.steps += one.ours.steps;
    made.sessions += one.ours.sessions;
  }
  return made;
}

template <class Names, class NameOf>
result<void> check_names(const std::vector<std::string>& asked, const Names& known, NameOf name_of,
                         std::string_view what) {
  for (const std::string& name : asked) {
    if (std::none_of(known.begin(), known.end(), [&](const auto& one) { return name_of(one) == name; }))
      return error{status::argument, fmt::format("there is no {} '{}'", what, name), {}};
  }
  return {};
}

}  // namespace

std::size_t run_result::equal_jobs() const {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < std::min(ours.times.size(), published.size()); ++i)
    equal += ours.times[i] == published[i] ? 1U : 0U;
  return equal;
}

result<table_result> reproduce(const table_request& what, const std::vector<policy_name>& with, const artefact& as) {
  if (auto done = check_names(what.workloads, workloads(), [](std::string_view one) { return one; }, "workload"); !done)
    return done.take_failure();
  if (auto done = check_names(
          what.policies, with, [](const policy_name& one) { return std::string_view(one.published); }, "policy");
      !done)
    return done.take_failure();
  const result<trace> in = read_trace(what.data, what.workloads);
  if (!in) return in.failure();
  std::vector<planned_run> runs;
  for (const workload& of : in->workloads) {
    for (const policy_name& policy : with) {
      const bool is_wanted = what.policies.empty() || std::find(what.policies.begin(), what.policies.end(),
                                                                policy.published) != what.policies.end();
      if (is_wanted) runs.push_back({&of, &policy});
    }
  }
  if (what.runs > 0 && what.runs < runs.size()) runs.resize(what.runs);

  const auto start = std::chrono::steady_clock::now();
  std::vector<result<run_result>> done(runs.size(), error{});
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < runs.size(); i = next++) done[i] = run_one(*in, runs[i], as);
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(what.threads, runs.size()); ++i) others.emplace_back(work);
    work();
  }
  table_result made;
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (result<run_result>& one : done) {
    if (!one) return one.take_failure();
    made.runs.push_back(std::move(*one));
  }
  return made;
}

std::string to_text(const table_result& of) {
  std::string text = "mean completion time of the jobs in seconds: ours, published, difference\n";
  text += fmt::format("{:<12} {:<10} {:>5}  {:>10} {:>10} {:>8}  {}\n", "workload", "policy", "jobs", "ours", "paper",
                      "diff", "equal jobs");
  for (const run_result& one : of.runs) {
    const double ours = mean_of(one.ours.times);
    const double published = mean_of(one.published);
    text += fmt::format("{:<12} {:<10} {:>5}  {:>10.3f} {:>10.3f} {:>8.3f}  {}\n", one.workload, one.policy,
                        one.jobs.size(), ours, published, ours - published, one.equal_jobs());
  }
  for (const run_result& one : of.runs) {
    std::size_t shown = 0;
    for (std::size_t i = 0; i < one.jobs.size() && shown < most_shown; ++i) {
      if (one.ours.times[i] == one.published[i]) continue;
      text += fmt::format("differs: {} {} {}: {} s, published {} s\n", one.workload, one.policy, one.jobs[i],
                          one.ours.times[i], one.published[i]);
      ++shown;
    }
  }
  const totals all = totals_of(of);
  text += fmt::format("completion times: {} of {} equal\n", all.equal_jobs, all.jobs);
  text += fmt::format("exact runs: {} of {} in {:.1f} s; {} steps, {} sessions\n", all.exact_runs, of.runs.size(),
                      of.seconds, all.steps, all.sessions);
  return text;
}

std::string to_json(const table_result& of) {
  const totals all = totals_of(of);
  nlohmann::ordered_json made;
  made["benchmark"] = "pollux";
  made["runs"] = of.runs.size();
  made["exact_runs"] = all.exact_runs;
  made["seconds"] = of.seconds;
  made["jobs"] = all.jobs;
  made["equal_jobs"] = all.equal_jobs;
  made["steps"] = all.steps;
  made["sessions"] = all.sessions;
  for (const run_result& one : of.runs) {
    nlohmann::ordered_json row{{"workload", one.workload},          {"policy", one.policy},
                               {"jobs", one.jobs.size()},           {"equal_jobs", one.equal_jobs()},
                               {"mean_s", mean_of(one.ours.times)}, {"published_mean_s", mean_of(one.published)}};
    for (std::size_t i = 0; i < one.jobs.size(); ++i) {
      if (one.ours.times[i] == one.published[i]) continue;
      row["different"].push_back({{"job", one.jobs[i]}, {"s", one.ours.times[i]}, {"published_s", one.published[i]}});
    }
    made["table"].push_back(std::move(row));
  }
  return made.dump(2) + "\n";
}

}  // namespace kaisched::bench::pollux
