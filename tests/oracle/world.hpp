#pragma once
/// @file
/// A cluster as plain data, read from the tables of a snapshot. Nothing is kept up to date here: whoever wants a sum
/// adds it up from the pods.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/snapshot.hpp>

namespace kaisched::oracle {

inline constexpr std::size_t nobody = static_cast<std::size_t>(-1);

/// cpu, memory, gpu.
using quota_amounts = std::array<std::int64_t, quota_dimensions>;
using label_map = std::map<std::string, std::string>;

struct queue {
  std::string name;
  std::size_t parent = nobody;
  std::vector<std::size_t> children;  ///< in name order, as the queues themselves
  std::int64_t priority = 0;
  std::int64_t created = 0;
  quota_amounts quota{};  ///< -1: unlimited
  quota_amounts limit{};
  std::array<double, quota_dimensions> weight{};
  std::array<double, quota_dimensions> usage{};
  std::int64_t reclaim_min_runtime = unset;
  std::int64_t preempt_min_runtime = unset;
};

struct node {
  std::string name;
  std::vector<std::int64_t> capacity;
  bool open = true;
  label_map labels;
  std::vector<std::string> taints;
  std::vector<std::int64_t> devices;  ///< what each device offers; empty: devices are not told apart
};

/// A member of the tree of a group. Sets have members, others have pods.
struct member {
  std::string name;
  bool is_set = false;
  std::int64_t min = 0;  ///< pods, or members, that are needed
  std::vector<std::size_t> members;
  std::vector<std::size_t> pods;  ///< in task order
};

struct group {
  std::string name;
  std::size_t queue = nobody;
  std::int64_t priority = 0;
  bool preemptible = true;
  std::int64_t created = 0;
  std::int64_t last_start = unset;
  std::string name_space;
  std::vector<member> tree;  ///< the first one is the root
};

struct pod {
  std::string name;
  std::size_t group = nobody;  ///< nobody: a bystander, which only uses its node
  bool stray = true;           ///< no part of its group: it has none, or names a sub-group that holds no pods
  std::vector<std::int64_t> request;
  std::int64_t whole_devices = 0;
  std::int64_t shared_devices = 0;
  std::int64_t share = 0;  ///< of each device
  std::int64_t priority = 0;
  std::int64_t created = 0;
  bool leader = false;
  label_map labels;
  label_map node_selector;
  std::vector<std::string> node_affinity;
  std::vector<std::string> tolerations;
  std::vector<std::string> affinity;
  std::vector<std::string> anti_affinity;
  std::vector<std::string> host_ports;
  bool obstacle = false;
  std::string nominated_node;

  [[nodiscard]] bool wants_gpu() const { return request[dim_gpu] > 0; }
  [[nodiscard]] quota_amounts quota_request() const {
    return {request[dim_cpu], request[dim_memory], request[dim_gpu]};
  }
};

/// What placing pods changes; all that has to be undone when a group finds no place.
struct pod_state {
  pod_status status = pod_status::pending;
  std::size_t node = nobody;
  std::set<std::size_t> devices;
  bool placed_now = false;  ///< by this session
};

struct world {
  std::size_t dimensions = 0;
  std::vector<queue> queues;  ///< by name, as the other lists
  std::vector<node> nodes;
  std::vector<group> groups;
  std::vector<pod> pods;
  std::vector<pod_state> states;  ///< one per pod
};

[[nodiscard]] world read_world(const snapshot& from);

/// Grammar and meaning of the texts, see `kaisched schema pod`.
[[nodiscard]] bool selector_matches(std::string_view selector, const label_map& labels);
[[nodiscard]] bool node_affinity_matches(const std::vector<std::string>& terms, const label_map& labels);
[[nodiscard]] bool tolerates(const std::vector<std::string>& tolerations, std::string_view taint);
[[nodiscard]] bool ports_conflict(std::string_view a, std::string_view b);
/// A term of pod affinity: the label that spans domains, and the selector of pods.
[[nodiscard]] std::pair<std::string, std::string> split_affinity(std::string_view term);
/// A whole text as an integer.
[[nodiscard]] std::optional<std::int64_t> to_integer(std::string_view text);

}  // namespace kaisched::oracle
