#pragma once
/// @file
/// The packing benchmark of Weng et al., "Beware of Fragmentation" (USENIX ATC 2023): its input as it was published,
/// and its results.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::bench::fgd {

inline constexpr std::size_t loads = 131;  ///< points of a curve: 0 % to 130 % of all GPUs requested
inline constexpr std::int64_t first_seed = 42;
inline constexpr std::size_t seeds = 10;

[[nodiscard]] std::span<const std::string_view> workloads() noexcept;

/// A policy of the table, and the part that does the same.
struct policy_name {
  std::string_view published;
  std::string part;
};
[[nodiscard]] const std::vector<policy_name>& policies();

struct trace_node {
  std::string name;
  std::string model;
  std::int64_t gpus = 0;
  std::int64_t cpu = 0;     ///< milli-cores
  std::int64_t memory = 0;  ///< MiB
};

struct trace_pod {
  std::string name;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int64_t gpus = 0;
  std::int64_t share = 0;           ///< milli-GPU of each; 0 without GPUs
  std::vector<std::string> models;  ///< that it may use; empty: all
  [[nodiscard]] std::int64_t gpu_milli() const { return gpus * share; }
};

/// Pods that are alike for the measure of fragmentation, and their part of all that are counted.
struct typical_class {
  std::int64_t cpu = 0;
  std::int64_t gpus = 0;
  std::int64_t share = 0;
  std::string models;  ///< with | between them
  double weight = 0;
  std::int64_t pods = 0;
};

/// One workload: its pods, by name, and the order in which they come.
struct workload {
  std::string name;
  std::vector<trace_pod> pods;
  std::vector<typical_class> typical;                   ///< the most frequent first
  std::array<std::vector<std::uint32_t>, seeds> order;  ///< by seed: indices of pods
  std::array<std::vector<std::uint32_t>, seeds>
      ranks;  ///< by seed and node: place in the order in which ties are decided
};

/// Numbers of one run as they are published: in hundredths and, for what is lost of idle GPUs, in ten thousandths.
struct curves {
  std::array<std::int64_t, loads> allocated{};
  std::array<std::int64_t, loads> lost_of_all{};
  std::array<std::int64_t, loads> lost_of_idle{};
};

struct final_state {
  std::int64_t pods = 0;
  std::int64_t gpu_milli = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t failed = 0;
  std::int64_t lost = 0;  ///< milli-GPU
  std::int64_t first_failed = -1;
  friend bool operator==(const final_state&, const final_state&) = default;
};

/// Which run: workload, policy, seed.
using run_key = std::pair<std::pair<std::string, std::string>, std::int64_t>;

/// Where a pod went; no node: it did not fit.
struct placement {
  std::string node;
  std::uint64_t devices = 0;
  friend bool operator==(const placement&, const placement&) = default;
};

/// All that is read from the folder with the data.
struct trace {
  std::vector<trace_node> nodes;    ///< by name
  std::vector<workload> workloads;  ///< those asked for
  std::map<run_key, curves> published;
  std::map<run_key, final_state> final_states;
};

/// Files that are read have exactly these bytes. `only`: names of workloads; empty: all. Results are what was
/// published and states at the end.
[[nodiscard]] result<trace> read_trace(const std::string& folder, std::span<const std::string> only = {},
                                       bool with_results = true);
/// By arrival, of the workload `default` and the first seed.
[[nodiscard]] result<std::vector<placement>> read_placements(const std::string& folder, std::string_view policy);

/// Where the data is from, and the digest of every file.
[[nodiscard]] std::string describe_data();

/// Classes of pods by how many there are, as many as come to 95 % of all.
[[nodiscard]] std::vector<typical_class> typical_classes(const std::vector<trace_pod>& pods);

}  // namespace kaisched::bench::fgd
