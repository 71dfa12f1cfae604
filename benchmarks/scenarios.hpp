#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Inputs of the scale benchmarks as plain data, independent of the engine. Every input is a pure function of the
/// scenario's name and the number of nodes; `input_sha256` proves that another implementation built the same one.
///
/// What all scenarios share and the structures therefore leave out:
/// - Node: every GPU has 80000 MiB; 128 CPU cores, 10^12 bytes of memory, 110 pod slots; ready, no taints.
/// - Queue: GPU limit unlimited; CPU and memory quota and limit unlimited with over-quota weight 1; priority 100. The
///   GPU over-quota weight of a department equals its quota. Creation times are one minute apart in list order.
/// - Job: namespace `ns`; created (number of jobs - index) minutes before now, so list order is age order; preemptible
///   if and only if its priority is below 100; pods of a running job run since one minute before now.
/// - Pod: 1 CPU core, 10^9 bytes of memory, 1 pod slot and the GPUs of its job; named `<job>-<index>` without padding.
namespace kaisched::bench {

/// GPU quota value that means "unlimited".
inline constexpr std::int64_t unlimited_gpus = -1;

/// Priority from which on a job is not preemptible.
inline constexpr std::int32_t first_non_preemptible_priority = 100;

struct scenario_node {
  std::string name;
  std::int64_t gpus = 0;  ///< whole GPUs
  std::string zone;       ///< empty where the scenario has no such level
  std::string block;      ///< empty where the scenario has no such level
  std::string rack;       ///< empty where the scenario has no such level

  bool operator==(const scenario_node&) const = default;
};

/// Parent of leaf queues.
struct scenario_department {
  std::string name;
  std::int64_t quota_gpus = 0;  ///< whole GPUs, or `unlimited_gpus`; also the over-quota weight

  bool operator==(const scenario_department&) const = default;
};

/// Leaf queue.
struct scenario_queue {
  std::string name;
  std::string parent;            ///< name of a department
  std::int64_t quota_gpus = 0;   ///< whole GPUs
  std::int64_t weight_gpus = 0;  ///< GPU over-quota weight, without unit

  bool operator==(const scenario_queue&) const = default;
};

/// Consecutive pods of a job; the first set of a job starts with pod 0.
struct scenario_pod_set {
  std::string name;
  std::int32_t min = 0;    ///< pods that must run together
  std::int32_t count = 0;  ///< pods

  bool operator==(const scenario_pod_set&) const = default;
};

struct scenario_job {
  std::string name;
  std::string queue;  ///< name of a leaf queue
  std::int32_t priority = 50;
  std::int64_t gpus_milli_per_pod = 0;  ///< milli-GPU
  std::string required_level;           ///< topology level of the job's root, empty when unconstrained
  std::string preferred_level;          ///< topology level of the job's root, empty when without preference
  std::vector<scenario_pod_set> pod_sets;
  std::vector<std::int32_t> nodes;  ///< index of the node of each pod; empty for a pending job

  [[nodiscard]] bool running() const noexcept { return !nodes.empty(); }

  /// Number of pods over all pod sets.
  [[nodiscard]] std::int64_t pod_count() const noexcept;

  bool operator==(const scenario_job&) const = default;
};

struct scenario_input {
  std::string name;
  std::int32_t nodes_count = 0;
  std::vector<std::string> actions;          ///< in the order in which they run
  std::vector<std::string> topology_levels;  ///< coarse to fine; empty without a topology
  std::vector<scenario_node> nodes;
  std::vector<scenario_department> departments;
  std::vector<scenario_queue> queues;
  std::vector<scenario_job> jobs;  ///< oldest first; running jobs before pending ones

  [[nodiscard]] bool has_topology() const noexcept { return !topology_levels.empty(); }

  bool operator==(const scenario_input&) const = default;
};

/// Names of the main scenarios, for which reference decisions exist, in the order of their table.
[[nodiscard]] std::vector<std::string> scenario_names();

/// Names of the further scenarios that `build` knows: `few_changes` (its state before the first step) and the two
/// variants of one gang over a topology, `topology_gang512_required` (zone) and `topology_gang512_preferred` (rack).
[[nodiscard]] std::vector<std::string> extra_scenario_names();

/// Fewest nodes with which `build` makes the scenario; below it the scenario would lose the jobs that it is about.
/// Throws `std::invalid_argument` as `build` does.
[[nodiscard]] std::int32_t min_nodes(std::string_view name);

/// Builds the input of a scenario for a number of nodes.
/// Throws `std::invalid_argument` when no scenario has the name (the message lists the known names) or when the
/// scenario cannot be built with so many nodes (the message says which counts are possible).
[[nodiscard]] scenario_input build(std::string_view name, std::int32_t nodes);

/// Canonical text of an input: one line per node, department, queue and job, each ended by one line feed.
/// A node that has a zone gets it as one more field.
[[nodiscard]] std::string canonical_text(const scenario_input& input);

/// SHA-256 of `canonical_text` as 64 lower-case hexadecimal characters.
[[nodiscard]] std::string input_sha256(const scenario_input& input);

}  // namespace kaisched::bench
