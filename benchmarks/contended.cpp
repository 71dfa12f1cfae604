#include "benchmarks/contended.hpp"

#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/timing.hpp"
#include "io/cluster_input.hpp"
#include "io/synthetic.hpp"

namespace kaisched::bench {

double contended_result::total() const { return std::accumulate(actions.begin(), actions.end(), open); }

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::size_t finished_pods = 9;
constexpr std::size_t new_pods = 10;

/// A session with what it cost.
struct measured_session {
  contended_result cost;
  std::unique_ptr<session> opened;
};

measured_session run_once(const engine& with, const snapshot& taken, std::int64_t now) {
  measured_session made;
  contended_result& cost = made.cost;
  cost.open = processor_seconds([&] { made.opened = std::make_unique<session>(must(with.open(taken, now))); });
  for (const char* action : {"allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"}) {
    cost.names.emplace_back(action);
    cost.actions.push_back(processor_seconds([&] { must(made.opened->run(action)); }));
    cost.simulations.push_back(made.opened->statistics().back().simulations);
  }
  const session_view view = made.opened->view();
  for (const decision& d : made.opened->decisions()) {
    ++cost.decisions[static_cast<std::size_t>(d.kind)];
    if (d.pod == no_row) continue;
    const std::int64_t held = view.pod_request(d.pod)[dim_gpu];
    if (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline) cost.placed += held;
    if (d.kind == decision_kind::evict) cost.lost += held;
  }
  cost.nodes = view.node_count();
  cost.pods = static_cast<std::int64_t>(taken.count(entity_kind::pod));
  cost.digest = made.opened->digest();
  return made;
}

/// The fastest of several runs. All of them decide the same.
measured_session run_often(const engine& with, const snapshot& taken, std::int64_t now, int runs) {
  measured_session least = run_once(with, taken, now);
  for (int run = 1; run < runs; ++run) {
    measured_session again = run_once(with, taken, now);
    if (again.cost.digest != least.cost.digest) throw std::runtime_error("decisions of two runs differ");
    if (again.cost.total() < least.cost.total()) least = std::move(again);
  }
  return least;
}

/// Pods that run on GPUs and stay, at equal distances in the order of rows.
std::vector<pod_row> pods_to_finish(const session_view& view, std::int64_t pods) {
  std::vector<pod_row> running;
  for (pod_row p = 0; p < static_cast<pod_row>(pods); ++p) {
    if (view.status_of(p) == pod_status::running && view.pod_request(p)[dim_gpu] > 0) running.push_back(p);
  }
  std::vector<pod_row> chosen;
  for (std::size_t i = 0; i < finished_pods && i < running.size(); ++i)
    chosen.push_back(running[i * running.size() / finished_pods]);
  return chosen;
}

table finished(const session_view& view, const std::vector<pod_row>& pods) {
  table t = rows_of(table_kind::pod, table_op::change);
  auto& name = t.add(col::pod_name, column_type::string);
  auto& state = t.add(col::pod_status_column, column_type::u8);
  for (const pod_row p : pods) {
    name.push(view.pod_name(p));
    state.push(static_cast<std::uint8_t>(pod_status::succeeded));
  }
  return t;
}

/// The first node with GPUs that takes pods takes no more of them.
table closed_node(const session_view& view) {
  table t = rows_of(table_kind::node, table_op::change);
  auto& name = t.add(col::node_name, column_type::string);
  auto& closed = t.add(col::node_unschedulable, column_type::u8);
  for (node_row n = 0; n < view.node_count(); ++n) {
    const bool has_gpus = view.node_capacity()[std::size_t{n} * view.dimension_count() + dim_gpu] > 0;
    if (!has_gpus || view.node_unschedulable(n) || !view.node_ready(n)) continue;
    name.push(view.node_name(n));
    closed.push(std::uint8_t{1});
    break;
  }
  return t;
}

/// Jobs of one pod in the queues of those that finish, in turn.
std::vector<table> new_jobs(const session_view& view, const std::vector<pod_row>& beside, std::int64_t now) {
  constexpr std::int64_t gibibyte = std::int64_t{1} << 30U;
  table groups = rows_of(table_kind::pod_group);
  auto& name = groups.add(col::pod_group_name, column_type::string);
  auto& queue = groups.add(col::pod_group_queue, column_type::string);
  auto& priority = groups.add(col::pod_group_priority, column_type::i64);
  auto& created = groups.add(col::pod_group_created, column_type::i64);
  table pods = rows_of(table_kind::pod);
  auto& pod = pods.add(col::pod_name, column_type::string);
  auto& group = pods.add(col::pod_group_ref, column_type::string);
  auto& request = pods.add(col::pod_request, column_type::i64, built_in_dimensions);
  for (std::size_t i = 0; i < new_pods && !beside.empty(); ++i) {
    const group_row other = view.pod_group(beside[i % beside.size()]);
    const std::string job = fmt::format("late-{:02}", i);
    name.push(std::string_view(job));
    queue.push(view.queue_name(view.group_queue(other)));
    priority.push(std::int64_t{50});
    created.push(now);
    pod.push(std::string_view(job + "-0"));
    group.push(std::string_view(job));
    for (const std::int64_t amount : {std::int64_t{12'000}, 96 * gibibyte, whole_device, std::int64_t{1}})
      request.push(amount);
  }
  std::vector<table> made;
  made.push_back(std::move(groups));
  made.push_back(std::move(pods));
  return made;
}

contended_result run_second(const engine& with, cluster& of, const measured_session& first, std::int64_t now,
                            int runs) {
  const session_view view = first.opened->view();
  const std::vector<pod_row> leaving = pods_to_finish(view, first.cost.pods);
  std::vector<table> changes = new_jobs(view, leaving, now);
  changes.push_back(finished(view, leaving));
  changes.push_back(closed_node(view));
  if (!must(of.assume(*first.opened)).empty()) throw std::runtime_error("the cluster refuses decisions");
  snapshot taken;
  const double spent = processor_seconds([&] {
    must(of.apply(changes));
    taken = of.take_snapshot();
  });
  contended_result cost = run_often(with, taken, now, runs).cost;
  cost.changes = spent;
  return cost;
}

}  // namespace

contended_pair run_contended(const engine& with, const contended_settings& settings) {
  io::synthetic_options options;
  options.gpus = settings.gpus;
  options.load_percent = settings.load_percent;
  options.seed = settings.seed;
  options.mix = settings.mix;
  const io::cluster_input input = must(io::make_synthetic_cluster(options));
  cluster c = must(io::build_cluster(input));
  const measured_session first = run_often(with, c.take_snapshot(), input.now, settings.runs);
  contended_pair made{first.cost, std::nullopt};
  if (settings.second) made.second = run_second(with, c, first, input.now + second, settings.runs);
  return made;
}

}  // namespace kaisched::bench
