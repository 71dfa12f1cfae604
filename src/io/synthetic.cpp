#include "io/synthetic.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "io/invented_parts.hpp"

namespace kaisched::io {

namespace invented {

namespace {

/// Below this nothing is broken, cordoned or away: one such node would be half of the cluster.
constexpr std::int64_t least_with_faults = 64;
/// From here on there is one of each kind of mixed clusters that runs, and one that waits.
constexpr std::int64_t least_with_all_kinds = 512;
constexpr int most_failures = 20;
constexpr std::int64_t mixed_percent = 60;

class generator {
 public:
  explicit generator(const synthetic_options& options) : world_{options}, dice_(options.seed) {
    world_.is_small = options.gpus < least_with_faults;
  }

  cluster_input make() {
    const synthetic_options& o = world_.options;
    o.mix ? add_mixed_machines(world_, dice_) : add_machines(world_, dice_);
    gang_limit_ = largest_gang();
    std::int64_t held = o.gpus * std::min<std::int64_t>(o.load_percent, 100) * 60 / 100 / 100 * whole_device;
    if (o.mix) held = add_mixed(held, true);
    for (const team_info& team : teams) add_running(team, part_of(held, &team_info::running, team));
    std::int64_t wanted = all_wanted() - asked_so_far();
    if (o.mix) wanted = add_mixed(wanted, false);
    for (const team_info& team : teams) {
      if (world_.is_small && asked_so_far() >= all_wanted()) break;
      add_waiting(team, part_of(wanted, &team_info::waiting, team));
    }
    add_hopeless();
    return tables_of(world_);
  }

 private:
  [[nodiscard]] std::int64_t all_wanted() const {
    return world_.options.gpus * world_.options.load_percent * whole_device / 100;
  }
  [[nodiscard]] std::int64_t asked_so_far() const {
    std::int64_t asked = 0;
    for (const job& j : world_.jobs) asked += j.asked();
    return asked;
  }
  [[nodiscard]] std::int64_t largest_gang() const;
  [[nodiscard]] std::int64_t most_in_pool(std::int64_t gpus) const;
  job_shape shape_of(kind k);
  job make_job(const team_info& team, kind k);
  job next_job(const team_info& team, std::int64_t most_gpu);
  void add_running(const team_info& team, std::int64_t gpu_milli);
  void add_waiting(const team_info& team, std::int64_t gpu_milli);
  void add_hopeless();
  job& add_hopeless(std::string_view team, std::string_view name, const job_shape& shape);
  bool place(job& placed);
  std::int64_t start(const team_info& team, job&& started, bool may_leave);
  std::int64_t wait(job&& made);

  // ---- kinds of mixed clusters

  std::int64_t add_each_kind(std::int64_t gpu_milli, bool claims, bool runs);
  std::int64_t add_mixed(std::int64_t gpu_milli, bool claims, bool runs);
  std::int64_t add_mixed(std::int64_t gpu_milli, bool runs);
  std::optional<job> mixed(const team_info& team, mixed_kind k, bool least, std::int64_t most_gpu);
  std::optional<job> next_mixed(const team_info& team, bool claims, std::int64_t most_gpu);
  std::int64_t start_mixed(const team_info& team, job&& made, bool may_leave);

  world world_;
  dice dice_;
  std::int64_t gang_limit_ = 0;
  std::array<std::int64_t, teams.size() * kind_count> numbers_{};
  std::array<std::int64_t, teams.size() * mixed_kind_count> mixed_numbers_{};
};
/// In mixed clusters a gang of whole nodes never needs more of them than there are.
std::int64_t generator::largest_gang() const {
  const std::int64_t gpu_nodes = (world_.options.gpus + gpus_per_node - 1) / gpus_per_node;
  const std::int64_t limit = std::max<std::int64_t>(2, gpu_nodes / 8);
  if (!world_.options.mix) return limit;
  const std::int64_t nodes =
      std::count_if(world_.machines.begin(), world_.machines.end(), [](const machine& m) { return m.type == &h100; });
  return std::clamp<std::int64_t>(nodes, 1, limit);
}

/// Nodes for inference have four GPUs in mixed clusters.
std::int64_t generator::most_in_pool(std::int64_t gpus) const {
  return world_.options.mix && world_.has_inference_pool ? std::min(gpus, l40s.gpus) : gpus;
}

job_shape generator::shape_of(kind k) {
  constexpr std::array<std::int64_t, 4> powers{1, 2, 4, 8};
  job_shape shape;
  switch (k) {
    case pretrain: {
      const std::int64_t pods = std::min(8 * dice_.pick(powers), gang_limit_);
      shape = gpu_job(pods, pods, 8 * whole_device, 20, 200);
      shape.model = h100.model;
      break;
    }
    case train: {
      const std::int64_t pods = std::min(2 * dice_.pick(powers), gang_limit_);
      shape = gpu_job(pods, pods, 8 * whole_device, 12, 96);
      shape.launcher = dice_.one_in(3);
      break;
    }
    case elastic: {
      const std::int64_t pods = std::min(4 * dice_.between(1, 4), gang_limit_);
      shape =
          gpu_job(pods, std::max<std::int64_t>(1, pods / 4), dice_.pick(std::array{2, 4, 8}) * whole_device, 12, 96);
      break;
    }
    case finetune:
      shape = gpu_job(1, 1, dice_.pick(powers) * whole_device, 14, 110);
      if (dice_.one_in(3)) shape.model = dice_.one_in(2) ? h100.model : a100.model;
      break;
    case notebook:
      shape = gpu_job(1, 1, dice_.pick(std::array{500, 500, 1000, 2000}), 12, 96);
      shape.priority = interactive_priority;
      shape.preemptible = false;
      if (world_.has_interactive_pool) shape.pool = interactive_pool;
      break;
    case serve: {
      const std::int64_t pods = dice_.between(2, 8);
      shape = gpu_job(pods, 1, most_in_pool(dice_.pick(powers)) * whole_device, 16, 120);
      shape.priority = serving_priority;
      shape.preemptible = false;
      if (world_.has_inference_pool) shape.pool = inference_pool;
      break;
    }
    case evaluate:
      shape = gpu_job(1, 1, dice_.pick(std::array{250, 500, 1000}), 12, 96);
      break;
    case etl:
      shape.pods = shape.min_pods = dice_.between(2, 12);
      shape.cpu = dice_.pick(powers) * 8 * core;
      shape.memory = dice_.pick(powers) * 24 * gibibyte;
      shape.pool = cpu_pool;
      break;
    case sweep:
    case kind_count:
      shape = gpu_job(1, 1, whole_device, 12, 96);
      break;
  }
  return shape;
}

job generator::make_job(const team_info& team, kind k) {
  const std::size_t slot = index_of(team) * kind_count + k;
  job made;
  made.name = fmt::format("{}-{}-{:04}", team.name, kind_names[k], ++numbers_[slot]);
  made.team = team.name;
  made.shape = shape_of(k);
  if (made.shape.launcher) made.pods.emplace_back().is_launcher = true;
  for (std::int64_t i = 0; i < made.shape.pods; ++i) made.pods.emplace_back();
  return made;
}

/// Places the pods of a job side by side, from a random place on; an elastic job now and then only in part.
bool generator::place(job& placed) {
  const auto start = static_cast<std::size_t>(dice_.below(std::ssize(world_.machines)));
  std::int64_t wanted = std::ssize(placed.pods);
  if (placed.shape.min_pods < placed.shape.pods && dice_.one_in(2)) {
    wanted = dice_.between(placed.shape.min_pods, placed.shape.pods);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted); ++i) {
    if (place_pod(world_, placed.shape, placed.pods[i], start)) continue;
    for (std::size_t undone = 0; undone < i; ++undone) take_back(world_, placed.shape, placed.pods[undone]);
    return false;
  }
  return true;
}

/// The next job of a team that needs no more than so many GPUs, or one of a single GPU after many others.
job generator::next_job(const team_info& team, std::int64_t most_gpu) {
  constexpr int most_tries = 20;
  for (int tried = 0; tried < most_tries; ++tried) {
    job made = make_job(team, static_cast<kind>(dice_.weighted(team.mix)));
    if (made.shape.gpu * made.shape.pods <= most_gpu) return made;
  }
  return make_job(team, sweep);
}

/// Keeps a job that has its places. Where a queue promises run times some groups are younger.
std::int64_t generator::start(const team_info& team, job&& started, bool may_leave) {
  started.created = now - dice_.between(hour, 14 * day);
  started.started = started.created + dice_.between(minute, hour);
  const std::int64_t promised = world_.options.mix ? promised_minutes(team) : 0;
  if (promised > 0 && dice_.one_in(2)) {
    started.started = now - dice_.between(1, promised - 1) * minute;
    started.created = started.started - dice_.between(minute, hour);
  }
  const bool leaving = may_leave && dice_.one_in(50);
  std::int64_t held = 0;
  for (job_pod& pod : started.pods) {
    if (pod.status != pod_status::running) continue;
    if (leaving) pod.status = pod_status::releasing;
    if (!pod.is_launcher) held += started.shape_of(pod).gpu;
  }
  world_.jobs.push_back(std::move(started));
  return held;
}

/// Starts jobs of a team until it holds so many GPUs. One job in fifty is on its way out.
void generator::add_running(const team_info& team, std::int64_t gpu_milli) {
  int failures = 0;
  for (std::int64_t held = 0; held < gpu_milli && failures < most_failures;) {
    job started = next_job(team, gpu_milli - held + whole_device);
    if (!place(started)) {
      ++failures;
      continue;
    }
    failures = 0;
    held += start(team, std::move(started), true);
  }
}

void generator::add_waiting(const team_info& team, std::int64_t gpu_milli) {
  for (std::int64_t asked = 0; asked < gpu_milli;) {
    job waiting = next_job(team, gpu_milli - asked + whole_device);
    asked += waiting.shape.gpu * waiting.shape.pods;
    waiting.created = now - dice_.between(minute, 2 * day);
    waiting.shape.one_per_rack = waiting.shape.pool == inference_pool && dice_.one_in(2);
    world_.jobs.push_back(std::move(waiting));
  }
}

job& generator::add_hopeless(std::string_view team, std::string_view name, const job_shape& shape) {
  job& added = world_.jobs.emplace_back();
  added.name = fmt::format("{}-{}", team, name);
  added.team = team;
  added.shape = shape;
  added.pods.resize(static_cast<std::size_t>(shape.pods));
  added.created = now - dice_.between(hour, 5 * day);
  return added;
}

/// Jobs as they are found in every large cluster: they wait for reasons that no free GPU can cure.
void generator::add_hopeless() {
  job_shape unknown_model = gpu_job(1, 1, whole_device, 8, 64);
  unknown_model.model = "H200";
  add_hopeless("vision", "wants-h200", unknown_model);
  add_hopeless("robotics", "sixteen-gpus-in-one-pod", gpu_job(1, 1, 16 * whole_device, 4, 32));
  add_hopeless("foundation", "gang-of-16-has-12-pods", gpu_job(12, 16, whole_device, 12, 96));
  add_hopeless("speech", "volume-missing", gpu_job(1, 1, whole_device, 8, 64)).obstacle =
      "volume claim speech-corpus does not exist";
  const std::int64_t over_quota = world_.options.gpus * data_team.quota_percent / 100 + 8;
  job_shape reserved = gpu_job(over_quota, over_quota, whole_device, 8, 64);
  reserved.preemptible = false;
  add_hopeless(data_team.name, "reserved-beyond-quota", reserved);
  for (job_pod& pod : add_hopeless("search", "gated", gpu_job(4, 4, whole_device, 8, 64)).pods) {
    pod.status = pod_status::gated;
  }
}

// ---- kinds of mixed clusters --------------------------------------------------------------------------------------

/// A job of a kind that asks for no more than so much, which the cluster can hold, and the team.
std::optional<job> generator::mixed(const team_info& team, mixed_kind k, bool least, std::int64_t most_gpu) {
  job made = mixed_job(world_, dice_, team, k, least);
  const std::int64_t limit =
      team.limit_percent == 0 ? made.asked() : world_.options.gpus * team.limit_percent / 100 * whole_device;
  if (made.asked() > std::min(most_gpu, limit)) return std::nullopt;
  const bool may_be_too_large = world_.options.gpus < least_with_all_kinds;
  if (may_be_too_large && made.asked() > gpus_open_to(world_, made) * whole_device) return std::nullopt;
  made.name = fmt::format("{}-{}-{:04}", team.name, mixed_kind_names[k],
                          ++mixed_numbers_[index_of(team) * mixed_kind_count + k]);
  return made;
}

/// A job of the team, of the kinds with claims of GPUs or of the others.
std::optional<job> generator::next_mixed(const team_info& team, bool claims, std::int64_t most_gpu) {
  constexpr int most_tries = 20;
  std::array<std::int64_t, mixed_kind_count> weights{};
  for (std::size_t k = 0; k < mixed_kind_count; ++k) weights[k] = claims_gpus(k) == claims ? team.mixed[k] : 0;
  if (std::accumulate(weights.begin(), weights.end(), std::int64_t{0}) == 0) return std::nullopt;
  for (int tried = 0; tried < most_tries; ++tried) {
    const auto k = static_cast<mixed_kind>(dice_.weighted(weights));
    if (std::optional<job> made = mixed(team, k, false, most_gpu)) return made;
  }
  return std::nullopt;
}

/// Milli-GPU that it holds; 0: there is no room.
std::int64_t generator::start_mixed(const team_info& team, job&& made, bool may_leave) {
  const std::vector<std::int64_t> wanted = running_pods(dice_, made);
  if (!place_in_domains(world_, dice_, made, wanted)) return 0;
  return start(team, std::move(made), may_leave);
}

std::int64_t generator::wait(job&& made) {
  made.created = now - dice_.between(minute, 2 * day);
  const std::int64_t asked = made.asked();
  world_.jobs.push_back(std::move(made));
  return asked;
}

/// The smallest job of each kind, of the team that has most of them; of a small cluster as many as so much can hold.
std::int64_t generator::add_each_kind(std::int64_t gpu_milli, bool claims, bool runs) {
  const bool all = world_.options.gpus >= least_with_all_kinds;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < mixed_kind_count; ++i) {
    if (claims_gpus(i) != claims) continue;
    const team_info& team = *std::max_element(teams.begin(), teams.end(),
                                              [&](const auto& a, const auto& b) { return a.mixed[i] < b.mixed[i]; });
    const auto k = static_cast<mixed_kind>(i);
    std::optional<job> made = mixed(team, k, true, all ? world_.options.gpus * whole_device : gpu_milli - sum);
    if (made) sum += runs ? start_mixed(team, std::move(*made), false) : wait(std::move(*made));
  }
  return sum;
}

/// Adds jobs that run or wait, up to so many GPUs, of teams as often as their parts say.
std::int64_t generator::add_mixed(std::int64_t gpu_milli, bool claims, bool runs) {
  std::array<std::int64_t, teams.size()> parts{};
  std::transform(teams.begin(), teams.end(), parts.begin(),
                 [&](const team_info& team) { return runs ? team.running : team.waiting; });
  std::int64_t sum = add_each_kind(gpu_milli, claims, runs);
  for (int failures = 0; sum < gpu_milli && failures < most_failures;) {
    const team_info& team = teams[dice_.weighted(parts)];
    std::optional<job> made = next_mixed(team, claims, gpu_milli - sum + whole_device);
    std::int64_t more = 0;
    if (made) more = runs ? start_mixed(team, std::move(*made), true) : wait(std::move(*made));
    failures = more == 0 ? failures + 1 : 0;
    sum += more;
  }
  return sum;
}

/// GPUs that claims alone get are held and asked for as the others are. Of the others more than half go to jobs of
/// kinds that only mixed clusters have. What is left, in milli-GPU.
std::int64_t generator::add_mixed(std::int64_t gpu_milli, bool runs) {
  std::int64_t claimable = 0;
  for (const machine& m : world_.machines) claimable += m.type->claims ? m.gpus * whole_device : 0;
  const std::int64_t of_claims = gpu_milli * claimable / (world_.options.gpus * whole_device);
  std::int64_t left = gpu_milli - add_mixed(of_claims, true, runs);
  left -= add_mixed(left * mixed_percent / 100, false, runs);
  return std::max<std::int64_t>(0, left);
}

}  // namespace

}  // namespace invented

result<cluster_input> make_synthetic_cluster(const synthetic_options& options) {
  constexpr std::int64_t most_gpus = 1'048'576;
  if (options.gpus < 1 || options.gpus > most_gpus) {
    return error{status::argument, fmt::format("gpus: expected 1 to {}, found {}", most_gpus, options.gpus), {}};
  }
  if (options.load_percent < 1 || options.load_percent > 1000) {
    return error{status::argument, fmt::format("load: expected 1 % to 1000 %, found {} %", options.load_percent), {}};
  }
  return invented::generator(options).make();
}

}  // namespace kaisched::io
