#include "benchmarks/fgd/table.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "benchmarks/fgd/in_parallel.hpp"

namespace kaisched::bench::fgd {

namespace {

constexpr std::array<std::size_t, 2> shown_loads{100, 130};
constexpr std::array all_curves{
    std::pair{"allocated_pct", &curves::allocated},
    std::pair{"frag_pct_of_total", &curves::lost_of_all},
    std::pair{"frag_pct_of_idle", &curves::lost_of_idle},
};

struct one_run {
  const workload* of;
  policy_name policy;
  std::size_t seed;
};

result<run_result> run_one(const trace& in, const one_run& what) {
  result<std::vector<placement>> placements = place_all(in, *what.of, what.seed, what.policy.part);
  if (!placements) return placements.take_failure();
  const outcome drawn = measure(in, *what.of, what.seed, *placements);
  run_result made{what.of->name,
                  std::string(what.policy.published),
                  first_seed + static_cast<std::int64_t>(what.seed),
                  drawn.drawn,
                  {},
                  false};
  const run_key key{{made.workload, made.policy}, made.seed};
  const auto published = in.published.find(key);
  const auto at_end = in.final_states.find(key);
  if (published == in.published.end() || at_end == in.final_states.end())
    return error{
        status::not_found, fmt::format("no published curve of {} {} {}", made.workload, made.policy, made.seed), {}};
  made.published = published->second;
  made.equal_at_end = at_end->second == drawn.at_end;
  return made;
}

/// Mean over the runs of a workload and policy, in percent.
struct cell {
  double ours = 0;
  double published = 0;
  std::size_t runs = 0;
  std::size_t exact = 0;
};
cell cell_of(const table_result& of, std::string_view workload, std::string_view policy, std::size_t load) {
  cell made;
  for (const run_result& one : of.runs) {
    if (one.workload != workload || one.policy != policy) continue;
    made.ours += static_cast<double>(one.ours.allocated[load]) / 100;
    made.published += static_cast<double>(one.published.allocated[load]) / 100;
    made.exact += one.is_exact() ? 1U : 0U;
    ++made.runs;
  }
  if (made.runs > 0) {
    made.ours /= static_cast<double>(made.runs);
    made.published /= static_cast<double>(made.runs);
  }
  return made;
}

std::size_t count(const table_result& of, std::size_t (*number)(const run_result&)) {
  std::size_t sum = 0;
  for (const run_result& one : of.runs) sum += number(one);
  return sum;
}
std::size_t exact_runs(const table_result& of) {
  return count(of, [](const run_result& one) -> std::size_t { return one.is_exact() ? 1 : 0; });
}
std::size_t equal_ends(const table_result& of) {
  return count(of, [](const run_result& one) -> std::size_t { return one.equal_at_end ? 1 : 0; });
}
std::size_t equal_points(const table_result& of, std::array<std::int64_t, loads> curves::* which) {
  std::size_t sum = 0;
  for (const run_result& one : of.runs) sum += one.equal_points(which);
  return sum;
}

}  // namespace

std::size_t run_result::equal_points(std::array<std::int64_t, loads> curves::* which) const {
  std::size_t equal = 0;
  for (std::size_t load = 0; load < loads; ++load) equal += (ours.*which)[load] == (published.*which)[load] ? 1U : 0U;
  return equal;
}

result<table_result> reproduce(const table_request& what, const std::vector<policy_name>& with) {
  for (const std::string& name : what.workloads) {
    if (std::find(workloads().begin(), workloads().end(), name) == workloads().end())
      return error{status::argument, fmt::format("there is no workload '{}'", name), {}};
  }
  for (const std::string& name : what.policies) {
    if (std::none_of(with.begin(), with.end(), [&](const policy_name& one) { return one.published == name; }))
      return error{status::argument, fmt::format("there is no policy '{}'", name), {}};
  }
  result<trace> in = read_trace(what.data, what.workloads);
  if (!in) return in.take_failure();
  std::vector<one_run> runs;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    for (const workload& of : in->workloads) {
      for (const policy_name& policy : with) {
        const bool wanted = what.policies.empty() || std::find(what.policies.begin(), what.policies.end(),
                                                               policy.published) != what.policies.end();
        if (wanted) runs.push_back({&of, policy, seed});
      }
    }
  }
  if (what.runs > 0 && what.runs < runs.size()) runs.resize(what.runs);

  const auto start = std::chrono::steady_clock::now();
  std::vector<std::optional<result<run_result>>> done(runs.size());
  in_parallel(runs.size(), what.threads, [&](std::size_t i) { done[i] = run_one(*in, runs[i]); });
  table_result made;
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::optional<result<run_result>>& one : done) {
    if (!*one) return one->take_failure();
    made.runs.push_back(std::move(**one));
  }
  return made;
}

std::string to_text(const table_result& of) {
  std::string text =
      "allocated GPUs in % at a load of 100 % and 130 %, mean over the seeds: ours, published, difference\n";
  text += fmt::format("{:<12} {:<14} {:>6}  {:>7} {:>7} {:>7}  {:>7} {:>7} {:>7}  {}\n", "workload", "policy", "runs",
                      "100", "paper", "diff", "130", "paper", "diff", "exact runs");
  for (const std::string_view workload : workloads()) {
    for (const policy_name& policy : policies()) {
      const cell first = cell_of(of, workload, policy.published, shown_loads[0]);
      const cell last = cell_of(of, workload, policy.published, shown_loads[1]);
      if (first.runs == 0) continue;
      text += fmt::format("{:<12} {:<14} {:>6}  {:>7.3f} {:>7.3f} {:>7.3f}  {:>7.3f} {:>7.3f} {:>7.3f}  {}\n", workload,
                          policy.published, first.runs, first.ours, first.published, first.ours - first.published,
                          last.ours, last.published, last.ours - last.published, first.exact);
    }
  }
  const std::size_t points = of.runs.size() * loads;
  for (const auto& [name, which] : all_curves) {
    text += fmt::format("expected {:<18} {:>6} of {} points equal\n", name, equal_points(of, which), points);
  }
  text += fmt::format("states at the end: {} of {} equal\n", equal_ends(of), of.runs.size());
  text += fmt::format("exact runs: {} of {} in {:.1f} s\n", exact_runs(of), of.runs.size(), of.seconds);
  return text;
}

std::string to_json(const table_result& of) {
  nlohmann::ordered_json made;
  made["benchmark"] = "fgd";
  made["runs"] = of.runs.size();
  made["exact_runs"] = exact_runs(of);
  made["seconds"] = of.seconds;
  made["points"] = of.runs.size() * loads;
  for (const auto& [name, which] : all_curves) made["equal_points"][name] = equal_points(of, which);
  made["equal_final_states"] = equal_ends(of);
  for (const std::string_view workload : workloads()) {
    for (const policy_name& policy : policies()) {
      const cell first = cell_of(of, workload, policy.published, shown_loads[0]);
      const cell last = cell_of(of, workload, policy.published, shown_loads[1]);
      if (first.runs == 0) continue;
      made["table"].push_back({{"workload", workload},
                               {"policy", policy.published},
                               {"runs", first.runs},
                               {"exact_runs", first.exact},
                               {"allocated_pct_at_100", first.ours},
                               {"published_pct_at_100", first.published},
                               {"allocated_pct_at_130", last.ours},
                               {"published_pct_at_130", last.published}});
    }
  }
  return made.dump(2) + "\n";
}

}  // namespace kaisched::bench::fgd
