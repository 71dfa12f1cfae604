#include "io/synthetic.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "io/added_rows.hpp"

namespace kaisched::io {

namespace {

constexpr std::int64_t gpus_per_node = 8;
constexpr std::int64_t nodes_per_rack = 8;
constexpr std::int64_t racks_per_block = 8;
constexpr std::int64_t blocks_per_zone = 4;
constexpr std::int64_t cpu_nodes_per_block = 8;
/// Below a whole rack nothing is broken, cordoned or away: one such node would be half of the cluster.
constexpr std::int64_t least_with_faults = gpus_per_node * nodes_per_rack;

constexpr std::int64_t core = 1000;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
constexpr std::int64_t minute = 60 * nanoseconds;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;
/// The clock of the cluster starts a month before the moment that the tables show.
constexpr std::int64_t now = 30 * day;

/// Whole numbers from a seed. Never two calls in one expression: their order would be the compiler's.
class dice {
 public:
  explicit dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  std::int64_t between(std::int64_t least, std::int64_t most) { return least + below(most - least + 1); }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class T, std::size_t N>
  T pick(const std::array<T, N>& of) {
    return of[static_cast<std::size_t>(below(static_cast<std::int64_t>(N)))];
  }
  /// An index, as often as its weight says.
  std::size_t weighted(std::span<const std::int64_t> weights) {
    std::int64_t left = below(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
    std::size_t i = 0;
    for (; left >= weights[i]; ++i) left -= weights[i];
    return i;
  }

 private:
  std::mt19937_64 engine_;
};

// ---- nodes --------------------------------------------------------------------------------------------------------

struct node_type {
  std::string_view model;
  std::int64_t cpu;
  std::int64_t memory;
  std::int64_t gpus;
  std::int64_t gpu_memory;
};
constexpr node_type h100{"H100", 192 * core, 2048 * gibibyte, gpus_per_node, 80 * gibibyte};
constexpr node_type a100{"A100", 128 * core, 1024 * gibibyte, gpus_per_node, 40 * gibibyte};
constexpr node_type cpu_only{"", 96 * core, 384 * gibibyte, 0, 0};

constexpr std::int64_t pods_per_node = 110;

struct machine {
  std::string name;
  const node_type* type = nullptr;
  std::int64_t gpus = 0;
  std::string zone;
  std::string block;
  std::string rack;
  std::string_view pool;
  bool ready = true;
  bool cordoned = false;
  std::int64_t broken_device = -1;
  std::int64_t free_cpu = 0;
  std::int64_t free_memory = 0;
  std::array<std::int64_t, gpus_per_node> free_share{};
  std::int64_t pods = 0;
};

constexpr std::string_view training_pool = "training";
constexpr std::string_view interactive_pool = "interactive";
constexpr std::string_view inference_pool = "inference";
constexpr std::string_view cpu_pool = "cpu";

// ---- teams and what they run ----------------------------------------------------------------------------------------

enum kind : std::uint8_t { pretrain, train, elastic, finetune, sweep, notebook, serve, evaluate, etl, kind_count };
constexpr std::array<std::string_view, kind_count> kind_names{"pretrain", "train", "elastic", "finetune", "sweep",
                                                              "notebook", "serve", "eval",    "etl"};

struct team_info {
  std::string_view name;
  std::string_view department;
  std::int64_t quota_percent;  ///< of all GPUs
  std::int64_t limit_percent;  ///< 0: none
  std::int64_t weight;
  std::int64_t priority;
  std::int64_t running;  ///< part of what runs
  std::int64_t waiting;  ///< part of what waits
  std::array<std::int64_t, kind_count> mix;
};
constexpr std::string_view organisation = "company";
struct department_info {
  std::string_view name;
  std::int64_t weight;
};
constexpr std::array departments{department_info{"research", 2}, department_info{"product", 1},
                                 department_info{"platform", 1}};
constexpr std::array teams{
    // pretrain, train, elastic, finetune, sweep, notebook, serve, eval, etl
    team_info{"foundation", "research", 24, 0, 3, 100, 15, 22, {6, 8, 6, 8, 60, 3, 0, 6, 0}},
    team_info{"vision", "research", 12, 0, 1, 100, 14, 10, {0, 6, 4, 12, 160, 18, 0, 0, 1}},
    team_info{"speech", "research", 7, 9, 1, 100, 5, 9, {0, 4, 6, 12, 60, 12, 0, 0, 0}},
    team_info{"robotics", "research", 5, 0, 1, 100, 3, 5, {0, 2, 2, 12, 120, 24, 0, 0, 1}},
    team_info{"assistant", "product", 12, 0, 2, 100, 8, 10, {1, 8, 4, 12, 40, 6, 2, 6, 0}},
    team_info{"search", "product", 9, 0, 1, 100, 4, 6, {0, 4, 4, 16, 80, 6, 2, 0, 4}},
    team_info{"ranking", "product", 7, 12, 1, 100, 6, 7, {0, 2, 8, 16, 80, 6, 0, 0, 4}},
    team_info{"inference", "platform", 9, 0, 1, 200, 5, 4, {0, 0, 0, 2, 0, 2, 12, 8, 0}},
    team_info{"evaluation", "platform", 3, 0, 1, 100, 1, 4, {0, 0, 0, 6, 40, 4, 0, 80, 0}},
    team_info{"data", "platform", 2, 0, 1, 100, 1, 1, {0, 0, 0, 4, 10, 4, 0, 0, 30}},
};

constexpr const team_info& data_team = teams.back();

/// What one job asks for.
struct job_shape {
  std::int64_t pods = 1;
  std::int64_t min_pods = 1;
  std::int64_t gpu = 0;  ///< milli-GPU per pod
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int64_t priority = 50;
  bool preemptible = true;
  bool launcher = false;  ///< one more pod without GPU that leads the gang
  std::string_view pool;  ///< selects and tolerates the pool; empty: everywhere
  std::string_view model;
  bool one_per_rack = false;
};

struct job_pod {
  pod_status status = pod_status::pending;
  std::size_t node = 0;  ///< unless pending
  std::vector<std::int64_t> devices;
  bool is_launcher = false;
};

struct job {
  std::string name;
  std::string_view team;
  job_shape shape;
  std::vector<job_pod> pods;
  std::int64_t created = 0;
  std::int64_t started = unset;
  std::string obstacle;
};

constexpr std::int64_t interactive_priority = 100;
constexpr std::int64_t serving_priority = 125;

/// A job for GPUs: cores and memory go with the GPUs.
job_shape gpu_job(std::int64_t pods, std::int64_t min_pods, std::int64_t gpu, std::int64_t cores,
                  std::int64_t gigabytes) {
  job_shape shape;
  shape.pods = pods;
  shape.min_pods = min_pods;
  shape.gpu = gpu;
  shape.cpu = cores * core * gpu / whole_device;
  shape.memory = gigabytes * gibibyte * gpu / whole_device;
  return shape;
}

// ---- the generator -------------------------------------------------------------------------------------------------

class generator {
 public:
  explicit generator(const synthetic_options& options)
      : options_(options),
        dice_(options.seed),
        gpu_nodes_((options.gpus + gpus_per_node - 1) / gpus_per_node),
        is_small_(options.gpus < least_with_faults) {}

  cluster_input make() {
    add_machines();
    const std::int64_t held = options_.gpus * std::min<std::int64_t>(options_.load_percent, 100) * 60 / 100 / 100;
    for (const team_info& team : teams) add_running(team, part(held * whole_device, &team_info::running, team));
    const std::int64_t wanted = options_.gpus * options_.load_percent * whole_device / 100 - asked_so_far();
    for (const team_info& team : teams) {
      if (is_small_ && asked_so_far() >= options_.gpus * options_.load_percent * whole_device / 100) break;
      add_waiting(team, part(wanted, &team_info::waiting, team));
    }
    add_hopeless();
    return tables();
  }

 private:
  // ---- machines

  void add_machines();
  void add_machine(std::int64_t block, std::int64_t rack, std::int64_t place, const node_type& type,
                   std::string_view pool);
  [[nodiscard]] std::string block_name(std::int64_t block) const { return fmt::format("b{:02}", block + 1); }

  // ---- jobs

  /// The part of a total that a team gets.
  static std::int64_t part(std::int64_t total, std::int64_t team_info::* share, const team_info& team) {
    std::int64_t all = 0;
    for (const team_info& other : teams) all += other.*share;
    return total * (team.*share) / all;
  }
  [[nodiscard]] std::int64_t asked_so_far() const {
    std::int64_t asked = 0;
    for (const job& j : jobs_) asked += j.shape.gpu * j.shape.pods;
    return asked;
  }
  [[nodiscard]] std::int64_t gang_limit() const { return std::max<std::int64_t>(2, gpu_nodes_ / 8); }
  job_shape shape_of(kind k);
  job make_job(const team_info& team, kind k);
  job next_job(const team_info& team, std::int64_t most_gpu);
  void add_running(const team_info& team, std::int64_t gpu_milli);
  void add_waiting(const team_info& team, std::int64_t gpu_milli);
  void add_hopeless();
  job& add_hopeless(std::string_view team, std::string_view name, const job_shape& shape);

  // ---- placing what runs

  bool place(job& placed);
  bool place_pod(const job_shape& shape, job_pod& pod, std::size_t start);
  [[nodiscard]] bool fits(const job_shape& shape, const machine& on) const;
  static std::vector<std::int64_t> free_devices(const job_shape& shape, const machine& on);
  static void charge(const job_shape& shape, const job_pod& pod, machine& on, std::int64_t sign);

  // ---- tables

  [[nodiscard]] cluster_input tables() const;
  [[nodiscard]] table queue_table() const;
  [[nodiscard]] table node_table() const;
  [[nodiscard]] table device_table() const;
  [[nodiscard]] table group_table() const;
  [[nodiscard]] table sub_group_table() const;
  [[nodiscard]] table pod_table() const;
  [[nodiscard]] std::int64_t quota_of(const team_info& team) const {
    return options_.gpus * team.quota_percent / 100 * whole_device;
  }

  synthetic_options options_;
  dice dice_;
  std::int64_t gpu_nodes_;
  bool is_small_;
  bool has_inference_pool_ = false;
  bool has_interactive_pool_ = false;
  std::int64_t gpus_so_far_ = 0;
  std::vector<machine> machines_;
  std::vector<job> jobs_;
  std::array<std::int64_t, teams.size() * kind_count> numbers_{};
};

void generator::add_machine(std::int64_t block, std::int64_t rack, std::int64_t place, const node_type& type,
                            std::string_view pool) {
  const std::int64_t gpus_left = options_.gpus - gpus_so_far_;
  machine& m = machines_.emplace_back();
  m.type = &type;
  m.gpus = std::min(type.gpus, gpus_left);  // the last node has what is left
  gpus_so_far_ += m.gpus;
  m.zone = fmt::format("z{}", block / blocks_per_zone + 1);
  m.block = block_name(block);
  m.rack = rack < 0 ? m.block + "-cpu" : fmt::format("{}-r{}", m.block, rack + 1);
  m.name = fmt::format("{}-n{}", m.rack, place + 1);
  m.pool = pool;
  m.ready = !dice_.one_in(200);
  m.cordoned = dice_.one_in(100);
  if (type.gpus > 0 && dice_.one_in(64)) m.broken_device = dice_.below(gpus_per_node);
  if (is_small_) m.ready = true;
  if (is_small_) m.cordoned = false;
  if (is_small_ || m.broken_device >= m.gpus) m.broken_device = -1;
  m.free_cpu = type.cpu;
  m.free_memory = type.memory;
  if (type.gpus > 0) m.free_share.fill(whole_device);
}

/// Five of eight racks hold the newer generation. Of each generation one rack in eight is behind a taint: of the newer
/// for inference, of the older for interactive work.
void generator::add_machines() {
  const std::int64_t racks = (gpu_nodes_ + nodes_per_rack - 1) / nodes_per_rack;
  for (std::int64_t rack = 0; rack < racks; ++rack) {
    const bool is_new = 8 * rack < 5 * racks;
    const node_type& type = is_new ? h100 : a100;
    std::string_view pool = training_pool;
    if (rack % racks_per_block == racks_per_block - 1) {
      pool = is_new ? inference_pool : interactive_pool;
      (is_new ? has_inference_pool_ : has_interactive_pool_) = true;
    }
    const std::int64_t block = rack / racks_per_block;
    const std::int64_t places = std::min(nodes_per_rack, gpu_nodes_ - rack * nodes_per_rack);
    for (std::int64_t place = 0; place < places; ++place) {
      add_machine(block, rack % racks_per_block, place, type, pool);
    }
    if (rack % racks_per_block == racks_per_block - 1 || rack == racks - 1) {
      for (std::int64_t place = 0; place < cpu_nodes_per_block; ++place) {
        add_machine(block, -1, place, cpu_only, cpu_pool);
      }
    }
  }
}

job_shape generator::shape_of(kind k) {
  constexpr std::array<std::int64_t, 4> powers{1, 2, 4, 8};
  job_shape shape;
  switch (k) {
    case pretrain: {
      const std::int64_t pods = std::min(8 * dice_.pick(powers), gang_limit());
      shape = gpu_job(pods, pods, 8 * whole_device, 20, 200);
      shape.model = h100.model;
      break;
    }
    case train: {
      const std::int64_t pods = std::min(2 * dice_.pick(powers), gang_limit());
      shape = gpu_job(pods, pods, 8 * whole_device, 12, 96);
      shape.launcher = dice_.one_in(3);
      break;
    }
    case elastic: {
      const std::int64_t pods = std::min(4 * dice_.between(1, 4), gang_limit());
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
      if (has_interactive_pool_) shape.pool = interactive_pool;
      break;
    case serve: {
      const std::int64_t pods = dice_.between(2, 8);
      shape = gpu_job(pods, 1, dice_.pick(powers) * whole_device, 16, 120);
      shape.priority = serving_priority;
      shape.preemptible = false;
      if (has_inference_pool_) shape.pool = inference_pool;
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
  const auto slot = static_cast<std::size_t>(&team - teams.data()) * kind_count + k;
  job made;
  made.name = fmt::format("{}-{}-{:04}", team.name, kind_names[k], ++numbers_[slot]);
  made.team = team.name;
  made.shape = shape_of(k);
  if (made.shape.launcher) made.pods.push_back({pod_status::pending, 0, {}, true});
  for (std::int64_t i = 0; i < made.shape.pods; ++i) made.pods.emplace_back();
  return made;
}

bool generator::fits(const job_shape& shape, const machine& on) const {
  const bool tolerated = shape.pool.empty() ? on.pool == training_pool || on.pool == cpu_pool : on.pool == shape.pool;
  return on.ready && !on.cordoned && tolerated && (shape.model.empty() || shape.model == on.type->model) &&
         on.pods < pods_per_node && on.free_cpu >= shape.cpu && on.free_memory >= shape.memory;
}

/// The lowest devices that can hold the job; one of them for a part of a GPU. Empty if there are not enough.
std::vector<std::int64_t> generator::free_devices(const job_shape& shape, const machine& on) {
  const std::int64_t share = std::min(shape.gpu, whole_device);
  const std::int64_t count = (shape.gpu + whole_device - 1) / whole_device;
  std::vector<std::int64_t> devices;
  for (std::int64_t d = 0; d < on.gpus && std::ssize(devices) < count; ++d) {
    if (d != on.broken_device && on.free_share[static_cast<std::size_t>(d)] >= share) devices.push_back(d);
  }
  if (std::ssize(devices) < count) devices.clear();
  return devices;
}

void generator::charge(const job_shape& shape, const job_pod& pod, machine& on, std::int64_t sign) {
  on.pods += sign;
  on.free_cpu -= sign * (pod.is_launcher ? core : shape.cpu);
  on.free_memory -= sign * (pod.is_launcher ? gibibyte : shape.memory);
  for (const std::int64_t d : pod.devices) {
    on.free_share[static_cast<std::size_t>(d)] -= sign * std::min(shape.gpu, whole_device);
  }
}

/// The first machine from `start` on, in the order of names, that has room.
bool generator::place_pod(const job_shape& shape, job_pod& pod, std::size_t start) {
  for (std::size_t tried = 0; tried < machines_.size(); ++tried) {
    const std::size_t i = (start + tried) % machines_.size();
    machine& on = machines_[i];
    if (!fits(shape, on)) continue;
    if (shape.gpu > 0 && !pod.is_launcher) {
      pod.devices = free_devices(shape, on);
      if (pod.devices.empty()) continue;
    }
    pod.node = i;
    pod.status = pod_status::running;
    charge(shape, pod, on, +1);
    return true;
  }
  return false;
}

/// Places the pods of a job side by side, from a random place on; an elastic job now and then only in part.
bool generator::place(job& placed) {
  const auto start = static_cast<std::size_t>(dice_.below(std::ssize(machines_)));
  std::int64_t wanted = std::ssize(placed.pods);
  if (placed.shape.min_pods < placed.shape.pods && dice_.one_in(2)) {
    wanted = dice_.between(placed.shape.min_pods, placed.shape.pods);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted); ++i) {
    if (place_pod(placed.shape, placed.pods[i], start)) continue;
    for (std::size_t undone = 0; undone < i; ++undone) {
      charge(placed.shape, placed.pods[undone], machines_[placed.pods[undone].node], -1);
    }
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

/// Starts jobs of a team until it holds so many GPUs. One job in fifty is on its way out.
void generator::add_running(const team_info& team, std::int64_t gpu_milli) {
  constexpr int most_failures = 20;
  int failures = 0;
  for (std::int64_t held = 0; held < gpu_milli && failures < most_failures;) {
    job started = next_job(team, gpu_milli - held + whole_device);
    if (!place(started)) {
      ++failures;
      continue;
    }
    failures = 0;
    started.created = now - dice_.between(hour, 14 * day);
    started.started = started.created + dice_.between(minute, hour);
    const bool leaving = dice_.one_in(50);
    for (job_pod& pod : started.pods) {
      if (pod.status != pod_status::running) continue;
      if (leaving) pod.status = pod_status::releasing;
      if (!pod.is_launcher) held += started.shape.gpu;
    }
    jobs_.push_back(std::move(started));
  }
}

void generator::add_waiting(const team_info& team, std::int64_t gpu_milli) {
  for (std::int64_t asked = 0; asked < gpu_milli;) {
    job waiting = next_job(team, gpu_milli - asked + whole_device);
    asked += waiting.shape.gpu * waiting.shape.pods;
    waiting.created = now - dice_.between(minute, 2 * day);
    waiting.shape.one_per_rack = waiting.shape.pool == inference_pool && dice_.one_in(2);
    jobs_.push_back(std::move(waiting));
  }
}

job& generator::add_hopeless(std::string_view team, std::string_view name, const job_shape& shape) {
  job& added = jobs_.emplace_back();
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
  const std::int64_t over_quota = options_.gpus * data_team.quota_percent / 100 + 8;
  job_shape reserved = gpu_job(over_quota, over_quota, whole_device, 8, 64);
  reserved.preemptible = false;
  add_hopeless(data_team.name, "reserved-beyond-quota", reserved);
  for (job_pod& pod : add_hopeless("search", "gated", gpu_job(4, 4, whole_device, 8, 64)).pods) {
    pod.status = pod_status::gated;
  }
}

// ---- tables -----------------------------------------------------------------------------------------------------

table::column& text(table& to, std::uint32_t id) { return to.add(id, column_type::string); }
table::column& numbers(table& to, std::uint32_t id, std::uint32_t width = 1) {
  return to.add(id, column_type::i64, width);
}
table::column& flags(table& to, std::uint32_t id) { return to.add(id, column_type::u8); }
table::column& lists(table& to, std::uint32_t id) { return to.add(id, column_type::string_list); }

void push_flag(table::column& to, bool value) { to.push(static_cast<std::uint8_t>(value ? 1 : 0)); }
void push_texts(table::column& to, const std::vector<std::string_view>& elements) {
  to.push_list(std::span<const std::string_view>(elements));
}

table topology_table() {
  table topologies = added(table_kind::topology);
  text(topologies, col::topology_name).push("datacentre");
  push_texts(lists(topologies, col::topology_levels), {"zone", "block", "rack"});
  push_flag(flags(topologies, col::topology_primary), true);
  return topologies;
}

table generator::queue_table() const {
  table queues = added(table_kind::queue);
  table::column& names = text(queues, col::queue_name);
  table::column& parents = text(queues, col::queue_parent);
  table::column& priorities = numbers(queues, col::queue_priority);
  table::column& quotas = numbers(queues, col::queue_quota, quota_dimensions);
  table::column& limits = numbers(queues, col::queue_limit, quota_dimensions);
  table::column& weights = queues.add(col::queue_over_quota_weight, column_type::f64, quota_dimensions);
  const auto push = [&](std::string_view name, std::string_view parent, std::int64_t priority, std::int64_t gpu_quota,
                        std::int64_t gpu_limit, std::int64_t weight) {
    names.push(name);
    parents.push(parent);
    priorities.push(priority);
    for (const std::int64_t amount : {unlimited, unlimited, gpu_quota}) quotas.push(amount);
    for (const std::int64_t amount : {unlimited, unlimited, gpu_limit}) limits.push(amount);
    for (std::uint32_t i = 0; i < quota_dimensions; ++i) weights.push(static_cast<double>(weight));
  };
  push(organisation, "", 100, options_.gpus * whole_device, unlimited, 1);
  for (const department_info& department : departments) {
    std::int64_t quota = 0;
    for (const team_info& team : teams) quota += team.department == department.name ? quota_of(team) : 0;
    push(department.name, organisation, 100, quota, unlimited, department.weight);
  }
  for (const team_info& team : teams) {
    const std::int64_t limit =
        team.limit_percent == 0 ? unlimited : options_.gpus * team.limit_percent / 100 * whole_device;
    push(team.name, team.department, team.priority, quota_of(team), limit, team.weight);
  }
  return queues;
}

table generator::node_table() const {
  table nodes = added(table_kind::node);
  table::column& names = text(nodes, col::node_name);
  table::column& capacities = numbers(nodes, col::node_capacity, built_in_dimensions);
  table::column& ready = flags(nodes, col::node_ready);
  table::column& cordoned = flags(nodes, col::node_unschedulable);
  table::column& labels = lists(nodes, col::node_labels);
  table::column& taints = lists(nodes, col::node_taints);
  table::column& gpu_memory = numbers(nodes, col::node_gpu_memory);
  for (const machine& m : machines_) {
    names.push(m.name);
    const std::int64_t healthy = m.gpus - (m.broken_device >= 0 ? 1 : 0);
    push_amounts(capacities, m.type->cpu, m.type->memory, healthy * whole_device, pods_per_node);
    push_flag(ready, m.ready);
    push_flag(cordoned, m.cordoned);
    std::vector<std::string_view> pairs{"zone", m.zone, "block", m.block, "rack", m.rack, "pool", m.pool};
    if (m.type->gpus > 0) pairs.insert(pairs.end(), {"gpu.model", m.type->model});
    push_texts(labels, pairs);
    const std::string taint = fmt::format("pool={}:NoSchedule", m.pool);
    const bool tainted = m.pool == interactive_pool || m.pool == inference_pool;
    push_texts(taints, tainted ? std::vector<std::string_view>{taint} : std::vector<std::string_view>{});
    gpu_memory.push(m.type->gpu_memory);
  }
  return nodes;
}

/// Devices are listed for nodes with a broken one; the others have as many as their capacity says.
table generator::device_table() const {
  table devices = added(table_kind::device);
  table::column& nodes = text(devices, col::device_node);
  table::column& indices = devices.add(col::device_index, column_type::u32);
  table::column& models = text(devices, col::device_model);
  table::column& healthy = flags(devices, col::device_healthy);
  for (const machine& m : machines_) {
    if (m.broken_device < 0) continue;
    for (std::int64_t d = 0; d < m.gpus; ++d) {
      nodes.push(m.name);
      indices.push(static_cast<std::uint32_t>(d));
      models.push(m.type->model);
      push_flag(healthy, d != m.broken_device);
    }
  }
  return devices;
}

table generator::group_table() const {
  table groups = added(table_kind::pod_group);
  table::column& names = text(groups, col::pod_group_name);
  table::column& queues = text(groups, col::pod_group_queue);
  table::column& priorities = numbers(groups, col::pod_group_priority);
  table::column& preemptible = flags(groups, col::pod_group_preemptible);
  table::column& created = numbers(groups, col::pod_group_created);
  table::column& min_members = numbers(groups, col::pod_group_min_member);
  table::column& namespaces = text(groups, col::pod_group_namespace);
  table::column& started = numbers(groups, col::pod_group_last_start);
  for (const job& j : jobs_) {
    names.push(j.name);
    queues.push(j.team);
    priorities.push(j.shape.priority);
    push_flag(preemptible, j.shape.preemptible);
    created.push(j.created);
    min_members.push(j.shape.launcher ? std::int64_t{1} : j.shape.min_pods);
    namespaces.push(j.team);
    started.push(j.started);
  }
  return groups;
}

constexpr std::string_view launcher_set = "launcher";
constexpr std::string_view worker_set = "worker";

table generator::sub_group_table() const {
  table sub_groups = added(table_kind::sub_group);
  table::column& groups = text(sub_groups, col::sub_group_group);
  table::column& names = text(sub_groups, col::sub_group_name);
  table::column& min_members = numbers(sub_groups, col::sub_group_min_member);
  for (const job& j : jobs_) {
    if (!j.shape.launcher) continue;
    for (const std::string_view name : {launcher_set, worker_set}) {
      groups.push(j.name);
      names.push(name);
      min_members.push(name == launcher_set ? std::int64_t{1} : j.shape.min_pods);
    }
  }
  return sub_groups;
}

/// The columns of the pods that the generator fills.
struct pod_columns {
  table pods = added(table_kind::pod);
  table::column& names = text(pods, col::pod_name);
  table::column& groups = text(pods, col::pod_group_ref);
  table::column& sub_groups = text(pods, col::pod_sub_group);
  table::column& requests = numbers(pods, col::pod_request, built_in_dimensions);
  table::column& device_counts = pods.add(col::pod_device_count, column_type::u32);
  table::column& statuses = flags(pods, col::pod_status_column);
  table::column& nodes = text(pods, col::pod_node);
  table::column& devices = pods.add(col::pod_devices, column_type::i64_list);
  table::column& created = numbers(pods, col::pod_created);
  table::column& leaders = flags(pods, col::pod_leader);
  table::column& selectors = lists(pods, col::pod_node_selector);
  table::column& tolerations = lists(pods, col::pod_tolerations);
  table::column& anti_affinities = lists(pods, col::pod_anti_affinity);
  table::column& labels = lists(pods, col::pod_labels);
  table::column& obstacles = text(pods, col::pod_obstacle);

  void push_request(const job_shape& shape, bool is_launcher) {
    const bool is_part = !is_launcher && shape.gpu > 0 && shape.gpu < whole_device;
    if (is_launcher) {
      push_amounts(requests, core, gibibyte, 0, 1);
    } else {
      push_amounts(requests, shape.cpu, shape.memory, shape.gpu, 1);
    }
    device_counts.push(std::uint32_t{is_part ? 1U : 0U});
  }

  void push_constraints(const job& j) {
    std::vector<std::string_view> selector;
    if (!j.shape.pool.empty()) selector.insert(selector.end(), {"pool", j.shape.pool});
    if (!j.shape.model.empty()) selector.insert(selector.end(), {"gpu.model", j.shape.model});
    push_texts(selectors, selector);
    const bool tainted = j.shape.pool == interactive_pool || j.shape.pool == inference_pool;
    const std::string toleration = fmt::format("pool={}:NoSchedule", j.shape.pool);
    push_texts(tolerations, tainted ? std::vector<std::string_view>{toleration} : std::vector<std::string_view>{});
    const std::string spread = fmt::format("rack: app={}", j.name);
    push_texts(anti_affinities,
               j.shape.one_per_rack ? std::vector<std::string_view>{spread} : std::vector<std::string_view>{});
    push_texts(labels,
               j.shape.one_per_rack ? std::vector<std::string_view>{"app", j.name} : std::vector<std::string_view>{});
    obstacles.push(j.obstacle);
  }
};

table generator::pod_table() const {
  pod_columns to;
  for (const job& j : jobs_) {
    for (std::size_t i = 0; i < j.pods.size(); ++i) {
      const job_pod& pod = j.pods[i];
      const bool on_node = pod.status != pod_status::pending && pod.status != pod_status::gated;
      to.names.push(fmt::format("{}-{}", j.name, i));
      to.groups.push(j.name);
      to.sub_groups.push(!j.shape.launcher ? std::string_view{} : pod.is_launcher ? launcher_set : worker_set);
      to.push_request(j.shape, pod.is_launcher);
      to.statuses.push(static_cast<std::uint8_t>(pod.status));
      to.nodes.push(on_node ? std::string_view(machines_[pod.node].name) : std::string_view{});
      to.devices.push_list(std::span<const std::int64_t>(pod.devices));
      to.created.push(j.created);
      push_flag(to.leaders, pod.is_launcher);
      to.push_constraints(j);
    }
  }
  return std::move(to.pods);
}

cluster_input generator::tables() const {
  cluster_input input;
  input.now = now;
  input.tables.push_back(topology_table());
  input.tables.push_back(queue_table());
  input.tables.push_back(node_table());
  input.tables.push_back(device_table());
  input.tables.push_back(group_table());
  input.tables.push_back(sub_group_table());
  input.tables.push_back(pod_table());
  input.source = "the invented cluster";
  return input;
}

}  // namespace

result<cluster_input> make_synthetic_cluster(const synthetic_options& options) {
  constexpr std::int64_t most_gpus = 1'048'576;
  if (options.gpus < 1 || options.gpus > most_gpus) {
    return error{status::argument, fmt::format("gpus: expected 1 to {}, found {}", most_gpus, options.gpus), {}};
  }
  if (options.load_percent < 1 || options.load_percent > 1000) {
    return error{status::argument, fmt::format("load: expected 1 % to 1000 %, found {} %", options.load_percent), {}};
  }
  return generator(options).make();
}

}  // namespace kaisched::io
