// Pollux: its jobs say how much is to be learnt, not how long that takes. A job that keeps its replicas and its batch
// size runs for a time that follows from what was measured of its application.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "simulation/traces/numbers.hpp"
#include "simulation/traces/trace_rows.hpp"

namespace kaisched::simulation {

namespace {

/// The nodes that the applications were measured on.
constexpr std::int64_t pollux_gpus_per_node = 4;
constexpr std::int64_t most_batch = std::int64_t{1} << 32;
constexpr std::int64_t most_epochs = 1'000'000;
constexpr double most_number = 1e30;

struct app_limit {
  std::int64_t init_batch = 0;
  std::int64_t most_batch = 0;
  std::int64_t most_local = 0;
};
struct step {
  double time = 0;
  double sync = 0;
};
struct gradient {
  double square = 0;
  double variance = 0;
};

/// What was measured, by application and what it depends on.
struct pollux_tables {
  std::map<std::string, app_limit> limits;
  std::map<std::tuple<std::string, std::string, std::int64_t>, step> steps;           ///< placement, local batch
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, gradient> gradients;  ///< batch, epoch
  std::map<std::pair<std::string, std::int64_t>, double> progress;                    ///< epoch
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> last_epochs;           ///< batch
};

/// Reads one table: `row` is called for each line.
template <std::size_t N, class F>
result<void> read_table(io::named_text file, const std::array<std::string_view, N>& columns, F&& row) {
  io::csv_file csv(file, columns);
  for (std::size_t i = 0; i < N; ++i) csv.require(i);
  while (csv.next()) row(csv, std::string(csv.text(0)));
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return {};
}

result<void> read_limits(io::named_text file, pollux_tables& to) {
  return read_table(file, std::array<std::string_view, 4>{"app", "init_batch_size", "max_batch_size", "max_local_bsz"},
                    [&](io::csv_file& csv, std::string app) {
                      to.limits[std::move(app)] = {csv.integer(1, 1, most_batch), csv.integer(2, 1, most_batch),
                                                   csv.integer(3, 1, most_batch)};
                    });
}

result<void> read_steps(io::named_text file, pollux_tables& to) {
  return read_table(
      file,
      std::array<std::string_view, 5>{"app", "placement_gpus_per_node", "local_bsz", "step_time_s", "sync_time_s"},
      [&](io::csv_file& csv, std::string app) {
        const std::int64_t local = csv.integer(2, 1, most_batch);
        const double time = number_of(csv, 3, 0, most_number);
        to.steps[{std::move(app), std::string(csv.text(1)), local}] = {time, number_of(csv, 4, 0, most_number)};
      });
}

result<void> read_gradients(io::named_text file, pollux_tables& to) {
  return read_table(file, std::array<std::string_view, 5>{"app", "batch_size", "epoch", "grad_sqr", "grad_var"},
                    [&](io::csv_file& csv, std::string app) {
                      const std::int64_t batch = csv.integer(1, 1, most_batch);
                      const std::int64_t epoch = csv.integer(2, 0, most_epochs);
                      const double square = number_of(csv, 3, 0, most_number);
                      to.gradients[{std::move(app), batch, epoch}] = {square, number_of(csv, 4, 0, most_number)};
                    });
}

result<void> read_progress(io::named_text file, pollux_tables& to) {
  return read_table(file, std::array<std::string_view, 3>{"app", "epoch", "progress_at_end_of_epoch_index"},
                    [&](io::csv_file& csv, std::string app) {
                      const std::int64_t epoch = csv.integer(1, 0, most_epochs);
                      to.progress[{std::move(app), epoch}] = number_of(csv, 2, 0, most_number);
                    });
}

result<void> read_last_epochs(io::named_text file, pollux_tables& to) {
  return read_table(file, std::array<std::string_view, 3>{"app", "batch_size", "completion_epoch"},
                    [&](io::csv_file& csv, std::string app) {
                      const std::int64_t batch = csv.integer(1, 1, most_batch);
                      to.last_epochs[{std::move(app), batch}] = csv.integer(2, 0, most_epochs);
                    });
}

result<pollux_tables> read_tables(const pollux_profiles& from) {
  pollux_tables read;
  if (auto done = read_limits(from.app_limits, read); !done) return done.take_failure();
  if (auto done = read_steps(from.step_times, read); !done) return done.take_failure();
  if (auto done = read_gradients(from.grad_stats, read); !done) return done.take_failure();
  if (auto done = read_progress(from.progress, read); !done) return done.take_failure();
  if (auto done = read_last_epochs(from.completion_epoch, read); !done) return done.take_failure();
  return read;
}

std::int64_t divide_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

/// GPUs on each node, fewest first, as the table of steps writes it: `244` are ten on three nodes.
std::string packed(std::int64_t replicas) {
  std::string text = replicas % pollux_gpus_per_node == 0 ? "" : std::to_string(replicas % pollux_gpus_per_node);
  return text.append(static_cast<std::size_t>(replicas / pollux_gpus_per_node), '0' + pollux_gpus_per_node);
}

/// A batch in parts that fit into the memory of a GPU: all replicas compute `steps` parts of `local` samples.
struct batch_split {
  std::int64_t local = 0;
  std::int64_t steps = 0;
};
batch_split split_batch(std::int64_t batch, std::int64_t replicas, const app_limit& limit) {
  const std::int64_t each = divide_up(batch, replicas);
  std::int64_t steps = divide_up(each, limit.most_local);
  // The scale of gradients is not known from one part alone.
  if (replicas == 1 && batch > limit.init_batch) steps = std::max<std::int64_t>(steps, 2);
  return {std::min(divide_up(each, steps), limit.most_batch / (replicas * steps)), steps};
}

/// How long a job runs, or what is missing to know it.
result<std::int64_t> run_time_of(const pollux_tables& tables, const std::string& app, std::int64_t replicas,
                                 std::int64_t batch) {
  const auto missing = [](std::string what) { return error{status::not_found, std::move(what), {}}; };
  const auto limit = tables.limits.find(app);
  if (limit == tables.limits.end()) return missing(fmt::format("no limits of application \"{}\"", base::shown(app)));
  const batch_split split = split_batch(batch, replicas, limit->second);
  const auto step = tables.steps.find({app, packed(replicas), split.local});
  if (step == tables.steps.end()) {
    return missing(
        fmt::format("no step times of \"{}\" on \"{}\" with {} samples each", app, packed(replicas), split.local));
  }
  const std::int64_t whole = split.local * split.steps * replicas;
  const auto last = tables.last_epochs.find({app, whole});
  if (last == tables.last_epochs.end()) {
    return missing(fmt::format("no completion epoch of \"{}\" with a batch of {}", app, whole));
  }
  const double scale = static_cast<double>(whole) / static_cast<double>(limit->second.init_batch);
  const double more_steps = static_cast<double>(split.steps - 1);
  const double one_batch = step->second.time + (step->second.time - step->second.sync) * more_steps;
  double seconds = 0;
  double before = 0;
  for (std::int64_t epoch = 0; epoch <= last->second; ++epoch) {
    const auto measured = tables.gradients.find({app, whole, epoch});
    const auto progress = tables.progress.find({app, epoch + 1});
    if (measured == tables.gradients.end() || progress == tables.progress.end()) {
      return missing(fmt::format("no {} of \"{}\" with a batch of {} in epoch {}",
                                 progress == tables.progress.end() ? "progress" : "gradients", app, whole, epoch));
    }
    const gradient& g = measured->second;
    const double gain = (g.variance + g.square) / (g.variance / scale + g.square);
    seconds += (progress->second - before) / (gain / one_batch);
    before = progress->second;
  }
  const std::int64_t time = nanoseconds_of(seconds);
  if (time < 0) return missing(fmt::format("no run time of \"{}\" with a batch of {}: it is not finite", app, whole));
  return time;
}

}  // namespace

result<workload> read_pollux(io::named_text jobs, const pollux_profiles& profiles, const trace_options& options) {
  enum column : unsigned { part, name, submit, app, replicas, batch, time };
  constexpr std::array<std::string_view, 7> header{"workload",     "name",       "time_s", "application",
                                                   "num_replicas", "batch_size", "time"};
  result<pollux_tables> tables = read_tables(profiles);
  if (!tables) return tables.take_failure();
  trace_rows rows(jobs, header);
  io::csv_file& csv = rows.file();
  rows.need({name, app, replicas, batch});
  const std::size_t when = rows.either(time, submit);
  const bool has_parts = csv.has(part);
  bool any = false;
  while (rows.next()) {
    any = true;
    job one;
    const std::string of = has_parts ? rows.name(part) : std::string();
    const bool is_one_of_many = has_parts && options.part.empty();
    one.name = is_one_of_many ? fmt::format("{}-{}", of, rows.name(name)) : rows.name(name);
    if (is_one_of_many) one.queue = of;
    one.model = rows.name(app);
    one.submit = rows.time(when);
    const std::int64_t count = csv.integer(replicas, 1, 1024);
    const result<std::int64_t> run_time = run_time_of(*tables, one.model, count, csv.integer(batch, 1, most_batch));
    if (!run_time) csv.complain(app, run_time.failure().message);
    one.run_time = run_time ? *run_time : 0;
    pod_shape& pod = one.pods.emplace_back();
    pod.count = static_cast<std::uint32_t>(count);
    pod.gpus = whole_device;
    if (!options.part.empty() && of != options.part) continue;
    rows.add(std::move(one));
  }
  result<workload> read = rows.take();
  if (read && read->jobs.empty() && any) {
    return error{
        status::not_found, fmt::format("{}: no job is of workload \"{}\"", jobs.name, base::shown(options.part)), {}};
  }
  return read;
}

}  // namespace kaisched::simulation
