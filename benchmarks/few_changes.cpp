#include "benchmarks/few_changes.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/scenarios.hpp"
#include "benchmarks/timing.hpp"

namespace kaisched::bench {

namespace {

constexpr int jobs_per_step = 50;
constexpr std::int64_t second = 1'000'000'000;

table names_of(table_kind kind, std::uint32_t column, const std::vector<std::string>& names) {
  table t = rows_of(kind, table_op::remove);
  auto& name = t.add(column, column_type::string);
  for (const std::string& one : names) name.push(std::string_view(one));
  return t;
}

/// A job of one pod that has been placed.
struct started {
  std::string job;
  std::string node;
};

/// The host: it knows which jobs run, in the order in which they came, and what is to be told next.
class host {
 public:
  explicit host(const scenario_input& input) {
    for (const scenario_job& job : input.jobs) {
      if (job.running() && job.gpus_milli_per_pod > 0) running_.push_back(job.name);
    }
  }

  /// What has happened up to a step.
  std::vector<table> changes(int step) {
    std::vector<table> tables;
    const std::int64_t now = now_of(step);
    tables.push_back(starts());
    tables.push_back(start_times(now));
    for (started& one : started_) running_.push_back(std::move(one.job));
    started_.clear();
    std::vector<std::string> jobs;
    std::vector<std::string> pods;
    for (int i = 0; i < jobs_per_step && !running_.empty(); ++i) {
      pods.push_back(running_.front() + "-0");
      jobs.push_back(std::move(running_.front()));
      running_.pop_front();
    }
    tables.push_back(names_of(table_kind::pod, col::pod_name, pods));
    tables.push_back(names_of(table_kind::pod_group, col::pod_group_name, jobs));
    add_jobs(step, tables);
    return tables;
  }

  void note(std::string_view job, std::string_view node) { started_.push_back({std::string(job), std::string(node)}); }

  static std::int64_t now_of(int step) { return scenario_now + step * second; }

 private:
  table starts() const {
    table t = rows_of(table_kind::pod, table_op::change);
    auto& name = t.add(col::pod_name, column_type::string);
    auto& state = t.add(col::pod_status_column, column_type::u8);
    auto& node = t.add(col::pod_node, column_type::string);
    for (const started& one : started_) {
      name.push(std::string_view(one.job + "-0"));
      state.push(static_cast<std::uint8_t>(pod_status::running));
      node.push(std::string_view(one.node));
    }
    return t;
  }

  table start_times(std::int64_t now) const {
    table t = rows_of(table_kind::pod_group, table_op::change);
    auto& name = t.add(col::pod_group_name, column_type::string);
    auto& start = t.add(col::pod_group_last_start, column_type::i64);
    for (const started& one : started_) {
      name.push(std::string_view(one.job));
      start.push(now);
    }
    return t;
  }

  static void add_jobs(int step, std::vector<table>& to) {
    table groups = rows_of(table_kind::pod_group);
    auto& name = groups.add(col::pod_group_name, column_type::string);
    auto& queue = groups.add(col::pod_group_queue, column_type::string);
    auto& priority = groups.add(col::pod_group_priority, column_type::i64);
    auto& created = groups.add(col::pod_group_created, column_type::i64);
    auto& min = groups.add(col::pod_group_min_member, column_type::i64);
    table pods = rows_of(table_kind::pod);
    auto& pod = pods.add(col::pod_name, column_type::string);
    auto& group = pods.add(col::pod_group_ref, column_type::string);
    auto& request = pods.add(col::pod_request, column_type::i64, built_in_dimensions);
    for (int i = 0; i < jobs_per_step; ++i) {
      const std::string job = fmt::format("s{:06}-{:02}", step, i);
      name.push(std::string_view(job));
      queue.push(std::string_view(fmt::format("q{}", i % 4)));
      priority.push(std::int64_t{50});
      created.push(now_of(step));
      min.push(std::int64_t{1});
      pod.push(std::string_view(job + "-0"));
      group.push(std::string_view(job));
      for (const std::int64_t amount : {std::int64_t{1000}, std::int64_t{1'000'000'000}, whole_device, std::int64_t{1}})
        request.push(amount);
    }
    to.push_back(std::move(groups));
    to.push_back(std::move(pods));
  }

  std::deque<std::string> running_;
  std::vector<started> started_;
};

}  // namespace

few_changes_result run_few_changes(const engine& with, std::int32_t nodes, int warm_up, int steps) {
  if (nodes < few_changes_least_nodes) {
    throw std::runtime_error(
        fmt::format("few_changes needs at least {} nodes: in a smaller cluster the jobs that end make room for a gang",
                    few_changes_least_nodes));
  }
  const scenario_input input = build("few_changes", nodes);
  cluster c;
  {
    const std::vector<table> tables = to_tables(input);
    must(c.apply(tables));
  }
  few_changes_result made;
  for (const scenario_job& job : input.jobs) made.pods += job.pod_count();
  host outside(input);
  for (int step = 0; step < warm_up + steps; ++step) {
    const std::vector<table> tables = outside.changes(step);
    step_times one;
    one.apply = seconds([&] { must(c.apply(tables)); });
    std::optional<snapshot> taken;
    one.snapshot = seconds([&] { taken.emplace(c.take_snapshot()); });
    std::optional<session> opened;
    one.open = seconds([&] { opened.emplace(must(with.open(*taken, host::now_of(step)))); });
    one.actions = seconds([&] {
      for (const std::string& action : input.actions) must(opened->run(action));
    });
    std::int64_t binds = 0;
    one.read = seconds([&] {
      for (const decision& d : opened->decisions()) binds += d.kind == decision_kind::bind ? 1 : 0;
    });
    for (const decision& d : opened->decisions()) {
      if (d.kind == decision_kind::bind) outside.note(taken->group_name(d.group), taken->node_name(d.node));
    }
    if (step < warm_up) continue;
    made.steps.push_back(one);
    made.binds += binds;
    made.others += static_cast<std::int64_t>(opened->decisions().size()) - binds;
    made.digest = opened->digest();
  }
  return made;
}

}  // namespace kaisched::bench
