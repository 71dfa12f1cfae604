#include "plays.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include <kaisched/kaisched.hpp>

#include "base/cancel_flag.hpp"
#include "errors.hpp"
#include "handles.hpp"
#include "interrupts.hpp"
#include "io/added_rows.hpp"
#include "io/cluster_input.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "simulation/cpu_clock.hpp"
#include "simulation/distances.hpp"
#include "simulation/intervals.hpp"
#include "simulation/job_list.hpp"
#include "simulation/metrics.hpp"
#include "simulation/plain_cluster.hpp"
#include "simulation/policies.hpp"
#include "simulation/simulation.hpp"
#include "workloads.hpp"

namespace py = pybind11;

namespace kaisched::python {

namespace {

using simulation::run_result;
using simulation::simulation_options;

// ---- what is told --------------------------------------------------------------------------------------------------

/// Options of a play and of its cluster, from a dict that the package has made.
struct told_play {
  simulation_options options;
  std::int64_t nodes_per_rack = 0;
  bool equal_quotas = false;
};

told_play options_of(const py::dict& told) {
  told_play made;
  simulation_options& o = made.options;
  const auto take = [&](const char* name, auto& to) {
    if (told.contains(name)) to = told[name].cast<std::remove_reference_t<decltype(to)>>();
  };
  take("period", o.period);
  take("wake", o.wake);
  take("grace", o.grace);
  take("start_overhead", o.start_overhead);
  take("checkpoint_interval", o.checkpoint_interval);
  take("keeps_work", o.keeps_work);
  take("estimate_factor", o.estimate_factor);
  take("estimate_seed", o.estimate_seed);
  take("replan", o.replan);
  take("repeat", o.repeat);
  take("one_queue", o.one_queue);
  take("near", o.near);
  take("usage_half_life", o.usage_half_life);
  take("preferred_level", o.preferred_level);
  take("horizon", o.horizon);
  take("queue", o.queue);
  take("nodes_per_rack", made.nodes_per_rack);
  take("equal_quotas", made.equal_quotas);
  std::string estimates = "given";
  take("estimates", estimates);
  o.estimates = estimates == "none"    ? simulation::told_times::none
                : estimates == "exact" ? simulation::told_times::exact
                : estimates == "drawn" ? simulation::told_times::drawn
                                       : simulation::told_times::given;
  o.notes_changes = true;
  o.cpu_clock = &simulation::thread_cpu_time;
  return made;
}

using told_outage = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, bool, std::vector<std::uint32_t>>;
using told_pool = std::tuple<std::vector<std::string>, std::uint32_t, std::int64_t, std::int64_t>;
using told_profile = std::tuple<std::string, std::vector<std::pair<std::uint32_t, std::int64_t>>, std::int64_t,
                                std::int64_t, std::vector<std::pair<std::string, std::int64_t>>, std::int64_t>;

void take_nodes(simulation::play& to, const std::vector<told_outage>& outages, const std::vector<told_pool>& pools,
                const std::vector<told_profile>& profiles) {
  for (const auto& [node, from, until, notice, saves_work, devices] : outages)
    to.outages.push_back({node, from, until, notice, saves_work, devices});
  for (const auto& [nodes, least, start_time, idle_time] : pools)
    to.pools.push_back({nodes, least, start_time, idle_time});
  for (const auto& [model, speeds, start_overhead, checkpoint_interval, gpu_speeds, traffic] : profiles) {
    simulation::profile& made = to.profiles.emplace_back();
    made.model = model;
    made.start_overhead = start_overhead;
    made.checkpoint_interval = checkpoint_interval;
    made.traffic = traffic;
    for (const auto& [pods, speed] : speeds) made.speeds.push_back({pods, speed});
    for (const auto& [gpu_model, speed] : gpu_speeds) made.gpu_speeds.push_back({gpu_model, speed});
  }
}

// ---- the cluster ---------------------------------------------------------------------------------------------------

/// Groups, their pods and the claims of these: the workload is all that is played.
constexpr std::array of_pods{table_kind::pod_group, table_kind::sub_group, table_kind::pod, table_kind::resource_claim,
                             table_kind::claim_request};

result<io::cluster_input> tables_of(const snapshot& from, bool queues) {
  io::cluster_input made;
  for (const table_info& info : schema()) {
    const bool is_left_out = std::find(of_pods.begin(), of_pods.end(), info.kind) != of_pods.end();
    if (!info.input || is_left_out || (!queues && info.kind == table_kind::queue)) continue;
    result<table> rows = from.to_table(info.kind);
    if (!rows) return rows.take_failure();
    made.add(std::move(*rows), {});
  }
  return made;
}

result<cluster> cluster_of(const snapshot& from, const simulation_options& options,
                           std::vector<simulation::queue_share>& shares) {
  result<io::cluster_input> tables = tables_of(from, !options.one_queue);
  if (!tables) return tables.take_failure();
  if (!options.one_queue) return io::build_cluster(*tables);
  const result<io::cluster_input> with_queues = tables_of(from, true);
  if (!with_queues) return with_queues.failure();
  result<cluster> as_told = io::build_cluster(*with_queues);
  if (!as_told) return as_told.take_failure();
  shares = simulation::shares_of(*as_told);
  table queues = io::added(table_kind::queue);
  queues.add(col::queue_name, column_type::string).push(std::string_view(options.queue));
  tables->add(std::move(queues), {});
  return io::build_cluster(*tables);
}

result<cluster> make_cluster(const std::optional<snapshot>& from, const std::string& nodes, const told_play& told,
                             const policy_options& policy, simulation::play& what) {
  if (from) return cluster_of(*from, told.options, what.shares);
  const simulation_options& o = told.options;
  const result<io::cluster_input> plain =
      simulation::plain_cluster(nodes, what.jobs, o.queue, o.model_label, told.equal_quotas && !o.one_queue,
                                told.nodes_per_rack, simulation::needs_cohort(policy));
  if (!plain) return error{status::argument, "nodes: " + plain.failure().message, {}};
  return io::build_cluster(*plain);
}

// ---- what comes out ------------------------------------------------------------------------------------------------

double gpus_of(std::int64_t milli) { return static_cast<double>(milli) / static_cast<double>(whole_device); }
double gpu_seconds_of(std::int64_t milli_gpu_milliseconds) { return static_cast<double>(milli_gpu_milliseconds) / 1e6; }

py::dict job_columns(const simulation::workload& jobs, const run_result& run, const std::string& queue) {
  std::vector<std::size_t> rows(run.jobs.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const auto seconds = [&](auto get) {
    return array_of<double>(rows, [&](std::size_t i) { return get(jobs.jobs[i], run.jobs[i]); });
  };
  const auto count = [&](auto member) {
    return array_of<std::int64_t>(run.jobs, [&](const simulation::job_outcome& o) { return std::int64_t{o.*member}; });
  };
  using simulation::job;
  using simulation::job_outcome;
  py::list names;
  py::list queues;
  for (const job& one : jobs.jobs) {
    names.append(one.name);
    queues.append(one.queue.empty() ? queue : one.queue);
  }
  const auto since_submit = [](std::int64_t time, const job& j) {
    return time == simulation::never ? seconds_of(time) : seconds_of(time - j.submit);
  };
  py::dict made;
  made["job"] = names;
  made["queue"] = queues;
  made["gpus"] = seconds([](const job& j, const job_outcome&) { return gpus_of(simulation::gpus_of(j)); });
  made["submit"] = seconds([](const job& j, const job_outcome&) { return seconds_of(j.submit); });
  made["run_time"] = seconds([](const job& j, const job_outcome&) { return seconds_of(j.run_time); });
  made["start"] = seconds([](const job&, const job_outcome& o) { return seconds_of(o.first_start); });
  made["end"] = seconds([](const job&, const job_outcome& o) { return seconds_of(o.end); });
  made["wait"] = seconds([&](const job& j, const job_outcome& o) { return since_submit(o.first_start, j); });
  made["jct"] = seconds([&](const job& j, const job_outcome& o) { return since_submit(o.end, j); });
  made["running"] = seconds([](const job&, const job_outcome& o) { return seconds_of(o.running); });
  made["lost"] = seconds([](const job&, const job_outcome& o) { return seconds_of(o.lost); });
  made["gpu_seconds"] = seconds([](const job&, const job_outcome& o) { return gpu_seconds_of(o.gpu_time); });
  made["lost_gpu_seconds"] = seconds([](const job&, const job_outcome& o) { return gpu_seconds_of(o.lost_gpu_time); });
  made["partial_gang_gpu_seconds"] =
      seconds([](const job&, const job_outcome& o) { return gpu_seconds_of(o.partial_gpu_time); });
  made["stale_gang_gpu_seconds"] =
      seconds([](const job&, const job_outcome& o) { return gpu_seconds_of(o.stale_gpu_time); });
  made["starts"] = count(&job_outcome::starts);
  made["evictions"] = count(&job_outcome::evictions);
  made["failures"] = count(&job_outcome::failures);
  made["distance"] = count(&job_outcome::distance);
  made["came"] = array_of<bool>(run.jobs, [](const job_outcome& o) { return o.came; });
  return made;
}

py::dict timeline_columns(const run_result& run) {
  using simulation::sample;
  const auto gpus = [&](std::int64_t sample::* member) {
    return array_of<double>(run.timeline, [&](const sample& s) { return gpus_of(s.*member); });
  };
  const auto jobs = [&](std::uint32_t sample::* member) {
    return array_of<std::int64_t>(run.timeline, [&](const sample& s) { return std::int64_t{s.*member}; });
  };
  py::dict made;
  made["time"] = array_of<double>(run.timeline, [](const sample& s) { return seconds_of(s.time); });
  made["gpus_held"] = gpus(&sample::gpus_held);
  made["gpus_wanted"] = gpus(&sample::gpus_wanted);
  made["gpus_there"] = gpus(&sample::gpus_there);
  made["jobs_running"] = jobs(&sample::jobs_running);
  made["jobs_waiting"] = jobs(&sample::jobs_waiting);
  made["gpus_fragmented"] = gpus(&sample::gpus_fragmented);
  made["gpus_misplaced"] = gpus(&sample::gpus_misplaced);
  return made;
}

py::dict interval_columns(const run_result& run, const snapshot& over) {
  using simulation::interval;
  const std::vector<interval> all = simulation::intervals_of(run);
  const auto row_of = [&](const interval& i) {
    return std::int64_t{(*model::state_of(over).node_row_of_slot)[i.node]};
  };
  py::dict made;
  made["job"] = array_of<std::int64_t>(all, [](const interval& i) { return std::int64_t{i.job}; });
  made["node"] = array_of<std::int64_t>(all, row_of);
  made["start"] = array_of<double>(all, [](const interval& i) { return seconds_of(i.from); });
  made["end"] = array_of<double>(all, [](const interval& i) { return seconds_of(i.to); });
  made["pods"] = array_of<std::int64_t>(all, [](const interval& i) { return std::int64_t{i.pods}; });
  made["gpus"] = array_of<double>(all, [](const interval& i) { return gpus_of(i.gpus); });
  made["devices"] = array_of<std::uint64_t>(all, [](const interval& i) { return i.devices; });
  return made;
}

py::dict node_columns(const snapshot& over) {
  const model::cluster_state& s = model::state_of(over);
  std::vector<node_row> rows(s.node_count());
  py::list names;
  for (node_row n = 0; n < s.node_count(); ++n) {
    rows[n] = n;
    names.append(over.node_name(n));
  }
  const auto gpus_there = [&](node_row n) {
    return gpus_of((*s.capacity)[std::size_t{n} * s.dims() + static_cast<std::size_t>(dim_gpu)]);
  };
  py::dict made;
  made["node"] = names;
  made["gpus"] = array_of<double>(rows, gpus_there);
  made["devices"] =
      array_of<std::int64_t>(rows, [&](node_row n) { return std::int64_t{(*s.nodes)[n]->device_count()}; });
  for (const simulation::level_labels& level : simulation::labels_of_levels(s)) {
    made[py::str("domain." + level.level)] = level.labels;
  }
  return made;
}

py::dict queue_columns(const run_result& run) {
  using simulation::queue_share;
  py::list names;
  for (const queue_share& one : run.queues) names.append(one.queue);
  py::dict made;
  made["queue"] = names;
  made["quota"] = array_of<double>(run.queues, [](const queue_share& one) {
    return one.quota == unlimited ? std::numeric_limits<double>::quiet_NaN() : gpus_of(one.quota);
  });
  return made;
}

py::dict queue_timeline_columns(const run_result& run) {
  using simulation::queue_sample;
  const auto gpus = [&](std::int64_t queue_sample::* member) {
    return array_of<double>(run.queue_timeline, [&](const queue_sample& s) { return gpus_of(s.*member); });
  };
  py::dict made;
  made["time"] = array_of<double>(run.queue_timeline, [](const queue_sample& s) { return seconds_of(s.time); });
  made["queue"] =
      array_of<std::int64_t>(run.queue_timeline, [](const queue_sample& s) { return std::int64_t{s.queue}; });
  made["held"] = gpus(&queue_sample::held);
  made["wanted"] = gpus(&queue_sample::wanted);
  made["fair"] = gpus(&queue_sample::fair);
  return made;
}

py::dict quota_claim_columns(const run_result& run) {
  using simulation::quota_claim;
  const std::vector<quota_claim>& all = run.quota_claims;
  const auto times = [&](std::int64_t quota_claim::* member) {
    return array_of<double>(all, [&](const quota_claim& one) { return seconds_of(one.*member); });
  };
  py::list names;
  for (const quota_claim& one : all) names.append(one.queue);
  py::dict made;
  made["queue"] = names;
  made["quota"] = array_of<double>(all, [](const quota_claim& one) { return gpus_of(one.quota); });
  made["claims"] =
      array_of<std::int64_t>(all, [](const quota_claim& one) { return static_cast<std::int64_t>(one.claims); });
  made["first"] = times(&quota_claim::first);
  made["longest"] = times(&quota_claim::longest);
  made["total"] = times(&quota_claim::total);
  made["open"] = array_of<bool>(all, [](const quota_claim& one) { return one.is_open; });
  return made;
}

py::dict idle_refusal_columns(const run_result& run) {
  using simulation::idle_refusal;
  py::list reasons;
  py::list plugins;
  for (const idle_refusal& one : run.idle_refusals) {
    reasons.append(std::string(constraint_name(one.what)));
    plugins.append(one.plugin);
  }
  py::dict made;
  made["reason"] = reasons;
  made["plugin"] = plugins;
  made["gpu_hours"] =
      array_of<double>(run.idle_refusals, [](const idle_refusal& one) { return gpu_seconds_of(one.gpu_time) / 3600; });
  return made;
}

py::dict session_cpu_of(const run_result& run) {
  const simulation::distribution times = simulation::distribution_of(run.session_cpu);
  py::dict made;
  made["p99"] = times.p99;
  made["most"] = times.most;
  return made;
}

void add_times(py::dict& to, const std::string& name, const simulation::distribution& of) {
  const auto set = [&](const char* what, auto value) { to[py::str(name + what)] = value; };
  set("_count", of.count);
  set("_mean", of.mean);
  set("_p50", of.p50);
  set("_p90", of.p90);
  set("_p99", of.p99);
  set("_most", of.most);
}

/// As the columns of `kaisched compare --csv`.
py::dict metric_values(const simulation::metrics& m) {
  py::dict made;
  made["jobs"] = m.jobs;
  made["ended"] = m.ended;
  made["never_started"] = m.never_started;
  made["makespan"] = m.makespan;
  add_times(made, "completion", m.completion);
  add_times(made, "waiting", m.waiting);
  made["utilisation"] = m.utilisation;
  made["utilisation_of_span"] = m.utilisation_of_span;
  made["utilisation_of_arrivals"] = m.utilisation_of_arrivals;
  made["contended_from"] = m.contended_from;
  made["contended_until"] = m.contended_until;
  made["fragmentation"] = m.fragmentation;
  made["idle_though_asked"] = m.idle_though_asked;
  made["gpu_hours"] = m.gpu_hours;
  made["gpu_hours_there"] = m.gpu_hours_there;
  made["energy"] = m.energy;
  made["peak_power"] = m.peak_power;
  made["fullest_feed"] = m.fullest_feed;
  made["lost_gpu_hours"] = m.lost_gpu_hours;
  made["partial_gang_gpu_hours"] = m.partial_gang_gpu_hours;
  made["stale_gang_gpu_hours"] = m.stale_gang_gpu_hours;
  made["idle_fitting_gpu_hours"] = m.idle_fitting_gpu_hours;
  made["evictions"] = m.evictions;
  made["failures"] = m.failures;
  made["restarts"] = m.restarts;
  made["moves"] = m.moves;
  made["withdrawn_starts"] = m.withdrawn_starts;
  made["quota_claims"] = m.quota_claims;
  made["longest_quota_claim"] = m.longest_quota_claim;
  made["topology_cost"] = m.topology_cost;
  made["worst_fairness"] = m.worst_fairness;
  made["unfair"] = m.unfair;
  made["jain"] = m.jain;
  made["share_error"] = m.share_error;
  return made;
}

py::dict counts_of(const simulation::run_counts& c) {
  py::dict made;
  made["sessions"] = c.sessions;
  made["decisions"] = c.decisions;
  made["starts"] = c.starts;
  made["evictions"] = c.evictions;
  made["moves"] = c.moves;
  made["withdrawn"] = c.withdrawn;
  made["restless"] = c.restless;
  return made;
}

/// How another thread asks plays to end.
struct stop_wish {
  base::cancel_flag flag;
};

/// What one play leaves behind.
struct played {
  snapshot first;  ///< the cluster at the start
  run_result run;
  simulation::metrics figures;
};

result<played> play_it(const std::optional<snapshot>& from, const std::string& nodes, const told_play& told,
                       simulation::play& what, const engine& with, const stop_wish& stop) {
  result<cluster> over = make_cluster(from, nodes, told, with.options(), what);
  if (!over) return over.take_failure();
  played made{over->take_snapshot(), {}, {}};
  const simulation::session_watcher watcher = [&](const session&, std::int64_t) -> result<void> {
    if (stop.flag.is_asked()) return error{status::cancelled, "the host cancelled the play", {}};
    return {};
  };
  result<run_result> run = simulation::simulate(*over, what, with, told.options, watcher);
  if (!run) return run.take_failure();
  made.run = std::move(*run);
  made.figures = simulation::metrics_of(what.jobs, made.run);
  return made;
}

py::dict simulate(const simulation::workload& jobs, const py_engine& with, const std::string& nodes,
                  const std::optional<snapshot>& from, const py::dict& settings,
                  const std::vector<told_outage>& outages, const std::vector<told_pool>& pools,
                  const std::vector<told_profile>& profiles, const stop_wish& stop) {
  const told_play told = options_of(settings);
  simulation::play what;
  what.jobs = jobs;
  take_nodes(what, outages, pools, profiles);
  result<played> ended = interruptible(
      [&] { return with.read_unlocked([&](const engine& e) { return play_it(from, nodes, told, what, e, stop); }); },
      [&] { stop.flag.ask(); });
  const played made = unwrap_played(std::move(ended), *with.faults());
  py::dict out;
  out["jobs"] = job_columns(what.jobs, made.run, told.options.queue);
  out["timeline"] = timeline_columns(made.run);
  out["intervals"] = interval_columns(made.run, made.first);
  out["nodes"] = node_columns(made.first);
  out["queues"] = queue_columns(made.run);
  out["queue_timeline"] = queue_timeline_columns(made.run);
  out["quota_claims"] = quota_claim_columns(made.run);
  out["idle_refusals"] = idle_refusal_columns(made.run);
  out["unread"] = made.run.unread;
  out["session_cpu"] = session_cpu_of(made.run);
  out["sessions"] = array_of<double>(made.run.sessions, &seconds_of);
  out["metrics"] = metric_values(made.figures);
  out["counts"] = counts_of(made.run.counts);
  out["digest"] = made.run.digest;
  out["end"] = seconds_of(made.run.end);
  out["cluster"] = made.first;
  return out;
}

/// Tells a policy to an engine. What it says of the play is given back.
py::dict apply_policy(py_engine& to, const std::string& name) {
  const simulation::named_policy* const policy = simulation::find_policy(name);
  if (policy == nullptr && preset(name)) {  // as for kaisched compare, presets are policies too
    unwrap(to.change([&](engine& e) { return e.set("preset", name); }));
    return {};
  }
  if (policy == nullptr) {
    std::string known;
    for (const simulation::named_policy& one : simulation::named_policies())
      known += (known.empty() ? "" : ", ") + std::string(one.name);
    throw failure({status::not_found, "there is no policy '" + name + "'; there are " + known + ", and presets", {}});
  }
  simulation_options play;
  unwrap(to.change([&](engine& e) { return simulation::apply_policy(*policy, e, play); }));
  py::dict told;
  told["replan"] = play.replan;
  told["repeat"] = play.repeat;
  told["one_queue"] = play.one_queue;
  told["near"] = play.near;
  told["usage_half_life"] = play.usage_half_life;
  return told;
}

py::list policy_list() {
  py::list list;
  for (const simulation::named_policy& one : simulation::named_policies()) {
    py::dict policy;
    policy["name"] = one.name;
    policy["meaning"] = one.meaning;
    policy["actions"] = one.actions;
    policy["parts"] = one.parts;
    policy["settings"] = one.settings;
    policy["needs_estimates"] = one.needs_estimates;
    policy["one_queue"] = one.one_queue;
    policy["replan"] = one.replan;
    list.append(std::move(policy));
  }
  return list;
}

}  // namespace

void bind_plays(py::module_& m) {
  py::class_<stop_wish>(m, "Stop", "How another thread asks plays to end.")
      .def(py::init<>())
      .def("ask", [](const stop_wish& s) { s.flag.ask(); }, "Plays that look at it end with CancelledError.");
  m.def("simulate", &simulate, py::arg("workload"), py::arg("engine"), py::arg("nodes"), py::arg("cluster"),
        py::arg("settings"), py::arg("outages"), py::arg("pools"), py::arg("profiles"), py::arg("stop"),
        "Plays a workload; what became of it as dicts of columns. Ctrl-C ends it between two sessions.");
  m.def("apply_policy", &apply_policy, py::arg("engine"), py::arg("name"),
        "Tells a policy or a preset by name to an engine, and says what it wants of the play.");
  m.def("policy_list", &policy_list, "All policies that have names.");
}

}  // namespace kaisched::python
