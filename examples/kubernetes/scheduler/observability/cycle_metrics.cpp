#include "observability/cycle_metrics.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/abi.hpp>

namespace shim {

namespace {

namespace abi = kaisched::abi;
using kind = metrics::type;

double milliseconds(std::chrono::nanoseconds time) { return seconds(time) * 1e3; }

constexpr std::size_t gpu = 2;
constexpr std::size_t dimensions = 3;  // cpu, memory, gpu: what every table of queues has

/// Amounts of a queue in the units of the metrics; -1 is unlimited.
struct amounts {
  amounts(const abi::table& shares, std::uint32_t column) : values(shares.numbers<std::int64_t>(column)) {}
  [[nodiscard]] double of(std::size_t row, std::size_t dimension, double unit) const {
    const std::int64_t amount = values[row * dimensions + dimension];
    return amount < 0 ? -1.0 : static_cast<double>(amount) / unit;
  }
  abi::array_view<const std::int64_t> values;
};

/// A gauge with one series for each queue.
struct queue_gauge {
  const char* name;
  std::uint32_t column;
  std::size_t dimension;
  double unit;
  const char* help;
};

constexpr double milli = 1e3;
constexpr double giga = 1e9;

constexpr std::array kai_gauges{
    queue_gauge{"queue_fair_share_cpu_cores", KAISCHED_QUEUE_SHARE_COL_FAIR_SHARE, 0, milli,
                "Fair share of the queue."},
    queue_gauge{"queue_fair_share_memory_gb", KAISCHED_QUEUE_SHARE_COL_FAIR_SHARE, 1, giga, "Fair share of the queue."},
    queue_gauge{"queue_fair_share_gpu", KAISCHED_QUEUE_SHARE_COL_FAIR_SHARE, gpu, milli, "Fair share of the queue."},
    queue_gauge{"queue_deserved_gpus", KAISCHED_QUEUE_SHARE_COL_QUOTA, gpu, milli, "Quota of the queue; -1: none."},
    queue_gauge{"queue_quota_cpu_cores", KAISCHED_QUEUE_SHARE_COL_QUOTA, 0, milli, "Quota of the queue; -1: none."},
    queue_gauge{"queue_quota_memory_bytes", KAISCHED_QUEUE_SHARE_COL_QUOTA, 1, 1, "Quota of the queue; -1: none."},
    queue_gauge{"queue_allocated_gpus", KAISCHED_QUEUE_SHARE_COL_ALLOCATED, gpu, milli, "Held by the queue."},
    queue_gauge{"queue_allocated_cpu_cores", KAISCHED_QUEUE_SHARE_COL_ALLOCATED, 0, milli, "Held by the queue."},
    queue_gauge{"queue_allocated_memory_bytes", KAISCHED_QUEUE_SHARE_COL_ALLOCATED, 1, 1, "Held by the queue."},
};

constexpr std::array own_gauges{
    queue_gauge{"kaisched_queue_requested_gpus", KAISCHED_QUEUE_SHARE_COL_REQUEST, gpu, milli,
                "Held and asked for by the queue at the start of the cycle."},
    queue_gauge{"kaisched_queue_limit_gpus", KAISCHED_QUEUE_SHARE_COL_LIMIT, gpu, milli,
                "Limit of the queue; -1: none."},
};

constexpr std::array usage_gauges{"queue_cpu_usage", "queue_memory_usage", "queue_gpu_usage"};

void declare(metrics& to, const std::string& prefix) {
  const std::vector<double> kai_buckets = exponential(5, 2, 10);
  const auto kai = [&](const char* name, kind type, const char* help, std::vector<double> buckets = {}) {
    to.declare({prefix + name, type, help, std::move(buckets)});
  };
  kai("e2e_scheduling_latency_milliseconds", kind::gauge, "Time of the last cycle, without what was sent.");
  kai("open_session_latency_milliseconds", kind::gauge, "Time to open the session of the last cycle.");
  kai("close_session_latency_milliseconds", kind::gauge, "Time to carry out what the last cycle decided.");
  kai("action_scheduling_latency_milliseconds", kind::gauge, "Time of each action of the last cycle.");
  kai("task_scheduling_latency_milliseconds", kind::histogram, "From the creation of a pod to the decision to bind it.",
      kai_buckets);
  kai("task_bind_latency_milliseconds", kind::histogram, "Time of the request that binds a pod.", kai_buckets);
  kai("usage_query_latency_milliseconds", kind::histogram, "Time of the queries for what queues have used.",
      kai_buckets);
  kai("podgroups_scheduled_by_action", kind::counter, "Attempts of an action that placed a group.");
  kai("podgroups_acted_on_by_action", kind::counter, "Attempts of an action to place a group.");
  kai("scenarios_simulation_by_action", kind::counter, "Sets of victims that an action tried.");
  kai("scenarios_filtered_by_action", kind::counter, "Of these, those that its rules refused.");
  kai("total_preemption_attempts", kind::counter, "Attempts of the actions reclaim and preempt.");
  to.declare(
      {prefix + "pod_group_evicted_pods_total", kind::counter, "Pods of the group that were told to go.", {}, 1000});
  for (const char* const name : usage_gauges) {
    kai(name, kind::gauge, "What the queue has used in the past, as a part of the capacity.");
  }
  kai("queue_info", kind::gauge, "1 for each queue, with its parent.");
  for (const queue_gauge& one : kai_gauges) kai(one.name, kind::gauge, one.help);
  for (const queue_gauge& one : own_gauges) to.declare({one.name, kind::gauge, one.help});

  const std::vector<double> waits = exponential(0.1, 4, 11);  // 0.1 s to a day
  to.declare({"leader_election_master_status", kind::gauge, "1 if this process holds the lease, else 0."});
  to.declare({"kaisched_cycles_total", kind::counter, "Cycles, and how they ended."});
  to.declare({"kaisched_cycle_seconds", kind::histogram, "Time of a cycle by its phases.", exponential(0.001, 2, 16)});
  to.declare({"kaisched_last_cycle_timestamp_seconds", kind::gauge, "When the last cycle began."});
  to.declare({"kaisched_snapshot_bytes", kind::gauge, "Size of the objects that the engine read."});
  to.declare({"kaisched_decisions_total", kind::counter, "Decisions of the engine."});
  to.declare({"kaisched_outcomes_total", kind::counter, "What became of decisions at the API server."});
  to.declare(
      {"kaisched_pod_wait_seconds", kind::histogram, "From the creation of a pod to the decision to bind it.", waits});
  to.declare({"kaisched_api_request_seconds", kind::histogram, "Time of requests to the API server, watches left out.",
              exponential(0.001, 2, 15)});
  to.declare({"kaisched_api_requests_total", kind::counter, "Requests to the API server; code 0: no answer came."});
  to.declare({"kaisched_pending_pods", kind::gauge, "Pods that wait, those that the program cannot start included."});
  to.declare({"kaisched_pending_pod_groups", kind::gauge, "Pod groups that wait, by what is in their way."});
  to.declare({"kaisched_queue_pending_pods", kind::gauge, "Pods of the queue and its children that wait."});
  to.declare({"kaisched_objects_left_out", kind::gauge, "Objects that could not be read or make no sense."});
  to.declare({"kaisched_server_requests_total", kind::counter, "Requests that this program answered."});
  to.declare({"kaisched_server_request_seconds", kind::histogram, "Time to make an answer.", exponential(0.001, 4, 8)});
  to.declare({"kaisched_build_info", kind::gauge, "1, with the version of the library that is loaded."});
  to.set("kaisched_build_info", {{"version", std::string(abi::loaded_version())}}, 1);
}

}  // namespace

cycle_metrics::cycle_metrics(metrics& to, std::string prefix, std::string node_pool)
    : to_(to), prefix_(std::move(prefix)), node_pool_(std::move(node_pool)) {
  declare(to_, prefix_);
}

void cycle_metrics::record(const request& what, unsigned status, std::chrono::nanoseconds took) {
  const std::string_view path = std::string_view(what.target).substr(0, what.target.find('?'));
  to_.add("kaisched_api_requests_total", {{"code", std::to_string(status)}, {"method", what.method}});
  to_.observe("kaisched_api_request_seconds", {{"method", what.method}}, seconds(took));
  if (what.method == "POST" && path.ends_with("/binding")) {
    to_.observe(kai("task_bind_latency_milliseconds"), {}, milliseconds(took));
  }
}

void cycle_metrics::record_usage_query(std::chrono::nanoseconds took) {
  to_.observe(kai("usage_query_latency_milliseconds"), {}, milliseconds(took));
}

void cycle_metrics::record(const cycle_report& cycle, const object_store& store) {
  record_times(cycle);
  to_.set("kaisched_objects_left_out", {}, static_cast<double>(cycle.faults.size()));
  if (cycle.objects != nullptr) to_.set("kaisched_snapshot_bytes", {}, static_cast<double>(cycle.objects->bytes));
  const std::array outcomes{std::pair{"bound", cycle.done.bound},         std::pair{"evicted", cycle.done.evicted},
                            std::pair{"nominated", cycle.done.nominated}, std::pair{"explained", cycle.done.explained},
                            std::pair{"refused", cycle.done.refused},     std::pair{"unknown", cycle.done.unknown}};
  for (const auto& [outcome, count] : outcomes) {
    to_.add("kaisched_outcomes_total", {{"outcome", outcome}}, static_cast<double>(count));
  }
  if (cycle.seen == nullptr) return;
  record_statistics(*cycle.seen);
  record_decisions(*cycle.seen, store);
  record_queues(*cycle.seen);
  record_waiting(cycle);
}

void cycle_metrics::record_times(const cycle_report& cycle) {
  to_.add("kaisched_cycles_total", {{"outcome", cycle.seen != nullptr ? "decided" : "failed"}});
  const std::chrono::duration<double> when = cycle.when.time_since_epoch();
  to_.set("kaisched_last_cycle_timestamp_seconds", {}, when.count());
  const auto phase = [&](const char* name, std::chrono::nanoseconds time) {
    to_.observe("kaisched_cycle_seconds", {{"phase", name}}, seconds(time));
  };
  phase("whole", cycle.whole);
  if (cycle.seen == nullptr) return;
  phase("gather", cycle.gathering);
  phase("read", cycle.seen->reading);
  phase("decide", cycle.deciding - cycle.seen->reading);
  phase("act", cycle.acting);
  to_.set(kai("e2e_scheduling_latency_milliseconds"), {}, milliseconds(cycle.whole - cycle.acting));
  to_.set(kai("open_session_latency_milliseconds"), {}, milliseconds(cycle.seen->opening));
  to_.set(kai("close_session_latency_milliseconds"), {}, milliseconds(cycle.acting));
  for (const auto& [action, time] : cycle.seen->actions) {
    to_.set(kai("action_scheduling_latency_milliseconds"), {{"action", action}}, milliseconds(time));
  }
}

void cycle_metrics::record_statistics(const evidence& seen) {
  const abi::table table = seen.session.table(KAISCHED_TABLE_STATISTIC);
  const auto actions = table.texts(KAISCHED_STATISTIC_COL_ACTION);
  const auto tried = table.numbers<std::uint64_t>(KAISCHED_STATISTIC_COL_GROUPS_TRIED);
  const auto placed = table.numbers<std::uint64_t>(KAISCHED_STATISTIC_COL_GROUPS_PLACED);
  const auto sets = table.numbers<std::uint64_t>(KAISCHED_STATISTIC_COL_SIMULATIONS);
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const metrics::labels of{{"action", std::string(actions[i])}};
    to_.add(kai("podgroups_acted_on_by_action"), of, static_cast<double>(tried[i]));
    to_.add(kai("podgroups_scheduled_by_action"), of, static_cast<double>(placed[i]));
    to_.add(kai("scenarios_simulation_by_action"), of, static_cast<double>(sets[i]));
    if (actions[i] == "reclaim" || actions[i] == "preempt") {
      to_.add(kai("total_preemption_attempts"), {}, static_cast<double>(tried[i]));
    }
  }
  const abi::table attempts = seen.session.table(KAISCHED_TABLE_ATTEMPT);
  const auto by = attempts.texts(KAISCHED_ATTEMPT_COL_ACTION);
  const auto refused = attempts.numbers<std::uint64_t>(KAISCHED_ATTEMPT_COL_REFUSED);
  for (std::size_t i = 0; i < attempts.rows(); ++i) {
    to_.add(kai("scenarios_filtered_by_action"), {{"action", std::string(by[i])}}, static_cast<double>(refused[i]));
  }
}

void cycle_metrics::record_decisions(const evidence& seen, const object_store& store) {
  std::map<std::string_view, std::int64_t> created;
  const abi::table pods = seen.snapshot.table(KAISCHED_TABLE_POD);
  const auto names = pods.texts(KAISCHED_POD_COL_NAME);
  const auto times = pods.numbers<std::int64_t>(KAISCHED_POD_COL_CREATED);
  for (std::size_t i = 0; i < pods.rows(); ++i) created.emplace(names[i], times[i]);

  const abi::table made = seen.session.table(KAISCHED_TABLE_DECISION);
  const auto actions = made.texts(KAISCHED_DECISION_COL_ACTION);
  const auto pod_names = made.texts(KAISCHED_DECISION_COL_POD_NAME);
  const auto groups = made.texts(KAISCHED_DECISION_COL_GROUP_NAME);
  for (std::size_t i = 0; i < made.rows(); ++i) {
    const std::string what(made.name(KAISCHED_DECISION_COL_KIND, i));
    to_.add("kaisched_decisions_total", {{"action", std::string(actions[i])}, {"kind", what}});
    if (what == "bind") {
      const auto found = created.find(pod_names[i]);
      if (found == created.end() || found->second <= 0) continue;
      const std::chrono::nanoseconds waited(std::max<std::int64_t>(0, seen.now - found->second));
      to_.observe(kai("task_scheduling_latency_milliseconds"), {}, milliseconds(waited));
      to_.observe("kaisched_pod_wait_seconds", {}, seconds(waited));
    } else if (what == "evict") {
      const std::string group(groups[i]);
      const std::size_t slash = group.find('/');  // npos: of no namespace
      to_.add(kai("pod_group_evicted_pods_total"),
              {{"action", std::string(actions[i])},
               {"namespace", slash == std::string::npos ? "" : group.substr(0, slash)},
               {"nodepool", node_pool_},
               {"podgroup", slash == std::string::npos ? group : group.substr(slash + 1)},
               {"uid", text_at(store.find(pod_group_key, group), "/metadata/uid")}});
    }
  }
}

void cycle_metrics::record_queues(const evidence& seen) {
  const abi::table shares = seen.session.table(KAISCHED_TABLE_QUEUE_SHARE);
  const auto names = shares.texts(KAISCHED_QUEUE_SHARE_COL_QUEUE_NAME);
  const auto parents = shares.texts(KAISCHED_QUEUE_SHARE_COL_PARENT_NAME);
  const auto write = [&](const std::string& metric, const queue_gauge& of) {
    const amounts values(shares, of.column);
    std::vector<std::pair<metrics::labels, double>> all;
    for (std::size_t i = 0; i < shares.rows(); ++i) {
      all.emplace_back(metrics::labels{{"queue_name", std::string(names[i])}}, values.of(i, of.dimension, of.unit));
    }
    to_.replace(metric, all);
  };
  for (const queue_gauge& one : kai_gauges) write(kai(one.name), one);
  for (const queue_gauge& one : own_gauges) write(one.name, one);
  record_usage(seen);

  const auto pending = shares.numbers<std::int64_t>(KAISCHED_QUEUE_SHARE_COL_PENDING_PODS);
  std::vector<std::pair<metrics::labels, double>> info;
  std::vector<std::pair<metrics::labels, double>> waiting;
  for (std::size_t i = 0; i < shares.rows(); ++i) {
    const std::string name(names[i]);
    info.emplace_back(metrics::labels{{"parent", std::string(parents[i])}, {"queue_name", name}}, 1);
    waiting.emplace_back(metrics::labels{{"queue_name", name}}, static_cast<double>(pending[i]));
  }
  to_.replace(kai("queue_info"), info);
  to_.replace("kaisched_queue_pending_pods", waiting);
}

void cycle_metrics::record_usage(const evidence& seen) {
  const abi::table queues = seen.snapshot.table(KAISCHED_TABLE_QUEUE);
  const auto names = queues.texts(KAISCHED_QUEUE_COL_NAME);
  const auto parts = queues.numbers<double>(KAISCHED_QUEUE_COL_USAGE);
  for (std::size_t i = 0; i < usage_gauges.size(); ++i) {
    std::vector<std::pair<metrics::labels, double>> all;
    for (std::size_t row = 0; row < queues.rows(); ++row) {
      all.emplace_back(metrics::labels{{"queue_name", std::string(names[row])}}, parts[row * dimensions + i]);
    }
    to_.replace(kai(usage_gauges[i]), all);
  }
}

void cycle_metrics::record_waiting(const cycle_report& cycle) {
  const abi::table shares = cycle.seen->session.table(KAISCHED_TABLE_QUEUE_SHARE);
  const auto parents = shares.texts(KAISCHED_QUEUE_SHARE_COL_PARENT_NAME);
  const auto pending = shares.numbers<std::int64_t>(KAISCHED_QUEUE_SHARE_COL_PENDING_PODS);
  double pods = static_cast<double>(cycle.refused.size());
  for (std::size_t i = 0; i < shares.rows(); ++i) {
    if (parents[i].empty()) pods += static_cast<double>(pending[i]);  // has those of its children
  }
  to_.set("kaisched_pending_pods", {}, pods);

  const abi::table reasons = cycle.seen->session.table(KAISCHED_TABLE_REASON);
  const auto groups = reasons.texts(KAISCHED_REASON_COL_GROUP_NAME);
  const auto constraints = reasons.texts(KAISCHED_REASON_COL_CONSTRAINT);
  std::set<std::string_view> told;
  std::map<std::string, double> by_constraint;
  for (std::size_t i = 0; i < reasons.rows(); ++i) {
    if (told.insert(groups[i]).second) ++by_constraint[std::string(constraints[i])];  // the first is the nearest
  }
  std::vector<std::pair<metrics::labels, double>> all;
  for (const auto& [constraint, count] : by_constraint) all.push_back({{{"constraint", constraint}}, count});
  to_.replace("kaisched_pending_pod_groups", all);
}

}  // namespace shim
