#include "cli/play_arguments.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cli/input.hpp"
#include "io/added_rows.hpp"
#include "io/files.hpp"
#include "simulation/amounts.hpp"
#include "simulation/plain_cluster.hpp"
#include "simulation/workload_csv.hpp"

namespace kaisched::cli {

namespace {

error wrong_value(std::string text) { return {status::argument, std::move(text), {}}; }

/// Groups, their pods and the claims of these: the workload is all that is played.
constexpr std::array of_pods{table_kind::pod_group, table_kind::sub_group, table_kind::pod, table_kind::resource_claim,
                             table_kind::claim_request};

template <class Leaves>
void leave_out(io::cluster_input& of, Leaves&& leaves) {
  std::vector<table> tables = std::exchange(of.tables, {});
  std::vector<io::table_origin> origins = std::exchange(of.origins, {});
  origins.resize(tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (!leaves(static_cast<table_kind>(tables[i].kind()))) of.add(std::move(tables[i]), std::move(origins[i]));
  }
}

result<simulation::told_times> estimates_of(const play_arguments& told, simulation::simulation_options& to) {
  using simulation::told_times;
  if (told.estimates.empty() || told.estimates == "given") return told_times::given;
  if (told.estimates == "none") return told_times::none;
  if (told.estimates == "exact") return told_times::exact;
  const char* const end = told.estimates.data() + told.estimates.size();
  const auto [stop, fault] = std::from_chars(told.estimates.data(), end, to.estimate_factor);
  if (fault != std::errc() || stop != end || !(to.estimate_factor >= 1 && std::isfinite(to.estimate_factor)))
    return wrong_value(
        fmt::format("--estimates {}: expected none, given, exact, or the largest factor, 1 at least", told.estimates));
  return told_times::drawn;
}

result<simulation::simulation_options> options_of(const play_arguments& told) {
  simulation::simulation_options made;
  for (const auto& [option, text, to] : {std::tuple{"--period", &told.period, &made.period},
                                         {"--wake", &told.wake, &made.wake},
                                         {"--grace", &told.grace, &made.grace},
                                         {"--start-overhead", &told.start_overhead, &made.start_overhead},
                                         {"--usage-half-life", &told.usage_half_life, &made.usage_half_life},
                                         {"--until", &told.until, &made.horizon}}) {
    if (text->empty()) continue;
    const result<std::int64_t> read = read_time(option, *text);
    if (!read) return read.failure();
    *to = *read;
  }
  if (told.checkpoints == "never") {
    made.keeps_work = false;
  } else if (!told.checkpoints.empty() && told.checkpoints != "always") {
    const result<std::int64_t> read = read_time("--checkpoints", told.checkpoints);
    if (!read) return read.failure();
    made.checkpoint_interval = *read;
  }
  const result<simulation::told_times> estimates = estimates_of(told, made);
  if (!estimates) return estimates.failure();
  made.estimates = *estimates;
  made.estimate_seed = told.estimate_seed < 0 ? 0 : static_cast<std::uint64_t>(told.estimate_seed);
  if (!told.queue.empty()) made.queue = told.queue;
  made.replan = told.replan;
  made.repeat = told.repeat;
  made.one_queue = told.one_queue;
  made.near = told.near;
  made.preferred_level = told.preferred_level;
  return made;
}

result<cluster> make_cluster(const play_arguments& told, const simulation::workload& jobs, const policy_options& policy,
                             simulation::simulation_options& options, std::vector<simulation::queue_share>& shares) {
  if (!told.nodes.empty()) {
    const result<io::cluster_input> made = simulation::plain_cluster(
        told.nodes, jobs, options.queue, options.model_label, told.equal_quotas && !told.one_queue, told.nodes_per_rack,
        simulation::needs_cohort(policy));
    if (!made) return wrong_value("--nodes " + made.failure().message);
    return io::build_cluster(*made);
  }
  input_arguments file;
  file.cluster = told.cluster;
  result<io::cluster_input> read = read_tables(file);
  if (!read) return read.failure();
  if (read->now < 0 || read->now > simulation::latest_time)
    return wrong_value(
        fmt::format("{}: now is {} ns, expected 0 to {} ns", told.cluster, read->now, simulation::latest_time));
  const auto is_of_pods = [](table_kind kind) {
    return std::find(of_pods.begin(), of_pods.end(), kind) != of_pods.end();
  };
  leave_out(*read, is_of_pods);
  if (told.one_queue) {
    result<cluster> as_told = io::build_cluster(*read);
    if (!as_told) return as_told.failure();
    shares = simulation::shares_of(*as_told);
    leave_out(*read, [](table_kind kind) { return kind == table_kind::queue; });
    table queues = io::added(table_kind::queue);
    queues.add(col::queue_name, column_type::string).push(std::string_view(options.queue));
    read->add(std::move(queues), {});
  }
  options.begin = read->now;
  return io::build_cluster(*read);
}

}  // namespace

void add_cluster_arguments(command& to, play_arguments& told) {
  to.heading("Cluster");
  to.option("--cluster", &told.cluster, cluster_file(), "Nodes, queues and topology; its groups and pods are left out");
  to.option("--nodes", &told.nodes, any_value("NxG"), "Equal nodes instead: 16x8, or 8x8:V100,4x4:T4");
  to.option("--nodes-per-rack", &told.nodes_per_rack, any_value("N"),
            "Equal nodes are in racks of so many, the one level of their topology; 0: no topology")
      .between(0, 1'000'000);
  to.option("--queue", &told.queue, any_value("NAME"), "Queue of jobs that name none (default)");
  to.flag("--equal-quotas", told.equal_quotas,
          "Queues of equal nodes get an equal part of the GPUs as quota, under Kueue in one cohort");
  to.option("--gpus-per-node", &told.gpus_per_node, any_value("N"), "Most GPUs of a pod where a job says gpus_total")
      .between(1, max_devices_per_node);
}

void add_time_arguments(command& to, play_arguments& told) {
  to.heading("Times");
  to.option("--period", &told.period, any_value("TIME"),
            "From the start of one session to the next; 0: at every change");
  to.option("--wake", &told.wake, any_value("TIME"), "A session at least so often while jobs wait or run; 0: never");
  to.option("--grace", &told.grace, any_value("TIME"), "From the eviction of a pod until its place is free");
  to.option("--start-overhead", &told.start_overhead, any_value("TIME"), "Of every start of a job, without progress");
  to.option("--checkpoints", &told.checkpoints, any_value("WHEN"),
            "How much work is kept: always (default), never, or a TIME");
  to.option("--estimates", &told.estimates, any_value("WHAT"),
            "What sessions know of run times: given (default), none, exact, or a factor up to which they are too long");
  to.option("--estimate-seed", &told.estimate_seed, any_value("N"), "Other factors; as if 0 without it")
      .between(0, 9e15);
  to.option("--usage-half-life", &told.usage_half_life, any_value("TIME"),
            "Queues are told what they have had, of which half counts after this time; 0: nothing is told");
  to.option("--until", &told.until, any_value("TIME"), "Nothing is played beyond");
}

result<std::int64_t> read_time(std::string_view option, std::string_view text) {
  const std::optional<std::int64_t> read = simulation::parse_duration(text);
  if (!read) return wrong_value(fmt::format("{} {}: expected a time such as 30, 90s, 5m, 2h", option, text));
  return *read;
}

result<simulation::workload> read_jobs(const std::string& file, std::int64_t gpus_per_node) {
  const result<std::string> text = io::read_file(file);
  if (!text) return text.failure();
  simulation::workload_csv_options options;
  options.gpus_per_node = gpus_per_node;
  return simulation::read_workload_csv({file == "-" ? "standard input" : file, *text}, options);
}

result<prepared_play> prepare_play(const play_arguments& told, const simulation::workload& jobs) {
  if (told.nodes.empty() == told.cluster.empty())
    return wrong_value("name a cluster: --cluster FILE, or --nodes such as 16x8");
  result<engine> with = make_engine(told.policy);
  if (!with) return with.take_failure();
  result<simulation::simulation_options> options = options_of(told);
  if (!options) return options.take_failure();
  std::vector<simulation::queue_share> shares;
  result<cluster> over = make_cluster(told, jobs, with->options(), *options, shares);
  if (!over) return over.take_failure();
  return prepared_play{std::move(*with), std::move(*over), std::move(*options), told.outages,
                       told.pools,       told.profiles,    std::move(shares)};
}

}  // namespace kaisched::cli
