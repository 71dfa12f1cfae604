#include "cli/play_details.hpp"

#include <bit>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "simulation/distances.hpp"
#include "simulation/intervals.hpp"

namespace kaisched::cli {

namespace {

using nlohmann::ordered_json;
using simulation::interval;
using simulation::job_outcome;
using simulation::queue_sample;
using simulation::run_result;
using simulation::sample;

ordered_json seconds_of(std::int64_t t) {
  return t == simulation::never ? ordered_json() : ordered_json(static_cast<double>(t) / 1e9);
}
double gpus_of(std::int64_t milli) { return static_cast<double>(milli) / whole_device; }

/// One column: what `value` makes of each row.
template <class Rows, class Value>
ordered_json column(const Rows& rows, Value value) {
  ordered_json made = ordered_json::array();
  for (const auto& row : rows) made.push_back(value(row));
  return made;
}

ordered_json nodes_of(const model::cluster_state& s) {
  ordered_json domains = ordered_json::object();
  for (const simulation::level_labels& level : simulation::labels_of_levels(s)) domains[level.level] = level.labels;
  return {{"node", column(*s.nodes, [](const auto& node) { return node->name; })},
          {"gpus", column(*s.nodes, [](const auto& node) { return gpus_of(node->capacity[dim_gpu]); })},
          {"devices", column(*s.nodes, [](const auto& node) { return node->device_count(); })},
          {"domains", std::move(domains)}};
}

ordered_json jobs_of(const simulation::workload& jobs, const run_result& run, std::string_view default_queue) {
  const auto gpus = [](const simulation::job& one) {
    std::int64_t sum = 0;
    for (const simulation::pod_shape& shape : one.pods) sum += shape.count * shape.gpus;
    return gpus_of(sum);
  };
  const auto times = [&](auto member) {
    return column(run.jobs, [&](const job_outcome& o) { return seconds_of(o.*member); });
  };
  const auto counts = [&](auto member) { return column(run.jobs, [&](const job_outcome& o) { return o.*member; }); };
  return {
      {"job", column(jobs.jobs, [](const auto& one) { return one.name; })},
      {"queue",
       column(jobs.jobs, [&](const auto& one) { return one.queue.empty() ? std::string(default_queue) : one.queue; })},
      {"gpus", column(jobs.jobs, gpus)},
      {"submit", column(jobs.jobs, [](const auto& one) { return seconds_of(one.submit); })},
      {"run_time", column(jobs.jobs, [](const auto& one) { return seconds_of(one.run_time); })},
      {"start", times(&job_outcome::first_start)},
      {"end", times(&job_outcome::end)},
      {"starts", counts(&job_outcome::starts)},
      {"evictions", counts(&job_outcome::evictions)},
      {"failures", counts(&job_outcome::failures)}};
}

ordered_json timeline_of(const run_result& run) {
  const auto gpus = [&](auto member) {
    return column(run.timeline, [&](const sample& s) { return gpus_of(s.*member); });
  };
  const auto counts = [&](auto member) { return column(run.timeline, [&](const sample& s) { return s.*member; }); };
  return {{"time", column(run.timeline, [](const sample& s) { return seconds_of(s.time); })},
          {"gpus_held", gpus(&sample::gpus_held)},
          {"gpus_wanted", gpus(&sample::gpus_wanted)},
          {"gpus_there", gpus(&sample::gpus_there)},
          {"jobs_running", counts(&sample::jobs_running)},
          {"jobs_waiting", counts(&sample::jobs_waiting)},
          {"gpus_fragmented", gpus(&sample::gpus_fragmented)},
          {"gpus_misplaced", gpus(&sample::gpus_misplaced)}};
}

ordered_json stays_of(const model::cluster_state& s, const run_result& run) {
  const std::vector<interval> all = simulation::intervals_of(run);
  const auto devices = [](const interval& one) {
    ordered_json made = ordered_json::array();
    for (std::uint64_t left = one.devices; left != 0; left &= left - 1) made.push_back(std::countr_zero(left));
    return made;
  };
  return {{"job", column(all, [](const interval& one) { return one.job; })},
          {"node", column(all, [&](const interval& one) { return (*s.node_row_of_slot)[one.node]; })},
          {"start", column(all, [](const interval& one) { return seconds_of(one.from); })},
          {"end", column(all, [](const interval& one) { return seconds_of(one.to); })},
          {"pods", column(all, [](const interval& one) { return one.pods; })},
          {"gpus", column(all, [](const interval& one) { return gpus_of(one.gpus); })},
          {"devices", column(all, devices)}};
}

ordered_json queues_of(const run_result& run) {
  return {{"queue", column(run.queues, [](const auto& one) { return one.queue; })},
          {"quota", column(run.queues, [](const auto& one) {
             return one.quota == unlimited ? ordered_json() : ordered_json(gpus_of(one.quota));
           })}};
}

ordered_json queue_timeline_of(const run_result& run) {
  const auto gpus = [&](auto member) {
    return column(run.queue_timeline, [&](const queue_sample& s) { return gpus_of(s.*member); });
  };
  return {{"time", column(run.queue_timeline, [](const queue_sample& s) { return seconds_of(s.time); })},
          {"queue", column(run.queue_timeline, [](const queue_sample& s) { return s.queue; })},
          {"held", gpus(&queue_sample::held)},
          {"wanted", gpus(&queue_sample::wanted)},
          {"fair", gpus(&queue_sample::fair)}};
}

}  // namespace

ordered_json details_of(const snapshot& first, const simulation::workload& jobs, const run_result& run,
                        std::string_view default_queue) {
  const model::cluster_state& s = model::state_of(first);
  return {{"end", seconds_of(run.end)},
          {"nodes", nodes_of(s)},
          {"jobs", jobs_of(jobs, run, default_queue)},
          {"timeline", timeline_of(run)},
          {"stays", stays_of(s, run)},
          {"queues", queues_of(run)},
          {"queue_timeline", queue_timeline_of(run)}};
}

}  // namespace kaisched::cli
