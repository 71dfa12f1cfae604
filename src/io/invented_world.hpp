#pragma once
/// @file
/// What the generator of invented clusters makes before it becomes tables.

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "io/added_rows.hpp"
#include "io/cluster_input.hpp"
#include "io/synthetic.hpp"

namespace kaisched::io::invented {

inline constexpr std::int64_t gpus_per_node = 8;  ///< most
inline constexpr std::int64_t racks_per_block = 8;
inline constexpr std::int64_t core = 1000;
inline constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
inline constexpr std::int64_t minute = 60 * nanoseconds;
inline constexpr std::int64_t hour = 60 * minute;
inline constexpr std::int64_t day = 24 * hour;
/// The clock of the cluster starts a month before the moment that the tables show.
inline constexpr std::int64_t now = 30 * day;

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
  std::string_view product{};  ///< as the label nvidia.com/gpu.product says it; in mixed clusters
  bool claims = false;         ///< GPUs are given to claims alone
  std::int64_t nics = 0;       ///< network devices that claims get
};
inline constexpr node_type h100{
    "H100", 192 * core, 2048 * gibibyte, gpus_per_node, 80 * gibibyte, "NVIDIA-H100-80GB-HBM3", false, 4};
inline constexpr node_type a100{"A100",        128 * core,    1024 * gibibyte,
                                gpus_per_node, 40 * gibibyte, "NVIDIA-A100-SXM4-40GB"};
inline constexpr node_type b200{"B200",         224 * core,    2048 * gibibyte, gpus_per_node,
                                180 * gibibyte, "NVIDIA-B200", false,           4};
inline constexpr node_type l40s{"L40S", 64 * core, 512 * gibibyte, 4, 48 * gibibyte, "NVIDIA-L40S"};
inline constexpr node_type gb200{"GB200", 144 * core, 960 * gibibyte, 4, 186 * gibibyte, "NVIDIA-GB200", true};
inline constexpr node_type cpu_only{"", 96 * core, 384 * gibibyte, 0, 0};

inline constexpr std::int64_t pods_per_node = 110;
inline constexpr std::int64_t most_nics = 4;

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
  std::array<bool, most_nics> has_nic_user{};
};

inline constexpr std::string_view training_pool = "training";
inline constexpr std::string_view interactive_pool = "interactive";
inline constexpr std::string_view inference_pool = "inference";
inline constexpr std::string_view cpu_pool = "cpu";
inline constexpr std::string_view claims_pool = "claims";

/// Nodes of this pool are behind a taint that has its name.
[[nodiscard]] inline bool is_tainted(std::string_view pool) {
  return pool == interactive_pool || pool == inference_pool || pool == claims_pool;
}

// ---- jobs -----------------------------------------------------------------------------------------------------------

/// What the claims of a pod are for.
enum class claimed : std::uint8_t { none, gpus, nics };

/// What one job asks for, or one role of it.
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
  std::vector<std::string_view> products{};  ///< one of them, by affinity; empty: any
  claimed claims = claimed::none;
  std::int64_t claim_count = 0;  ///< devices of the claim of each pod
  bool one_side = false;         ///< they are on one side of the node
};

inline constexpr std::int64_t devices_on_a_side = 2;  ///< of a node, that claims get
inline constexpr std::string_view rack_level = "rack";
inline constexpr std::string_view block_level = "block";

/// A sub-group.
struct job_role {
  std::string_view name;
  job_shape shape{};
  std::string_view required_level{};
  bool leads = false;
};

struct job_pod {
  pod_status status = pod_status::pending;
  std::size_t node = 0;  ///< unless pending
  std::vector<std::int64_t> devices;
  bool is_launcher = false;
  std::size_t role = 0;                ///< of `roles`, if there are any
  std::vector<std::int64_t> claims{};  ///< devices that its claim has been given
};

struct job {
  std::string name;
  std::string_view team;
  job_shape shape;
  std::vector<job_pod> pods;
  std::int64_t created = 0;
  std::int64_t started = unset;
  std::string obstacle;
  std::vector<job_role> roles{};  ///< then `shape` says only how the group is served
  std::string_view required_level{};
  std::string_view preferred_level{};
  bool shares_claim = false;  ///< all pods have one claim

  [[nodiscard]] const job_shape& shape_of(const job_pod& pod) const {
    return roles.empty() ? shape : roles[pod.role].shape;
  }
  /// Milli-GPU of all pods.
  [[nodiscard]] std::int64_t asked() const {
    std::int64_t sum = roles.empty() ? shape.gpu * shape.pods : 0;
    for (const job_role& role : roles) sum += role.shape.gpu * role.shape.pods;
    return sum;
  }
};

/// A job for GPUs: cores and memory go with the GPUs.
[[nodiscard]] inline job_shape gpu_job(std::int64_t pods, std::int64_t min_pods, std::int64_t gpu, std::int64_t cores,
                                       std::int64_t gigabytes) {
  job_shape shape;
  shape.pods = pods;
  shape.min_pods = min_pods;
  shape.gpu = gpu;
  shape.cpu = cores * core * gpu / whole_device;
  shape.memory = gigabytes * gibibyte * gpu / whole_device;
  return shape;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

/// Machines beside each other.
struct machine_range {
  std::size_t first = 0;
  std::size_t last = 0;  ///< one behind
};

struct world {
  synthetic_options options;
  std::int64_t rack_gpus = 0;
  bool is_small = false;  ///< nothing is broken
  bool has_inference_pool = false;
  bool has_interactive_pool = false;
  std::vector<machine> machines{};
  std::vector<machine_range> racks{};   ///< with GPUs; of mixed clusters
  std::vector<machine_range> blocks{};  ///< of mixed clusters
  std::vector<job> jobs{};

  /// A training node of this type is there.
  [[nodiscard]] bool trains_on(const node_type& type) const;
};

inline constexpr std::int64_t interactive_priority = 100;
inline constexpr std::int64_t serving_priority = 125;

}  // namespace kaisched::io::invented
