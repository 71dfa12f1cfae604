#include "benchmarks/quality/table.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "benchmarks/timing.hpp"
#include "io/cluster_input.hpp"
#include "io/files.hpp"
#include "simulation/job_list.hpp"
#include "simulation/metrics.hpp"
#include "simulation/plain_cluster.hpp"
#include "simulation/policies.hpp"
#include "simulation/simulation.hpp"
#include "simulation/traces/traces.hpp"
#include "simulation/workload_model.hpp"

namespace kaisched::bench::quality {

namespace {

namespace sim = kaisched::simulation;

constexpr std::int64_t one_second = 1'000'000'000;
constexpr std::int64_t nodes_per_rack = 4;

/// One workload on equal nodes with eight GPUs.
struct source {
  std::string name;
  std::uint64_t nodes = 0;
  std::string file;  ///< below the folder of data; empty: invented
  std::string part;
};

/// Nodes of the ITP clusters: the fewest powers of two of GPUs, 64 to 1,024, that the jobs load by 90 % at most.
std::vector<source> sources() {
  std::vector<source> all{{"invented-philly", 8, {}, "philly"}, {"invented-gavel", 8, {}, "gavel"}};
  constexpr std::array<std::uint64_t, 10> itp_nodes{8, 16, 32, 128, 8, 32, 64, 16, 8, 8};
  for (std::size_t i = 0; i < itp_nodes.size(); ++i) {
    all.push_back({fmt::format("itp-{}", i + 1), itp_nodes[i], "itp/itp_jobs.csv", fmt::format("{}", i + 1)});
  }
  for (const int i : {1, 3, 4}) {
    all.push_back({fmt::format("muri-{}", i), 8, fmt::format("muri/trace{}.csv", i), {}});
  }
  all.push_back({"shockwave-120", 4, "shockwave/trace_120_jobs.csv", {}});
  return all;
}

error wrong(std::string text) { return {status::argument, std::move(text), {}}; }

result<sim::workload> jobs_of(const source& from, const std::string& data) {
  if (from.file.empty()) {
    sim::generator_options options = sim::options_of(*sim::find_workload_model(from.part));
    options.jobs = 500;
    options.queues = 4;
    return sim::generate_workload(options);
  }
  const std::string path = data + "/" + from.file;
  const result<std::string> text = io::read_file(path);
  if (!text) return text.failure();
  sim::trace_options options;
  options.part = from.part;
  result<sim::workload> jobs = from.file.starts_with("itp")    ? sim::read_itp({path, *text}, options)
                               : from.file.starts_with("muri") ? sim::read_muri({path, *text}, options)
                                                               : sim::read_shockwave({path, *text}, {}, options);
  if (jobs) sim::begin_at_zero(*jobs);
  return jobs;
}

std::string line_of(const table_row& row, const sim::metrics& m, const sim::run_result& run) {
  return fmt::format(
      "{},{},{},{},{},{:.1f},{:.1f},{:.1f},{:.1f},{:.1f},{:.4f},{:.4f},{:.4f},{:.1f},{},{:.3f},{:.4f},{:.4f},{:.4f},{}",
      row.workload, row.gpus, row.policy, row.jobs, m.ended, m.completion.mean, m.completion.p50, m.completion.p99,
      m.waiting.mean, m.makespan, m.utilisation_of_span, m.idle_though_asked, m.fragmentation, m.lost_gpu_hours,
      m.evictions, m.worst_fairness, m.unfair, m.jain, m.topology_cost, run.digest.substr(0, 16));
}

/// That the calling thread has computed.
double thread_seconds() {
  timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / one_second;
}

result<void> play_row(table_row& row, const sim::workload& jobs, const sim::named_policy& policy) {
  sim::simulation_options options;
  options.estimates = sim::told_times::exact;
  options.start_overhead = 30 * one_second;
  options.checkpoint_interval = 600 * one_second;
  engine with;
  if (auto done = sim::apply_policy(policy, with, options); !done) return done;
  const auto nodes = sim::plain_cluster(fmt::format("{}x8", row.gpus / 8), jobs, options.queue, options.model_label,
                                        !policy.one_queue, nodes_per_rack);
  if (!nodes) return nodes.failure();
  result<cluster> over = io::build_cluster(*nodes);
  if (!over) return over.take_failure();
  std::optional<result<sim::run_result>> run;
  const double before = thread_seconds();
  row.seconds = seconds([&] { run.emplace(sim::simulate(*over, {jobs, {}, {}, {}}, with, options)); });
  row.thread_seconds = thread_seconds() - before;
  if (!*run) return run->failure();
  row.text = line_of(row, sim::metrics_of(jobs, **run), **run);
  return {};
}

template <class Known>
result<void> check_names(const std::vector<std::string>& asked, std::string_view what, Known&& known) {
  for (const std::string& name : asked) {
    if (!known(name)) return wrong(fmt::format("there is no {} '{}'", what, name));
  }
  return {};
}

bool is_asked(const std::vector<std::string>& asked, std::string_view name) {
  return asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end();
}

struct task {
  std::size_t row = 0;
  std::shared_ptr<const sim::workload> jobs;
  const sim::named_policy* policy = nullptr;
};

}  // namespace

std::string head() {
  return "workload,gpus,policy,jobs,ended,jct_mean,jct_p50,jct_p99,wait_mean,makespan,utilisation,idle_though_asked,"
         "fragmentation,lost_gpu_hours,stopped,worst_fairness,unfair,jain,distance,digest";
}

result<table_result> play_table(const table_request& what) {
  const std::vector<source> all = sources();
  const auto has_workload = [&](const std::string& name) {
    return std::any_of(all.begin(), all.end(), [&](const source& one) { return one.name == name; });
  };
  if (auto good = check_names(what.workloads, "workload", has_workload); !good) return good.take_failure();
  const auto has_policy = [](const std::string& name) { return sim::find_policy(name) != nullptr; };
  if (auto good = check_names(what.policies, "policy", has_policy); !good) return good.take_failure();

  table_result made;
  std::vector<task> tasks;
  for (const source& from : all) {
    if (!is_asked(what.workloads, from.name) || (what.data.empty() && !from.file.empty())) continue;
    result<sim::workload> jobs = jobs_of(from, what.data);
    if (!jobs) return jobs.take_failure();
    const auto shared = std::make_shared<const sim::workload>(std::move(*jobs));
    for (const sim::named_policy& policy : sim::named_policies()) {
      if (!is_asked(what.policies, policy.name)) continue;
      tasks.push_back({made.rows.size(), shared, &policy});
      made.rows.push_back({from.name, from.nodes * 8, std::string(policy.name), shared->jobs.size(), 0, 0, {}});
    }
  }
  // The longest plays first, so that no thread waits for one at the end.
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const task& a, const task& b) { return a.jobs->jobs.size() > b.jobs->jobs.size(); });
  made.threads = what.threads > 0 ? what.threads : std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  std::vector<std::optional<error>> faults(tasks.size());
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      if (auto done = play_row(made.rows[tasks[i].row], *tasks[i].jobs, *tasks[i].policy); !done) {
        faults[i] = done.failure();
      }
    }
  };
  made.seconds = seconds([&] {
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < std::min(made.threads, tasks.size()); ++i) others.emplace_back(work);
    work();
    for (std::thread& one : others) one.join();
  });
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!faults[i]) continue;
    const table_row& row = made.rows[tasks[i].row];
    faults[i]->message.insert(0, fmt::format("{} under {}: ", row.workload, row.policy));
    return *faults[i];
  }
  return made;
}

std::string to_csv(const table_result& of) {
  std::string text = head() + "\n";
  for (const table_row& row : of.rows) text += row.text + "\n";
  return text;
}

std::vector<std::string> differences(const table_result& of, const std::string& known) {
  std::set<std::string_view> lines;
  std::map<std::string, std::string_view, std::less<>> by_name;
  for (std::string_view rest = known; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    lines.insert(line);
    const std::size_t first = line.find(',');
    const std::size_t second = first == std::string_view::npos ? first : line.find(',', first + 1);
    const std::size_t third = second == std::string_view::npos ? second : line.find(',', second + 1);
    if (third != std::string_view::npos) by_name.emplace(line.substr(0, third), line);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  std::vector<std::string> found;
  if (lines.find(head()) == lines.end()) found.push_back("the table has other columns");
  for (const table_row& row : of.rows) {
    if (lines.find(row.text) != lines.end()) continue;
    const auto known_row = by_name.find(fmt::format("{},{},{}", row.workload, row.gpus, row.policy));
    found.push_back(known_row == by_name.end() ? fmt::format("new: {}", row.text)
                                               : fmt::format("was: {}\nis:  {}", known_row->second, row.text));
  }
  return found;
}

}  // namespace kaisched::bench::quality
